//! `application.yml`.
#![no_main]

use heureka_config::read_yaml;
use heureka_fuzz::{check_config_error, check_yaml};

libfuzzer_sys::fuzz_target!(|text: &str| {
    match read_yaml(text, "application.yml") {
        Ok(documents) => check_yaml(text, &documents),
        Err(error) => check_config_error(text, &error),
    }
});
