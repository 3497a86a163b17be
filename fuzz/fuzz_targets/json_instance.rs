//! Registration bodies in JSON, with and without root wrapper.
#![no_main]

use heureka_fuzz::{check_draft, check_error};
use heureka_protocol::{Limits, json};

libfuzzer_sys::fuzz_target!(|body: &[u8]| {
    for read in
        [json::read_instance(body, &Limits::DEFAULT), json::read_instance_object(body, &Limits::DEFAULT)]
    {
        match read {
            Ok(draft) => check_draft(draft, true),
            Err(error) => check_error(&error),
        }
    }
});
