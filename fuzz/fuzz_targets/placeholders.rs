//! `${...}` in values. The first line is the text, each further one `name=value` is a key `x.name` that it may name.
#![no_main]

use heureka_config::Settings;
use heureka_fuzz::check_config_error;

/// Longest result of `placeholders.rs` (1 MiB), twice: the piece that goes over it is added before it is noticed.
const MAX_RESULT_BYTES: usize = 2 << 20;

libfuzzer_sys::fuzz_target!(|input: &str| {
    let (text, rest) = input.split_once('\n').unwrap_or((input, ""));
    let named: Vec<(String, &str)> = rest
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(name, value)| (format!("x.{name}"), value))
        .collect();
    let mut pairs: Vec<(&str, &str)> = named.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    pairs.push(("eureka.environment", text));
    match Settings::from_properties(&pairs) {
        Ok(settings) => {
            assert!(settings.environment.len() <= MAX_RESULT_BYTES, "{} bytes", settings.environment.len());
            if !text.contains("${") && !text.trim().is_empty() {
                assert_eq!(settings.environment.trim(), text.trim());
            }
        }
        Err(error) => {
            assert!(text.contains("${") || text.contains("{cipher}"), "{error}");
            check_config_error(input, &error);
        }
    }
});
