//! The `heureka-bench` command.

mod command;

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// As in the server: the baselines must differ from it in their handlers only.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    match command::run(std::env::args().skip(1).collect()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // On one line, without the backtrace that the environment may ask for.
            eprintln!("heureka-bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}
