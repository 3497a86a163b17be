//! Look-ups of single instances: which of them may see an expired lease (`registry.md` 7.2).

use std::sync::Arc;

use crate::record::Record;
use crate::time::Now;

use super::Application;

/// Result of a look-up by id.
#[derive(Clone, Copy, Debug)]
pub enum LookUp<'a> {
    /// Here it is.
    Visible(&'a Arc<Record>),
    /// The instance is known but its lease has expired while expiry is enabled: 404, and no other region is asked for it
    /// (defect D43).
    Hidden,
    /// Never heard of it.
    Absent,
}

impl Application {
    /// Looks an instance up for the calls that address a single instance. Lists show expired leases, these calls do not
    /// as long as leases may expire (invariant Q-5).
    #[must_use]
    pub fn look_up(&self, id: &str, now: Now, expiration_enabled: bool) -> LookUp<'_> {
        match self.get(id) {
            None => LookUp::Absent,
            Some(record) if expiration_enabled && record.lease.is_expired(now.mono_ms, 0) => LookUp::Hidden,
            Some(record) => LookUp::Visible(record),
        }
    }

    /// True if [`Application::look_up`] shows the instance.
    #[must_use]
    pub fn is_visible(&self, id: &str, now: Now, expiration_enabled: bool) -> bool {
        matches!(self.look_up(id, now, expiration_enabled), LookUp::Visible(_))
    }
}
