//! The snapshots as a whole: what is written comes back, what is damaged is noticed, what was cancelled stays away.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails, also inside its helpers")]

mod behind;
mod clocks;
mod failures;
mod format;
mod golden;
mod opening;
mod properties;
mod rewriting;
mod room;
mod rot;
mod support;
mod tools;
mod troubled;
mod world;
mod writing;
