//! Anti-entropy: each node compares itself with each peer once a minute and mends what is its own (`replication.md` 9.3.4).

use heureka_protocol::AppName;
use heureka_registry::replication::digest::application_hash;
use heureka_registry::replication::{OwnApplication, PeerApplication, Remedy, Repair, Round, repairs_of};
use heureka_registry::{ClockReading, Now};

use crate::agenda::{Event, Life};
use crate::bugs::Bug;
use crate::node::Node;
use crate::plan::Plan;
use crate::truth::Stage;
use crate::world::World;

impl World {
    /// The next comparison of a node with a peer, with chance in it so that nodes do not do it in step.
    pub fn compare_later(&mut self, life: Life, peer: usize) {
        let mean_ms = self.plan.comparison_ms;
        let pause_ms = mean_ms * 4 / 5 + self.chance.range(0..mean_ms * 2 / 5);
        self.agenda.put(self.now_ms + pause_ms, Event::Compare { life, peer });
    }

    /// The peer's rows leave it.
    pub fn compare(&mut self, life: Life, peer: usize) {
        if !self.is_alive(life) || !self.nodes[life.node].links.contains_key(&peer) {
            return;
        }
        self.compare_later(life, peer);
        let there = self.network.transit(life.node, peer, &mut self.chance);
        let back = self.network.transit(peer, life.node, &mut self.chance);
        let (Some(there_ms), Some(back_ms)) = (there, back) else { return };
        if !self.nodes[peer].is_up || self.network.sick(peer).is_some() {
            return;
        }
        let now = self.node_now(peer);
        let asking = self.nodes[life.node].reading(self.node_now(life.node), self.plan.are_ours);
        self.hear_clock(peer, asking);
        let clock = self.nodes[peer].reading(now, self.plan.are_ours);
        let mut theirs: Vec<(AppName, PeerApplication)> = own_applications(&mut self.nodes[peer], now)
            .iter()
            .map(|own| (own.name.clone(), own.for_peer(now).aged_by(there_ms + back_ms)))
            .collect();
        if self.has(Bug::StampsNotTold) {
            theirs.iter_mut().for_each(|(_, app)| forget_stamps(app));
        }
        let compared = Event::Compared { life, peer, theirs, clock };
        self.agenda.put(self.now_ms + there_ms + back_ms, compared);
    }

    /// The peer's rows are there.
    pub fn compared(
        &mut self,
        life: Life,
        peer: usize,
        theirs: &[(AppName, PeerApplication)],
        clock: Option<ClockReading>,
    ) {
        if !self.is_alive(life) {
            return;
        }
        let n = life.node;
        self.hear_clock(n, clock);
        let now = self.node_now(n);
        let mut found = Vec::new();
        let nothing = PeerApplication::default();
        for own in own_applications(&mut self.nodes[n], now) {
            let theirs = theirs.iter().find(|(name, _)| *name == own.name).map_or(&nothing, |(_, app)| app);
            found.extend(repairs_of(&own, theirs, now, &self.plan.queue));
        }
        let size = usize::try_from(self.nodes[n].totals().leases).unwrap();
        let Some(link) = self.nodes[n].links.get_mut(&peer) else { return };
        match link.rounds.confirm(found, &link.queue, size) {
            Round::TooMany(_) => self.count("comparisons with too many differences"),
            Round::Repairs(repairs) => {
                for repair in &repairs {
                    if matches!(repair.remedy, Remedy::Cancel | Remedy::SetOverride | Remedy::RemoveOverride)
                    {
                        link.note_bounded(&repair.key, now.mono_ms);
                    }
                    link.queue.offer_repair(repair, now.mono_ms);
                }
                repairs.iter().for_each(|repair| self.mended(n, peer, repair));
            }
        }
        self.pump(n);
    }

    fn mended(&mut self, n: usize, peer: usize, repair: &Repair) {
        let (who, id) = (Plan::who(repair.key.id()), repair.key.id());
        if repair.remedy == Remedy::ForgetCancel {
            self.on_app(n, who, |app, now, _| app.lift_tombstone(id, i64::MAX, now));
        }
        self.note(format_args!("{n} mends {id} at {peer}: {:?}", repair.remedy));
        self.check_mending(n, peer, who, repair.remedy);
        self.count(repair.remedy.as_str());
    }

    /// 9.3.4: what is newer is not undone while its word is on its way.
    fn check_mending(&mut self, n: usize, peer: usize, who: usize, remedy: Remedy) {
        let truth = &self.truths[who];
        let (app, id) = (self.plan.app_of(who), &self.ids[who]);
        let state = |n: usize| self.nodes[n].record(app, id).map(|record| record.override_state());
        let (ours, theirs) = (state(n).unwrap_or_default(), state(peer).unwrap_or_default());
        // Whoever has heard of something later since is not moved.
        let moves = remedy.override_kind().is_some() && theirs.yields_to(ours);
        let is_last = theirs.status == truth.wanted && theirs.stamp >= truth.stamp;
        let undoes = moves && is_last && ours.status != truth.wanted;
        let is_untimed = theirs.stamp.is_none() && self.is_without_time(who);
        let is_doubted = truth.doubt.is_some() || truth.stage == Stage::Cancelled || is_untimed;
        self.require(is_doubted || !undoes, || {
            format!("9.3.4: {n} undoes {theirs:?} of client {who} at {peer} with {ours:?}")
        });
    }

    /// Whoever did the last operation on an override has heard of nobody since it started, or not yet told all what it has
    /// learned by that. Then nobody else knows when it was. It says so itself as soon as it does.
    fn is_without_time(&self, who: usize) -> bool {
        self.truths[who].untimed_by.is_some_and(|life| {
            let is_in_step = self.nodes[life.node].rules.stamps.is_in_step();
            self.is_alive(life) && (!is_in_step || self.untold(life.node, who).override_op)
        })
    }

    /// The digests of two nodes that hold the same are the same.
    pub fn check_digests(&mut self, place: &str) {
        let nodes = self.up();
        let hashes: Vec<Vec<u64>> = nodes.iter().map(|n| digests(&self.nodes[*n])).collect();
        self.require(hashes.windows(2).all(|pair| pair[0] == pair[1]), || {
            format!("{place}: the digests of equal nodes differ: {hashes:x?}")
        });
    }
}

fn digests(node: &Node) -> Vec<u64> {
    let apps = node.apps.values().filter(|app| !app.is_empty());
    apps.map(|app| application_hash(app.records())).collect()
}

fn own_applications(node: &mut Node, now: Now) -> Vec<OwnApplication> {
    let rules = &node.rules;
    node.apps.values_mut().for_each(|app| app.settle_stamps(rules));
    node.apps.values().map(|app| OwnApplication::of(app, now)).collect()
}

/// The planted bug.
fn forget_stamps(app: &mut PeerApplication) {
    app.rows.iter_mut().for_each(|row| row.override_stamp = None);
}
