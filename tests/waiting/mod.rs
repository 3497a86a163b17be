//! Waiting for what must happen, without a guess how long it takes.

use std::thread;
use std::time::{Duration, Instant};

/// When a wait is given up. Most things take milliseconds; a busy machine may need many times as long, and a wait that is in
/// vain fails anyway.
const PATIENCE: Duration = Duration::from_secs(120);
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Waits until something holds.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "did not happen: {what}");
        thread::sleep(LOOK_AGAIN);
    }
}

/// Asks until there is an answer.
pub(crate) fn until_some<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let mut answer = None;
    until(what, || {
        answer = ask();
        answer.is_some()
    });
    answer.expect("an answer")
}
