//! Who this node is to nodes of its kind.

use std::hash::{BuildHasher, RandomState};

use heureka_actors::Clock;
use heureka_actors::replicator::PeerIdentity;

/// A random id for this life of the node: 128 bits from the system's source of randomness, by way of the seeds of two hash
/// functions.
#[must_use]
pub fn draw(clock: &Clock) -> PeerIdentity {
    let bits = || RandomState::new().hash_one("node");
    PeerIdentity { node: format!("{:016x}{:016x}", bits(), bits()), epoch: clock.now().wall_ms }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_lives_have_two_ids() {
        let clock = Clock::starting_at(1_000);
        let (one, two) = (draw(&clock), draw(&clock));
        assert_ne!(one.node, two.node);
        assert_eq!(PeerIdentity::parse(&one.to_string()), Some(one));
    }
}
