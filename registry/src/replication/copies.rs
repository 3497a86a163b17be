//! The lists of several peers made into one: of two copies of an instance the newer one counts (`replication.md` 6.4).

use std::collections::BTreeMap;

use heureka_protocol::{AppName, Instance, InstanceId};

/// The newest copy of every instance, in the order of application and id. Of copies with the same dirty timestamp the first
/// one stays, so the order of the lists decides.
#[must_use]
pub fn newest_copies(lists: impl IntoIterator<Item = Instance>) -> Vec<Instance> {
    let mut newest: BTreeMap<(AppName, InstanceId), Instance> = BTreeMap::new();
    for copy in lists {
        let key = (copy.app.clone(), InstanceId::clone(&copy.instance_id));
        let known = newest.get(&key).map(|known| known.last_dirty_timestamp);
        if known.is_none_or(|known| known < copy.last_dirty_timestamp) {
            newest.insert(key, copy);
        }
    }
    newest.into_values().collect()
}
