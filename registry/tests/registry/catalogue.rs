//! The catalogue of invariants is complete, and every invariant of this crate has a test that carries its id.

use std::collections::BTreeSet;
use std::path::Path;

use heureka_protocol::Status;
use heureka_registry::invariants::{ALL, Home, check_application, check_change, check_converged, check_plan};
use heureka_registry::{EvictionPlan, Origin};

use crate::support::{Node, says};

fn sources(folder: &Path, texts: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, texts);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            texts.push(std::fs::read_to_string(path).unwrap());
        }
    }
}

fn all_sources() -> Vec<String> {
    let mut texts = Vec::new();
    for folder in ["src", "tests"] {
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut texts);
    }
    texts
}

#[test]
fn every_statement_of_the_specification_has_one_id() {
    let numbers: Vec<u8> = ALL.iter().map(|invariant| invariant.number).collect();
    assert_eq!(numbers, (1..=73).collect::<Vec<u8>>());
    let ids: BTreeSet<&str> = ALL.iter().map(|invariant| invariant.id).collect();
    assert_eq!(ids.len(), ALL.len());
}

#[test]
fn ids_count_up_inside_their_group() {
    let mut previous = (String::new(), 0);
    for invariant in ALL {
        let (group, number) = invariant.id.split_once('-').unwrap();
        let number: u32 = number.parse().unwrap();
        let expected = if group == previous.0 { previous.1 + 1 } else { 1 };
        assert_eq!(number, expected, "{}", invariant.id);
        previous = (group.to_owned(), number);
    }
}

#[test]
fn every_invariant_of_this_crate_has_a_test_with_its_id() {
    let texts = all_sources();
    for invariant in ALL.iter().filter(|invariant| invariant.home == Home::Registry) {
        let name = format!("fn {}_", invariant.id.to_lowercase().replace('-', "_"));
        assert!(texts.iter().any(|text| text.contains(&name)), "no test {name}...: {}", invariant.statement);
    }
}

#[test]
fn the_checks_report_what_is_broken() {
    let mut node = Node::with_one();
    let first = node.register(says("i-1", Status::Up, 200));
    let second = node.register(says("i-2", Status::Up, 1));
    assert_eq!(check_change(&node.app, &first).unwrap_err().invariant.id, "R-10");
    check_change(&node.app, &second).unwrap();

    let mut other = Node::new();
    other.register_from(says("i-1", Status::Down, 200), Origin::Peer);
    assert_eq!(check_converged(&node.app, &other.app).unwrap_err().invariant.id, "P-2");

    let plan = EvictionPlan::default();
    assert_eq!(check_plan(&plan, 1, 1, 0.0).unwrap_err().invariant.id, "C-6");
    check_plan(&plan, 0, 1, 0.0).unwrap();

    node.record("i-2").lease.clock.retire();
    let violation = check_application(&node.app).unwrap_err();
    let words = violation.to_string();
    assert!(words.starts_with("L-4 broken: i-2 has an ended lease ("), "{words}");
}
