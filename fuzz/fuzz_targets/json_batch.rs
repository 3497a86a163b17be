//! Replication lists and the answers to them.
#![no_main]

use heureka_fuzz::{check_draft, check_error};
use heureka_protocol::Limits;
use heureka_protocol::batch::{ReplicationTask, read_list, read_responses};

libfuzzer_sys::fuzz_target!(|body: &[u8]| {
    match read_list(body, &Limits::DEFAULT) {
        Ok(items) => {
            for item in items {
                match item.map(|item| item.task) {
                    Ok(ReplicationTask::Register(draft)) => check_draft(*draft, true),
                    Ok(_) => {}
                    Err(error) => check_error(&error),
                }
            }
        }
        Err(error) => check_error(&error),
    }
    match read_responses(body, &Limits::DEFAULT) {
        Ok(answers) => answers.into_iter().filter_map(|answer| answer.entity).for_each(|draft| check_draft(*draft, true)),
        Err(error) => check_error(&error),
    }
});
