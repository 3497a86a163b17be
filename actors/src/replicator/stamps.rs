//! Stamps of overrides on the wire, between nodes of our kind: in headers, because a Java server refuses a batch with a
//! member that it does not know, and ignores every header (spec `replication.md` 9.3.5).

use std::collections::BTreeMap;

use heureka_registry::replication::{Batch, BatchOrder};
use heureka_registry::{ClockReading, Stamp};

/// Name of the header that says what the sender's clock shows, in requests and answers.
pub const CLOCK_HEADER: &str = "x-heureka-clock";

/// Name of the header with the stamps of the overrides that a batch, or the answer to one, tells of.
pub const STAMPS_HEADER: &str = "x-heureka-overrides";

/// Longest value of that header. Servers take 8 KB of headers in all; 250 items need half of this.
const STAMPS_BYTES_MAX: usize = 6_000;
/// More items than any batch has.
const PLACE_MAX: usize = 100_000;
/// A stamp may be later than the clock beside it, if its operation followed one that was; but hardly by more than this.
const LATER_MAX_MS: i64 = 24 * 3_600_000;

/// What a batch says in headers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchHead {
    /// Its place among the others.
    pub order: BatchOrder,
    /// What the clock of this node shows.
    pub clock: ClockReading,
    /// For each item that has one, the stamp of its override.
    pub stamps: PlacedStamps,
}

impl BatchHead {
    /// The head of a batch that leaves now.
    #[must_use]
    pub fn of(batch: &Batch, clock: ClockReading) -> Self {
        let stamps = batch.items().iter().map(|item| item.message().stamp);
        Self { order: batch.order(), clock, stamps: PlacedStamps::of(stamps) }
    }
}

/// Stamps by the places of the items that they belong to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlacedStamps(BTreeMap<usize, Stamp>);

impl PlacedStamps {
    /// From one for each item.
    #[must_use]
    pub fn of(stamps: impl IntoIterator<Item = Option<Stamp>>) -> Self {
        let placed = stamps.into_iter().enumerate();
        Self(placed.filter_map(|(place, stamp)| Some((place, stamp?))).collect())
    }

    /// The stamp of an item.
    #[must_use]
    pub fn get(&self, place: usize) -> Option<Stamp> {
        self.0.get(&place).copied()
    }

    /// As the header says them: places with ages, which are shorter than times. `None` if there are none.
    #[must_use]
    pub fn to_text(&self, clock: ClockReading) -> Option<String> {
        let mut text = String::new();
        for (place, stamp) in &self.0 {
            let entry = format!("{place}={}", clock.ms.saturating_sub(stamp.ms()));
            if text.len() + entry.len() + 1 > STAMPS_BYTES_MAX {
                break;
            }
            if !text.is_empty() {
                text.push(',');
            }
            text.push_str(&entry);
        }
        (!text.is_empty()).then_some(text)
    }

    /// Reads a header; what makes no sense is passed over.
    #[must_use]
    pub fn from_text(text: &str, clock: ClockReading) -> Self {
        let read = |entry: &str| {
            let (place, age_ms) = entry.split_once('=')?;
            let place = place.parse().ok().filter(|place| *place < PLACE_MAX)?;
            let age_ms = age_ms.parse().ok().filter(|age_ms| *age_ms >= -LATER_MAX_MS)?;
            Some((place, Stamp::new(clock.ms.checked_sub(age_ms)?)?))
        };
        Self(text.split(',').filter_map(read).collect())
    }
}

/// What a clock shows, as its header says it.
#[must_use]
pub fn clock_to_text(clock: ClockReading) -> String {
    format!("{}{}", clock.ms, if clock.is_in_step { ";in-step" } else { "" })
}

/// Reads what a peer's clock shows; `None` for nonsense.
#[must_use]
pub fn clock_from_text(text: &str) -> Option<ClockReading> {
    let (ms, is_in_step) = match text.split_once(';') {
        None => (text, false),
        Some((ms, "in-step")) => (ms, true),
        Some(_) => return None,
    };
    let stamp = Stamp::new(ms.parse().ok()?)?;
    Some(ClockReading { ms: stamp.ms(), is_in_step })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLOCK: ClockReading = ClockReading { ms: 1_700_000_000_000, is_in_step: true };

    fn stamp(ms: i64) -> Option<Stamp> {
        Some(Stamp::new(ms).unwrap())
    }

    #[test]
    fn stamps_are_read_as_written() {
        let stamps = PlacedStamps::of([None, stamp(CLOCK.ms - 20), None, stamp(CLOCK.ms + 1), stamp(1)]);
        let text = stamps.to_text(CLOCK).unwrap();
        assert_eq!(text, "1=20,3=-1,4=1699999999999");
        assert_eq!(PlacedStamps::from_text(&text, CLOCK), stamps);
        assert_eq!(PlacedStamps::of([None, None]).to_text(CLOCK), None);
    }

    #[test]
    fn a_full_batch_fits_and_what_does_not_is_left_out() {
        let full = PlacedStamps::of(std::iter::repeat_n(stamp(1), 250));
        assert_eq!(PlacedStamps::from_text(&full.to_text(CLOCK).unwrap(), CLOCK), full);
        let more = PlacedStamps::of(std::iter::repeat_n(stamp(1), 2_000)).to_text(CLOCK).unwrap();
        assert!(more.len() <= STAMPS_BYTES_MAX && PlacedStamps::from_text(&more, CLOCK).get(250).is_some());
    }

    #[test]
    fn nonsense_is_passed_over() {
        let text =
            "x,1,=5,-1=5,2=x,3=,4=5=6,99999999=1,5=1700000000000,6=-9223372036854775808,7=3,8=-86400001";
        let read = PlacedStamps::from_text(text, CLOCK);
        assert_eq!(read.0.into_iter().collect::<Vec<_>>(), [(7, stamp(CLOCK.ms - 3).unwrap())]);
    }

    #[test]
    fn a_clock_is_read_as_written_and_nonsense_is_none() {
        for is_in_step in [false, true] {
            let clock = ClockReading { is_in_step, ..CLOCK };
            assert_eq!(clock_from_text(&clock_to_text(clock)), Some(clock));
        }
        for text in ["", "x", "-5", "0", "1;out", "1;in-step;", ";in-step", "9223372036854775807"] {
            assert_eq!(clock_from_text(text), None, "{text}");
        }
    }
}
