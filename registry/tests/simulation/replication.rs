//! Batches: from a queue over the network, and the outcome back to the queue.

use heureka_protocol::batch::Action;
use heureka_protocol::draft::{InstanceDraft, Registration};
use heureka_registry::Stamp;
use heureka_registry::replication::{Batch, DropReason, Effect, Key, Outcome, Sick};

use crate::agenda::{Event, Life};
use crate::bugs::Bug;
use crate::plan::Plan;
use crate::wire::{AnswerHead, Parcel, WireItem, pack, plain};
use crate::world::World;

impl World {
    pub fn is_alive(&self, life: Life) -> bool {
        self.nodes[life.node].is_up && self.nodes[life.node].life == life.number
    }

    pub fn wake(&mut self, life: Life, peer: usize) {
        if self.is_alive(life)
            && let Some(link) = self.nodes[life.node].links.get_mut(&peer)
            && link.wake_ms.is_some_and(|ms| ms <= self.now_ms)
        {
            link.wake_ms = None;
            self.pump_link(life.node, peer);
        }
    }

    /// Heartbeats reach the queues.
    pub fn carry(&mut self, life: Life) {
        if !self.is_alive(life) {
            return;
        }
        let n = life.node;
        let mono_ms = self.node_now(n).mono_ms;
        let beats = std::mem::take(&mut self.nodes[n].beats);
        if !self.has(Bug::HeartbeatNotSent) {
            for link in self.nodes[n].links.values_mut() {
                beats.iter().for_each(|record| link.queue.offer_heartbeat(record, mono_ms));
            }
        }
        self.pump(n);
    }

    /// Sends whatever should leave a node now.
    pub fn pump(&mut self, n: usize) {
        let peers: Vec<usize> = self.nodes[n].links.keys().copied().collect();
        for peer in peers {
            self.pump_link(n, peer);
        }
    }

    fn pump_link(&mut self, n: usize, peer: usize) {
        let now = self.node_now(n);
        while let Some(batch) = self.next_batch(n, peer) {
            self.check_alone(n, peer, &batch);
            self.launch(n, peer, &batch);
            if let Some(link) = self.nodes[n].links.get_mut(&peer) {
                link.flights.insert(batch.number(), batch);
            }
        }
        let life = self.nodes[n].life();
        let Some(link) = self.nodes[n].links.get_mut(&peer) else { return };
        if let Some(wake_mono_ms) = link.queue.next_wake() {
            let wake_ms = self.now_ms + wake_mono_ms.saturating_sub(now.mono_ms).max(1);
            if link.wake_ms.is_none_or(|known| wake_ms < known) {
                link.wake_ms = Some(wake_ms);
                self.agenda.put(wake_ms, Event::Wake { life, peer });
            }
        }
        self.note_drops(n, peer);
        self.check_queues(n);
    }

    fn next_batch(&mut self, n: usize, peer: usize) -> Option<Batch> {
        let mono_ms = self.node_now(n).mono_ms;
        let link = self.nodes[n].links.get_mut(&peer)?;
        let (waited, expired) = (link.waiting_bounded(), link.expired());
        let batch = link.queue.next_batch(mono_ms);
        if link.expired() > expired {
            self.check_expired(n, peer, waited, batch.as_ref());
        }
        batch
    }

    /// 9.3.2: a cancel or an operation on an override is not given up while a peer may hold the lease.
    fn check_expired(&mut self, n: usize, peer: usize, waited: Vec<Key>, batch: Option<&Batch>) {
        let mono_ms = self.node_now(n).mono_ms;
        let bound_ms = self.plan.queue.longest_way_ms(self.plan.duration_secs * 1000);
        let Some(link) = self.nodes[n].links.get(&peer) else { return };
        let waiting = link.waiting_bounded();
        let leaves = |key: &Key| batch.is_some_and(|batch| batch.items().iter().any(|item| item.key == *key));
        let early = waited.into_iter().find(|key| {
            let is_given_up = !waiting.contains(key) && !leaves(key);
            is_given_up && mono_ms < link.bounded[key] + bound_ms
        });
        self.require(early.is_none(), || format!("9.3.2: {n} gave up {early:?} for {peer} too early"));
    }

