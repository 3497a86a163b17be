//! `application.properties`.
#![no_main]

use heureka_config::read_properties;
use heureka_fuzz::{check_config_error, check_properties};

libfuzzer_sys::fuzz_target!(|text: &str| {
    match read_properties(text, "application.properties") {
        Ok(documents) => check_properties(text, &documents),
        Err(error) => check_config_error(text, &error),
    }
});
