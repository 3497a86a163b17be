//! Why an operation on an application was refused. Nothing has changed then (invariant R-10).

use thiserror::Error;

/// Refusal of an operation; a repetition of the same call would be refused again.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RegistryError {
    /// The application has no such instance: 404.
    #[error("no such instance")]
    InstanceNotFound,
    /// Too many metadata entries after the merge: 400.
    #[error("metadata would have {found} entries, at most {limit} are allowed")]
    TooManyMetadataEntries {
        /// Entries after the merge.
        found: usize,
        /// Entries allowed.
        limit: usize,
    },
    /// Too much metadata text after the merge: 400.
    #[error("metadata would have {found} bytes of text, at most {limit} are allowed")]
    TooMuchMetadata {
        /// Bytes of all keys and values after the merge.
        found: usize,
        /// Bytes allowed.
        limit: usize,
    },
}
