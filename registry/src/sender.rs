//! Who sends a batch, as far as the order of events depends on it (`replication.md` 9.3.3).

/// A sender. Two batches come from the same one only if they say so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sender {
    id: u64,
    keeps_order: bool,
}

impl Sender {
    /// A node of our kind in one of its lives, by way of one of its links: there it tells what happened to one instance in
    /// the order in which it happened. Two links that lead to the same peer under two names know nothing of one another.
    #[must_use]
    pub fn node(name: &str, link: u64) -> Self {
        // Fowler, Noll and Vo's hash, variant 1a. The names are random, so nothing is gained by a better one.
        let hash = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        let bytes = name.bytes().chain(link.to_le_bytes());
        Self { id: bytes.fold(0xcbf2_9ce4_8422_2325, hash), keeps_order: true }
    }

    /// A server that does not say who it is, such as Java's: known again only within one batch. The caller numbers them.
    #[must_use]
    pub const fn unknown(batch: u64) -> Self {
        Self { id: batch, keeps_order: false }
    }

    /// True if what this sender tells of an instance comes in the order in which it happened.
    #[must_use]
    pub const fn keeps_order(self) -> bool {
        self.keeps_order
    }

    /// A number for it, the same for the same sender.
    #[must_use]
    pub const fn id(self) -> u64 {
        self.id
    }
}
