//! How a node begins: from its disk if there is something, then the copy of what its peers hold, then open.

use std::collections::BTreeMap;
use std::sync::Arc;

use heureka_protocol::{Instance, InstanceId, Status, StatusCounts};
use heureka_registry::replication::{PeerCopy, newest_copies};
use heureka_registry::{Application, ClockReading, Now, Origin, Record};

use crate::agenda::{Event, Life, Memory};
use crate::bugs::Bug;
use crate::disk::Image;
use crate::plan::Plan;
use crate::truth::Stage;
use crate::world::World;

impl World {
    pub fn start(&mut self, n: usize, memory: Memory) {
        if self.nodes[n].is_up || !self.nodes[n].is_member {
            return;
        }
        self.note(format_args!("{n} starts with {memory:?}"));
        let base_ms = self.chance.range(1_000_000..2_000_000);
        let members = self.members();
        let links = members.iter().filter(|peer| **peer != n).map(|peer| (*peer, self.link())).collect();
        let node = &mut self.nodes[n];
        node.life += 1;
        node.is_up = true;
        node.mono_base_ms = base_ms;
        node.links = links;
        node.is_copying = true;
        let life = node.life();
        let image = match memory {
            Memory::Nothing => None,
            Memory::Fresh => node.last.take(),
            Memory::Old => node.disk.clone(),
        };
        if let Some(image) = image {
            self.restore(n, image);
        }
        if self.plan.compares {
            members.iter().filter(|peer| **peer != n).for_each(|peer| self.compare_later(life, *peer));
        }
        let ask_ms = self.now_ms + self.chance.range(5..200);
        self.agenda.put(ask_ms, Event::Ask { life });
        let save_ms = self.now_ms + self.chance.range(1_000..20_000);
        self.agenda.put(save_ms, Event::Save { life });
    }

    /// What a restart gives back: leases count from now, tombstones and overrides stay.
    fn restore(&mut self, n: usize, image: Image) {
        self.count("restarts from disk");
        let now = self.node_now(n);
        for who in 0..self.plan.clients {
            self.doubt_image(who, n, &image, now);
        }
        let resurrects = self.has(Bug::RestartResurrects);
        let (mut apps, cancels) = image.restored(now, &self.nodes[n].rules, resurrects);
        if resurrects {
            apps.iter_mut().for_each(|app| self.resurrect(n, app, now));
        }
        let is_warm = apps.iter().any(|app| !app.is_empty());
        self.nodes[n].cancels = cancels;
        self.nodes[n].apps = apps.into_iter().map(|app| (app.name().clone(), app)).collect();
        self.settle_restored(n, &image);
        if is_warm {
            self.open(n);
        }
    }

    /// The planted bug: the snapshot still holds what was cancelled.
    fn resurrect(&self, n: usize, app: &mut Application, now: Now) {
        let Some(disk) = &self.nodes[n].disk else { return };
        let name = app.name().clone();
        for record in disk.records(now).iter().filter(|record| record.instance.app == name) {
            app.register(record.instance.clone(), Origin::StartUp, now, &self.plan.rules);
        }
    }

    /// Queries are answered, and the timers run.
    fn open(&mut self, n: usize) {
        if self.nodes[n].is_open {
            return;
        }
        let now = self.node_now(n);
        let node = &mut self.nodes[n];
        let totals = node.totals();
        node.protection.observe(totals);
        node.protection.open(now);
        node.is_open = true;
        let life = node.life();
        self.agenda.put(self.now_ms + 60_000, Event::Minute { life });
        self.agenda.put(self.now_ms + self.plan.rules.eviction_interval_ms, Event::Sweep { life });
    }

    fn settle_restored(&mut self, n: usize, image: &Image) {
        let records: Vec<Arc<Record>> = self.nodes[n].records().cloned().collect();
        for record in &records {
            let who = Plan::who(&record.instance.instance_id);
            self.nodes[n].note_lease(who, false, self.now_ms, &self.plan);
            let was_cancelled = image.has_cancel(&record.instance.app, &record.instance.instance_id);
            let id = record.instance.instance_id.clone();
            self.require(!was_cancelled, || format!("a restart of {n} brought back {id}"));
        }
        self.nodes[n].counts = records.iter().map(|record| record.instance.status).collect::<StatusCounts>();
    }

