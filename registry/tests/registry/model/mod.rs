//! Random histories: the registry against a naive model of it, and against the copies of its clients.
//!
//! After each step everything that can be observed is compared: answers, changes, leases, overrides, tombstones, totals,
//! deltas, and the thresholds that follow from them. What fails is shrunk to a short history.

mod client;
mod history;
mod naive;
mod real;
mod seen;

use heureka_registry::{LeaseTotals, Now, ProtectionSettings, SelfPreservation};
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;

use self::client::ClientCopy;
use self::history::{APPS, Step, Switches, history};
use self::naive::Naive;
use self::real::Real;
use self::seen::{Answer, Outcome};
use crate::support::at;

const START: Now = Now { mono_ms: 5_000_000, wall_ms: 1_700_000_000_000 };
const RETENTION_MS: u64 = 180_000;

/// Both registries side by side.
struct World {
    real: Real,
    naive: Naive,
    copies: Vec<ClientCopy>,
}

impl World {
    fn new(switches: Switches) -> Self {
        Self { real: Real::new(switches, START), naive: Naive::new(switches, START), copies: Vec::new() }
    }

    fn pass(&mut self, mono_ms: u64, wall_step_ms: i64) {
        let now = &mut self.real.now;
        now.mono_ms += mono_ms;
        now.wall_ms += i64::try_from(mono_ms).unwrap() + wall_step_ms;
        self.naive.now = *now;
    }

    /// A call by somebody who gets an answer.
    fn call(&mut self, step: &Step, mark: usize) -> (Outcome, Outcome) {
        let (real, naive) = (&mut self.real, &mut self.naive);
        match *step {
            Step::Register { who, said, origin } => {
                (real.register(who, said, mark, origin), naive.register(who, said, mark, origin))
            }
            Step::Adopt { who, said } => (real.adopt(who, said, mark), naive.adopt(who, said, mark)),
            Step::Renew { who, dirty, overridden, origin } => {
                (real.renew(who, dirty, overridden, origin), naive.renew(who, dirty, overridden, origin))
            }
            Step::Quick { who, dirty } => (real.quick(who, dirty), naive.quick(who, dirty)),
            Step::Cancel { who, origin } => (real.cancel(who, origin), naive.cancel(who, origin)),
            Step::SetStatus { who, status, dirty, origin } => {
                (real.set_status(who, status, dirty, origin), naive.set_status(who, status, dirty, origin))
            }
            Step::RemoveOverride { who, status, dirty, origin } => (
                real.remove_override(who, status, dirty, origin),
                naive.remove_override(who, status, dirty, origin),
            ),
            Step::Metadata { who, entry } => {
                (real.metadata(who, entry, mark), naive.metadata(who, entry, mark))
            }
            Step::Scan { extra_ms } => (real.scan(extra_ms), naive.scan(extra_ms)),
            Step::Evict { extra_ms } => (real.evict(extra_ms), naive.evict(extra_ms)),
            Step::Correct => (real.correct_all(), naive.correct_all()),
            _ => {
                self.happen(step);
                let nothing = Outcome { answer: Answer::None, changes: vec![] };
                (nothing.clone(), nothing)
            }
        }
    }

    /// Something that nobody asked for.
    fn happen(&mut self, step: &Step) {
        let (real, naive) = (&mut self.real, &mut self.naive);
        match *step {
            Step::Publish => {
                real.publish();
                naive.publish();
            }
            Step::Sweep => {
                real.sweep();
                naive.sweep();
            }
            Step::ExpireDelta => {
                real.expire_delta();
                naive.expire_delta();
            }
            Step::LiftTombstone { who, dirty } => {
                real.lift_tombstone(who, dirty);
                naive.lift_tombstone(who, dirty);
            }
            Step::Group { enabled } => {
                real.set_group(enabled);
                naive.group_is_enabled = enabled;
            }
            Step::Panic { broken } => {
                real.panic(broken);
                naive.panic(broken);
            }
            Step::Restart { lost } => {
                real.restart(lost);
                naive.restart(lost);
                self.copies.clear();
            }
            Step::Pass { mono_ms, wall_step_ms } => self.pass(mono_ms, wall_step_ms),
            Step::Fetch => self.copies.push(ClientCopy::fetch(&self.real)),
            _ => unreachable!("{step:?} is a call"),
        }
    }

