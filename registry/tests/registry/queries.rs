//! Look-ups by id, VIP addresses, histories (`registry.md` 7).

use heureka_protocol::{AppName, Status};
use heureka_registry::histories::HISTORY_CAPACITY;
use heureka_registry::{Histories, History, HistoryEntry, LookUp, VipIndex};

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

fn found(index: &VipIndex, wanted: &str) -> Vec<String> {
    index.look_up(wanted).apps.iter().map(ToString::to_string).collect()
}

#[test]
fn q_2_a_vip_is_matched_exactly_first_then_in_any_case() {
    let (orders, mail, cart) = (AppName::new("ORDERS"), AppName::new("MAIL"), AppName::new("CART"));
    let mut index = VipIndex::default();
    index.add(&orders, Some("a.vip,B.vip, c"));
    index.add(&mail, Some("b.vip"));
    index.add(&cart, None);
    assert_eq!(found(&index, "a.vip"), ["ORDERS"]);
    assert_eq!(found(&index, "B.vip"), ["ORDERS"]);
    assert_eq!(found(&index, "b.vip"), ["MAIL"]);
    assert_eq!(found(&index, "B.VIP"), ["MAIL", "ORDERS"]);
    assert_eq!(
        [found(&index, "c"), found(&index, " c"), found(&index, "C ")],
        [["ORDERS"], ["ORDERS"], ["ORDERS"]]
    );
    assert!(found(&index, "a.vip,B.vip, c").is_empty(), "the whole list is no address");
    assert!(found(&index, "").is_empty() && found(&index, "nope").is_empty());
}

#[test]
fn q_2_the_answer_selects_exactly_the_members_of_the_spelling() {
    let app = AppName::new("A");
    let mut index = VipIndex::default();
    let lists = [Some("x, y"), Some("X"), Some("xx"), Some(",,"), None];
    for list in lists {
        index.add(&app, list);
    }
    let selected = |wanted: &str| lists.map(|list| index.look_up(wanted).selects(list));
    assert_eq!(selected("x"), [true, false, false, false, false]);
    assert_eq!(selected("Y"), [true, false, false, false, false]);
    index.remove(&app, Some("x, y"));
    assert!(index.look_up("y").apps.is_empty());
    assert!(index.look_up("x").selects(Some("X")), "the exact spelling is gone, so any case counts");
}

#[test]
fn q_2_an_index_forgets_what_was_taken_out() {
    let (a, b) = (AppName::new("A"), AppName::new("B"));
    let mut index = VipIndex::default();
    for app in [&a, &a, &b] {
        index.add(app, Some("v, v"));
    }
    index.remove(&a, Some("v, v"));
    assert_eq!(found(&index, "v"), ["A", "B"]);
    index.remove(&a, Some("v, v"));
    assert_eq!(found(&index, "V"), ["B"]);
    index.remove(&b, Some("v, v"));
    index.remove(&b, Some("v, v"));
    assert!(index.is_empty());
    assert_eq!(index.look_up("V"), <_>::default(), "not even the spelling is remembered");
}

#[test]
fn q_2_blanks_around_a_piece_do_not_make_it_another_address() {
    let (a, b) = (AppName::new("A"), AppName::new("B"));
    let mut index = VipIndex::default();
    index.add(&a, Some("x , c\t"));
    index.add(&b, Some("C"));
    assert_eq!([found(&index, "c"), found(&index, "C"), found(&index, "x")], [["A"], ["B"], ["A"]]);
    assert!(index.look_up("c").selects(Some("x , c\t")));
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
