//! What happens to nodes: crash and restart, joins and leaves, clocks that jump, and their timers.

use std::collections::{BTreeMap, HashMap};

use heureka_protocol::{AppName, InstanceId};
use heureka_registry::eviction_plan::EvictionPlan;
use heureka_registry::invariants::check_plan;
use heureka_registry::replication::{PeerQueue, Rounds};

use crate::agenda::{Event, Life, Memory};
use crate::bugs::Bug;
use crate::node::{Link, Node, Seen};
use crate::plan::Plan;
use crate::world::World;

const MINUTE_MS: u64 = 60_000;
const DRAIN_MS: u64 = 2_000;

impl World {
    pub fn weather(&mut self) {
        let next_ms = self.now_ms + self.chance.range(1..2 * self.plan.weather_ms);
        self.agenda.put(next_ms, Event::Weather);
        if !self.is_calm {
            let words = self.network.change(&mut self.chance);
            self.note(format_args!("network: {words}"));
        }
    }

    pub fn trouble(&mut self) {
        let next_ms = self.now_ms + self.chance.range(1..2 * self.plan.trouble_ms);
        self.agenda.put(next_ms, Event::Trouble);
        if self.is_calm {
            return;
        }
        let members = self.members();
        let n = self.chance.pick(&members);
        match self.chance.index(10) {
            0..=4 if self.nodes[n].is_up && !self.nodes[n].is_leaving => {
                let memory = self.chance.pick(&[Memory::Nothing, Memory::Fresh, Memory::Fresh, Memory::Old]);
                self.crash(n);
                let pause_ms = self.chance.pick(&[500, 5_000, 40_000]);
                let back_ms = self.now_ms + self.chance.range(100..pause_ms);
                self.agenda.put(back_ms, Event::Start { node: n, memory });
            }
            5 => {
                let outside: Vec<usize> = (0..self.plan.places).filter(|p| !members.contains(p)).collect();
                if !outside.is_empty() {
                    let place = self.chance.pick(&outside);
                    self.join(place);
                }
            }
            6 if self.staying() > 2 && self.nodes[n].is_open && !self.nodes[n].is_leaving => self.leave(n),
            _ => {
                let step_ms = i64::try_from(self.chance.range(0..7_200_000)).unwrap() - 3_600_000;
                self.nodes[n].wall_offset_ms += step_ms;
                self.note(format_args!("the clock of {n} jumps by {step_ms} ms"));
            }
        }
    }

    /// Members that are not about to leave.
    fn staying(&self) -> usize {
        self.nodes.iter().filter(|node| node.is_member && !node.is_leaving).count()
    }

    pub fn link(&self) -> Link {
        let queue = PeerQueue::on_link(self.plan.queue, 0, self.now_ms * 1_000);
        let (flights, rounds, bounded) = (BTreeMap::new(), Rounds::default(), HashMap::new());
        Link { queue, flights, rounds, wake_ms: None, dropped: 0, bounded }
    }

    /// A new node: all others learn of it, and it of them.
    pub fn join(&mut self, n: usize) {
        self.note(format_args!("{n} joins"));
        self.nodes[n].is_member = true;
        self.nodes[n].disk = None;
        for other in self.up().into_iter().filter(|other| *other != n) {
            let link = self.link();
            self.nodes[other].links.insert(n, link);
            if self.plan.compares {
                self.compare_later(self.nodes[other].life(), n);
            }
        }
        self.start(n, Memory::Nothing);
    }

    /// A node stops in order: it tells the rest, for at most so long.
    fn leave(&mut self, n: usize) {
        self.note(format_args!("{n} leaves"));
        self.count("leaves");
        let mono_ms = self.node_now(n).mono_ms;
        self.nodes[n].is_leaving = true;
        self.nodes[n].beats.clear();
        for link in self.nodes[n].links.values_mut() {
            link.queue.start_draining(mono_ms);
            link.wake_ms = None;
        }
        let life = self.nodes[n].life();
        self.agenda.put(self.now_ms + DRAIN_MS, Event::Left { life });
        self.pump(n);
    }

    pub fn left(&mut self, life: Life) {
        if !self.is_alive(life) {
            return;
        }
        let n = life.node;
        self.crash(n);
        self.nodes[n].is_member = false;
        self.nodes[n].disk = None;
        for node in &mut self.nodes {
            node.links.remove(&n);
        }
    }

