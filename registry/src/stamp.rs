//! When an operation on an override was done, so that of two operations every node of our kind takes the later one.
//!
//! A stamp is a time on a clock that the nodes of a cluster share: Lamport's physical clock. Each node reckons it from its
//! monotonic clock and never behind what its peers say; they tell it with every batch and every answer. So an operation
//! that was done with knowledge of another one has the higher stamp, wherever it was done; two that knew nothing of each
//! other are in the order in which they were done, but for the time that a word takes. A stamp is the same number on every
//! node, so all nodes order the same operations in the same way. The wall clock only says where the first node begins:
//! neither a wrong one nor one that jumps changes the order of anything.
//!
//! A node that has heard of no peer since it started gives no stamps of its own: it cannot know what the others have
//! reached. What is done meanwhile only keeps its time on this node's own clock, counts like what a Java server does, and
//! gets its stamp from that time when the clock is in step: before anything is judged that a peer tells.

use std::num::NonZeroI64;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use heureka_protocol::Status;

use crate::time::Now;

/// Larger numbers are no times: the year 280,000.
const STAMP_MAX: i64 = 1 << 53;

/// What a peer's clock may be ahead of our wall clock, which need not be set: a century. Beyond it somebody plays tricks, and a
/// clock at its last number could give no more stamps.
const AHEAD_MAX_MS: i64 = 100 * 365 * 24 * 3_600_000;

/// The time of an operation, milliseconds on the shared clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stamp(NonZeroI64);

impl Stamp {
    /// From its number; `None` for one that is no time.
    #[must_use]
    pub const fn new(ms: i64) -> Option<Self> {
        match NonZeroI64::new(ms) {
            Some(value) if ms > 0 && ms <= STAMP_MAX => Some(Self(value)),
            _ => None,
        }
    }

    /// Its number.
    #[must_use]
    pub const fn ms(self) -> i64 {
        self.0.get()
    }

    /// The largest one is followed by itself.
    fn next(self) -> Self {
        Self::new(self.ms() + 1).unwrap_or(self)
    }

    /// The stamp of an operation of which only the last one before it is known.
    #[must_use]
    pub fn after(last: Option<Self>) -> Option<Self> {
        last.map(Self::next)
    }
}

/// The stamp of the last operation on the override of a record, set or removed. Not fixed with the record: an operation
/// that changes nothing visible is later all the same. Only the owner of the application writes it.
///
/// Zero for no known operation, a stamp, or the negative monotonic time of an operation that has no stamp yet.
#[derive(Debug, Default)]
pub struct StampCell(AtomicI64);

impl StampCell {
    /// With a stamp, or without one.
    #[must_use]
    pub fn new(stamp: Option<Stamp>) -> Self {
        Self(AtomicI64::new(stamp.map_or(0, Stamp::ms)))
    }

    /// The stamp, if any operation is known.
    #[must_use]
    pub fn get(&self) -> Option<Stamp> {
        // Relaxed: a sender that reads an older stamp beside the same override tells nothing wrong.
        Stamp::new(self.0.load(Ordering::Relaxed))
    }

    /// Of an operation that is done now while the clock is not in step.
    pub(crate) fn unstamped(now: Now) -> Self {
        Self(AtomicI64::new(-mono_ms(now)))
    }

    /// What it holds, for the next record.
    pub(crate) fn carried(&self) -> Self {
        Self(AtomicI64::new(self.0.load(Ordering::Relaxed)))
    }

    /// Gives an operation its stamp, now that the clock is in step.
    pub(crate) fn settle(&self, clock: &StampClock) {
        let value = self.0.load(Ordering::Relaxed);
        if value < 0
            && let Some(stamp) = clock.stamp_of(value.saturating_neg())
        {
            self.0.store(stamp.ms(), Ordering::Relaxed);
        }
    }

    pub(crate) fn raise(&self, stamp: Option<Stamp>) {
        if let Some(stamp) = stamp {
            self.0.fetch_max(stamp.ms(), Ordering::Relaxed);
        }
    }
}

/// Whether an instance has an override, and since which operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OverrideState {
    /// The override; `None` if there is none.
    pub status: Option<Status>,
    /// The last operation; `None` if none is known, or nobody knows when it was.
    pub stamp: Option<Stamp>,
}

impl OverrideState {
    /// From a record's members, where `UNKNOWN` means none.
    #[must_use]
    pub fn of(overridden: Status, stamp: Option<Stamp>) -> Self {
        Self { status: Some(overridden).filter(|status| *status != Status::Unknown), stamp }
    }

    /// True if the other one takes the place of this one: it is of a later operation. Of two operations of the same
    /// millisecond the one wins whose status comes later in the alphabet, and removing comes first.
    ///
    /// What has no stamp is of a server that gives none, or from before there were any: it yields to what has one, and of
    /// two of that kind an override beats none, since a missing one may only be missing.
    #[must_use]
    pub fn yields_to(self, other: Self) -> bool {
        let rank = |state: Self| (state.stamp, state.status.map(Status::as_str));
        rank(other) > rank(self)
    }
}