    /// Client copies that are young enough to be brought up to date by a delta, brought up to date.
    fn updated_copies(&self) -> impl Iterator<Item = ClientCopy> {
        let now_ms = self.real.now.mono_ms;
        let young = self.copies.iter().filter(move |copy| now_ms <= copy.fetched_mono_ms + RETENTION_MS);
        young.map(|copy| {
            let mut copy = copy.clone();
            copy.apply_delta(&self.real);
            copy
        })
    }
}

fn run(
    (switches, steps): (Switches, Vec<Step>),
    mut check: impl FnMut(&World, (Outcome, Outcome)) -> TestCaseResult,
) -> TestCaseResult {
    let mut world = World::new(switches);
    for (mark, step) in steps.iter().enumerate() {
        let outcomes = world.call(step, mark);
        check(&world, outcomes)?;
    }
    Ok(())
}

/// Expected clients and threshold by the definition, from what the naive registry holds.
fn check_protection(world: &World, protection: &mut SelfPreservation) -> TestCaseResult {
    protection.observe(world.real.apps.iter().map(|app| app.totals()).sum::<LeaseTotals>());
    let mut clients = 0;
    let mut per_minute = 0.0;
    for app in 0..APPS {
        for lease in world.naive.seen(app).leases {
            clients += 1;
            per_minute += 60.0 / f64::from(if lease.settings.1 > 0 { lease.settings.1 } else { 30 });
        }
    }
    prop_assert_eq!(protection.expected_clients(), clients);
    // Sevenths of a minute are not exact in either arithmetic: one renewal of tolerance, none for the usual intervals.
    let difference = f64::from(protection.threshold()) - (per_minute * 0.85).trunc();
    prop_assert!(difference.abs() <= 1.0, "{} for {per_minute}", protection.threshold());
    Ok(())
}

/// At least so many histories; more with `PROPTEST_CASES`.
fn at_least(cases: u32) -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig { cases: default.cases.max(cases), ..default }
}

proptest! {
    #![proptest_config(at_least(1_000))]

    #[test]
    fn the_registry_behaves_as_the_naive_model(history in history()) {
        let mut protection = SelfPreservation::new(ProtectionSettings::default());
        protection.open(at(0));
        run(history, |world, (real, naive)| {
            prop_assert_eq!(real, naive);
            for app in 0..APPS {
                prop_assert_eq!(world.real.seen(app), world.naive.seen(app));
            }
            check_protection(world, &mut protection)
        })?;
    }
}

proptest! {
    #![proptest_config(at_least(256))]

    #[test]
    fn d_1_a_delta_brings_every_young_copy_to_the_hash_of_the_view(history in history()) {
        run(history, |world, _| {
            let hash = ClientCopy::fetch(&world.real).hash_code();
            for copy in world.updated_copies() {
                prop_assert_eq!(copy.hash_code(), hash.clone());
            }
            Ok(())
        })?;
    }

    #[test]
    fn d_2_a_delta_brings_every_young_copy_to_the_contents_of_the_view(history in history()) {
        run(history, |world, _| {
            let contents = ClientCopy::fetch(&world.real).contents();
            for copy in world.updated_copies() {
                prop_assert_eq!(copy.contents(), contents.clone());
            }
            Ok(())
        })?;
    }

    #[test]
    fn d_3_a_delta_applied_twice_is_a_delta_applied_once(history in history()) {
        run(history, |world, _| {
            for once in world.updated_copies() {
                let mut twice = once.clone();
                twice.apply_delta(&world.real);
                prop_assert_eq!(twice.contents(), once.contents());
            }
            Ok(())
        })?;
    }
}
