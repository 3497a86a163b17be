//! One application with its queue towards one peer, and a peer that applies batches by the same rules.

use std::sync::Arc;

use heureka_protocol::batch::{Action, ItemResponse};
use heureka_protocol::{AppName, Instance, Status};
use heureka_registry::replication::receive::{self, Circumstances, Incoming};
use heureka_registry::replication::{Batch, Item, Outcome, PeerQueue, QueueSettings, Settled};
use heureka_registry::{
    Application, Change, ClockReading, Heartbeat, Now, Origin, Renewal, RenewalAnswer, Rules, SplitMix64,
    StatusOutcome,
};

pub const APP: &str = "ORDERS";

/// A moment with both clocks in step.
pub fn at(mono_ms: u64) -> Now {
    Now { mono_ms, wall_ms: 1_700_000_000_000 + i64::try_from(mono_ms).unwrap() }
}

/// Rules of a node whose clock is in step: it shows what the monotonic clock of the test shows.
pub fn rules() -> Rules {
    let rules = Rules::default();
    rules.stamps.hear(ClockReading { ms: 1, is_in_step: true }, at(1));
    rules
}

pub fn instance(id: &str, dirty: i64) -> Instance {
    Instance {
        last_dirty_timestamp: dirty,
        ..Instance::with_defaults(AppName::new(APP), Arc::from(id), "host", "10.0.0.1")
    }
}

/// A node with one application, and its queue towards a peer.
pub struct Sender {
    pub app: Application,
    pub rules: Rules,
    pub queue: PeerQueue,
    pub now_ms: u64,
    pub random: SplitMix64,
}

impl Sender {
    pub fn new() -> Self {
        Self::with(QueueSettings::default())
    }

    pub fn with(settings: QueueSettings) -> Self {
        Self {
            app: Application::new(AppName::new(APP)),
            rules: rules(),
            queue: PeerQueue::new(settings),
            now_ms: 1_000_000,
            random: SplitMix64::new(7),
        }
    }

    pub fn now(&self) -> Now {
        at(self.now_ms)
    }

    pub fn pass(&mut self, ms: u64) {
        self.now_ms += ms;
    }

    fn offer(&mut self, change: Option<Change>) -> bool {
        if let Some(change) = &change {
            self.queue.offer(change, self.now_ms);
            self.queue.check().unwrap();
        }
        change.is_some()
    }

    pub fn register(&mut self, id: &str) {
        self.register_dirty(id, 100);
    }

    pub fn register_dirty(&mut self, id: &str, dirty: i64) {
        self.register_from(instance(id, dirty), Origin::Client);
    }

    pub fn register_from(&mut self, instance: Instance, origin: Origin) -> bool {
        let change = self.app.register(instance, origin, self.now(), &self.rules);
        self.offer(change)
    }

    pub fn renew(&mut self, id: &str) {
        let Renewal { change, answer } =
            self.app.renew(id, &Heartbeat::default(), Origin::Client, self.now(), &self.rules);
        if !self.offer(change) && matches!(answer, RenewalAnswer::Renewed) {
            self.queue.offer_heartbeat(self.app.get(id).unwrap(), self.now_ms);
        }
    }

    pub fn cancel(&mut self, id: &str) -> bool {
        self.cancel_from(id, Origin::Client)
    }

    pub fn cancel_from(&mut self, id: &str, origin: Origin) -> bool {
        let change = self.app.cancel(id, origin, self.now(), &self.rules);
        self.offer(change)
    }

    pub fn set_status(&mut self, id: &str, status: Status) {
        let outcome = self.app.set_status(id, status, None, Origin::Client, self.now(), &self.rules);
        self.offer(changed(outcome));
    }

    pub fn remove_override(&mut self, id: &str) {
        let outcome = self.app.remove_override(id, None, None, Origin::Client, self.now(), &self.rules);
        self.offer(changed(outcome));
    }

    pub fn next(&mut self) -> Option<Batch> {
        let batch = self.queue.next_batch(self.now_ms);
        self.queue.check().unwrap();
        batch
    }

