//! Metadata changes: entries are merged, then the instance registers again (`wire.md` 1.13).

use std::sync::Arc;

use crate::change::{Change, Origin};
use crate::error::RegistryError;
use crate::lease::Lease;
use crate::rules::Rules;
use crate::stamp::OverrideState;
use crate::time::Now;

use super::Application;
use super::register::Accepted;

/// How much metadata an instance may have after a merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetadataLimits {
    /// Entries.
    pub entries_max: usize,
    /// Bytes of all keys and values.
    pub text_bytes_max: usize,
}

impl Default for MetadataLimits {
    fn default() -> Self {
        Self { entries_max: 64, text_bytes_max: 16 * 1024 }
    }
}

impl Application {
    /// Merges entries into the metadata of an instance; a key that is there gets the new value. Without entries nothing
    /// happens at all.
    ///
    /// # Errors
    /// If there is no such instance, or the merged metadata exceeds the limits; then nothing has changed.
    pub fn merge_metadata(
        &mut self,
        id: &str,
        entries: Vec<(String, String)>,
        limits: MetadataLimits,
        origin: Origin,
        now: Now,
        rules: &Rules,
    ) -> Result<Option<Change>, RegistryError> {
        let record = self.get(id).map(Arc::clone).ok_or(RegistryError::InstanceNotFound)?;
        if entries.is_empty() {
            return Ok(None);
        }
        let mut instance = record.instance.clone();
        for (key, value) in entries {
            instance.metadata.insert(key, value);
        }
        instance.metadata.shrink();
        limits.check(instance.metadata.len(), instance.metadata.text_bytes())?;
        let duration_ms = Lease::duration_ms_of(&instance.lease);
        let accepted = Accepted {
            instance,
            reported_status: record.reported_status,
            duration_ms,
            is_taken: true,
            told: OverrideState::default(),
            seed_stamp: None,
        };
        Ok(Some(self.start_lease(accepted, record.override_state(), origin, now, rules)))
    }
}

impl MetadataLimits {
    const fn check(self, entries: usize, text_bytes: usize) -> Result<(), RegistryError> {
        if entries > self.entries_max {
            return Err(RegistryError::TooManyMetadataEntries { found: entries, limit: self.entries_max });
        }
        if text_bytes > self.text_bytes_max {
            return Err(RegistryError::TooMuchMetadata { found: text_bytes, limit: self.text_bytes_max });
        }
        Ok(())
    }
}
