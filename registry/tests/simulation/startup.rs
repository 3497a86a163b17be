//! How a node begins: from its disk if there is something, then the copy of what its peers hold, then open.

use std::collections::BTreeMap;
use std::sync::Arc;

use heureka_protocol::{AppName, Instance, Status, StatusCounts};
use heureka_registry::{Application, Lease, Now, Origin, Record, Tombstone};

use crate::agenda::{Event, Life, Memory};
use crate::bugs::Bug;
use crate::node::Image;
use crate::plan::Plan;
use crate::truth::Stage;
use crate::world::World;

/// Beyond this age a snapshot gives back overrides and tombstones only.
const SNAPSHOT_AGE_MAX_MS: u64 = 3_600_000;

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

    /// What a restart gives back (`snapshots/`): leases count from now, tombstones and overrides stay.
    fn restore(&mut self, n: usize, image: Image) {
        self.count("restarts from disk");
        let now = self.node_now(n);
        let elapsed_ms = self.now_ms - image.saved_ms;
        let is_usable = elapsed_ms <= SNAPSHOT_AGE_MAX_MS;
        let ignores_tombstones = self.has(Bug::RestartResurrects);
        for who in 0..self.plan.clients {
            self.doubt_image(who, n, &image);
        }
        let names: Vec<AppName> = crate::plan::APPS.iter().map(|name| AppName::new(name)).collect();
        for name in names {
            let is_cancelled =
                |id: &str| image.tombstones.iter().any(|(app, dead, _)| *app == name && **dead == *id);
            let mut records: Vec<Arc<Record>> = image
                .records
                .iter()
                .filter(|record| is_usable && record.instance.app == name)
                .filter(|record| ignores_tombstones || !is_cancelled(&record.instance.instance_id))
                .map(|record| Arc::new(reborn(record, now.mono_ms)))
                .collect();
            if ignores_tombstones {
                records.extend(self.resurrected(n, &name, now.mono_ms));
            }
            let overrides = image.overrides.iter().filter(|(app, ..)| *app == name);
            let overrides = overrides.map(|(_, id, status)| (Arc::clone(id), *status));
            let mut app = Application::from_records(name.clone(), records, overrides, 1, now);
            for (_, id, old) in image.tombstones.iter().filter(|(app, ..)| *app == name) {
                let age_ms = image.mono_ms - old.cancelled_mono_ms + elapsed_ms;
                let left_ms = old.until_mono_ms.saturating_sub(image.mono_ms).saturating_sub(elapsed_ms);
                if left_ms > 0 {
                    let tombstone = Tombstone {
                        last_dirty_timestamp: old.last_dirty_timestamp,
                        cancelled_mono_ms: now.mono_ms.saturating_sub(age_ms),
                        until_mono_ms: now.mono_ms + left_ms,
                    };
                    app.restore_tombstone(Arc::clone(id), tombstone, &self.plan.rules);
                }
            }
            self.nodes[n].apps.insert(name, app);
        }
        self.settle_restored(n, &image);
    }

    /// The planted bug: the snapshot still holds what was cancelled.
    fn resurrected(&self, n: usize, name: &AppName, mono_ms: u64) -> Vec<Arc<Record>> {
        let Some(disk) = &self.nodes[n].disk else { return Vec::new() };
        let here = disk.records.iter().filter(|record| record.instance.app == *name);
        here.map(|record| Arc::new(reborn(record, mono_ms))).collect()
    }

    fn settle_restored(&mut self, n: usize, image: &Image) {
        let records: Vec<Arc<Record>> = self.nodes[n].records().cloned().collect();
        for record in &records {
            let who = Plan::who(&record.instance.instance_id);
            self.nodes[n].note_lease(who, false, self.now_ms, &self.plan);
            let was_cancelled = image
                .tombstones
                .iter()
                .any(|(app, id, _)| *app == record.instance.app && *id == record.instance.instance_id);
            let id = record.instance.instance_id.clone();
            self.require(!was_cancelled, || format!("a restart of {n} brought back {id}"));
        }
        self.nodes[n].counts = records.iter().map(|record| record.instance.status).collect::<StatusCounts>();
    }

    /// A snapshot that differs from what the cluster agreed on meanwhile is not corrected by heartbeats.
    fn doubt_image(&mut self, who: usize, n: usize, image: &Image) {
        let (app, id) = (self.plan.app_of(who), self.ids[who].clone());
        let kept = image.records.iter().find(|record| record.instance.instance_id == id);
        let stored = image.overrides.iter().find(|(name, owner, _)| **name == *app && *owner == id);
        let stored = stored.map(|(_, _, status)| *status);
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
        self.nodes[life.node].disk = Some(self.nodes[life.node].image(self.now_ms));
        let next_ms = self.now_ms + self.chance.range(1_000..60_000);
        self.agenda.put(next_ms, Event::Save { life });
    }

    /// The lists of all peers that answer; of two copies the one with the newer dirty timestamp counts.
    pub fn ask(&mut self, life: Life) {
        if !self.is_alive(life) {
            return;
        }
        let n = life.node;
        let mut newest: BTreeMap<usize, Instance> = BTreeMap::new();
        for peer in self.members() {
            let answers = self.nodes[peer].is_open && self.network.is_open(n, peer);
            if peer == n || !answers {
                continue;
            }
            for record in self.nodes[peer].records() {
                let instance = &record.instance;
                let known = newest.get(&Plan::who(&instance.instance_id)).map(|i| i.last_dirty_timestamp);
                let is_better = known.is_none_or(|known| {
                    (known < instance.last_dirty_timestamp) != (self.bug == Some(Bug::OlderCopyWins))
                });
                if is_better {
                    newest.insert(Plan::who(&instance.instance_id), instance.clone());
                }
            }
        }
        self.check_copies(n, &newest);
        let instances: Vec<Instance> = newest.into_values().collect();
        let copy_ms = self.now_ms + self.chance.range(5..400);
        self.agenda.put(copy_ms, Event::Copy { life, instances });
    }

    fn check_copies(&mut self, n: usize, newest: &BTreeMap<usize, Instance>) {
        for (who, copy) in newest {
            let (app, id) = (self.plan.app_of(*who), self.ids[*who].clone());
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
                self.truths[*who].doubt("copied while the peers differed");
            }
        }
    }

    /// The copies become records; then the node opens.
    pub fn copy(&mut self, life: Life, instances: Vec<Instance>) {
        if !self.is_alive(life) {
            return;
        }
        let n = life.node;
        let told = self.nodes[n].told();
        if self.has(Bug::CopyDeletes) {
            self.delete_what_is_not_in(n, &instances);
        }
        let before: Vec<Arc<Record>> = self.nodes[n].records().cloned().collect();
        for instance in instances {
            self.copy_one(n, instance);
        }
        for record in before {
            let is_there = self.record(n, Plan::who(&record.instance.instance_id)).is_some();
            self.require(is_there, || format!("6.4: the copy removed {}", record.instance.instance_id));
        }
        self.require_told(n, told, 0);
        let now = self.node_now(n);
        let node = &mut self.nodes[n];
        let totals = node.totals();
        node.protection.observe(totals);
        node.protection.open(now);
        node.is_open = true;
        self.agenda.put(self.now_ms + 60_000, Event::Minute { life });
        self.agenda.put(self.now_ms + self.plan.rules.eviction_interval_ms, Event::Sweep { life });
        self.pump(n);
    }

    fn copy_one(&mut self, n: usize, instance: Instance) {
        let who = Plan::who(&instance.instance_id);
        let heard_ms = self.nodes[n].seen.cancels.get(&who).copied();
        let is_cancelled = self.truths[who].stage == Stage::Cancelled;
        if is_cancelled && heard_ms.is_some() {
            // The list is older than the cancel, which found nothing here and therefore left no tombstone.
            return;
        }
        let existing = self.record(n, who).map(|record| record.instance.clone());
        if existing.is_some_and(|mine| !is_same_content(&mine, &instance)) {
            self.truths[who].doubt("a copy beside something else");
        }
        if is_cancelled && heard_ms.is_none() {
            self.truths[who].weaken("copied from a peer that had not heard of the cancel");
        }
        let change =
            self.on_app(n, who, |app, now, rules| app.register(instance, Origin::StartUp, now, rules));
        if let Some(change) = change {
            self.nodes[n].note_lease(who, false, self.now_ms, &self.plan);
            self.absorb(n, change);
        }
    }

    fn delete_what_is_not_in(&mut self, n: usize, instances: &[Instance]) {
        let mine: Vec<Arc<Record>> = self.nodes[n].records().cloned().collect();
        for record in mine {
            let id = &record.instance.instance_id;
            if instances.iter().all(|instance| instance.instance_id != *id) {
                let who = Plan::who(id);
                self.on_app(n, who, |app, now, rules| app.cancel(id, Origin::StartUp, now, rules));
                self.nodes[n].counts.remove(record.instance.status);
                self.require(false, || format!("6.4: the copy removed {id}"));
            }
        }
    }
}

/// The record as it comes back: with a fresh grace of one lease.
fn reborn(record: &Record, mono_ms: u64) -> Record {
    let old = &record.lease;
    let born = Now { mono_ms, wall_ms: old.registration_timestamp };
    let mut lease = Lease::starting(born, old.duration_ms);
    lease.service_up_timestamp = old.service_up_timestamp;
    Record { instance: record.instance.clone(), reported_status: record.reported_status, lease }
}

/// The same to everybody who reads the registry.
pub fn is_same_content(one: &Instance, other: &Instance) -> bool {
    let shown = |instance: &Instance| {
        let overridden = Some(instance.overridden_status).filter(|status| *status != Status::Unknown);
        (instance.last_dirty_timestamp, instance.status, overridden, instance.metadata.clone())
    };
    shown(one) == shown(other)
}
