//! The `heureka` command.

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// Messages with owned data cross threads; mimalloc frees them 1.5 to 2.5 times faster than the system's allocator.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    heureka::cli::main()
}
