//! Batches that come too late or twice: their sender has given them up and sent again what was in them, or something on the
//! way has repeated them.
//!
//! A sender waits for an answer for a fifth of a second. A batch that was only slow may then be overtaken by the ones after
//! it, which hold the same or later events of the same instances. So a node of our kind numbers its batches and says with
//! each one which is the oldest that it still waits for (`replication.md` 9.3.1: an instance is in one batch at a time).
//! Whatever is older than that has been confirmed or is in a later batch.

use std::collections::{BTreeMap, BTreeSet};

use crate::sender::Sender;

/// Senders that are remembered; the one that has been silent for longest goes first.
const SENDERS_MAX: usize = 256;
/// Numbers of batches that are remembered for one sender besides the oldest that it waits for; it waits for four at most.
const NUMBERS_MAX: usize = 64;

/// The place of a batch among those of its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchOrder {
    /// Which of the sender's links it takes: each has numbers of its own.
    pub link: u64,
    /// Its number.
    pub number: u64,
    /// The oldest one that the sender waits for.
    pub oldest: u64,
}

/// A batch that has come in.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Who sent it.
    pub sender: Sender,
    /// Its number; `None` if the sender does not say.
    pub number: Option<u64>,
    /// It has come in before.
    pub is_repeated: bool,
}

/// What is known of the batches of every sender.
#[derive(Debug, Default)]
pub struct Arrivals {
    senders: BTreeMap<u64, Known>,
    unknown: u64,
    turn: u64,
}

#[derive(Debug, Default)]
struct Known {
    oldest: u64,
    /// Batches that have come in, from `oldest` on.
    numbers: BTreeSet<u64>,
    turn: u64,
}

impl Known {
    /// Takes a batch in; true if it has come in before.
    fn enter(&mut self, order: BatchOrder, turn: u64) -> bool {
        self.turn = turn;
        self.oldest = self.oldest.max(order.oldest);
        self.numbers = self.numbers.split_off(&self.oldest);
        let is_new = self.numbers.insert(order.number);
        if self.numbers.len() > NUMBERS_MAX {
            self.numbers.pop_first();
        }
        !is_new
    }
}

impl Arrivals {
    /// A batch has come in. `node` names the sender, and the order its place, if it is of our kind.
    pub fn enter(&mut self, node: Option<&str>, order: Option<BatchOrder>) -> Arrival {
        let Some((node, order)) = node.zip(order) else {
            self.unknown += 1;
            return Arrival { sender: Sender::unknown(self.unknown), number: None, is_repeated: false };
        };
        let sender = Sender::node(node, order.link);
        self.turn += 1;
        let is_repeated = self.senders.entry(sender.id()).or_default().enter(order, self.turn);
        self.forget_one_if_many();
        Arrival { sender, number: Some(order.number), is_repeated }
    }

    /// True if nobody waits for the batch any more. Ask right before its items are applied, not only when it comes in.
    #[must_use]
    pub fn is_overtaken(&self, arrival: Arrival) -> bool {
        let known = self.senders.get(&arrival.sender.id());
        let is_late = arrival.number.zip(known).is_some_and(|(number, known)| number < known.oldest);
        is_late || arrival.is_repeated
    }

    fn forget_one_if_many(&mut self) {
        if self.senders.len() > SENDERS_MAX {
            let silent = self.senders.iter().min_by_key(|(_, known)| known.turn).map(|(id, _)| *id);
            silent.and_then(|id| self.senders.remove(&id));
        }
    }
}
