//! The figures that the start page and `GET status` share (spec `spring.md` 2.6, `registry.md` 8.7).

use heureka_actors::Refused;
use heureka_actors::replicator::{PeerState, PeerStatus};

use crate::node::Node;
use crate::process::Memory;

const BYTES_PER_MB: u64 = 1024 * 1024;
const MS_PER_MINUTE: u64 = 60_000;

/// General figures, peers, and whether enough of them are there.
#[derive(Clone, Debug)]
pub struct StatusReport {
    /// Rows of "General Info", name and value.
    pub general: Vec<(&'static str, String)>,
    /// Rows about peers.
    pub replicas: Vec<(&'static str, String)>,
    /// Whether enough peers are available; `None` if nobody has said how many are enough.
    pub is_healthy: Option<bool>,
}

impl StatusReport {
    /// The figures of this moment.
    ///
    /// # Errors
    /// If the registry does not answer.
    pub async fn of(node: &Node) -> Result<Self, Refused> {
        let memory = Memory::now();
        let total_mb = memory.total_bytes / BYTES_PER_MB;
        let used_mb = memory.resident_bytes / BYTES_PER_MB;
        let percent = (used_mb * 100).checked_div(total_mb).unwrap_or(0);
        let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let mut general = vec![
            ("total-avail-memory", format!("{total_mb}mb")),
            ("num-of-cpus", cpus.to_string()),
            ("current-memory-usage", format!("{used_mb}mb ({percent}%)")),
            ("server-uptime", uptime(node.registry.shared().clock.uptime_ms())),
        ];
        if let Some(snapshots) = &node.snapshots {
            let now = node.registry.shared().clock.now();
            general.push(("snapshot", snapshots.status(now.mono_ms).summary(now.wall_ms)));
        }
        if let Some(failure) = node.peer_lists.failure() {
            general.push(("peer-list", format!("an old one, wholly or in part: {failure}")));
        }
        if let Some(problem) = node.peer_copies.problem() {
            general.push(("peer-copy", format!("nothing was copied from {problem}")));
        }
        let (available, unavailable): (Vec<PeerStatus>, Vec<PeerStatus>) =
            node.peer_statuses().into_iter().partition(|peer| peer.state == PeerState::Available);
        let listed = |peers: &[PeerStatus]| peers.iter().map(|peer| format!("{},", peer.url)).collect();
        let replicas = vec![
            ("registered-replicas", node.peer_urls().join(", ")),
            ("available-replicas", listed(&available)),
            ("unavailable-replicas", listed(&unavailable)),
        ];
        let minimum = node.settings.registry.peers.min_available;
        let is_healthy = minimum.map(|minimum| available.len() as u64 >= u64::from(minimum));
        Ok(Self { general, replicas, is_healthy })
    }
}

/// `HH:MM`, from a day on with the days in front: Java's form.
#[must_use]
pub fn uptime(uptime_ms: u64) -> String {
    let minutes = uptime_ms / MS_PER_MINUTE;
    let (days, hours, minutes) = (minutes / 1440, minutes / 60 % 24, minutes % 60);
    match days {
        0 => format!("{hours:02}:{minutes:02}"),
        1 => format!("1 day {hours:02}:{minutes:02}"),
        _ => format!("{days} days {hours:02}:{minutes:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uptime_has_javas_form() {
        let at = |days: u64, hours: u64, minutes: u64| {
            uptime(((days * 24 + hours) * 60 + minutes) * MS_PER_MINUTE)
        };
        assert_eq!((at(0, 0, 0), at(0, 23, 59)), ("00:00".into(), "23:59".into()));
        assert_eq!((at(1, 0, 10), at(2, 3, 7)), ("1 day 00:10".into(), "2 days 03:07".into()));
    }
}
