//! Self-preservation: when so few renewals come in that the fault is rather ours, no lease is evicted (`registry.md` 4).
//!
//! `E` is the number of clients expected to renew, `T` the renewals a minute that must be exceeded, `R` the renewals of
//! the last completed minute. By default `T` comes from the interval of each living lease; if the user has set one of
//! Java's two figures, Java's formula counts, oddities included (design, "Decisions"; defects D2, D3, D30).

use crate::explanation::{Explanation, ProtectionState};
use crate::time::Now;
use crate::totals::LeaseTotals;

/// Renewal interval that Java assumes of every client, seconds.
const JAVA_INTERVAL_SECS: i32 = 30;
/// Clients that Spring expects before and after an opening that found nothing.
const SPRING_CLIENTS: i32 = 1;
/// The renew rate is known once the first minute after opening is complete.
const FIRST_MINUTE_MS: u64 = 60_000;

/// Settings. The default is Spring's, with neither of the figures set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProtectionSettings {
    /// `enable-self-preservation`.
    pub enabled: bool,
    /// `renewal-percent-threshold`, a fraction.
    pub renewal_percent_threshold: f64,
    /// `expected-client-renewal-interval-seconds`, if the user has set it.
    pub expected_interval_secs: Option<i32>,
    /// `expected-number-of-clients-sending-renews`, if the user has set it: `E` before opening.
    pub expected_clients: Option<i32>,
    /// `default-open-for-traffic-count`: `E` after an opening that found nothing, in Java's formula.
    pub open_for_traffic_count: i32,
    /// `wait-time-in-ms-when-sync-empty`: no warning of too few renewals before.
    pub wait_ms: u64,
}

impl Default for ProtectionSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            renewal_percent_threshold: 0.85,
            expected_interval_secs: None,
            expected_clients: None,
            open_for_traffic_count: SPRING_CLIENTS,
            wait_ms: 300_000,
        }
    }
}

impl ProtectionSettings {
    /// True if the user has set a figure that only Java's formula knows.
    #[must_use]
    pub const fn is_java_formula(&self) -> bool {
        self.expected_interval_secs.is_some() || self.expected_clients.is_some()
    }
}

/// `T` by Java's formula, in Java's order, in double precision, truncated. An interval of 0 gives the largest number, a
/// negative one a negative number; with protection on, leases then never expire.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "saturates, and NaN is 0, exactly as in Java")]
pub fn java_threshold(clients: i32, interval_secs: i32, fraction: f64) -> i32 {
    ((f64::from(clients) * (60.0 / f64::from(interval_secs))) * fraction) as i32
}

/// The state behind self-preservation: one per node.
#[derive(Clone, Debug)]
pub struct SelfPreservation {
    settings: ProtectionSettings,
    totals: LeaseTotals,
    /// `E` of Java's formula.
    clients: i32,
    opened_mono_ms: Option<u64>,
}

impl SelfPreservation {
    /// State before opening.
    #[must_use]
    pub fn new(settings: ProtectionSettings) -> Self {
        let clients = settings.expected_clients.unwrap_or(SPRING_CLIENTS).max(0);
        Self { settings, totals: LeaseTotals::default(), clients, opened_mono_ms: None }
    }

    /// Takes the leases of all applications as they are now. `E` follows their number: one more for each new lease, also
    /// from 0 (defect D2), one less for each that is gone, never below 0 (invariants R-9, C-4).
    pub fn observe(&mut self, totals: LeaseTotals) {
        let before = signed(self.totals.leases);
        let change = signed(totals.leases).saturating_sub(before);
        self.clients = self.clients.saturating_add(change).max(0);
        self.totals = totals;
    }

    /// Opens for traffic with what [`SelfPreservation::observe`] has seen. Only if there is nothing does Spring's figure
    /// for that case count, and only in Java's formula (defect D19).
    pub fn open(&mut self, now: Now) {
        self.opened_mono_ms = Some(now.mono_ms);
        let leases = signed(self.totals.leases);
        self.clients = if leases > 0 { leases } else { self.settings.open_for_traffic_count.max(0) };
    }

