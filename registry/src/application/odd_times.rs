//! Registrations whose dirty timestamp makes one look at clocks (`replication.md` 9.3.6). They are applied all the same; who
//! counts asks before.

use heureka_protocol::Instance;

use crate::time::Now;

use super::Application;

/// What a registration may be ahead of our wall clock, milliseconds.
const AHEAD_MS: i64 = 60_000;

impl Application {
    /// True if newer content is here, which stays: the client has restarted with an earlier clock, or the registration has
    /// come late (defect D13).
    #[must_use]
    pub fn is_stale(&self, incoming: &Instance) -> bool {
        let known = self.get(&incoming.instance_id);
        known.is_some_and(|record| record.instance.last_dirty_timestamp > incoming.last_dirty_timestamp)
    }

    /// True if it is from the future: until that is over, whatever the client registers by a right clock changes nothing
    /// (defect D14).
    #[must_use]
    pub fn is_from_future(incoming: &Instance, now: Now) -> bool {
        incoming.last_dirty_timestamp > now.wall_ms.saturating_add(AHEAD_MS)
    }
}
