//! The `heureka-bench` command.

mod command;

use mimalloc::MiMalloc;

/// As in the server: the baselines must differ from it in their handlers only.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> anyhow::Result<()> {
    command::run(std::env::args().skip(1).collect())
}
