//! Metadata entries on their way in, held to the reader's limits.

use crate::metadata::Metadata;
use crate::report::{Path, Report};

/// A metadata map that is being read.
#[derive(Default)]
pub(crate) struct Entries {
    metadata: Metadata,
    /// Bytes of all that was inserted; an entry that comes twice counts twice.
    bytes: usize,
}

impl Entries {
    /// Takes an entry, or notes that it is one too many. An entry that comes twice has its last value.
    pub(crate) fn insert(&mut self, key: &str, text: &str, at: Path<'_>, report: &Report<'_>) {
        const FOUND: &str = "one entry too many";
        let limits = report.limits;
        self.bytes += key.len() + text.len();
        let is_full = self.metadata.len() >= limits.metadata_entries;
        if self.bytes > limits.metadata_bytes {
            report.fault(at, FOUND, format_args!("at most {} bytes of metadata", limits.metadata_bytes));
        } else if is_full && self.metadata.get(key).is_none() {
            report.fault(at, FOUND, format_args!("at most {} metadata entries", limits.metadata_entries));
        } else {
            self.metadata.insert(key, text);
        }
    }

    pub(crate) fn finish(mut self) -> Metadata {
        self.metadata.shrink();
        self.metadata
    }
}
