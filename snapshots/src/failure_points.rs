//! Places at which a test may stop everything, as a crash would.

use std::fmt;
use std::io;

/// A place between two steps that only make sense together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A new store has been made; nothing points to it.
    StoreMade,
    /// A slice has been copied into a new store.
    SliceCopied,
    /// The new store is complete and flushed; the pointer still names the old one.
    StoreComplete,
    /// The text of the new pointer is on the disk, under another name.
    PointerWritten,
    /// The pointer names the new store; the old one is still there.
    PointerMoved,
    /// The folder in doubt has been moved aside.
    MovedAside,
}

/// Asked at each step; an error stops the work there and then.
pub trait FailurePoints: fmt::Debug + Send + Sync {
    /// A step has been reached.
    ///
    /// # Errors
    /// If the test wants the process to end here.
    fn reach(&self, step: Step) -> io::Result<()>;
}

/// What runs outside tests.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFailures;

impl FailurePoints for NoFailures {
    fn reach(&self, _: Step) -> io::Result<()> {
        Ok(())
    }
}
