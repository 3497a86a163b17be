//! Registration bodies in XML.
#![no_main]

use heureka_fuzz::{check_draft, check_error};
use heureka_protocol::{Limits, xml};

libfuzzer_sys::fuzz_target!(|body: &[u8]| {
    match xml::read_instance(body, &Limits::DEFAULT) {
        Ok(draft) => check_draft(draft, false),
        Err(error) => check_error(&error),
    }
});
