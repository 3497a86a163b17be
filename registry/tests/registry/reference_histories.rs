//! The histories of the reference tests (`registry.md` 10.2). Those of other parts are where their subject is tested:
//! compensation in `evictions`, the ring in `queries`, groups in `groups`, the corrected status in `renewals`.

use heureka_protocol::{Status, StatusCounts};
use heureka_registry::{
    EvictionPlan, MinuteCounter, Origin, ProtectionSettings, SelfPreservation, SplitMix64, StatusOutcome,
};

use crate::support::{Node, at, says};

/// A node with self-preservation in Java's formula, its minute counter and its sweeps, driven second by second.
struct Server {
    node: Node,
    protection: SelfPreservation,
    renewals: MinuteCounter,
    random: SplitMix64,
}

impl Server {
    fn sweep(&mut self) {
        if !self.protection.lease_expiration_enabled(self.renewals.last_minute()) {
            return;
        }
        let app = &mut self.node.app;
        let size = app.totals().leases;
        let expired = vec![(app.name().clone(), app.expired(self.node.now, 0))];
        let plan = EvictionPlan::draw(expired, size, 0.85, &mut self.random);
        for (_, ids) in plan.victims {
            app.evict(&ids, self.node.now, 0, &self.node.rules);
        }
        self.protection.observe(self.node.app.totals());
    }

    fn renew_first(&mut self, count: usize) {
        for n in 0..count {
            if self.node.renew(&format!("i-{n:02}")).counts() {
                self.renewals.add(1);
            }
        }
    }
}

#[test]
fn fifty_instances_of_which_five_stop_renewing() {
    let settings = ProtectionSettings {
        expected_interval_secs: Some(30),
        open_for_traffic_count: 1,
        ..ProtectionSettings::default()
    };
    let mut node = Node::new();
    node.now = at(0);
    let mut server = Server {
        node,
        protection: SelfPreservation::new(settings),
        renewals: MinuteCounter::new(),
        random: SplitMix64::new(1),
    };
    server.protection.open(at(0));
    for n in 0..50 {
        let mut instance = says(&format!("i-{n:02}"), Status::Up, 1);
        instance.lease.duration_secs = 30;
        server.node.register(instance);
    }
    server.protection.observe(server.node.app.totals());
    let figures = |server: &Server| {
        let renewals = server.renewals.last_minute();
        let enabled = server.protection.lease_expiration_enabled(renewals);
        (server.protection.threshold(), renewals, enabled, server.node.app.len())
    };
    for second in 1..=120 {
        server.node.now = at(second * 1_000);
        if [15, 45, 75, 105].contains(&second) {
            server.renew_first(45);
        }
        if second % 60 == 0 {
            server.renewals.tick();
        }
        if second % 10 == 0 {
            server.sweep();
        }
        match second {
            40 => assert_eq!(figures(&server), (86, 0, false, 50)),
            80 => assert_eq!((figures(&server).1, figures(&server).2, figures(&server).3), (90, true, 45)),
            _ => {}
        }
    }
    // The reference ends with a threshold of 256 because its client saw 150 instances of other servers; here the local
    // registry is counted (defect D30).
    assert_eq!((server.node.app.len(), server.protection.expected_clients()), (45, 46));
}

#[test]
fn an_override_holds_against_registrations_until_it_is_removed() {
    let mut node = Node::with_one();
    let mut seen = Vec::new();
    node.set_status("i-1", Status::OutOfService);
    seen.push(node.status("i-1"));
    node.register(says("i-1", Status::Up, 200));
    seen.push(node.status("i-1"));
    node.remove_override("i-1", Some(Status::Down));
    seen.push(node.status("i-1"));
    node.register(says("i-1", Status::Up, 200));
    seen.push(node.status("i-1"));
    assert_eq!(seen, [Status::OutOfService, Status::OutOfService, Status::Down, Status::Up]);
}

#[test]
fn starting_shows_through_an_override() {
    let mut node = Node::with_one();
    node.set_status("i-1", Status::OutOfService);
    node.register(says("i-1", Status::Starting, 200));
    assert_eq!(node.status("i-1"), Status::Starting);
}

#[test]
fn a_client_cannot_move_itself_between_up_and_out_of_service() {
    for (first, then) in [(Status::Up, Status::OutOfService), (Status::OutOfService, Status::Up)] {
        let mut node = Node::new();
        node.register(says("i-1", first, 100));
        for dirty in [101, 102] {
            node.register(says("i-1", then, dirty));
            assert_eq!(node.status("i-1"), first);
        }
    }
}

#[test]
fn the_hash_of_one_up_instance() {
    let mut node = Node::with_one();
    let hash = |node: &Node| {
        node.app.records().map(|record| record.instance.status).collect::<StatusCounts>().hash_code()
    };
    assert_eq!(hash(&node), "UP_1_");
    node.register(says("i-2", Status::Up, 1));
    assert_eq!(hash(&node), "UP_2_");
}

#[test]
fn the_newer_of_two_servers_wins_in_both_directions() {
    let (mut one, mut two) = (Node::new(), Node::new());
    one.register(says("i-1", Status::Starting, 11_111));
    two.register(says("i-1", Status::Up, 22_222));
    let from_one = one.record("i-1").instance.clone();
    two.register_from(from_one, Origin::Peer);
    assert_eq!(two.status("i-1"), Status::Up);
    let from_two = two.record("i-1").instance.clone();
    one.register_from(from_two, Origin::Peer);
    assert_eq!(one.status("i-1"), Status::Up);
}

#[test]
fn status_operations_on_an_unknown_instance_are_not_found() {
    let mut node = Node::new();
    assert!(matches!(node.set_status("i-1", Status::Up), StatusOutcome::NotFound));
    assert!(matches!(node.remove_override("i-1", None), StatusOutcome::NotFound));
}

#[test]
fn removing_an_override_with_a_value_shows_the_value() {
    // Without a value Java shows UNKNOWN; the design returns to the reported status instead.
    for (value, expected) in [(None, Status::Up), (Some(Status::Down), Status::Down)] {
        let mut node = Node::with_one();
        node.set_status("i-1", Status::OutOfService);
        node.remove_override("i-1", value);
        assert_eq!(node.status("i-1"), expected);
    }
}
