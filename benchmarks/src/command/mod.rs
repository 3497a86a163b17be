//! The command line: which figures, of which servers.

mod arguments;
mod load;
mod parts;
mod ratios;
mod setting;
mod suite;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail};
use heureka_bench::measure::Rhythm;
use heureka_bench::scenarios::Plan;
use heureka_bench::servers::{Baseline, Launcher, serve_baseline};

use arguments::Arguments;

/// A heap as large registries are given; everything else as the JVM chooses by itself.
const JAVA_OPTIONS: &str = "-Xms512m -Xmx4g";

const USAGE: &str = "usage: heureka-bench COMMAND [OPTIONS]

  suite       everything, beside a Java server if there is one: --out DIR [--java JAR] [--java-options LIST]
  ratios      Heureka beside actix-web handlers that do nothing
  load        load a server that runs: --address HOST:PORT --what heartbeat|register|full|delta|app|vip
              [--rate N] (open loop; without it a closed loop) [--seconds N] [--connections N] [--no-fill]
  baseline    serve one of these handlers: --handler empty|read-body|static --port N [--workers N]

options of all measuring commands:
  --heureka FILE    the server's binary (default: heureka beside this program)
  --only A,B        only these parts
  --instances N     size of the usual registry (default 10000)
  --seed N          seed of all data (default 1)
  --quick           short slices, few rounds
  --minutes N       suite: no part begins after that time (default 38.5, with --quick 2.9)
  --json FILE       write the figures there too";

/// Runs a command.
pub fn run(arguments: Vec<String>) -> anyhow::Result<()> {
    let mut arguments = arguments.into_iter();
    let command = arguments.next().context(USAGE)?;
    let arguments = Arguments::parse(arguments)?;
    match command.as_str() {
        "baseline" => {
            let handler = arguments.text("handler").unwrap_or("empty");
            let baseline =
                Baseline::from_name(handler).with_context(|| format!("no handler {handler}\n{USAGE}"))?;
            serve_baseline(baseline, arguments.number("port", 8762)?, arguments.number("workers", 1)?)
        }
        "load" => on_one_thread(load::run(&arguments)),
        "suite" => on_one_thread(suite::run(&arguments)),
        "ratios" => on_one_thread(ratios::run(&arguments)),
        other => bail!("unknown command {other}\n{USAGE}"),
    }
}

/// The generator's thread.
fn on_one_thread(work: impl Future<Output = anyhow::Result<()>>) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    tokio::task::LocalSet::new().block_on(&runtime, work)
}

/// What all measuring commands share.
fn plan(arguments: &Arguments) -> anyhow::Result<Plan> {
    let is_quick = arguments.has("quick");
    let rhythm = match is_quick {
        true => Rhythm { rounds: 3, slice: Duration::from_millis(250) },
        false => Rhythm { rounds: 7, slice: Duration::from_millis(1000) },
    };
    let java_options =
        arguments.text("java-options").unwrap_or(JAVA_OPTIONS).split_whitespace().map(str::to_owned);
    let java = arguments.text("java").map(std::path::absolute).transpose().context("--java")?;
    Ok(Plan {
        launcher: Launcher {
            heureka: heureka_binary(arguments)?,
            java,
            java_options: java_options.collect(),
        },
        seed: arguments.number("seed", 1)?,
        instances: arguments.number("instances", 10_000)?,
        rhythm,
        is_quick,
    })
}

/// The server's binary: as told, else beside this program.
fn heureka_binary(arguments: &Arguments) -> anyhow::Result<PathBuf> {
    if let Some(path) = arguments.text("heureka") {
        return std::path::absolute(path).context("--heureka");
    }
    let program = std::env::current_exe()?;
    let beside = program.with_file_name("heureka");
    if !beside.exists() {
        bail!("there is no {}; build it or name it with --heureka", beside.display());
    }
    Ok(beside)
}
