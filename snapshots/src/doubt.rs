//! Reasons not to use a store. Each one means: start cold, say why; and if the store is to blame, move it aside. Otherwise it
//! stays for the next start.

use std::time::Duration;

use thiserror::Error;

use crate::frame::FORMAT;
use crate::store::StoreError;

/// Why a store is not used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Doubt {
    /// There are stores, but nothing says which one counts.
    #[error("there is no pointer to the store in use")]
    NoPointer,
    /// The pointer is not what was written.
    #[error("the pointer to the store in use is damaged")]
    DamagedPointer,
    /// The pointer names a store that is not there.
    #[error("the store in use is missing")]
    NoStore,
    /// A later version of the program has been here.
    #[error("it was written in format {0} by a later version; this one reads up to format {FORMAT}")]
    NewerFormat(u16),
    /// The store does not open or cannot be read to the end.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The store library panicked.
    #[error("the store library failed: {0}")]
    Panicked(String),
    /// The system gives no thread to work on: that says nothing about the store.
    #[error("there is no thread to load it on: {0}")]
    NoThread(String),
    /// Too slow: a start must not wait for it. The machine may have been asleep, or busy with something else.
    #[error("it was not loaded within {} ms", .0.as_millis())]
    TimedOut(Duration),
    /// A store without its most important record.
    #[error("the record that describes the store is missing or damaged")]
    NoMeta,
    /// More than a few damaged records.
    #[error("{bad} of {all} records are damaged")]
    TooManyBadRecords {
        /// Damaged ones.
        bad: u64,
        /// All.
        all: u64,
    },
    /// Every record is whole, but together they are not what was written.
    #[error("it does not hold what was written last: records are missing, old or too many")]
    BrokenSeal,
}

impl Doubt {
    /// False if it says nothing about the store: nothing was wrong with it when it was last looked at.
    #[must_use]
    pub const fn blames_store(&self) -> bool {
        match self {
            Self::NoThread(_) | Self::TimedOut(_) => false,
            Self::Store(error) => !error.is_busy,
            _ => true,
        }
    }
}