    /// A snapshot that differs from what the cluster agreed on meanwhile is not corrected by heartbeats.
    fn doubt_image(&mut self, who: usize, n: usize, image: &Image, now: Now) {
        let (app, id) = (self.plan.app_of(who), self.ids[who].clone());
        let records = image.records(now);
        let kept = records.iter().find(|record| record.instance.instance_id == id);
        let stored = image.override_of(app, &id);
        let truth = &mut self.truths[who];
        if kept.is_some() && truth.stage == Stage::Cancelled {
            truth.weaken("a snapshot from before the cancel");
        }
        if (kept.is_some() || stored.is_some()) && stored != truth.wanted {
            truth.doubt("a snapshot with another override");
        }
        let Some(kept) = kept else { return };
        let differs = self
            .nodes
            .iter()
            .filter(|node| node.place != n && node.is_up)
            .filter_map(|node| node.record(app, &id))
            .any(|other| !is_same_content(&other.instance, &kept.instance));
        if differs {
            self.truths[who].doubt("a snapshot with other content");
        }
    }

    pub fn save(&mut self, life: Life) {
        if !self.is_alive(life) {
            return;
        }
        let now = self.node_now(life.node);
        self.nodes[life.node].disk = Some(self.nodes[life.node].image(now));
        let next_ms = self.now_ms + self.chance.range(1_000..60_000);
        self.agenda.put(next_ms, Event::Save { life });
    }

    /// The lists of all peers that answer; of two copies the one with the newer dirty timestamp counts.
    pub fn ask(&mut self, life: Life) {
        if !self.is_alive(life) {
            return;
        }
        let n = life.node;
        let asked_mono_ms = self.node_now(n).mono_ms;
        let (mut lists, mut clocks): (Vec<PeerCopy>, Vec<ClockReading>) = (Vec::new(), Vec::new());
        let are_ours = self.plan.are_ours;
        for peer in self.members() {
            let answers = self.nodes[peer].is_open && self.network.is_open(n, peer);
            if peer != n && answers {
                let copy = |record: &Arc<Record>| PeerCopy {
                    instance: record.instance.clone(),
                    stamp: record.override_stamp.get().filter(|_| are_ours),
                };
                lists.extend(self.nodes[peer].records().map(copy));
                clocks.extend(self.nodes[peer].reading(self.node_now(peer), are_ours));
            }
        }
        let copies = if self.has(Bug::OlderCopyWins) { oldest_copies(lists) } else { newest_copies(lists) };
        self.check_copies(n, &copies);
        let copy_ms = self.now_ms + self.chance.range(5..400);
        self.agenda.put(copy_ms, Event::Copy { life, asked_mono_ms, copies, clocks });
    }

    /// The clocks that came with the lists.
    pub fn hear_copied_clock(&mut self, life: Life, clock: ClockReading) {
        if self.is_alive(life) {
            self.hear_clock(life.node, Some(clock));
        }
    }

    fn check_copies(&mut self, n: usize, newest: &[PeerCopy]) {
        for PeerCopy { instance: copy, .. } in newest {
            let who = Plan::who(&copy.instance_id);
            let (app, id) = (self.plan.app_of(who), self.ids[who].clone());
            let others: Vec<Instance> = (self.nodes.iter())
                .filter(|node| node.place != n && node.is_up)
                .filter_map(|node| node.record(app, &id).map(|record| record.instance.clone()))
                .collect();
            let reachable = self.nodes.iter().filter(|node| node.place != n && node.is_open);
            let newest_dirty = reachable
                .filter(|node| self.network.is_open(n, node.place))
                .filter_map(|node| node.record(app, &id).map(|record| record.instance.last_dirty_timestamp))
                .max();
            self.require(newest_dirty == Some(copy.last_dirty_timestamp), || {
                format!("6.4: {n} takes a copy of {id} that is not the newest")
            });
            if others.iter().any(|other| !is_same_content(other, copy)) {
                self.truths[who].doubt("copied while the peers differed");
            }
        }
    }

