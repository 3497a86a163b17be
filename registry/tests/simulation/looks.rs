//! What must be true once the network is whole and nobody writes any more.

use heureka_protocol::Instance;

use crate::startup::is_same_content;
use crate::truth::{Promise, Stage};
use crate::world::World;

impl World {
    /// After a few rounds of heartbeats: the living are everywhere with the same dirty timestamp, the cancelled are
    /// nowhere, and what nobody doubts is the same to the last member.
    pub fn look_after_rounds(&mut self, epoch: usize) {
        for who in 0..self.plan.clients {
            let place = format!("{} after the rounds of epoch {epoch}", self.ids[who]);
            if self.clients[who].is_live() {
                self.look_at_living(who, &place);
            } else if self.truths[who].stage == Stage::Cancelled {
                let weak = self.truths[who].weak;
                let found = self.holders(who);
                self.require(found.is_empty() || weak.is_some(), || {
                    format!("{place}: cancelled, but found at {found:?}")
                });
                self.count(if weak.is_some() { "cancels in doubt" } else { "cancels looked for" });
            }
        }
    }

    /// After the end of every dead lease: nothing but the living, unless self-preservation keeps the dead.
    pub fn look_after_lease_end(&mut self, epoch: usize) {
        let (mut all_equal, mut has_dead) = (true, false);
        for who in 0..self.plan.clients {
            let place = format!("{} after the leases of epoch {epoch}", self.ids[who]);
            if self.clients[who].is_live() {
                self.look_at_living(who, &place);
                let is_behind = self.is_behind_its_cancel(who, &self.copies(who));
                all_equal &= self.truths[who].doubt.is_none() && !is_behind;
                self.settle_doubt(who);
                continue;
            }
            let keepers: Vec<usize> =
                self.holders(who).into_iter().filter(|n| self.nodes[*n].is_expiration_enabled()).collect();
            self.require(keepers.is_empty(), || format!("{place}: gone, but found at {keepers:?}"));
            if self.holders(who).is_empty() {
                self.forget_doubt(who);
                self.doubt_waiting_override(who);
            } else {
                has_dead = true;
                self.count("dead kept by self-preservation");
            }
        }
        // Where heartbeats are shed each time leases end, and the next comparison brings the instance back.
        let has_room = self.plan.queue.slots_max >= self.plan.clients;
        let is_promised = has_room && (all_equal || self.promise == Promise::AntiEntropy);
        if is_promised && !has_dead {
            let hashes: Vec<String> = self.up().iter().map(|n| self.nodes[*n].counts.hash_code()).collect();
            let are_equal = hashes.windows(2).all(|pair| pair[0] == pair[1]);
            self.require(are_equal, || format!("the hashes differ: {hashes:?}"));
            self.check_digests(&format!("epoch {epoch}"));
            self.count("hashes compared");
        }
    }

    fn look_at_living(&mut self, who: usize, place: &str) {
        let copies = self.copies(who);
        if self.promise == Promise::Heartbeats && self.is_behind_its_cancel(who, &copies) {
            return self.count("behind their own cancel");
        }
        if self.plan.queue.slots_max < self.plan.clients {
            // A queue with less room than there are instances sheds heartbeats, the same ones each time.
            return self.count("living with too small queues");
        }
        let nodes = self.up();
        let holders = self.holders(who);
        self.require(holders == nodes, || format!("{place}: alive, but found at {holders:?} of {nodes:?}"));
        let dirty: Vec<i64> = copies.iter().map(|copy| copy.last_dirty_timestamp).collect();
        self.require(dirty.windows(2).all(|pair| pair[0] == pair[1]), || {
            format!("{place}: dirty timestamps {dirty:?}")
        });
        self.count("living found everywhere");
        let doubt = self.truths[who].doubt;
        if let Some(why) = doubt {
            self.count(why);
            if self.promise == Promise::Heartbeats {
                return;
            }
        }
        self.count("living compared in full");
        let shown = |copy: &Instance| {
            let note = copy.metadata.get("note").unwrap_or("-");
            format!("{} override {} note {note}", copy.status, copy.overridden_status)
        };
        let are_same = copies.windows(2).all(|pair| is_same_content(&pair[0], &pair[1]));
        self.require(are_same, || {
            let texts: Vec<String> = copies.iter().map(shown).collect();
            format!("{place}: {texts:?}")
        });
        let app = self.plan.app_of(who);
        let wanted = self.truths[who].wanted;
        let found: Vec<_> = nodes.iter().map(|n| self.nodes[*n].override_of(app, &self.ids[who])).collect();
        let is_acknowledged = found.iter().all(|found| *found == wanted);
        // Which of two operations that overlapped was the later one, nobody can say.
        self.require(doubt.is_some() || is_acknowledged, || {
            format!("{place}: override {wanted:?} was acknowledged, {found:?} found")
        });
    }

    /// Tombstones stand against a copy that is older than what was cancelled, until they are over (defect D13). A client
    /// whose heartbeats name no dirty timestamp may keep an older copy alive without knowing it.
    fn is_behind_its_cancel(&self, who: usize, copies: &[Instance]) -> bool {
        let (client, cancelled) = (&self.clients[who], self.truths[who].cancelled);
        let oldest = copies.iter().map(|copy| copy.last_dirty_timestamp).min();
        client.dirty() < cancelled || (client.is_plain() && oldest.is_none_or(|oldest| oldest <= cancelled))
    }

    /// Where the nodes agree again, their state is the truth from now on.
    fn settle_doubt(&mut self, who: usize) {
        let copies = self.copies(who);
        let app = self.plan.app_of(who);
        let found: Vec<_> =
            self.up().iter().map(|n| self.nodes[*n].override_of(app, &self.ids[who])).collect();
        let are_same = copies.windows(2).all(|pair| is_same_content(&pair[0], &pair[1]))
            && found.windows(2).all(|pair| pair[0] == pair[1]);
        if are_same {
            self.truths[who].doubt = None;
            self.truths[who].wanted = found.first().copied().flatten();
            self.truths[who].stamp = None;
        }
    }

    /// An override from an old snapshot waits for its instance for longer than anybody remembers that it was removed or
    /// cancelled.
    fn doubt_waiting_override(&mut self, who: usize) {
        let (app, id) = (self.plan.app_of(who), &self.ids[who]);
        if self.up().into_iter().any(|n| self.nodes[n].override_of(app, id).is_some()) {
            self.truths[who].doubt("a snapshot with another override");
        }
    }

    fn forget_doubt(&mut self, who: usize) {
        let truth = &mut self.truths[who];
        (truth.wanted, truth.stamp, truth.weak, truth.doubt) = (None, None, None, None);
    }

    fn holders(&self, who: usize) -> Vec<usize> {
        self.up().into_iter().filter(|n| self.record(*n, who).is_some()).collect()
    }

    fn copies(&self, who: usize) -> Vec<Instance> {
        self.up()
            .into_iter()
            .filter_map(|n| self.record(n, who))
            .map(|record| record.instance.clone())
            .collect()
    }
}
