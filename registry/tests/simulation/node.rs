//! One node: applications, a queue towards every peer, and what its actors keep beside them. No rule lives here.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use heureka_protocol::batch::Action;
use heureka_protocol::{AppName, Status, StatusCounts};
use heureka_registry::eviction_plan::Compensation;
use heureka_registry::replication::{Arrivals, Batch, DropReason, Key, PeerQueue, Rounds};
use heureka_registry::{
    Application, ClockReading, DeltaLog, LeaseExpiry, LeaseTotals, MinuteCounter, Now, Record, Rules,
    SelfPreservation,
};

use crate::agenda::Life;
use crate::disk::{Image, KeptCancels};
use crate::plan::Plan;
use crate::world::EPOCH_MS;

/// What a node has to say to one peer.
#[derive(Debug)]
pub struct Link {
    pub queue: PeerQueue,
    pub flights: BTreeMap<u64, Batch>,
    /// What the last comparison has found.
    pub rounds: Rounds,
    /// When the queue will be asked next.
    pub wake_ms: Option<u64>,
    /// Writes that the queue has given up so far.
    pub dropped: u64,
    /// When the peer was last to be told of a cancel or an operation on an override, by application and id.
    pub bounded: HashMap<Key, u64>,
}

impl Link {
    /// The peer is to be told something that must not be given up before its time.
    pub fn note_bounded(&mut self, key: &Key, mono_ms: u64) {
        self.bounded.insert(key.clone(), mono_ms);
    }

    /// Of what `bounded` names, that of which a cancel or an operation on an override waits.
    pub fn waiting_bounded(&self) -> Vec<Key> {
        let waits = |key: &&Key| {
            let intents = self.queue.waiting(key.app(), key.id());
            intents.has_cancel() || intents.override_kind().is_some()
        };
        self.bounded.keys().filter(waits).cloned().collect()
    }

    /// Writes that waited for too long.
    pub fn expired(&self) -> u64 {
        let writes = Action::ALL.into_iter().filter(|action| *action != Action::Heartbeat);
        writes.map(|action| self.queue.tally().dropped(action, DropReason::Expired)).sum()
    }
}

/// A node.
#[derive(Debug)]
pub struct Node {
    pub place: usize,
    pub life: u32,
    pub is_member: bool,
    pub is_up: bool,
    pub is_open: bool,
    /// The lists of the peers are on their way.
    pub is_copying: bool,
    pub is_leaving: bool,
    /// The rules, with the clock of its own that orders operations on overrides.
    pub rules: Rules,
    /// Wall clock minus true time.
    pub wall_offset_ms: i64,
    /// The monotonic clock began somewhere else on every node, and begins again with every life.
    pub mono_base_ms: u64,
    pub apps: BTreeMap<AppName, Application>,
    pub logs: BTreeMap<AppName, DeltaLog>,
    pub counts: StatusCounts,
    pub links: BTreeMap<usize, Link>,
    /// Heartbeats on their way to the queues.
    pub beats: Vec<Arc<Record>>,
    pub minute: MinuteCounter,
    pub protection: SelfPreservation,
    pub compensation: Compensation,
    /// Batches that have come in.
    pub arrivals: Arrivals,
    /// What the writer knows of cancels.
    pub cancels: KeptCancels,
    /// The last snapshot.
    pub disk: Option<Image>,
    /// What a snapshot at the very end would have held.
    pub last: Option<Image>,
    pub seen: Seen,
}

/// What the simulation itself remembers of a node, apart from all rules.
#[derive(Debug, Default)]
pub struct Seen {
    /// When the lease of each client must have ended, in true time.
    pub lease_ends: BTreeMap<usize, u64>,
    /// When what was last done for each client was sent.
    pub last_sent_ms: BTreeMap<usize, u64>,
    /// The last batch of every life of every node with each client.
    pub last_batches: BTreeMap<(Life, usize), u64>,
    /// Renewals of this minute and of the last one.
    pub renewals: (u64, u64),
}

