//! Batches at their receiver: the code that answers them in production, with planted bugs before it and checks behind it.

use std::sync::Arc;

use heureka_protocol::Status;
use heureka_protocol::batch::{Action, ItemResponse};
use heureka_registry::replication::receive::{self, Applied, Circumstances};
use heureka_registry::{ChangeKind, Record, Sender, Stamp, Tombstone};

use crate::bugs::Bug;
use crate::node::Node;
use crate::startup::is_same_content;
use crate::truth::Stage;
use crate::wire::{AnswerHead, Parcel, WireItem, conflict, plain};
use crate::world::World;

/// What a node knew of an instance before an item about it.
#[derive(Clone, Debug)]
pub struct Before {
    pub record: Option<Arc<Record>>,
    pub stone: Option<Tombstone>,
}

impl World {
    /// What a node knows of the instance of an item.
    pub fn known(&self, n: usize, item: &WireItem) -> Before {
        let now = self.node_now(n);
        let app = self.nodes[n].app(&item.app);
        Before {
            record: self.record(n, item.who).cloned(),
            stone: app.and_then(|app| app.tombstone(&item.id, now)),
        }
    }

    pub fn apply(&mut self, parcel: &Parcel) -> (Vec<ItemResponse>, AnswerHead) {
        let n = parcel.to;
        self.hear_clock(n, parcel.clock);
        let told = self.nodes[n].told();
        let name = Node::name(parcel.from, self.plan.are_ours);
        let arrival = self.nodes[n].arrivals.enter(name.as_deref(), parcel.order);
        if self.nodes[n].arrivals.is_overtaken(arrival) && !self.has(Bug::LateBatchApplied) {
            self.note(format_args!("{n} ignores #{} of {}", parcel.number, parcel.from.node));
            self.count("batches overtaken");
            return (parcel.items.iter().map(|_| plain(503)).collect(), self.answer_head(n, Vec::new()));
        }
        self.note(format_args!("{n} applies #{} of {}", parcel.number, parcel.from.node));
        self.check_turn(parcel);
        let sender = arrival.sender;
        let answered = parcel.items.iter().map(|item| self.apply_one(parcel, item, sender));
        let (answers, stamps): (Vec<ItemResponse>, Vec<Option<Stamp>>) = answered.unzip();
        if self.has(Bug::BatchTwice) {
            for item in parcel.items.iter().rev() {
                self.apply_one(parcel, item, sender);
            }
        }
        // P-1: nothing of it is sent on.
        self.require_told(n, told, 0);
        self.check_effects(parcel, &answers);
        self.pump(n);
        (answers, self.answer_head(n, stamps))
    }

    fn answer_head(&self, n: usize, stamps: Vec<Option<Stamp>>) -> AnswerHead {
        let clock = self.nodes[n].reading(self.node_now(n), self.plan.are_ours);
        let stamps = if self.plan.are_ours { stamps } else { Vec::new() };
        AnswerHead { clock, stamps }
    }

    /// The answer, and the stamp of the record in it.
    fn apply_one(
        &mut self,
        parcel: &Parcel,
        item: &WireItem,
        sender: Sender,
    ) -> (ItemResponse, Option<Stamp>) {
        let n = parcel.to;
        if self.is_lost(item) {
            return (plain(200), None);
        }
        let opens = match item.action {
            Action::Register => true,
            Action::Cancel => item.dirty.is_some() || self.nodes[n].is_copying,
            _ => false,
        };
        if !opens && self.nodes[n].app(&item.app).is_none() {
            self.note_applied(parcel, item, false);
            return (plain(404), None);
        }
        let before = self.known(n, item);
        let Some(applied) = self.applied(n, item, sender, &before) else { return (plain(400), None) };
        let Applied { code, conflict: newer, change, is_renewal } = applied;
        self.note_applied(parcel, item, change.is_some());
        if item.action == Action::Register && change.is_some() && before.record.is_none() {
            self.check_revival(n, item, sender, before.stone);
            self.note_revival(item, before.stone);
            self.doubt_filling(n, item);
        }
        let is_operation = matches!(item.action, Action::StatusUpdate | Action::DeleteStatusOverride);
        if is_renewal {
            self.renewed(n, item.who);
        } else if code == 200 && is_operation {
            self.nodes[n].note_lease(item.who, true, self.now_ms, &self.plan);
        } else if item.action == Action::Register && change.is_some() {
            self.nodes[n].note_lease(item.who, false, self.now_ms, &self.plan);
        }
        let is_cancelled = change.as_ref().is_some_and(|change| change.kind == ChangeKind::Cancelled);
        if let Some(change) = change {
            self.absorb(n, change);
        }
        if is_cancelled {
            self.require_tombstone(n, item.who);
        }
        self.check_item(n, item, &before);
        let stamp = newer.as_ref().and_then(|record| record.override_stamp.get());
        (newer.map_or_else(|| plain(code), |record| conflict(&record, self.node_now(n))), stamp)
    }