    /// The threshold task, each `renewal-threshold-update-interval-ms`: `E` becomes the number of leases, unless that would
    /// lower the bar by 15 % or more at once (invariant G-3).
    pub fn update_threshold(&mut self) {
        let leases = signed(self.totals.leases);
        let bar = self.settings.renewal_percent_threshold * f64::from(self.clients);
        if !self.settings.enabled || f64::from(leases) > bar {
            self.clients = leases;
        }
    }

    /// The settings.
    #[must_use]
    pub const fn settings(&self) -> &ProtectionSettings {
        &self.settings
    }

    /// `E`: clients expected to renew.
    #[must_use]
    pub fn expected_clients(&self) -> i32 {
        if self.settings.is_java_formula() { self.clients } else { signed(self.totals.leases) }
    }

    /// `T`: renewals a minute that must be exceeded for leases to expire (invariant G-1).
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "saturates, and NaN is 0, exactly as in Java")]
    pub fn threshold(&self) -> i32 {
        let fraction = self.settings.renewal_percent_threshold;
        if self.settings.is_java_formula() {
            let interval_secs = self.settings.expected_interval_secs.unwrap_or(JAVA_INTERVAL_SECS);
            java_threshold(self.clients, interval_secs, fraction)
        } else {
            (self.totals.renewals_per_minute() * fraction) as i32
        }
    }

    /// True if expired leases may be evicted and hidden (invariant G-2). `renewals` is `R`.
    #[must_use]
    pub fn lease_expiration_enabled(&self, renewals: u64) -> bool {
        let threshold = self.threshold();
        !self.settings.enabled || (threshold > 0 && i64::from(threshold) < widened(renewals))
    }

    /// Extra time with which a sweep looks for expired leases, or `None` if it must not evict anything.
    ///
    /// `max_staleness_ms`, off by default, bounds for how long protection keeps dead instances (defect D4): leases that
    /// ended longer ago go even while it is active, once the node is open, still under the limit of a sweep.
    #[must_use]
    pub fn sweep_extra_ms(
        &self,
        renewals: u64,
        compensation_ms: u64,
        max_staleness_ms: Option<u64>,
    ) -> Option<u64> {
        if self.lease_expiration_enabled(renewals) {
            return Some(compensation_ms);
        }
        let is_open = self.opened_mono_ms.is_some();
        max_staleness_ms.filter(|_| is_open).map(|staleness_ms| staleness_ms.max(compensation_ms))
    }

    /// True if the dashboards warn: too few renewals, and the time after the start has passed in which that is normal.
    #[must_use]
    pub fn is_below_threshold(&self, renewals: u64, now: Now) -> bool {
        let wait_is_over = |opened_ms: u64| now.mono_ms > opened_ms.saturating_add(self.settings.wait_ms);
        widened(renewals) <= i64::from(self.threshold()) && self.opened_mono_ms.is_some_and(wait_is_over)
    }

    /// What self-preservation does and why, for people (defect D4).
    #[must_use]
    pub fn explain(&self, renewals: u64, now: Now) -> Explanation {
        let threshold = self.threshold();
        Explanation {
            state: self.state(renewals, now),
            expected_clients: self.expected_clients(),
            threshold,
            renewals,
            leases: self.totals.leases,
            clients_enough: self.clients_enough(threshold),
        }
    }

    fn state(&self, renewals: u64, now: Now) -> ProtectionState {
        let Some(opened_ms) = self.opened_mono_ms else { return ProtectionState::NotOpened };
        if !self.settings.enabled {
            return ProtectionState::SwitchedOff;
        }
        if self.lease_expiration_enabled(renewals) {
            return ProtectionState::Evicting;
        }
        if self.threshold() <= 0 {
            return ProtectionState::NothingExpected;
        }
        if now.mono_ms < opened_ms.saturating_add(FIRST_MINUTE_MS) {
            return ProtectionState::FirstMinute;
        }
        ProtectionState::TooFewRenewals
    }

    /// How many of today's clients must renew, each at its own pace, for `R` to exceed `T`.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a figure for people, from small positive numbers"
    )]
    fn clients_enough(&self, threshold: i32) -> Option<u64> {
        let renewals = self.totals.renewals_per_minute();
        if threshold <= 0 || threshold == i32::MAX || renewals <= 0.0 {
            return None;
        }
        let per_client = renewals / self.totals.leases as f64;
        Some(((f64::from(threshold) + 1.0) / per_client).ceil() as u64)
    }
}

fn signed(count: u64) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

fn widened(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