impl Node {
    pub fn new(place: usize, plan: &Plan) -> Self {
        Self {
            place,
            life: 0,
            is_member: false,
            is_up: false,
            is_open: false,
            is_copying: false,
            is_leaving: false,
            rules: Rules { stamps: Arc::default(), ..plan.rules.clone() },
            wall_offset_ms: 0,
            mono_base_ms: 0,
            apps: BTreeMap::new(),
            logs: BTreeMap::new(),
            counts: StatusCounts::default(),
            links: BTreeMap::new(),
            beats: Vec::new(),
            minute: MinuteCounter::new(),
            protection: SelfPreservation::new(plan.protection),
            compensation: Compensation::new(),
            arrivals: Arrivals::default(),
            cancels: KeptCancels::default(),
            disk: None,
            last: None,
            seen: Seen::default(),
        }
    }

    pub fn life(&self) -> Life {
        Life { node: self.place, number: self.life }
    }

    pub fn now(&self, true_ms: u64) -> Now {
        let wall_ms = EPOCH_MS + i64::try_from(true_ms).unwrap() + self.wall_offset_ms;
        Now { mono_ms: self.mono_base_ms + true_ms, wall_ms }
    }

    /// What its clock says to peers, if it says anything.
    pub fn reading(&self, now: Now, are_ours: bool) -> Option<ClockReading> {
        are_ours.then(|| self.rules.stamps.read(now))
    }

    pub fn app(&self, name: &str) -> Option<&Application> {
        self.apps.get(name)
    }

    pub fn record(&self, app: &str, id: &str) -> Option<&Arc<Record>> {
        self.app(app)?.get(id)
    }

    pub fn override_of(&self, app: &str, id: &str) -> Option<Status> {
        Some(self.app(app)?.override_of(id)?.status)
    }

    pub fn records(&self) -> impl Iterator<Item = &Arc<Record>> {
        self.apps.values().flat_map(Application::records)
    }

    pub fn totals(&self) -> LeaseTotals {
        self.apps.values().map(Application::totals).sum()
    }

    /// Whether leases may expire, as the actors would find it.
    pub fn is_expiration_enabled(&mut self) -> bool {
        self.protection.observe(self.totals());
        self.protection.lease_expiration_enabled(self.minute.last_minute())
    }

    /// The same figured out from scratch: renewals against 85 % of what the leases promise.
    pub fn may_evict(&self, plan: &Plan) -> bool {
        let promised: u64 = self
            .records()
            .map(|record| 60 / u64::try_from(record.instance.lease.renewal_interval_secs).unwrap())
            .sum();
        let threshold = promised * 85 / 100;
        !plan.protection.enabled || (threshold > 0 && self.seen.renewals.1 > threshold)
    }

    /// A client's lease was renewed or began, by our own reckoning (invariants L-1, L-2).
    pub fn note_lease(&mut self, who: usize, is_renewal: bool, true_ms: u64, plan: &Plan) {
        let duration_ms = plan.duration_secs * 1000;
        let doubled = u64::from(is_renewal && plan.rules.lease_expiry == LeaseExpiry::Java);
        let end_ms = true_ms + duration_ms * (1 + doubled);
        let end = self.seen.lease_ends.entry(who).or_default();
        *end = if is_renewal { (*end).max(end_ms) } else { end_ms };
    }

    pub fn image(&self, now: Now) -> Image {
        Image::of(self.apps.values(), &self.cancels, now)
    }

    /// The name under which its batches come in, if it says one.
    pub fn name(life: Life, are_ours: bool) -> Option<String> {
        are_ours.then(|| format!("{}-{}", life.node, life.number))
    }

    /// How often its queues were told something.
    pub fn told(&self) -> u64 {
        self.links.values().map(|link| link.queue.tally().offered).sum()
    }
}
