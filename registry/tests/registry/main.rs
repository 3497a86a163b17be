//! Tests of the registry rules: one per invariant and rule, the histories of the reference tests, and random histories
//! against a naive model. Tests carry the ids of `heureka_registry::invariants` in their names.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails, also inside its helpers")]

mod cancels;
mod catalogue;
mod clock_race;
mod copies;
mod deltas;
mod evictions;
mod groups;
mod leases;
mod metadata;
mod model;
mod overrides;
mod protection;
mod queries;
mod reference_histories;
mod registrations;
mod renewals;
mod replication;
mod restarts;
mod support;
mod tombstones;
