//! What may happen to one node of three (`replication.md` 10.5 to 10.7). No verdict depends on how long anything takes.

use super::clients::Clients;
use super::nodes::Processes;
use crate::cluster::network::Mode;

const ALL: [usize; 3] = [0, 1, 2];

#[test]
fn s60_a_killed_node_costs_nothing_that_its_clients_still_know() {
    let mut processes = Processes::start();
    let clients = Clients::start(processes.ports());
    clients.go_on(&ALL);
    for node in [0, 1] {
        let others: Vec<usize> = ALL.into_iter().filter(|other| *other != node).collect();
        // What it has promised and not told anybody yet would die with it.
        clients.only_live();
        processes.until_equal();
        processes.kill_node(node);
        clients.change();
        clients.go_on(&others);
        processes.start_node(node);
        clients.come_home();
        clients.go_on(&ALL);
    }
    let truth = clients.end();
    processes.until_all_show(&truth);
    assert!(truth.shown().len() > 50 && truth.gone() > 0);
}

#[test]
fn a_paused_node_holds_nobody_up_and_catches_up() {
    let processes = Processes::start();
    let clients = Clients::start(processes.ports());
    clients.go_on(&ALL);
    processes.signal(2, "STOP");
    clients.go_on(&[0, 1]);
    processes.signal(2, "CONT");
    clients.come_home();
    clients.go_on(&ALL);
    let truth = clients.end();
    processes.until_all_show(&truth);
    assert!(truth.shown().len() > 50 && truth.gone() > 0);
}

#[test]
fn s48_s52_both_sides_of_a_partition_go_on_and_agree_afterwards() {
    let processes = Processes::start();
    let clients = Clients::start(processes.ports());
    clients.go_on(&ALL);
    for node in ALL {
        processes.set_around(node, Mode::Cut);
        clients.go_on(&ALL);
        processes.set_around(node, Mode::Open);
    }
    let truth = clients.end();
    processes.until_all_show(&truth);
    assert!(truth.shown().len() > 50 && truth.gone() > 0);
}

#[test]
fn s41_a_slow_way_to_one_node_slows_nobody_else() {
    let processes = Processes::start();
    processes.set_around(2, Mode::Slow);
    let clients = Clients::start(processes.ports());
    clients.go_on(&ALL);
    clients.go_on(&ALL);
    processes.set_around(2, Mode::Open);
    let truth = clients.end();
    processes.until_all_show(&truth);
    assert!(truth.shown().len() > 50 && truth.gone() > 0);
}
