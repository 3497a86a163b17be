//! Running totals over leases, exact under any order of additions and removals: whole numbers only.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub, SubAssign};

use heureka_protocol::instance::DEFAULT_RENEWAL_INTERVAL_SECS;

use crate::record::Record;

/// Fixed-point unit of [`LeaseTotals::renewals_per_minute_micros`].
pub const MICROS_PER_RENEWAL: u64 = 1_000_000;

/// How many leases there are and how many renewals a minute they promise, each by its own interval.
///
/// Leases that have expired but are not yet evicted count, as in Java (defect D4). An application keeps one of these; the
/// registry adds them up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeaseTotals {
    /// Number of leases.
    pub leases: u64,
    /// Sum of `60 / renewalIntervalInSecs` in millionths of a renewal per minute.
    pub renewals_per_minute_micros: u64,
}

impl LeaseTotals {
    /// The totals of one lease. An interval of 0 or less counts as the default of 30 s.
    #[must_use]
    pub fn of(record: &Record) -> Self {
        let interval_secs = match u64::try_from(record.instance.lease.renewal_interval_secs) {
            Ok(secs) if secs > 0 => secs,
            _ => u64::from(DEFAULT_RENEWAL_INTERVAL_SECS.unsigned_abs()),
        };
        Self { leases: 1, renewals_per_minute_micros: 60 * MICROS_PER_RENEWAL / interval_secs }
    }

    /// Expected renewals per minute as a number to compute with.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "exact up to 2^53 millionths, far beyond any registry")]
    pub fn renewals_per_minute(&self) -> f64 {
        self.renewals_per_minute_micros as f64 / MICROS_PER_RENEWAL as f64
    }
}

impl Add for LeaseTotals {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            leases: self.leases.saturating_add(other.leases),
            renewals_per_minute_micros: self
                .renewals_per_minute_micros
                .saturating_add(other.renewals_per_minute_micros),
        }
    }
}

impl Sub for LeaseTotals {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self {
            leases: self.leases.saturating_sub(other.leases),
            renewals_per_minute_micros: self
                .renewals_per_minute_micros
                .saturating_sub(other.renewals_per_minute_micros),
        }
    }
}

impl AddAssign for LeaseTotals {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for LeaseTotals {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Sum for LeaseTotals {
    fn sum<I: Iterator<Item = Self>>(totals: I) -> Self {
        totals.fold(Self::default(), Add::add)
    }
}
