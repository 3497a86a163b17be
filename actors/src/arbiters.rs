//! Threads of the actors.

use std::hash::BuildHasher;

use actix::prelude::*;
use foldhash::quality::FixedState;
use heureka_protocol::AppName;

use crate::app_actor::AppActor;
use crate::options::Placement;

/// Seed of the spread of applications; fixed, so that an application never moves.
const PLACEMENT_SEED: u64 = 1;

/// The arbiters of one node. In the one-arbiter placement there are none and everything runs where it is started.
pub struct Arbiters {
    leases: Vec<ArbiterHandle>,
}

/// Threads that must be stopped and joined.
pub struct OwnedArbiters {
    leases: Vec<Arbiter>,
    cache: Option<Arbiter>,
}

impl OwnedArbiters {
    /// Starts the threads of a placement.
    #[must_use]
    pub fn start(placement: Placement) -> Self {
        match placement {
            Placement::OneArbiter => Self { leases: Vec::new(), cache: None },
            Placement::Threads { lease_arbiters } => Self {
                leases: (0..lease_arbiters.max(1)).map(|_| Arbiter::new()).collect(),
                cache: Some(Arbiter::new()),
            },
        }
    }

    /// Handles for starting applications.
    #[must_use]
    pub fn for_leases(&self) -> Arbiters {
        Arbiters { leases: self.leases.iter().map(Arbiter::handle).collect() }
    }

    /// Starts the cache actor on its thread.
    pub fn start_cache<A>(&self, make: impl FnOnce() -> A + Send + 'static) -> Addr<A>
    where
        A: Actor<Context = Context<A>>,
    {
        start_on(self.cache.as_ref().map(Arbiter::handle), make)
    }

    /// Starts the registry actor on the first lease thread.
    pub fn start_registry<A>(&self, make: impl FnOnce() -> A + Send + 'static) -> Addr<A>
    where
        A: Actor<Context = Context<A>>,
    {
        start_on(self.leases.first().map(Arbiter::handle), make)
    }

    /// Stops all threads and waits for them. What is still queued is lost: flush before.
    pub fn stop(self) {
        for arbiter in self.leases.into_iter().chain(self.cache) {
            arbiter.stop();
            let _ = arbiter.join();
        }
    }
}

impl Arbiters {
    /// Starts the actor of an application on the thread that its name chooses.
    pub fn start_application(
        &self,
        name: &AppName,
        make: impl FnOnce() -> AppActor + Send + 'static,
    ) -> Addr<AppActor> {
        let hash = FixedState::with_seed(PLACEMENT_SEED).hash_one(name.as_str());
        let index = (hash % self.leases.len().max(1) as u64) as usize;
        start_on(self.leases.get(index).cloned(), make)
    }
}

fn start_on<A>(arbiter: Option<ArbiterHandle>, make: impl FnOnce() -> A + Send + 'static) -> Addr<A>
where
    A: Actor<Context = Context<A>>,
{
    match arbiter {
        Some(arbiter) => A::start_in_arbiter(&arbiter, |_| make()),
        None => make().start(),
    }
}
