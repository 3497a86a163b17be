//! The `heureka` command.

use mimalloc::MiMalloc;

/// Messages with owned data cross threads; mimalloc frees them 1.5 to 2.5 times faster than the system's allocator.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> anyhow::Result<()> {
    let mut settings = heureka_config::Settings::default();
    if let Some(port) = std::env::args().find_map(|a| a.strip_prefix("--server.port=").and_then(|p| p.parse().ok())) {
        settings.server.port = port;
    }
    heureka::telemetry::logging::start(&settings.logging);
    actix::System::new().block_on(async move {
        let (running, server) = heureka::node::start(settings)?;
        actix::spawn(server);
        tokio::signal::ctrl_c().await?;
        running.stop().await;
        Ok(())
    })
}