    /// The copies become records; then the node opens.
    pub fn copy(&mut self, life: Life, asked_mono_ms: u64, copies: Vec<PeerCopy>) {
        if !self.is_alive(life) {
            return;
        }
        let n = life.node;
        let told = self.nodes[n].told();
        if self.has(Bug::CopyDeletes) {
            self.delete_what_is_not_in(n, &copies);
        }
        let before: Vec<Arc<Record>> = self.nodes[n].records().cloned().collect();
        for copy in copies {
            self.copy_one(n, copy, asked_mono_ms);
        }
        for record in before {
            let is_there = self.record(n, Plan::who(&record.instance.instance_id)).is_some();
            self.require(is_there, || format!("6.4: the copy removed {}", record.instance.instance_id));
        }
        self.require_told(n, told, 0);
        self.nodes[n].is_copying = false;
        self.open(n);
        self.pump(n);
    }

    fn copy_one(&mut self, n: usize, copied: PeerCopy, asked_mono_ms: u64) {
        let PeerCopy { instance: copy, stamp } = copied;
        let who = Plan::who(&copy.instance_id);
        let existing = self.record(n, who).map(|record| record.instance.clone());
        if existing.is_some_and(|mine| !is_same_content(&mine, &copy)) {
            self.truths[who].doubt("a copy beside something else");
        }
        let undoes = self.has(Bug::CopyUndoesCancel);
        let app = self.nodes[n].app(&copy.app);
        let stone = app.and_then(|app| app.tombstone(&copy.instance_id, self.node_now(n)));
        let is_later_here = stone.is_some_and(|stone| {
            copy.last_dirty_timestamp <= stone.last_dirty_timestamp
                || (stone.is_blank && stone.cancelled_mono_ms >= asked_mono_ms)
        });
        let change = self.on_app(n, who, |app, now, rules| {
            if undoes {
                app.lift_tombstone(&copy.instance_id, i64::MAX, now);
            }
            app.register_copy(copy, stamp, asked_mono_ms, now, rules)
        });
        let Some(change) = change else { return };
        let is_overridden = change.record.instance.overridden_status != Status::Unknown;
        self.doubt_returned_override(who, is_overridden);
        self.require(!is_later_here, || format!("6.4: the copy brought {} back at {n}", change.id));
        if self.truths[who].stage == Stage::Cancelled {
            self.truths[who].weaken("copied from a peer that had not heard of the cancel");
        }
        self.nodes[n].note_lease(who, false, self.now_ms, &self.plan);
        self.absorb(n, change);
    }

    fn delete_what_is_not_in(&mut self, n: usize, copies: &[PeerCopy]) {
        let mine: Vec<Arc<Record>> = self.nodes[n].records().cloned().collect();
        for record in mine {
            let id = &record.instance.instance_id;
            if copies.iter().all(|copy| copy.instance.instance_id != *id) {
                let who = Plan::who(id);
                self.on_app(n, who, |app, now, rules| app.cancel(id, Origin::StartUp, now, rules));
                self.nodes[n].counts.remove(record.instance.status);
                self.require(false, || format!("6.4: the copy removed {id}"));
            }
        }
    }
}

/// The planted bug.
fn oldest_copies(lists: Vec<PeerCopy>) -> Vec<PeerCopy> {
    let mut oldest: BTreeMap<InstanceId, PeerCopy> = BTreeMap::new();
    for copy in lists {
        let (id, dirty) = (InstanceId::clone(&copy.instance.instance_id), copy.instance.last_dirty_timestamp);
        let known = oldest.get(&id).map(|known| known.instance.last_dirty_timestamp);
        if known.is_none_or(|known| known > dirty) {
            oldest.insert(id, copy);
        }
    }
    oldest.into_values().collect()
}

/// The same to everybody who reads the registry.
pub fn is_same_content(one: &Instance, other: &Instance) -> bool {
    let shown = |instance: &Instance| {
        let overridden = Some(instance.overridden_status).filter(|status| *status != Status::Unknown);
        (instance.last_dirty_timestamp, instance.status, overridden, instance.metadata.clone())
    };
    shown(one) == shown(other)
}
