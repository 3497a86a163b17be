//! Feeds the recordings of real client libraries to a server of our own, each to a fresh one.

use std::thread;

use heureka::testing::TestServer;

use super::clients::{load, replay};
use super::recording::{folder, json_files, scenarios};
use super::replay_test::{free_port, properties};

#[test]
fn every_client_is_served() {
    let files = json_files(&folder("clients"));
    assert_eq!(files.len(), 28, "recordings of clients");
    let all = scenarios();
    // The settings common to all scenarios: what was written is read at once.
    let common = &all[0];
    let mut failures = Vec::new();
    for batch in files.chunks(4) {
        thread::scope(|scope| {
            let running: Vec<_> = batch
                .iter()
                .map(|file| {
                    scope.spawn(move || {
                        let server = TestServer::start(&properties(common, free_port()));
                        let name = file.file_stem().unwrap_or_default().display().to_string();
                        let found = replay(&load(file), server.port());
                        found.into_iter().map(|failure| format!("{name}: {failure}")).collect::<Vec<_>>()
                    })
                })
                .collect();
            for thread in running {
                failures.extend(thread.join().unwrap());
            }
        });
    }
    assert!(failures.is_empty(), "{} answers are not as required\n{}", failures.len(), failures.join("\n"));
}