    /// 9.3.1: an instance is in at most one batch on its way to a peer, and a batch is bounded.
    fn check_alone(&mut self, n: usize, peer: usize, batch: &Batch) {
        if self.has(Bug::TwoInFlight)
            && let Some(link) = self.nodes[n].links.get_mut(&peer)
            && !link.flights.is_empty()
        {
            let copy = link.flights.values().next().cloned();
            link.flights.extend(copy.map(|copy| (batch.number() + 1_000_000, copy)));
        }
        let limit = self.plan.queue.batch_items_max.max(3);
        let size = batch.items().len();
        self.require((1..=limit).contains(&size), || format!("a batch of {size} items left {n}"));
        let Some(link) = self.nodes[n].links.get(&peer) else { return };
        let flying: Vec<_> = link.flights.values().flat_map(Batch::items).map(|item| item.key.id()).collect();
        let double = batch.items().iter().find(|item| flying.contains(&item.key.id()));
        let double = double.map(|item| item.key.id().to_string());
        self.require(double.is_none(), || format!("9.3.1: {double:?} is in two batches from {n} to {peer}"));
    }

    fn launch(&mut self, n: usize, peer: usize, batch: &Batch) {
        let life = self.nodes[n].life();
        let patience_ms = self.now_ms + self.plan.timeout_ms;
        let are_ours = self.plan.are_ours;
        let items = pack(batch, are_ours);
        if self.is_traced() {
            let words: Vec<String> = items.iter().map(WireItem::text).collect();
            self.note(format_args!("{n} -> {peer} #{}: {}", batch.number(), words.join(", ")));
        }
        let number = batch.number();
        let is_reached = self.network.is_open(n, peer);
        let why = if is_reached { Sick::Congested } else { Sick::Unreachable };
        let head = AnswerHead::default();
        let gave_up = Event::Settle { life, peer, number, outcome: Outcome::Failed(why), head };
        self.agenda.put(patience_ms, gave_up);
        let parcel = Parcel {
            from: life,
            to: peer,
            number,
            order: are_ours.then(|| batch.order()),
            launched_ms: self.now_ms,
            clock: self.nodes[n].reading(self.node_now(n), are_ours),
            items,
            is_copy: false,
            patience_ms,
        };
        if self.network.is_copied(n, peer, &mut self.chance) {
            let later_ms = self.now_ms + self.chance.range(1..5_000);
            let copy = Parcel { is_copy: true, ..parcel.clone() };
            self.agenda.put(later_ms, Event::Arrive { parcel: Box::new(copy) });
        }
        if let Some(delay_ms) = self.network.transit(n, peer, &mut self.chance) {
            let slow_ms = self.network.slow_ms(peer, &mut self.chance);
            let at_ms = self.now_ms + delay_ms + slow_ms;
            self.agenda.put(at_ms, Event::Arrive { parcel: Box::new(parcel) });
        }
    }

    /// A batch has reached its receiver, perhaps too late for its sender.
    pub fn arrive(&mut self, parcel: Parcel) {
        let n = parcel.to;
        let sick = self.network.sick(n);
        let mut head = AnswerHead::default();
        let outcome = if !self.nodes[n].is_up {
            Outcome::Failed(Sick::Unreachable)
        } else if let Some(code) = sick {
            match code {
                503 => Outcome::Failed(Sick::Congested),
                500 => Outcome::Rejected(500),
                _ => Outcome::Failed(Sick::Refusing),
            }
        } else {
            let (answers, told) = self.apply(&parcel);
            head = told;
            Outcome::Answered(answers)
        };
        if parcel.is_copy {
            return;
        }
        let way_back = self.network.transit(n, parcel.from.node, &mut self.chance);
        let answer_ms = way_back.map(|delay_ms| self.now_ms + delay_ms);
        if let Some(at_ms) = answer_ms.filter(|ms| *ms < parcel.patience_ms) {
            let Parcel { from: life, number, .. } = parcel;
            self.agenda.put(at_ms, Event::Settle { life, peer: n, number, outcome, head });
        }
    }