    /// The batch that must leave now.
    pub fn take(&mut self) -> Batch {
        self.next().unwrap()
    }

    pub fn settle(&mut self, batch: &Batch, outcome: Outcome) -> Settled {
        let settled = self.queue.on_result(batch, outcome, self.now_ms, &mut self.random);
        self.queue.check().unwrap();
        settled
    }

    /// Every item of the batch is answered with one status.
    pub fn answer(&mut self, batch: &Batch, codes: &[u16]) -> Settled {
        self.settle(batch, Outcome::Answered(codes.iter().map(|code| response(*code)).collect()))
    }

    pub fn confirm(&mut self, batch: &Batch) {
        self.answer(batch, &vec![200; batch.items().len()]);
    }

    /// Everything that waits is sent and confirmed, however long that takes; how many items that were.
    pub fn confirm_all(&mut self) -> usize {
        let mut confirmed = 0;
        while !self.queue.is_empty() {
            match self.next() {
                None => self.sleep(),
                Some(batch) => {
                    confirmed += batch.items().len();
                    self.confirm(&batch);
                }
            }
        }
        confirmed
    }

    /// Moves the clock to the moment at which the queue wants to be asked again.
    pub fn sleep(&mut self) {
        let wake_ms = self.queue.next_wake().unwrap();
        self.now_ms = self.now_ms.max(wake_ms);
    }

    /// The next batch, and how long it took until it left.
    pub fn later(&mut self) -> (Batch, u64) {
        let start_ms = self.now_ms;
        loop {
            if let Some(batch) = self.next() {
                return (batch, self.now_ms - start_ms);
            }
            self.sleep();
        }
    }
}

pub fn response(status_code: u16) -> ItemResponse {
    ItemResponse { status_code, entity: None }
}

/// Ids and actions of a batch, as text.
pub fn shown(batch: &Batch) -> Vec<String> {
    batch.items().iter().map(|item| format!("{} {}", item.key.id(), item.action.as_str())).collect()
}

pub fn changed(outcome: StatusOutcome) -> Option<Change> {
    match outcome {
        StatusOutcome::Changed(change) => Some(change),
        StatusOutcome::NotFound | StatusOutcome::Unchanged => None,
    }
}

/// A peer that applies batches as the receiver does.
pub struct Receiver {
    pub app: Application,
    pub rules: Rules,
}

impl Receiver {
    pub fn new() -> Self {
        Self { app: Application::new(AppName::new(APP)), rules: rules() }
    }

    pub fn apply(&mut self, batch: &Batch, now: Now) -> Outcome {
        Outcome::Answered(batch.items().iter().map(|item| response(self.apply_item(item, now))).collect())
    }

    fn apply_item(&mut self, item: &Item, now: Now) -> u16 {
        let sender = heureka_registry::Sender::node("sender", 0);
        let circumstances = Circumstances { sender, is_copying: false, stamp: item.message().stamp };
        let incoming = incoming(item);
        receive::apply(&mut self.app, item.key.id(), incoming, circumstances, now, &self.rules).code
    }
}

/// What a receiver reads of an item.
fn incoming(item: &Item) -> Incoming {
    let message = item.message();
    let last_dirty = message.last_dirty_timestamp;
    match item.action {
        Action::Register => Incoming::Register(Box::new(message.record.unwrap().instance.clone())),
        Action::Heartbeat => {
            let (overridden, shown) = (message.overridden_status, message.status);
            Incoming::Heartbeat(Heartbeat { last_dirty, overridden, shown, stamp: None })
        }
        Action::Cancel => Incoming::Cancel { last_dirty },
        Action::StatusUpdate => {
            let (status, stored) = (message.status.unwrap(), message.overridden_status);
            Incoming::SetStatus { status, stored, last_dirty }
        }
        Action::DeleteStatusOverride => Incoming::RemoveOverride { status: message.status, last_dirty },
    }
}
