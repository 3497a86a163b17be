//! Tests of the queue that stands behind every replicator: one per rule of `replication.md` 9.3.1 to 9.3.3, and random
//! histories that end with both nodes equal.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails, also inside its helpers")]

mod answers;
mod arrivals;
mod failures;
mod histories;
mod limits;
mod merging;
mod messages;
mod pace;
mod receiving;
mod repairs;
mod repairs_by_age;
mod stamps;
mod support;
