//! A peer's answers to a replication list.
#![no_main]

use heureka_fuzz::{check_draft, check_error, check_responses};
use heureka_protocol::Limits;
use heureka_protocol::batch::read_responses;

libfuzzer_sys::fuzz_target!(|body: &[u8]| {
    match read_responses(body, &Limits::DEFAULT) {
        Ok(answers) => {
            for draft in answers.iter().filter_map(|answer| answer.entity.as_ref()) {
                check_draft((**draft).clone(), true);
            }
            check_responses(answers);
        }
        Err(error) => check_error(&error),
    }
});
