//! What must always be true, each statement with an id, and checks for what one can see on a state.
//!
//! Model tests, the cluster simulation and production counters share these ids. The checks read; they never repair.

mod catalogue;

use std::collections::BTreeSet;
use std::fmt;

use heureka_protocol::{ActionType, Status};

use crate::application::Application;
use crate::change::Change;
use crate::delta_log::DeltaLog;
use crate::eviction_plan::{EvictionPlan, sweep_limit};
use crate::totals::LeaseTotals;

pub use catalogue::*;

/// One statement of `registry.md` 10.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Invariant {
    /// Id: a letter for the group, a number inside it.
    pub id: &'static str,
    /// Number in `registry.md` 10.1.
    pub number: u8,
    /// For whom it holds.
    pub scope: Scope,
    /// Which part of Heureka must keep and test it.
    pub home: Home,
    /// The statement in one line.
    pub statement: &'static str,
}

/// For whom an invariant holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// For Java too, in every sequential history.
    Common,
    /// For this implementation only.
    New,
}

/// The part that keeps an invariant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// This crate.
    Registry,
    /// The actors that call it.
    Actors,
    /// The cache actor and its documents.
    Cache,
    /// The start and the peers.
    Cluster,
}

/// A broken invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which one.
    pub invariant: Invariant,
    /// Where and how.
    pub detail: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} broken: {} ({})", self.invariant.id, self.detail, self.invariant.statement)
    }
}

fn require(holds: bool, invariant: Invariant, detail: impl FnOnce() -> String) -> Result<(), Violation> {
    if holds { Ok(()) } else { Err(Violation { invariant, detail: detail() }) }
}

/// Checks an application at rest: L-4, R-1, R-8, C-3, C-4, Q-1.
///
/// # Errors
/// The first broken invariant.
pub fn check_application(app: &Application) -> Result<(), Violation> {
    for record in app.records() {
        let instance = &record.instance;
        let id = &instance.instance_id;
        let stored = app.override_of(id).map_or(Status::Unknown, |entry| entry.status);
        let is_current = app.get(id).is_some_and(|found| std::sync::Arc::ptr_eq(found, record));
        let is_alive = record.lease.eviction_timestamp == 0 && record.lease.clock.get().is_some();
        require(is_current, R_1, || format!("{id} is stored under another id"))?;
        require(instance.overridden_status == stored, R_8, || {
            format!("{id} shows {}, the override is {stored}", instance.overridden_status)
        })?;
        require(is_alive, L_4, || format!("{id} has an ended lease"))?;
        require(instance.app == *app.name(), Q_1, || format!("{id} names {}", instance.app))?;
        require(instance.action_type.is_some_and(|action| action != ActionType::Deleted), D_6, || {
            format!("{id} is in the view but marked as gone")
        })?;
    }
    let recounted: LeaseTotals = app.records().map(|record| LeaseTotals::of(record)).sum();
    require(recounted == app.totals(), C_4, || format!("{recounted:?} counted, {:?} kept", app.totals()))?;
    let mut overrides = app.overrides();
    require(overrides.all(|(_, status)| status != Status::Unknown), C_3, || "override UNKNOWN".to_owned())
}

/// Checks a change against the application that has just made it: L-4, R-10, D-6.
///
/// # Errors
/// The first broken invariant.
pub fn check_change(app: &Application, change: &Change) -> Result<(), Violation> {
    let record = &change.record;
    let id = &change.id;
    require(change.sequence + 1 == app.next_sequence(), R_10, || {
        format!("change {} of {id} is not the last one", change.sequence)
    })?;
    require(record.instance.action_type == Some(change.kind.action()), D_6, || {
        format!("{id} shows {:?} after {:?}", record.instance.action_type, change.kind)
    })?;
    let is_stored = app.get(id).is_some_and(|found| std::sync::Arc::ptr_eq(found, record));
    require(is_stored != change.kind.is_removal(), D_6, || format!("{id} after {:?}", change.kind))?;
    let has_ended = record.lease.eviction_timestamp > 0;
    require(has_ended == change.kind.is_removal(), L_4, || format!("{id} after {:?}", change.kind))
}

/// Checks a delta log against its application: D-4, D-6, D-7.
///
/// # Errors
/// The first broken invariant.
pub fn check_delta(app: &Application, log: &DeltaLog) -> Result<(), Violation> {
    let mut seen = BTreeSet::new();
    let mut removals_began = false;
    for entry in log.entries() {
        let id = &entry.record.instance.instance_id;
        let is_removal = entry.action == ActionType::Deleted;
        require(seen.insert(id), D_4, || format!("{id} twice"))?;
        require(app.get(id).is_some() != is_removal, D_6, || format!("{id} shown {:?}", entry.action))?;
        require(is_removal || !removals_began, D_7, || format!("{id} after a removal"))?;
        removals_began |= is_removal;
    }
    Ok(())
}

/// Checks a plan against what it was drawn from: C-6.
///
/// # Errors
/// If the number of victims is not what the limit and the expired leases allow.
pub fn check_plan(plan: &EvictionPlan, expired: usize, size: u64, fraction: f64) -> Result<(), Violation> {
    let limit = sweep_limit(size, fraction);
    let allowed = usize::try_from(limit).map_or(expired, |limit| limit.min(expired));
    let planned: usize = plan.victims.iter().map(|(_, ids)| ids.len()).sum();
    require(planned == allowed && plan.count == allowed, C_6, || {
        format!("{planned} victims of {expired} expired with limit {limit}")
    })
}

/// Checks that two nodes hold the same of an application: id, dirty timestamp, status, overridden status (P-2).
///
/// # Errors
/// The first difference.
pub fn check_converged(one: &Application, other: &Application) -> Result<(), Violation> {
    let contents = |app: &Application| -> BTreeSet<String> {
        let text = |instance: &heureka_protocol::Instance| {
            format!(
                "{} {} {} {}",
                instance.instance_id,
                instance.last_dirty_timestamp,
                instance.status,
                instance.overridden_status
            )
        };
        app.records().map(|record| text(&record.instance)).collect()
    };
    let (one, other) = (contents(one), contents(other));
    let difference = one.symmetric_difference(&other).next();
    require(difference.is_none(), P_2, || difference.cloned().unwrap_or_default())
}
