//! What nodes of this product tell one another besides batches, in headers, which Java ignores (spec `replication.md` 9.3):
//! who they are, on batches and on the answers to them, and which place a batch has among the others.

use std::fmt;

use heureka_registry::replication::BatchOrder;

/// Name of the header, in requests and answers.
pub const PEER_HEADER: &str = "x-heureka-peer";

/// Name of the header with the place of a batch, in requests.
pub const ORDER_HEADER: &str = "x-heureka-batch";

/// Version of what the header promises: the sender keeps the order of events per instance.
const VERSION: &str = "1";
/// Longest node id that is believed.
const NODE_CHARS_MAX: usize = 64;

/// One life of one node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PeerIdentity {
    /// Random id, drawn when the node starts: no address, no name, so no alias can disguise a node from itself.
    pub node: String,
    /// Wall clock of the start, milliseconds: tells lives of a node apart for people.
    pub epoch: i64,
}

impl PeerIdentity {
    /// Reads the header's value; `None` for anything that is not ours.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(';').map(str::trim);
        if parts.next()? != VERSION {
            return None;
        }
        let (mut node, mut epoch) = (None, 0);
        for part in parts {
            match part.split_once('=') {
                Some(("node", id)) => node = Some(id),
                Some(("epoch", ms)) => epoch = ms.parse().unwrap_or(0),
                _ => {}
            }
        }
        let is_id = |id: &&str| {
            (1..=NODE_CHARS_MAX).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
        };
        node.filter(is_id).map(|node| Self { node: node.to_owned(), epoch })
    }
}

impl fmt::Display for PeerIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{VERSION};node={};epoch={}", self.node, self.epoch)
    }
}

/// The place of a batch, as its header says it.
#[must_use]
pub fn order_to_text(order: BatchOrder) -> String {
    format!("{};oldest={};link={:x}", order.number, order.oldest, order.link)
}

/// Reads the place of a batch; `None` for nonsense.
#[must_use]
pub fn order_from_text(text: &str) -> Option<BatchOrder> {
    let (number, rest) = text.split_once(";oldest=")?;
    let (oldest, link) = rest.split_once(";link=")?;
    let link = u64::from_str_radix(link, 16).ok()?;
    let order = BatchOrder { link, number: number.parse().ok()?, oldest: oldest.parse().ok()? };
    (order.oldest <= order.number).then_some(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let identity = PeerIdentity { node: "0af3".to_owned(), epoch: 1_700_000_000_000 };
        assert_eq!(identity.to_string(), "1;node=0af3;epoch=1700000000000");
        assert_eq!(PeerIdentity::parse(&identity.to_string()), Some(identity));
    }

    #[test]
    fn later_members_are_ignored_and_nonsense_is_no_identity() {
        assert!(PeerIdentity::parse("1; node=a1; epoch=x; more=yes; flag").is_some());
        for text in
            ["", "2;node=a1", "1", "1;node=", "1;node=a b", "1;node=\u{e9}", &format!("1;node={:065}", 0)]
        {
            assert_eq!(PeerIdentity::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_place_is_read_as_written_and_nonsense_is_none() {
        let order = BatchOrder { link: u64::MAX, number: 8, oldest: 7 };
        assert_eq!(order_to_text(order), "8;oldest=7;link=ffffffffffffffff");
        assert_eq!(order_from_text(&order_to_text(order)), Some(order));
        for text in ["", "1", "2;oldest=1", "1;oldest=2;link=0", "-1;oldest=-1;link=0", "1;oldest=1;link=x"] {
            assert_eq!(order_from_text(text), None, "{text}");
        }
    }
}
