//! Somebody with a console: sets overrides and takes them away again, at whichever node the load balancer gives.

use heureka_protocol::Status;
use heureka_registry::replication::{Key, OverrideKind};
use heureka_registry::{ChangeKind, Origin, StatusOutcome};

use crate::agenda::Event;
use crate::world::World;

impl World {
    pub fn operate(&mut self) {
        let next_ms = self.now_ms + self.chance.range(1..2 * self.plan.operate_ms);
        self.agenda.put(next_ms, Event::Operate);
        let who = self.chance.index(self.plan.clients);
        let n = if self.chance.permille(700) { self.clients[who].at() } else { self.some_member() };
        if self.is_calm || !self.nodes[n].is_up || self.nodes[n].is_leaving || !self.is_visible(n, who) {
            return;
        }
        self.doubt_if_overlapping(who, n);
        if !self.plan.are_ours && !self.plan.rules.store_equal_override && self.untold(n, who).override_op {
            self.truths[who].doubt("merged while equal overrides are not stored");
        }
        let removes = self.truths[who].wanted.is_some() && self.chance.permille(600);
        let status = if removes {
            self.chance.pick(&[None, Some(Status::Up)])
        } else {
            Some(self.chance.pick(&[Status::OutOfService, Status::OutOfService, Status::Down, Status::Up]))
        };
        if !self.plan.are_ours && !self.plan.rules.store_equal_override && status == Some(Status::Down) {
            // A peer at which the instance reports DOWN keeps the override that it has.
            self.truths[who].doubt("DOWN set while equal overrides are not stored");
        }
        let id = self.ids[who].clone();
        let outcome = self.on_app(n, who, |app, now, rules| match (removes, status) {
            (false, Some(status)) => app.set_status(&id, status, None, Origin::Client, now, rules),
            _ => app.remove_override(&id, status, None, Origin::Client, now, rules),
        });
        self.note(format_args!("operator at {n}: client {who}, removes {removes}, {status:?}"));
        self.count("override operations");
        self.operated(n, who, status.filter(|_| !removes), outcome);
    }

    /// `set` is the status that the operation sets; `None` if it removes.
    fn operated(&mut self, n: usize, who: usize, set: Option<Status>, outcome: StatusOutcome) {
        match outcome {
            StatusOutcome::NotFound => {}
            StatusOutcome::Unchanged => {
                let kind = if set.is_none() { OverrideKind::Removed } else { OverrideKind::Set };
                let mono_ms = self.node_now(n).mono_ms;
                let told = self.nodes[n].told();
                let stored = self.nodes[n].override_of(self.plan.app_of(who), &self.ids[who]);
                if stored == set {
                    self.acknowledged(n, who, set);
                } else if !self.plan.are_ours && set.is_some() {
                    // Nothing was stored here, and yet the peers are told, as Java does it (defect D9).
                    self.truths[who].doubt("told but not stored");
                }
                if let Some(record) = self.record(n, who).cloned() {
                    for link in self.nodes[n].links.values_mut() {
                        link.note_bounded(&Key::of(&record.instance), mono_ms);
                        link.queue.offer_override(&record, kind, mono_ms);
                    }
                }
                self.require_told(n, told, 1);
                self.wrote(n, who, true, None);
            }
            StatusOutcome::Changed(change) => {
                let is_set = change.kind == ChangeKind::StatusOverridden;
                self.acknowledged(n, who, is_set.then_some(change.record.instance.status));
                if change.record.instance.status == Status::Unknown {
                    // The instance is asked once what it reports; if that answer gets lost, nobody asks again.
                    self.truths[who].doubt("the reported status is not known here");
                }
                self.wrote(n, who, true, Some(change));
            }
        }
    }

    /// The override is this one now, also if it was so before.
    fn acknowledged(&mut self, n: usize, who: usize, wanted: Option<Status>) {
        let stamp = self.record(n, who).and_then(|record| record.override_stamp.get());
        let life = self.nodes[n].life();
        let truth = &mut self.truths[who];
        (truth.wanted, truth.stamp) = (wanted, stamp);
        truth.untimed_by = stamp.is_none().then_some(life);
    }
}
