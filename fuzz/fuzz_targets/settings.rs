//! A whole start without files. A line that begins with a dash is an argument, any other `NAME=value` a variable.
#![no_main]

use heureka_config::{ConfigError, Invocation, Loaded, load};
use heureka_fuzz::check_config_error;

/// Stands in every start and may never be shown.
const PASSWORD: &str = "s3ntinel-Zq7";

libfuzzer_sys::fuzz_target!(|input: &str| {
    // files are the business of other targets, and a name of a file could be that of a device
    if canonical(input).contains("config") {
        return;
    }
    let invocation = invocation(input);
    let loaded = load(&invocation);
    if let Err(error) = &loaded {
        check_config_error(input, error);
    }
    let shown = show(&loaded);
    // a placeholder may take the password to a place that is no secret; that is the user's word
    assert!(input.contains("${") || !shown.contains(PASSWORD), "{shown}");
    // a part of the inputs is enough, for a start costs milliseconds
    if input.len().is_multiple_of(4) && !canonical(input).contains("random") {
        assert_eq!(shown, show(&load(&invocation)), "the same start twice");
    }
});

fn canonical(input: &str) -> String {
    input.replace(['-', '_'], "").to_lowercase()
}

fn invocation(input: &str) -> Invocation {
    let (mut args, mut env) = (vec![format!("--spring.security.user.password={PASSWORD}")], Vec::new());
    for line in input.lines() {
        if line.starts_with('-') {
            args.push(line.to_owned());
        } else if let Some((name, value)) = line.split_once('=') {
            env.push((name.to_owned(), value.to_owned()));
        }
    }
    Invocation { args, env, working_dir: "/nonexistent/heureka".into() }
}

/// Everything that an operator could see of it.
fn show(loaded: &Result<Loaded, ConfigError>) -> String {
    match loaded {
        Ok(Loaded { settings, report, written }) => {
            let effective: Vec<String> = report.effective().iter().map(ToString::to_string).collect();
            let notices: Vec<String> = report.notices.iter().map(ToString::to_string).collect();
            format!("{settings:?}\n{report:?}\n{written:?}\n{}\n{}", effective.join("\n"), notices.join("\n"))
        }
        Err(error) => format!("{error}\n{error:?}"),
    }
}
