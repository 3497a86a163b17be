//! Batches: from a queue over the network to the receiver, and the outcome back to the queue.

use heureka_protocol::Status;
use heureka_protocol::batch::{Action, ItemResponse};
use heureka_protocol::draft::{InstanceDraft, Registration};
use heureka_registry::replication::{Batch, DropReason, Effect, Key, Outcome, Sick};
use heureka_registry::{Lease, Tombstone};

use crate::agenda::{Event, Life};
use crate::bugs::Bug;
use crate::plan::Plan;
use crate::receiver::{Applied, apply_item};
use crate::truth::Stage;
use crate::wire::{Parcel, WireItem, conflict, pack, plain};
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
        self.nodes[n].links.get_mut(&peer)?.queue.next_batch(mono_ms)
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
        let items = pack(batch);
        if self.is_traced() {
            let words: Vec<String> = items.iter().map(WireItem::text).collect();
            self.note(format_args!("{n} -> {peer} #{}: {}", batch.number(), words.join(", ")));
        }
        let number = batch.number();
        let is_reached = self.network.is_open(n, peer);
        let why = if is_reached { Sick::Congested } else { Sick::Unreachable };
        let gave_up = Event::Settle { life, peer, number, outcome: Outcome::Failed(why) };
        self.agenda.put(patience_ms, gave_up);
        let parcel = Parcel {
            from: life,
            to: peer,
            number,
            launched_ms: self.now_ms,
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
        let outcome = if !self.nodes[n].is_up {
            Outcome::Failed(Sick::Unreachable)
        } else if let Some(code) = sick {
            match code {
                503 => Outcome::Failed(Sick::Congested),
                500 => Outcome::Rejected(500),
                _ => Outcome::Failed(Sick::Refusing),
            }
        } else {
            Outcome::Answered(self.apply(&parcel))
        };
        if parcel.is_copy {
            return;
        }
        let way_back = self.network.transit(n, parcel.from.node, &mut self.chance);
        let answer_ms = way_back.map(|delay_ms| self.now_ms + delay_ms);
        if let Some(at_ms) = answer_ms.filter(|ms| *ms < parcel.patience_ms) {
            let Parcel { from: life, number, .. } = parcel;
            self.agenda.put(at_ms, Event::Settle { life, peer: n, number, outcome });
        }
    }

    fn apply(&mut self, parcel: &Parcel) -> Vec<ItemResponse> {
        let n = parcel.to;
        let told = self.nodes[n].told();
        self.note(format_args!("{n} applies #{} of {}", parcel.number, parcel.from.node));
        let answers: Vec<ItemResponse> =
            parcel.items.iter().map(|item| self.apply_one(parcel, item)).collect();
        if self.has(Bug::BatchTwice) {
            for item in parcel.items.iter().rev() {
                self.apply_one(parcel, item);
            }
        }
        // P-1: nothing of it is sent on.
        self.require_told(n, told, 0);
        self.check_effects(parcel, &answers);
        self.pump(n);
        answers
    }

    fn apply_one(&mut self, parcel: &Parcel, item: &WireItem) -> ItemResponse {
        let n = parcel.to;
        if self.is_lost(item) {
            return plain(200);
        }
        if item.action != Action::Register && self.nodes[n].app(&item.app).is_none() {
            self.note_applied(parcel, item, false);
            return plain(404);
        }
        let before = self.record(n, item.who).cloned();
        let keeps_order = self.nodes[n].seen.cancelled_by.get(&item.who) == Some(&Some(parcel.from.node));
        let now = self.node_now(n);
        let tombstone = self.nodes[n].app(&item.app).and_then(|app| app.tombstone(&item.id, now));
        let mut sent = item.clone();
        if self.has(Bug::StaleRegisterWins)
            && let (Some(instance), Some(before)) = (&mut sent.instance, &before)
        {
            instance.last_dirty_timestamp =
                instance.last_dirty_timestamp.max(before.instance.last_dirty_timestamp);
        }
        let Applied { code, conflict: newer, change, is_renewal } =
            self.on_app(n, item.who, |app, now, rules| apply_item(app, &sent, keeps_order, now, rules));
        self.note_applied(parcel, item, change.is_some());
        if item.action == Action::Register && change.is_some() && before.is_none() {
            self.note_revival(item, tombstone);
        }
        if is_renewal {
            self.renewed(n, item.who);
        } else if code == 200 && matches!(item.action, Action::StatusUpdate | Action::DeleteStatusOverride) {
            self.nodes[n].note_lease(item.who, true, self.now_ms, &self.plan);
        } else if item.action == Action::Register && change.is_some() {
            self.nodes[n].note_lease(item.who, false, self.now_ms, &self.plan);
        }
        if let Some(change) = change {
            self.absorb(n, change);
        }
        if item.action == Action::Cancel && code == 200 {
            self.nodes[n].seen.cancelled_by.insert(item.who, Some(parcel.from.node));
            self.require_tombstone(n, item.who);
        }
        if let (Some(before), Some(instance)) = (before, &item.instance)
            && before.instance.last_dirty_timestamp > instance.last_dirty_timestamp
        {
            let kept = self.record(n, item.who).map(|record| record.instance.metadata.clone());
            self.require(kept.as_ref() == Some(&before.instance.metadata), || {
                format!("R-3: an older registration replaced {} at {n}", item.id)
            });
        }
        newer.map_or_else(|| plain(code), |record| conflict(&record, self.node_now(n)))
    }

    /// A cancelled instance is back because of a peer that has not heard of the cancel.
    fn note_revival(&mut self, item: &WireItem, tombstone: Option<Tombstone>) {
        let truth = &mut self.truths[item.who];
        if truth.stage == Stage::Cancelled {
            truth.weaken(match tombstone {
                // The node is new, or knew no such instance when it heard of the cancel.
                None => "nothing here remembered the cancel",
                // It cannot be told from an instance that is back.
                Some(stone) if Some(stone.last_dirty_timestamp) == item.dirty => {
                    "registered again after the quarantine"
                }
                // A cancel does not say which copy it meant.
                Some(_) => "the tombstone was older than the cancel",
            });
        }
    }

    /// Planted losses: the sender believes that all was well.
    fn is_lost(&self, item: &WireItem) -> bool {
        match item.action {
            Action::Cancel => self.has(Bug::CancelLost),
            Action::StatusUpdate | Action::DeleteStatusOverride => self.has(Bug::OverrideNotSent),
            Action::Heartbeat | Action::Register => false,
        }
    }

    /// What an item that was overtaken on its way puts in doubt.
    fn note_applied(&mut self, parcel: &Parcel, item: &WireItem, has_changed: bool) {
        let (n, who) = (parcel.to, item.who);
        if item.action == Action::Cancel {
            self.nodes[n].seen.cancels.insert(who, parcel.launched_ms);
        }
        if item.action == Action::Heartbeat && !has_changed {
            return;
        }
        let last_ms = self.nodes[n].seen.last_sent_ms.entry(who).or_default();
        let is_overtaken = parcel.launched_ms < *last_ms;
        *last_ms = parcel.launched_ms.max(*last_ms);
        if is_overtaken {
            self.truths[who].doubt("overtaken on the way");
            self.truths[who].weaken("overtaken on the way");
        }
    }

    /// A batch that was answered in time has had its effect: the last item of each instance holds.
    fn check_effects(&mut self, parcel: &Parcel, answers: &[ItemResponse]) {
        let n = parcel.to;
        for (place, (item, answer)) in parcel.items.iter().zip(answers).enumerate() {
            let is_last = parcel.items[place + 1..].iter().all(|later| later.who != item.who);
            if !is_last || answer.status_code != 200 || self.is_lost(item) {
                continue;
            }
            let record = self.record(n, item.who);
            let holds = match item.action {
                Action::Cancel => record.is_none(),
                Action::Register => {
                    let is_refused = self.nodes[n]
                        .app(&item.app)
                        .is_some_and(|app| app.tombstone(&item.id, self.node_now(n)).is_some());
                    is_refused || record.is_some_and(|r| Some(r.instance.last_dirty_timestamp) >= item.dirty)
                }
                Action::StatusUpdate => record.is_some_and(|record| {
                    item.status == Some(Status::Unknown) || Some(record.instance.status) == item.status
                }),
                Action::Heartbeat | Action::DeleteStatusOverride => record.is_some(),
            };
            self.require(holds, || format!("5: {} had no effect at {n}", item.text()));
        }
    }

    /// The outcome of a batch is known to its sender.
    pub fn settle(&mut self, life: Life, peer: usize, number: u64, outcome: Outcome) {
        if !self.is_alive(life) {
            return;
        }
        let n = life.node;
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
                Effect::Adopt { key, instance } => self.adopt(n, peer, &key, *instance),
                Effect::Dropped { reason: DropReason::Rejected(_), key, .. }
                | Effect::Dropped { reason: DropReason::Poison, key, .. } => {
                    let who = Plan::who(key.id());
                    self.truths[who].doubt("refused by a peer");
                    self.truths[who].weaken("refused by a peer");
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
    fn adopt(&mut self, n: usize, peer: usize, key: &Key, draft: InstanceDraft) {
        let now = self.node_now(n);
        let who = Plan::who(key.id());
        let registration =
            Registration { path_app: key.app(), now_wall_ms: now.wall_ms, require_data_center_id: false };
        let Ok(theirs) = draft.into_instance(&registration) else {
            return self.require(false, || format!("the record of {} cannot be read", key.id()));
        };
        self.count("newer records of peers");
        let duration_ms = Lease::duration_ms_of(&theirs.lease);
        let told = self.nodes[n].told();
        let change = self.on_app(n, who, |app, now, rules| app.adopt(theirs, now, rules));
        match change {
            Some(change) => {
                self.nodes[n].note_lease(who, false, self.now_ms, &self.plan);
                self.absorb(n, change);
                self.require_told(n, told, 0);
            }
            None => {
                if let Some(link) = self.nodes[n].links.get_mut(&peer) {
                    link.queue.offer_cancel(key.app(), key.id(), duration_ms, now.mono_ms);
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
            for truth in &mut self.truths {
                truth.doubt("given up by a queue");
                truth.weaken("given up by a queue");
            }
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