    /// The item is done, unless it makes no sense.
    fn applied(&mut self, n: usize, item: &WireItem, sender: Sender, before: &Before) -> Option<Applied> {
        let sent = self.bend_item(n, item, before.record.as_deref());
        let incoming = sent.incoming()?;
        let is_operation = matches!(item.action, Action::StatusUpdate | Action::DeleteStatusOverride);
        let takes_for_java = is_operation && self.has(Bug::OperationRaisesDirty);
        let sender = if takes_for_java { Sender::unknown(0) } else { sender };
        let mut stamp = sent.stamp.filter(|_| !self.has(Bug::StampsNotTold));
        if self.has(Bug::StampsOfArrival) && stamp.is_some() {
            stamp = self.nodes[n].rules.stamps.stamp(None, self.node_now(n));
        }
        let circumstances = Circumstances { sender, is_copying: self.nodes[n].is_copying, stamp };
        Some(self.on_app(n, item.who, |app, now, rules| {
            receive::apply(app, &item.id, incoming, circumstances, now, rules)
        }))
    }

    /// Planted bugs of receivers.
    fn bend_item(&mut self, n: usize, item: &WireItem, before: Option<&Record>) -> WireItem {
        let mut sent = item.clone();
        if self.has(Bug::StaleRegisterWins)
            && let (Some(instance), Some(before)) = (&mut sent.instance, before)
        {
            instance.last_dirty_timestamp =
                instance.last_dirty_timestamp.max(before.instance.last_dirty_timestamp);
        }
        if self.has(Bug::CancelNamesNothing) && item.action == Action::Cancel {
            sent.dirty = None;
        }
        let tells_no_override = self.has(Bug::StatusInsteadOfOverride) || self.has(Bug::OperationRaisesDirty);
        if tells_no_override && item.action == Action::StatusUpdate {
            sent.overridden = None;
        }
        if self.has(Bug::AnybodyLifts)
            && let Some(dirty) = item.dirty.filter(|_| item.action == Action::Register)
        {
            self.on_app(n, item.who, |app, now, _| app.lift_tombstone(&item.id, dirty, now));
        }
        sent
    }

    /// Planted losses: the sender believes that all was well.
    pub fn is_lost(&self, item: &WireItem) -> bool {
        match item.action {
            Action::Cancel => self.has(Bug::CancelLost),
            Action::StatusUpdate | Action::DeleteStatusOverride => self.has(Bug::OverrideNotSent),
            Action::Heartbeat | Action::Register => false,
        }
    }

    /// A cancelled instance is back because of a peer that has not heard of the cancel.
    fn note_revival(&mut self, item: &WireItem, tombstone: Option<Tombstone>) {
        let has_override = item.instance.as_ref().is_some_and(|i| i.overridden_status != Status::Unknown);
        self.doubt_returned_override(item.who, has_override);
        let are_ours = self.plan.are_ours;
        let truth = &mut self.truths[item.who];
        if truth.stage != Stage::Cancelled {
            return;
        }
        match tombstone {
            // The node has lost its memory since, or is new.
            None => truth.weaken("nothing here remembered the cancel"),
            // It cannot be told from an instance that is back.
            Some(stone) if Some(stone.last_dirty_timestamp) == item.dirty => {
                truth.weaken("registered again after the quarantine");
            }
            // A Java server's cancel does not say which record it ended.
            Some(_) if !are_ours => truth.weaken("the tombstone was older than the cancel"),
            Some(_) => {}
        }
    }

    /// A cancelled instance is back with an override: one without a time is as good as a new one, also in the next life.
    pub fn doubt_returned_override(&mut self, who: usize, has_override: bool) {
        let truth = &mut self.truths[who];
        if has_override && !self.plan.are_ours && truth.stage == Stage::Cancelled {
            truth.doubt("an override that came back with what was cancelled");
        }
    }

    /// A node that lacked an instance gets it from one that has missed a write.
    fn doubt_filling(&mut self, n: usize, item: &WireItem) {
        let sent = item.instance.as_deref();
        let others = self.nodes.iter().filter(|node| node.place != n && node.is_up);
        let differs = others
            .filter_map(|node| node.record(self.plan.app_of(item.who), &item.id))
            .any(|other| sent.is_some_and(|sent| !is_same_content(sent, &other.instance)));
        if differs {
            self.truths[item.who].doubt("filled while the peers differed");
        }
    }

    /// What an item that was overtaken on its way puts in doubt, between servers that do not number their batches.
    fn note_applied(&mut self, parcel: &Parcel, item: &WireItem, has_changed: bool) {
        let (n, who) = (parcel.to, item.who);
        if item.action == Action::Heartbeat && !has_changed {
            return;
        }
        let last_ms = self.nodes[n].seen.last_sent_ms.entry(who).or_default();
        let is_overtaken = parcel.launched_ms < *last_ms;
        *last_ms = parcel.launched_ms.max(*last_ms);
        if is_overtaken && !self.plan.are_ours {
            self.truths[who].doubt("overtaken on the way");
            self.truths[who].weaken("overtaken on the way");
        }
    }
}
