//! What happens next: one list of events for the whole world, in the order of virtual time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use heureka_protocol::AppName;
use heureka_registry::ClockReading;
use heureka_registry::replication::{Outcome, PeerApplication, PeerCopy};

use crate::clients::{Call, Reply};
use crate::wire::{AnswerHead, Parcel};

/// A node in one of its lives: what was meant for an earlier one does not reach it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Life {
    pub node: usize,
    pub number: u32,
}

/// One event.
#[derive(Debug)]
pub enum Event {
    /// A client's heartbeat is due.
    Beat { who: usize, life: u32 },
    /// A client does something of its own accord.
    Act { who: usize },
    /// A client's call reaches a node.
    Call { who: usize, number: u64, node: usize, call: Call },
    /// An answer, or the lack of one, reaches a client.
    Reply { who: usize, number: u64, reply: Reply },
    /// A client tries again.
    Again { who: usize, number: u64 },
    /// Somebody sets or removes an override.
    Operate,
    /// A queue wants to be asked.
    Wake { life: Life, peer: usize },
    /// Heartbeats are carried to the queues.
    Carry { life: Life },
    /// A batch reaches its receiver.
    Arrive { parcel: Box<Parcel> },
    /// The outcome of a batch is known to its sender.
    Settle { life: Life, peer: usize, number: u64, outcome: Outcome, head: AnswerHead },
    /// The minute of a node is over.
    Minute { life: Life },
    /// A node looks for expired leases.
    Sweep { life: Life },
    /// A node writes its snapshot.
    Save { life: Life },
    /// A node that was down starts.
    Start { node: usize, memory: Memory },
    /// A node asks a peer what it holds.
    Compare { life: Life, peer: usize },
    /// The peer's rows are there.
    Compared { life: Life, peer: usize, theirs: Vec<(AppName, PeerApplication)>, clock: Option<ClockReading> },
    /// The peers' lists leave them.
    Ask { life: Life },
    /// The peers' lists are there.
    Copy { life: Life, asked_mono_ms: u64, copies: Vec<PeerCopy>, clocks: Vec<ClockReading> },
    /// A node that leaves has had its time for draining.
    Left { life: Life },
    /// The network changes.
    Weather,
    /// Something happens to a node.
    Trouble,
}

/// What a node finds on its disk when it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    Nothing,
    /// Its state at the moment of the crash.
    Fresh,
    /// The last snapshot before that.
    Old,
}

struct Entry {
    at_ms: u64,
    order: u64,
    /// Boxed: the heap moves its entries about.
    event: Box<Event>,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        (self.at_ms, self.order) == (other.at_ms, other.order)
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at_ms, self.order).cmp(&(other.at_ms, other.order))
    }
}

/// The list.
#[derive(Default)]
pub struct Agenda {
    entries: BinaryHeap<Reverse<Entry>>,
    order: u64,
}

impl Agenda {
    /// Events of the same moment happen in the order in which they were put here.
    pub fn put(&mut self, at_ms: u64, event: Event) {
        self.order += 1;
        self.entries.push(Reverse(Entry { at_ms, order: self.order, event: Box::new(event) }));
    }

    /// The next event, unless it is later than `until_ms`.
    pub fn next(&mut self, until_ms: u64) -> Option<(u64, Event)> {
        let is_due = self.entries.peek().is_some_and(|Reverse(entry)| entry.at_ms <= until_ms);
        if !is_due {
            return None;
        }
        self.entries.pop().map(|Reverse(entry)| (entry.at_ms, *entry.event))
    }
}
