//! Documents of servers in JSON.
#![no_main]

use heureka_fuzz::{check_applications, check_error};
use heureka_protocol::{Limits, json};

libfuzzer_sys::fuzz_target!(|body: &[u8]| {
    match json::read_applications(body, &Limits::SERVER_DOCUMENT) {
        Ok(read) => check_applications(&read),
        Err(error) => check_error(&error),
    }
});
