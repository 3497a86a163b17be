//! Anti-entropy: each node compares itself with each peer once a minute and mends what is its own (`replication.md` 9.3.4).

use heureka_protocol::AppName;
use heureka_registry::replication::digest::application_hash;
use heureka_registry::replication::{DigestRow, OwnApplication, Round, repairs_of};

use crate::agenda::{Event, Life};
use crate::node::Node;
use crate::plan::{COMPARISON_MS, Plan};
use crate::world::World;

impl World {
    /// The next comparison of a node with a peer, with chance in it so that nodes do not do it in step.
    pub fn compare_later(&mut self, life: Life, peer: usize) {
        let pause_ms = COMPARISON_MS * 4 / 5 + self.chance.range(0..COMPARISON_MS * 2 / 5);
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
        let rows: Vec<(AppName, Vec<DigestRow>)> =
            own_applications(&self.nodes[peer]).iter().map(|own| (own.name.clone(), own.rows())).collect();
        self.agenda.put(self.now_ms + there_ms + back_ms, Event::Compared { life, peer, rows });
    }

    /// The peer's rows are there.
    pub fn compared(&mut self, life: Life, peer: usize, rows: &[(AppName, Vec<DigestRow>)]) {
        if !self.is_alive(life) {
            return;
        }
        let n = life.node;
        let now = self.node_now(n);
        let mut found = Vec::new();
        for own in own_applications(&self.nodes[n]) {
            let theirs = rows.iter().find(|(name, _)| *name == own.name).map_or(&[][..], |(_, rows)| rows);
            found.extend(repairs_of(&own, theirs, now));
        }
        let size = usize::try_from(self.nodes[n].totals().leases).unwrap();
        let Some(link) = self.nodes[n].links.get_mut(&peer) else { return };
        match link.rounds.confirm(found, size) {
            Round::TooMany(_) => self.count("comparisons with too many differences"),
            Round::Repairs(repairs) => {
                for repair in &repairs {
                    link.queue.offer_repair(repair, now.mono_ms);
                }
                for repair in repairs {
                    // What a third node has taken from a client may still be on its way, and is reverted for some rounds.
                    self.truths[Plan::who(repair.key.id())].doubt("mended by comparison");
                    self.note(format_args!("{n} mends {} at {peer}: {:?}", repair.key.id(), repair.remedy));
                    self.count(repair.remedy.as_str());
                }
            }
        }
        self.pump(n);
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

fn own_applications(node: &Node) -> Vec<OwnApplication> {
    node.apps
        .values()
        .map(|app| OwnApplication {
            name: app.name().clone(),
            records: app
                .records()
                .map(|record| (record.clone(), app.override_recorded_wall_ms(&record.instance.instance_id)))
                .collect(),
            tombstones: app.tombstones().map(|(id, tombstone)| (id.clone(), *tombstone)).collect(),
        })
        .collect()
}