/// What a node says of its clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockReading {
    /// Milliseconds.
    pub ms: i64,
    /// It has been set by a peer, or has set a peer's, since the node started.
    pub is_in_step: bool,
}

impl ClockReading {
    /// The same, if it is within what a clock may show.
    #[must_use]
    pub fn bounded(self, now: Now) -> Self {
        Self { ms: self.ms.min(now.wall_ms.saturating_add(AHEAD_MAX_MS)), ..self }
    }
}

/// The clock of one node.
#[derive(Debug, Default)]
pub struct StampClock(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// The clock minus the monotonic one, once it is in step.
    offset_ms: Option<i64>,
    /// The highest stamp that the node had when it started.
    floor_ms: i64,
}

impl State {
    fn ms(&self, now: Now) -> i64 {
        match self.offset_ms {
            Some(offset_ms) => mono_ms(now).saturating_add(offset_ms),
            None => now.wall_ms.max(self.floor_ms.saturating_add(1)),
        }
    }
}

fn mono_ms(now: Now) -> i64 {
    i64::try_from(now.mono_ms).unwrap_or(i64::MAX)
}

impl StampClock {
    /// Held for a few instructions; a step that panicked leaves two numbers.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A stamp from before the start: whatever comes is later.
    pub fn keep(&self, stamp: Option<Stamp>) {
        let mut state = self.state();
        state.floor_ms = state.floor_ms.max(stamp.map_or(0, Stamp::ms));
    }

    /// What to tell the peers.
    #[must_use]
    pub fn read(&self, now: Now) -> ClockReading {
        let state = self.state();
        ClockReading { ms: state.ms(now), is_in_step: state.offset_ms.is_some() }
    }

    /// A peer has told what its clock shows. A clock that is in step never goes back; one that is not takes whatever one
    /// that is shows, so a node with a wrong wall clock that joins a cluster moves nobody's. True if this one has come into
    /// step now: then [`Application::settle_stamps`](crate::Application::settle_stamps) is due everywhere.
    pub fn hear(&self, theirs: ClockReading, now: Now) -> bool {
        let theirs = theirs.bounded(now);
        let mut state = self.state();
        let ours_ms = state.ms(now);
        let is_in_step = state.offset_ms.is_some();
        let ms = match (is_in_step, theirs.is_in_step) {
            (true, false) => return false,
            (false, true) => theirs.ms.max(state.floor_ms.saturating_add(1)),
            (true, true) | (false, false) => ours_ms.max(theirs.ms),
        };
        state.offset_ms = Some(ms.saturating_sub(mono_ms(now)));
        !is_in_step
    }

    /// True once it is in step.
    #[must_use]
    pub fn is_in_step(&self) -> bool {
        self.state().offset_ms.is_some()
    }

    /// The stamp of an operation that was done at a time of the monotonic clock, once the clock is in step. All that was known
    /// here before that came from before the start, and is earlier.
    fn stamp_of(&self, mono_ms: i64) -> Option<Stamp> {
        let state = self.state();
        let ms = mono_ms.saturating_add(state.offset_ms?);
        Stamp::new(ms.max(state.floor_ms.saturating_add(1)))
    }

