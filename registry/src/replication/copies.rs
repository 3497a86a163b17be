//! The lists of several peers made into one: of two copies of an instance the newer one counts (`replication.md` 6.4).

use std::collections::BTreeMap;

use heureka_protocol::{AppName, Instance, InstanceId};

use crate::stamp::{OverrideState, Stamp};

/// An instance in the list of a peer.
#[derive(Clone, Debug)]
pub struct PeerCopy {
    /// The instance.
    pub instance: Instance,
    /// When its override was last set or removed; only nodes of our kind tell it.
    pub stamp: Option<Stamp>,
}

impl PeerCopy {
    fn override_state(&self) -> OverrideState {
        OverrideState::of(self.instance.overridden_status, self.stamp)
    }

    /// Takes over the override of another copy if it is later.
    fn take_override_of(&mut self, other: &Self) {
        let (ours, theirs) = (self.override_state(), other.override_state());
        if other.stamp.is_none() || !ours.yields_to(theirs) {
            return;
        }
        self.stamp = other.stamp;
        if ours.status != theirs.status {
            if self.instance.status == self.instance.overridden_status {
                // It shows the override that is not in force any more.
                self.instance.status = other.instance.status;
            }
            self.instance.overridden_status = other.instance.overridden_status;
        }
    }
}

/// The newest copy of every instance, in the order of application and id, with the override of the copy whose operation is
/// the latest. Of copies with the same dirty timestamp the one with the later operation counts, else the first one, so then
/// the order of the lists decides.
#[must_use]
pub fn newest_copies(lists: impl IntoIterator<Item = PeerCopy>) -> Vec<PeerCopy> {
    let mut newest: BTreeMap<(AppName, InstanceId), PeerCopy> = BTreeMap::new();
    for mut copy in lists {
        let key = (copy.instance.app.clone(), InstanceId::clone(&copy.instance.instance_id));
        match newest.get_mut(&key) {
            None => {
                newest.insert(key, copy);
            }
            Some(known) if is_newer(&copy, known) => {
                copy.take_override_of(known);
                *known = copy;
            }
            Some(known) => known.take_override_of(&copy),
        }
    }
    newest.into_values().collect()
}

fn is_newer(copy: &PeerCopy, known: &PeerCopy) -> bool {
    let dirty = |copy: &PeerCopy| copy.instance.last_dirty_timestamp;
    let is_later = copy.stamp.is_some() && known.override_state().yields_to(copy.override_state());
    dirty(copy) > dirty(known) || (dirty(copy) == dirty(known) && is_later)
}