    /// A node is gone, with all that it had not told.
    fn crash(&mut self, n: usize) {
        self.note(format_args!("{n} crashes"));
        self.count("crashes");
        for who in 0..self.plan.clients {
            let untold = self.untold(n, who);
            let truth = &mut self.truths[who];
            if untold.register || untold.override_op {
                truth.doubt("a crash before it was told");
            }
            if untold.cancel {
                truth.doubt("a crash before it was told");
                truth.weaken("a crash before the cancel was told");
            }
        }
        let fresh = Node::new(n, &self.plan);
        let now_ms = self.now_ms;
        let node = &mut self.nodes[n];
        let (disk, wall_offset_ms) = (node.disk.clone(), node.wall_offset_ms);
        let (life, is_member) = (node.life, node.is_member);
        let last = node.image(node.now(now_ms));
        // What is still on its way here was sent before all that came later, also for a node that has forgotten it.
        let last_sent_ms = std::mem::take(&mut node.seen.last_sent_ms);
        let seen = Seen { last_sent_ms, ..Seen::default() };
        *node = Node { life, is_member, wall_offset_ms, disk, last: Some(last), seen, ..fresh };
    }

    /// All that is down comes back, empty.
    pub fn start_all(&mut self) {
        for n in self.members() {
            if !self.nodes[n].is_up {
                let memory = self.chance.pick(&[Memory::Nothing, Memory::Fresh, Memory::Old]);
                self.start(n, memory);
            }
        }
    }

    pub fn minute(&mut self, life: Life) {
        if !self.is_alive(life) {
            return;
        }
        let node = &mut self.nodes[life.node];
        let counted = node.minute.tick();
        node.seen.renewals = (0, node.seen.renewals.0);
        let expected = node.seen.renewals.1;
        self.agenda.put(self.now_ms + MINUTE_MS, Event::Minute { life });
        self.require(counted == expected, || format!("H-3: {counted} renewals counted, {expected} seen"));
    }

    /// Looks for expired leases and removes as many as the limit allows.
    pub fn sweep(&mut self, life: Life) {
        if !self.is_alive(life) {
            return;
        }
        let n = life.node;
        let interval_ms = self.plan.rules.eviction_interval_ms;
        self.agenda.put(self.now_ms + interval_ms, Event::Sweep { life });
        let now = self.node_now(n);
        let extra_ms = self.nodes[n].compensation.start_sweep(now.mono_ms, interval_ms);
        let is_allowed = self.nodes[n].is_expiration_enabled() || self.has(Bug::EvictionUnderProtection);
        if is_allowed {
            let now = if self.has(Bug::EvictionTooEarly) {
                heureka_registry::Now { mono_ms: now.mono_ms + 30_000, ..now }
            } else {
                now
            };
            self.evict(n, now, extra_ms);
        }
        self.forget(n);
    }

    fn evict(&mut self, n: usize, now: heureka_registry::Now, extra_ms: u64) {
        let expired: Vec<(AppName, Vec<InstanceId>)> = self.nodes[n]
            .apps
            .iter()
            .map(|(name, app)| (name.clone(), app.expired(now, extra_ms)))
            .filter(|(_, ids)| !ids.is_empty())
            .collect();
        if expired.is_empty() {
            return;
        }
        let (size, count) = (self.nodes[n].totals().leases, expired.iter().map(|(_, ids)| ids.len()).sum());
        let fraction = self.plan.protection.renewal_percent_threshold;
        let plan = EvictionPlan::draw(expired, size, fraction, self.chance.source());
        let checked = check_plan(&plan, count, size, fraction).map_err(|violation| violation.to_string());
        self.require(checked.is_ok(), || checked.unwrap_err());
        let is_permitted = self.nodes[n].may_evict(&self.plan);
        let told = self.nodes[n].told();
        for (name, ids) in plan.victims {
            let node = &mut self.nodes[n];
            let Some(app) = node.apps.get_mut(&name) else { continue };
            let changes = app.evict(&ids, now, extra_ms, &node.rules);
            for change in &changes {
                let who = Plan::who(&change.id);
                let end_ms = self.nodes[n].seen.lease_ends.remove(&who).unwrap_or(0);
                let is_over = self.now_ms > end_ms;
                self.require(is_permitted, || {
                    format!("C-5: {} was evicted at {n} while protected", change.id)
                });
                self.require(is_over, || format!("C-7: {} of {n} ends at {end_ms} ms", change.id));
                self.count("evictions");
                if self.truths[who].wanted.is_some() || self.untold(n, who).is_any() {
                    self.truths[who].doubt("a lease with something to tell was evicted");
                }
            }
            self.absorb_all(n, changes);
        }
        self.require_told(n, told, 0);
        self.pump(n);
    }

    /// Forgets overrides and tombstones whose time is over, and applications that hold nothing.
    fn forget(&mut self, n: usize) {
        let now = self.node_now(n);
        let rules = &self.plan.rules;
        let node = &mut self.nodes[n];
        node.apps.values_mut().for_each(|app| app.sweep(now, rules));
        node.apps.retain(|_, app| !app.is_forgettable());
    }
}
