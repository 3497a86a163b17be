//! What a seed decides before a history begins: size, settings, and how hostile the world is.

use heureka_registry::replication::QueueSettings;
use heureka_registry::{LeaseExpiry, ProtectionSettings, Rules};

use crate::chance::Chance;
use crate::truth::Promise;

/// Names of the applications.
pub const APPS: [&str; 3] = ["ORDERS", "USERS", "STOCK"];

/// Shape of one history.
#[derive(Debug)]
pub struct Plan {
    /// Places for nodes; some may stay empty until somebody joins.
    pub places: usize,
    /// Nodes at the start.
    pub members: usize,
    /// Clients, each with one instance.
    pub clients: usize,
    /// Applications that the instances belong to.
    pub apps: usize,
    pub renewal_secs: u64,
    pub duration_secs: u64,
    /// Storms, each followed by a heal and two looks.
    pub epochs: usize,
    pub storm_ms: u64,
    /// Mean time between two changes of the network, and between two troubles of nodes.
    pub weather_ms: u64,
    pub trouble_ms: u64,
    /// Mean time between two spontaneous acts of one client, and between two operations on overrides.
    pub act_ms: u64,
    pub operate_ms: u64,
    /// How long a sender waits for an answer.
    pub timeout_ms: u64,
    /// All are nodes of our kind and say so. Otherwise they tell one another no more than Java servers do.
    pub are_ours: bool,
    /// Nodes compare themselves with each other,
    pub compares: bool,
    /// after about this time again. Production does it once a minute; more often is more dangerous.
    pub comparison_ms: u64,
    pub rules: Rules,
    pub queue: QueueSettings,
    pub protection: ProtectionSettings,
}

impl Plan {
    /// Draws a plan. Small numbers find more: two instances meet more often than two hundred.
    pub fn draw(chance: &mut Chance) -> Self {
        let places = chance.pick(&[2, 3, 3, 3, 4, 5]);
        let renewal_secs = chance.pick(&[10, 15, 30]);
        let eviction_interval_ms = chance.pick(&[5_000, 10_000, 20_000]);
        let rules = Rules {
            store_equal_override: chance.permille(700),
            lease_expiry: if chance.permille(800) { LeaseExpiry::Java } else { LeaseExpiry::Exact },
            eviction_interval_ms,
            ..Rules::default()
        };
        let queue = QueueSettings {
            batch_items_max: chance.pick(&[3, 10, 250]),
            batches_in_flight_max: chance.pick(&[1, 4, 4]),
            slots_max: if chance.permille(100) { 4 } else { 100_000 },
            eviction_interval_ms,
            ..QueueSettings::default()
        };
        let protection = ProtectionSettings { enabled: chance.permille(500), ..Default::default() };
        let members = if chance.permille(700) { places } else { places - 1 };
        let are_ours = chance.permille(700);
        Self {
            places,
            members,
            clients: 2 + chance.index(9),
            apps: 1 + chance.index(3),
            renewal_secs,
            duration_secs: 3 * renewal_secs,
            epochs: chance.pick(&[1, 1, 1, 2, 3]),
            storm_ms: chance.range(20_000..150_000),
            weather_ms: chance.pick(&[2_000, 8_000, 30_000]),
            trouble_ms: chance.pick(&[10_000, 40_000, 120_000, 1_000_000]),
            act_ms: chance.pick(&[5_000, 20_000, 60_000]),
            operate_ms: chance.pick(&[3_000, 10_000, 40_000]),
            timeout_ms: chance.pick(&[200, 200, 1_000]),
            are_ours,
            compares: are_ours && chance.permille(700),
            comparison_ms: chance.pick(&[5_000, 15_000, 60_000]),
            rules,
            queue,
            protection,
        }
    }

    /// What is promised is repaired by then: the longest pause of a queue, three rounds of heartbeats, and the way; with
    /// anti-entropy three rounds of that more (`replication.md` 9.3.4), after the time that a word may be on its way.
    pub fn rounds_ms(&self, promise: Promise) -> u64 {
        let pauses_ms = 2 * self.queue.congestion_pause_ms.1;
        let comparisons_ms = match promise {
            Promise::AntiEntropy => {
                3 * self.comparison_ms + self.queue.longest_way_ms(self.duration_secs * 1000)
            }
            Promise::Heartbeats => 0,
        };
        pauses_ms + 3 * self.renewal_secs * 1000 + 5_000 + comparisons_ms
    }

    /// Every lease without heartbeats has ended by then, the rate of a full minute is known twice over, and as many
    /// sweeps have passed as the limit of each needs.
    pub fn lease_end_ms(&self) -> u64 {
        let sweeps = u64::try_from(self.clients).unwrap() + 2;
        2 * self.duration_secs * 1000 + 120_000 + sweeps * self.rules.eviction_interval_ms
    }

    /// The client that an id belongs to.
    pub fn who(id: &str) -> usize {
        id.trim_start_matches("i-").parse().unwrap()
    }

    /// The application of a client.
    pub fn app_of(&self, who: usize) -> &'static str {
        APPS[who % self.apps]
    }
}