    /// The stamp of an operation that is done now, after the last one that is known; `None` while the clock is not in step.
    #[must_use]
    pub fn stamp(&self, last: Option<Stamp>, now: Now) -> Option<Stamp> {
        let state = self.state();
        let current = Stamp::new(state.offset_ms.map(|_| state.ms(now))?);
        current.max(Stamp::after(last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(mono_ms: u64, wall_ms: i64) -> Now {
        Now { mono_ms, wall_ms }
    }

    fn stamp(ms: i64) -> Option<Stamp> {
        Some(Stamp::new(ms).unwrap())
    }

    #[test]
    fn a_lone_node_gives_no_stamps() {
        let clock = StampClock::default();
        assert_eq!(clock.stamp(None, at(5, 1_000)), None);
        assert_eq!(clock.stamp(stamp(70), at(5, 1_000)), None);
        assert_eq!(clock.read(at(5, 1_000)), ClockReading { ms: 1_000, is_in_step: false });
    }

    #[test]
    fn a_node_that_joins_takes_the_clock_of_the_cluster_whatever_its_own_shows() {
        for wall_ms in [1, 1_000_000] {
            let clock = StampClock::default();
            clock.hear(ClockReading { ms: 500, is_in_step: true }, at(10, wall_ms));
            assert_eq!(clock.stamp(None, at(13, wall_ms + 7_777)), stamp(503), "wall clock {wall_ms}");
        }
    }

    #[test]
    fn what_was_done_before_the_first_contact_gets_the_stamp_of_its_time() {
        let clock = StampClock::default();
        let cell = StampCell::unstamped(at(10, 9_999));
        cell.settle(&clock);
        assert_eq!((cell.get(), cell.carried().get()), (None, None));
        clock.hear(ClockReading { ms: 500, is_in_step: true }, at(30, 0));
        cell.carried().settle(&clock);
        cell.settle(&clock);
        assert_eq!(cell.get(), stamp(480));
    }

    #[test]
    fn what_a_node_remembers_from_before_its_start_is_never_reached_again() {
        let clock = StampClock::default();
        clock.keep(stamp(900));
        clock.hear(ClockReading { ms: 500, is_in_step: true }, at(10, 0));
        assert!(clock.stamp(None, at(10, 0)) > stamp(900));
    }

    #[test]
    fn what_was_done_since_the_start_is_later_than_what_was_known_from_before_it() {
        let clock = StampClock::default();
        clock.keep(stamp(900));
        let cell = StampCell::unstamped(at(10, 0));
        // Both begin, and no wall clock has come to 900 yet.
        clock.hear(ClockReading { ms: 500, is_in_step: false }, at(30, 20));
        cell.settle(&clock);
        assert_eq!(cell.get(), stamp(901));
    }

    #[test]
    fn a_clock_in_step_never_goes_back_and_minds_no_newcomer() {
        let clock = StampClock::default();
        clock.hear(ClockReading { ms: 500, is_in_step: false }, at(10, 100));
        assert_eq!(clock.read(at(10, 100)).ms, 500, "two that begin take the higher one");
        clock.hear(ClockReading { ms: 400, is_in_step: true }, at(10, 100));
        clock.hear(ClockReading { ms: 9_000, is_in_step: false }, at(10, 100));
        assert_eq!(clock.read(at(10, 100)), ClockReading { ms: 500, is_in_step: true });
        clock.hear(ClockReading { ms: 600, is_in_step: true }, at(11, 0));
        assert_eq!(clock.read(at(11, 0)).ms, 600);
        assert_eq!(clock.stamp(stamp(600), at(11, 0)), stamp(601), "later than what it follows");
    }

    #[test]
    fn nobody_can_push_a_clock_to_its_last_number() {
        let (clock, other) = (StampClock::default(), StampClock::default());
        let pushed = ClockReading { ms: STAMP_MAX, is_in_step: true };
        for wall_ms in [0, 1_700_000_000_000] {
            clock.hear(pushed, at(10, wall_ms));
            other.hear(clock.read(at(11, wall_ms)), at(11, wall_ms));
            clock.hear(other.read(at(12, wall_ms)), at(12, wall_ms));
            assert!(clock.read(at(12, wall_ms)).ms <= wall_ms + AHEAD_MAX_MS + 10);
        }
        let much_later = at(1_000_000_000_000, 1_700_000_000_000);
        assert!(clock.stamp(None, much_later).is_some() && other.stamp(None, much_later).is_some());
    }

    #[test]
    fn numbers_that_are_no_times_are_no_stamps() {
        assert!([i64::MIN, -1, 0, STAMP_MAX + 1, i64::MAX].iter().all(|ms| Stamp::new(*ms).is_none()));
        assert!(Stamp::new(1).is_some() && Stamp::new(STAMP_MAX).is_some());
    }

    #[test]
    fn of_two_states_exactly_one_yields_unless_they_are_the_same() {
        let statuses = [None, Some(Status::Up), Some(Status::Down)];
        let stamps = [None, stamp(1), stamp(2)];
        let all: Vec<OverrideState> = statuses
            .iter()
            .flat_map(|status| stamps.iter().map(|stamp| OverrideState { status: *status, stamp: *stamp }))
            .collect();
        for one in &all {
            for other in &all {
                let both = (one.yields_to(*other), other.yields_to(*one));
                assert_eq!(both.0 != both.1, one != other, "{one:?} {other:?}");
            }
        }
    }

    #[test]
    fn the_later_operation_wins_and_if_no_time_is_known_an_override_beats_none() {
        let state = |status, ms: Option<i64>| OverrideState { status, stamp: ms.and_then(Stamp::new) };
        let (set, none) = (Some(Status::Down), None);
        assert!(state(set, Some(1)).yields_to(state(none, Some(2))));
        assert!(state(none, Some(1)).yields_to(state(set, Some(2))));
        assert!(state(none, None).yields_to(state(set, None)));
        assert!(state(set, None).yields_to(state(none, Some(2))));
        assert!(!state(none, Some(2)).yields_to(state(set, None)));
        assert!(state(set, None).yields_to(state(Some(Status::Down), Some(1))));
        assert!(state(none, None).yields_to(state(none, Some(1))));
    }
}
