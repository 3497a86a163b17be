//! Replication lists.
#![no_main]

use heureka_fuzz::{check_draft, check_error, check_items};
use heureka_protocol::Limits;
use heureka_protocol::batch::{ReplicationTask, read_list};

libfuzzer_sys::fuzz_target!(|body: &[u8]| {
    match read_list(body, &Limits::DEFAULT) {
        Ok(items) => {
            items.iter().filter_map(|item| item.as_ref().err()).for_each(check_error);
            let items: Vec<_> = items.into_iter().flatten().collect();
            for item in &items {
                if let ReplicationTask::Register(draft) = &item.task {
                    check_draft((**draft).clone(), true);
                }
            }
            check_items(items);
        }
        Err(error) => check_error(&error),
    }
});
