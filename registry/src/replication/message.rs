//! What an item says: the members that the wire has for its action (`replication.md` 2.7), for everybody who writes one.

use std::sync::Arc;

use heureka_protocol::Status;
use heureka_protocol::batch::Action;

use crate::record::Record;
use crate::stamp::Stamp;

use super::batch::Item;

/// Members of an item besides its names. One that is `None` is not written.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// Dirty timestamp of the sender's record; for a cancel that of the record that was cancelled, which Java does not
    /// write and does not read.
    pub last_dirty_timestamp: Option<i64>,
    /// For a heartbeat while an override is in force, and for an override that was stored, where Java does not write it
    /// and does not read it.
    pub overridden_status: Option<Status>,
    /// What the operation leads to: for an override that was set the override itself, else the status shown.
    pub status: Option<Status>,
    /// For a registration.
    pub record: Option<&'a Arc<Record>>,
    /// When the override was last set or removed; for a cancel, when that was done. Told in a header.
    pub stamp: Option<Stamp>,
}

impl Item {
    /// What the item says, from the record as it is now.
    #[must_use]
    pub fn message(&self) -> Message<'_> {
        let Some(record) = &self.record else {
            let last_dirty_timestamp = self.cancelled.map(|cancelled| cancelled.dirty);
            let stamp = self.cancelled.and_then(|cancelled| cancelled.stamp);
            return Message {
                last_dirty_timestamp,
                overridden_status: None,
                status: None,
                record: None,
                stamp,
            };
        };
        let instance = &record.instance;
        let overridden = Some(instance.overridden_status).filter(|status| *status != Status::Unknown);
        let is_set = self.action == Action::StatusUpdate && !self.is_stated;
        // An instance that has reported DOWN or STARTING since shows that; the override is what was set.
        let told = overridden.filter(|_| is_set);
        Message {
            last_dirty_timestamp: Some(instance.last_dirty_timestamp),
            overridden_status: overridden.filter(|_| is_set || self.action == Action::Heartbeat),
            status: Some(told.unwrap_or(instance.status)),
            record: Some(record).filter(|_| self.action == Action::Register),
            // Where nothing was stored there is nothing to tell of the override.
            stamp: record.override_stamp.get().filter(|_| !self.is_stated),
        }
    }
}
