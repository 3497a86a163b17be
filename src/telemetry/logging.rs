//! Log output: one readable line or one JSON object per event.

use heureka_config::settings::{LogFormat, LoggingSettings};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::time::ChronoLocal;

/// Starts logging for the process. A second call changes nothing: the first one holds.
pub fn start(settings: &LoggingSettings) {
    // The server's own lines repeat what the node says itself; a level for it in the settings comes later and wins.
    let filter = EnvFilter::try_new(format!("actix_server=warn,{}", settings.filter()))
        .unwrap_or_else(|_| EnvFilter::new("info"));
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let timer = ChronoLocal::rfc_3339();
    // Fails only if logging has been started before, for example by a test.
    let _ = match settings.format {
        LogFormat::Human => builder.with_timer(timer).with_target(false).try_init(),
        LogFormat::Json => builder.with_timer(timer).json().flatten_event(true).try_init(),
    };
}
