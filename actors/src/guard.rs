//! Panics stay where they happen: one message is lost, the actor lives on.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs one step of an actor; a panic in it is logged and becomes an error.
///
/// actix ends an actor whose handler panics and its supervisor does not start it again, so every handler that runs rules
/// goes through here. What the step may have left half-done is the caller's to mend.
pub fn guarded<R>(actor: &'static str, step: impl FnOnce() -> R) -> Result<R, Panicked> {
    catch_unwind(AssertUnwindSafe(step)).map_err(|payload| {
        let reason = text_of(&*payload);
        tracing::error!(actor, reason, "an actor step panicked; the actor recovers");
        Panicked
    })
}

/// A step panicked; the reason has been logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Panicked;

fn text_of(payload: &(dyn Any + Send)) -> &str {
    payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no text")
}