    /// The outcome of a batch is known to its sender.
    pub fn settle(&mut self, life: Life, peer: usize, number: u64, outcome: Outcome, head: AnswerHead) {
        if !self.is_alive(life) {
            return;
        }
        let n = life.node;
        self.hear_clock(n, head.clock);
        let mono_ms = self.node_now(n).mono_ms;
        let Some(link) = self.nodes[n].links.get_mut(&peer) else { return };
        let Some(batch) = link.flights.remove(&number) else { return };
        let outcome = self.bend(n, peer, &batch, outcome);
        if !matches!(outcome, Outcome::Answered(_)) {
            self.count("failed batches");
        }
        if self.is_traced() {
            self.note(format_args!("{n} hears of #{number} from {peer}: {}", words_of(&outcome)));
        }
        let Some(link) = self.nodes[n].links.get_mut(&peer) else { return };
        let settled = link.queue.on_result(&batch, outcome, mono_ms, self.chance.source());
        for effect in settled.effects {
            match effect {
                Effect::Adopt { key, instance } => {
                    let place = batch.heartbeat_place(&key);
                    let stamp = place.and_then(|place| head.stamps.get(place).copied().flatten());
                    self.adopt(n, peer, &key, *instance, stamp);
                }
                Effect::Dropped { .. } => {}
            }
        }
        self.pump_link(n, peer);
    }

    /// Planted bugs of senders.
    fn bend(&self, n: usize, peer: usize, batch: &Batch, outcome: Outcome) -> Outcome {
        let all_well = || Outcome::Answered(batch.items().iter().map(|_| plain(200)).collect());
        let waits = |key: &Key| {
            let link = self.nodes[n].links.get(&peer);
            link.is_some_and(|link| !link.queue.waiting(key.app(), key.id()).is_empty())
        };
        let forgets = |code: u16| {
            (code == 404 && self.has(Bug::NotFoundIgnored)) || (code == 409 && self.has(Bug::ConflictIgnored))
        };
        match outcome {
            Outcome::Answered(answers) => Outcome::Answered(
                answers
                    .into_iter()
                    .map(|answer| if forgets(answer.status_code) { plain(200) } else { answer })
                    .collect(),
            ),
            _ if self.has(Bug::RetryForgetsMerge) && batch.items().iter().any(|item| waits(&item.key)) => {
                all_well()
            }
            other => other,
        }
    }

    /// Takes over the newer record of a peer, or tells the peer that it was cancelled here (`replication.md` 9.3.3).
    fn adopt(&mut self, n: usize, peer: usize, key: &Key, draft: InstanceDraft, stamp: Option<Stamp>) {
        let now = self.node_now(n);
        let who = Plan::who(key.id());
        let registration =
            Registration { path_app: key.app(), now_wall_ms: now.wall_ms, require_data_center_id: false };
        let Ok(theirs) = draft.into_instance(&registration) else {
            return self.require(false, || format!("the record of {} cannot be read", key.id()));
        };
        self.count("newer records of peers");
        let told = self.nodes[n].told();
        let change = self.on_app(n, who, |app, now, rules| app.adopt(theirs, stamp, now, rules));
        match change {
            Ok(change) => {
                self.nodes[n].note_lease(who, false, self.now_ms, &self.plan);
                self.absorb(n, change);
                self.require_told(n, told, 0);
            }
            Err(cancelled) => {
                if let Some(link) = self.nodes[n].links.get_mut(&peer) {
                    link.note_bounded(key, now.mono_ms);
                    link.queue.offer_cancel(key, cancelled, now.mono_ms);
                }
            }
        }
    }

    /// What a queue has given up by its bounds is promised by nobody.
    fn note_drops(&mut self, n: usize, peer: usize) {
        let Some(link) = self.nodes[n].links.get_mut(&peer) else { return };
        let tally = link.queue.tally();
        let writes = Action::ALL.into_iter().filter(|action| *action != Action::Heartbeat);
        let bounds = [DropReason::Expired, DropReason::Overflow];
        let dropped: u64 = writes.flat_map(|action| bounds.map(|reason| tally.dropped(action, reason))).sum();
        let is_more = dropped > std::mem::replace(&mut link.dropped, dropped);
        if is_more {
            self.count("writes given up");
        }
    }
}

fn words_of(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Answered(answers) => {
            let codes: Vec<String> = answers.iter().map(|answer| answer.status_code.to_string()).collect();
            codes.join(" ")
        }
        other => format!("{other:?}"),
    }
}
