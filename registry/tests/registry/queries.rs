//! Look-ups by id, VIP addresses, histories (`registry.md` 7).

use heureka_protocol::{AppName, Status};
use heureka_registry::histories::HISTORY_CAPACITY;
use heureka_registry::vip::{fold, pieces};
use heureka_registry::{Histories, History, HistoryEntry, LookUp};

use crate::support::{Node, says};

#[test]
fn q_1_every_lease_is_under_its_own_application_name() {
    let mut node = Node::new();
    let mut stray = says("i-1", Status::Up, 1);
    stray.app = AppName::new("ELSEWHERE");
    node.register(stray);
    assert_eq!(&*node.record("i-1").instance.app, "ORDERS");
    assert_eq!(node.app.records().count(), node.app.len());
}

#[test]
fn q_2_a_comma_list_is_split_without_blanks_and_empty_pieces() {
    let pieces = |list| pieces(list).collect::<Vec<_>>();
    assert_eq!(pieces("a.vip,B.vip , c\t,, "), ["a.vip", "B.vip", "c"]);
    assert!(pieces("").is_empty() && pieces(" , ").is_empty());
    assert_eq!(fold(" Straße.vip "), fold("STRASSE.VIP"), "full upper-casing, as for application names");
}

#[test]
fn q_4_a_history_keeps_the_newest_1000_and_lists_them_newest_first() {
    let mut histories = Histories::default();
    for n in 0..=1_000 {
        let entry = HistoryEntry { at_wall_ms: n, app: AppName::new("A"), id: n.to_string().into() };
        histories.registered.push(entry);
    }
    let times: Vec<i64> = histories.registered.newest_first().map(|entry| entry.at_wall_ms).collect();
    assert_eq!((times.len(), times[0], times[999]), (HISTORY_CAPACITY, 1_000, 1));
    assert!(histories.cancelled.is_empty());
}

#[test]
fn q_4_a_ring_of_five_behaves_as_in_the_reference_test() {
    let mut ring = History::with_capacity(5);
    (1..=6).for_each(|n| ring.push(n));
    let oldest_first = |ring: &History<i32>| ring.newest_first().rev().copied().collect::<Vec<_>>();
    assert_eq!(oldest_first(&ring), [2, 3, 4, 5, 6]);
    assert_eq!(ring.pop_oldest(), Some(2));
    ring.push(7);
    assert_eq!(oldest_first(&ring), [3, 4, 5, 6, 7]);
    let mut none = History::with_capacity(0);
    none.push(1);
    assert!(none.is_empty());
}

#[test]
fn q_5_a_look_up_hides_expired_leases_only_while_leases_may_expire() {
    let mut node = Node::with_one();
    let seen = |node: &Node| [true, false].map(|enabled| node.app.is_visible("i-1", node.now, enabled));
    assert_eq!(seen(&node), [true, true]);
    node.pass(90_001);
    assert_eq!(seen(&node), [false, true]);
    assert!(matches!(node.app.look_up("i-1", node.now, true), LookUp::Hidden));
    assert!(matches!(node.app.look_up("nope", node.now, true), LookUp::Absent));
    assert_eq!(node.app.records().count(), 1, "lists show it");
    node.renew("i-1");
    assert_eq!(seen(&node), [true, true]);
}
