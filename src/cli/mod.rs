//! The command line: which command, and its answer to the shell.
//!
//! Spring users pass settings as `--key=value`, any key at all, so the arguments are not parsed against a list here: the
//! first word that is no option is the command, everything else belongs to the settings.

mod config;
mod healthcheck;
mod run;
mod snapshot;

use std::process::ExitCode;

use heureka_config::{Invocation, Loaded};

use crate::host::SystemHostFacts;

use self::snapshot::SnapshotCommand;

const HELP: &str = "\
Heureka, a Eureka-compatible service registry.

Usage: heureka [COMMAND] [--key=value ...]

Commands:
  run           start a node (the default)
  config        print every effective setting with its source, secrets masked
  check         read and check the configuration, then exit
  healthcheck   ask the node on this machine whether it is up; for container health checks
  snapshot      look into the snapshot of a node that does not run, or carry it elsewhere:
                snapshot inspect FOLDER   what is in it, as JSON
                snapshot verify FOLDER    would the next start be warm?
                snapshot export FOLDER    all of it as one JSON document
                snapshot import FOLDER    a document from standard input becomes the snapshot;
                                          --replace moves one that is there aside, --fresh makes it young

Settings are those of a Spring Cloud Eureka server: application.yml or .properties in the working
directory or ./config, environment variables, --key=value. For example:
  heureka --server.port=8761 --spring.profiles.active=peer1
  heureka --spring.config.location=file:/etc/heureka/application.yml

  -h, --help     this text
  -V, --version  the version
";

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Command {
    Run,
    Config,
    Check,
    HealthCheck,
    Snapshot(SnapshotCommand),
    Help,
    Version,
}

/// Splits the arguments into the command and those of the settings.
fn parse(args: &[String]) -> Result<(Command, Vec<String>), String> {
    let is_flag = |names: [&str; 2]| args.iter().any(|arg| names.contains(&arg.as_str()));
    if is_flag(["-h", "--help"]) {
        return Ok((Command::Help, Vec::new()));
    }
    if is_flag(["-V", "--version"]) {
        return Ok((Command::Version, Vec::new()));
    }
    let (words, settings): (Vec<&String>, Vec<&String>) = args.iter().partition(|arg| !arg.starts_with('-'));
    if let Some((_, rest)) = words.split_first().filter(|(word, _)| word.as_str() == "snapshot") {
        let rest: Vec<&str> = rest.iter().map(|word| word.as_str()).collect();
        let (command, settings) = snapshot::parse(&rest, settings.into_iter().cloned().collect())?;
        return Ok((Command::Snapshot(command), settings));
    }
    let command = match words.as_slice() {
        [] => Command::Run,
        [word] => match word.as_str() {
            "run" => Command::Run,
            "config" => Command::Config,
            "check" => Command::Check,
            "healthcheck" => Command::HealthCheck,
            other => return Err(unknown_word(args, other, "unknown command")),
        },
        [_, second, ..] => return Err(unknown_word(args, second, "unexpected word")),
    };
    Ok((command, settings.into_iter().cloned().collect()))
}

/// A word behind an option without a value was probably meant to be that value.
fn unknown_word(args: &[String], word: &str, what: &str) -> String {
    let before = args.iter().position(|arg| arg == word).and_then(|at| args.get(at.checked_sub(1)?));
    match before.filter(|option| option.starts_with("--") && !option.contains('=')) {
        Some(option) => format!("{what} {word:?}; settings are written with =, as in {option}={word}"),
        None => format!("{what} {word:?}; see heureka --help"),
    }
}

/// Runs the command that the process was started with.
#[must_use]
pub fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (command, settings) = match parse(&args) {
        Ok(parsed) => parsed,
        Err(reason) => return usage_error(&reason),
    };
    let outcome = match command {
        Command::Help => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Command::Version => {
            println!("heureka {}", env!("CARGO_PKG_VERSION"));
            return ExitCode::SUCCESS;
        }
        Command::Run => return run(settings),
        Command::Config => load(settings).and_then(|loaded| config::print(&loaded)),
        Command::Check => load(settings).and_then(|loaded| config::check(&loaded)),
        Command::HealthCheck => load(settings).and_then(|loaded| healthcheck::ask(&loaded.settings)),
        Command::Snapshot(command) => {
            load(settings).and_then(|loaded| snapshot::run(&command, &loaded.settings))
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("heureka: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// A configuration that cannot be used is told like any other mistake of a command; what happens later stands in the log.
fn run(settings: Vec<String>) -> ExitCode {
    let invocation = invocation(settings);
    let loaded = match load_from(&invocation) {
        Ok(loaded) => loaded,
        Err(error) => {
            eprintln!("heureka: {error:#}");
            return ExitCode::FAILURE;
        }
    };
    match run::run(loaded, invocation) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("the node ends: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn usage_error(reason: &str) -> ExitCode {
    eprintln!("heureka: {reason}");
    ExitCode::from(2)
}

fn invocation(args: Vec<String>) -> Invocation {
    Invocation { args, ..Invocation::from_process() }
}

fn load_from(invocation: &Invocation) -> anyhow::Result<Loaded> {
    Ok(heureka_config::load_with(invocation, &SystemHostFacts)?)
}

fn load(args: Vec<String>) -> anyhow::Result<Loaded> {
    load_from(&invocation(args))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(args: &[&str]) -> Result<(Command, Vec<String>), String> {
        parse(&args.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn the_first_word_is_the_command_and_options_are_settings() {
        assert_eq!(parsed(&[]), Ok((Command::Run, vec![])));
        assert_eq!(
            parsed(&["--a=b", "check", "-Dc=d"]),
            Ok((Command::Check, vec!["--a=b".into(), "-Dc=d".into()]))
        );
        assert_eq!(parsed(&["config", "--help"]).map(|(command, _)| command), Ok(Command::Help));
        assert!(parsed(&["start"]).is_err() && parsed(&["run", "now"]).is_err());
        for args in [&["check", "--server.port", "9000"][..], &["--server.port", "9000"]] {
            assert!(parsed(args).unwrap_err().ends_with("as in --server.port=9000"), "{args:?}");
        }
    }
}
