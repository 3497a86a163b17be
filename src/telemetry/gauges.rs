//! Gauges of the registry (spec `registry.md` 8.2) and of every queue and table, read when somebody asks.

use std::fmt;
use std::sync::Arc;

use heureka_actors::Shared;
use heureka_actors::cache::{Variant, View};
use heureka_protocol::{Status, StatusCounts};
use heureka_registry::Access;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeGaugeValue, EncodeMetric, MetricEncoder};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;

/// Writes gauges of one moment.
pub(super) struct Gauges<'a>(pub DescriptorEncoder<'a>);

impl Gauges<'_> {
    /// One gauge without labels.
    pub(super) fn set(&mut self, name: &str, help: &str, value: impl Value) -> fmt::Result {
        let value = ConstGauge::new(value.into_number());
        value.encode(self.describe(name, help, MetricType::Gauge)?)
    }

    /// Begins a metric whose values follow.
    pub(super) fn describe<'s>(
        &'s mut self,
        name: &'s str,
        help: &str,
        kind: MetricType,
    ) -> Result<MetricEncoder<'s>, fmt::Error> {
        self.0.encode_descriptor(name, &sentence(help), None, kind)
    }
}

/// The metrics library ends descriptions with a full stop, but not those of metrics that are read on demand.
pub(super) fn sentence(help: &str) -> String {
    format!("{help}.")
}

/// What a gauge can show.
pub(super) trait Value {
    /// A number of a type that the text form knows.
    type Number: EncodeGaugeValue;
    /// The value as such a number.
    fn into_number(self) -> Self::Number;
}

impl Value for u64 {
    type Number = i64;
    fn into_number(self) -> i64 {
        i64::try_from(self).unwrap_or(i64::MAX)
    }
}

impl Value for usize {
    type Number = i64;
    fn into_number(self) -> i64 {
        i64::try_from(self).unwrap_or(i64::MAX)
    }
}

impl Value for i32 {
    type Number = i64;
    fn into_number(self) -> i64 {
        self.into()
    }
}

impl Value for bool {
    type Number = i64;
    fn into_number(self) -> i64 {
        self.into()
    }
}

impl Value for f64 {
    type Number = f64;
    fn into_number(self) -> f64 {
        self
    }
}

/// The gauges of a node's registry.
#[derive(Debug)]
pub struct RegistryGauges {
    shared: Arc<Shared>,
    shows_instances: bool,
}

impl RegistryGauges {
    /// Gauges of one node.
    #[must_use]
    pub const fn new(shared: Arc<Shared>, shows_instances: bool) -> Self {
        Self { shared, shows_instances }
    }

    fn self_preservation(&self, gauges: &mut Gauges<'_>) -> fmt::Result {
        let (now, renewals) = (self.shared.clock.now(), self.shared.renewals().last_minute());
        let (explanation, is_below, is_enabled) = self.shared.with_protection(|protection| {
            let is_below = protection.is_below_threshold(renewals, now);
            (protection.explain(renewals, now), is_below, protection.settings().enabled)
        });
        let is_expiring = self.shared.is_lease_expiration_enabled();
        gauges.set("eureka_renewals_last_minute", "Renewals in the last completed minute", renewals)?;
        let help = "Renewals a minute that must be exceeded for expired leases to be evicted";
        gauges.set("eureka_renewals_threshold", help, explanation.threshold)?;
        gauges.set("eureka_expected_clients", "Clients expected to renew", explanation.expected_clients)?;
        let help = "1 if renewals are at or below the threshold and the time after the start has passed";
        gauges.set("eureka_renewals_below_threshold", help, is_below)?;
        let help = "1 if expired leases are evicted; 0 means that self-preservation is active";
        gauges.set("eureka_lease_expiration_enabled", help, is_expiring)?;
        gauges.set("eureka_self_preservation_enabled", "1 if self-preservation is switched on", is_enabled)
    }

    fn tables(&self, gauges: &mut Gauges<'_>, view: &View) -> fmt::Result {
        let shared = &self.shared;
        gauges.set(
            "eureka_leases",
            "Leases in the registry, expired ones included",
            shared.totals().leases,
        )?;
        let help = "Cancels that are remembered, so that nothing old brings back what was cancelled";
        gauges.set("eureka_tombstones", help, shared.tombstones())?;
        gauges.set("eureka_applications", "Applications with at least one instance", view.apps().count())?;
        gauges.set(
            "eureka_status_overrides",
            "Instances whose status an operator has set",
            overrides(view),
        )?;
        gauges.set("eureka_view_version", "Version of the read-only tier", view.version())?;
        let documents = Variant::all().filter(|variant| view.ready_document(*variant).is_some()).count();
        gauges.set("eureka_cache_documents", "Whole-registry documents ready in this version", documents)?;
        gauges.set("eureka_delta_entries", "Changes that deltas show", view.recent_len())?;
        gauges.set(
            "eureka_delta_removal_bytes",
            "Memory that removals take which deltas show",
            view.removal_bytes(),
        )?;
        gauges.set("eureka_vip_addresses", "Different VIP addresses, plain and secure", view.vip_len())?;
        let is_allowed = shared.access(true) == Access::Allowed;
        gauges.set("eureka_access_allowed", "1 if list queries are answered", is_allowed)?;
        gauges.set("eureka_opened", "1 if the node has opened for traffic", shared.is_opened())
    }

    fn queues(&self, gauges: &mut Gauges<'_>) -> fmt::Result {
        let shared = &self.shared;
        let (cache, writes) = (&shared.cache_backlog, &shared.writes);
        gauges.set("eureka_cache_backlog", "Changes on their way to the cache", cache.len())?;
        let help = "Changes on their way to the cache above which writes are refused";
        gauges.set("eureka_cache_backlog_limit", help, cache.limit())?;
        gauges.set("eureka_writes_in_flight", "Writes on their way to an application", writes.len())?;
        let help = "Writes on their way to an application above which more are refused";
        gauges.set("eureka_writes_in_flight_limit", help, writes.limit())
    }
}

impl Collector for RegistryGauges {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let view = self.shared.view();
        let mut gauges = Gauges(encoder);
        self.self_preservation(&mut gauges)?;
        self.tables(&mut gauges, &view)?;
        self.queues(&mut gauges)?;
        by_status(&mut gauges, view.counts())?;
        if self.shows_instances {
            by_application(&mut gauges, &view)?;
        }
        Ok(())
    }
}

fn overrides(view: &View) -> usize {
    let entries = view.apps().flat_map(|app| app.entries());
    entries.filter(|entry| entry.record.instance.overridden_status != Status::Unknown).count()
}

fn by_status(gauges: &mut Gauges<'_>, counts: StatusCounts) -> fmt::Result {
    let help = "Registered instances by status";
    let mut metric = gauges.describe("eureka_instances", help, MetricType::Gauge)?;
    for status in Status::IN_TEXT_ORDER {
        let value = ConstGauge::new(counts.get(status).into_number());
        value.encode(metric.encode_family(&[("status", status.as_str())])?)?;
    }
    Ok(())
}

/// Spring's one gauge, with its name and labels. Like there, pairs without instances have no row; unlike there, overrides
/// show (spec `spring.md` 1.6, item 67).
fn by_application(gauges: &mut Gauges<'_>, view: &View) -> fmt::Result {
    let help = "Number of application instances registered with the Eureka server";
    let mut metric = gauges.describe("eureka_server_instances", help, MetricType::Gauge)?;
    for app in view.apps() {
        let mut counts = StatusCounts::default();
        app.entries().iter().for_each(|entry| counts.add(entry.record.instance.status));
        for status in Status::IN_TEXT_ORDER {
            let count = counts.get(status);
            if count > 0 {
                let labels = [("application", app.name.as_str()), ("status", status.as_str())];
                ConstGauge::new(count.into_number()).encode(metric.encode_family(&labels)?)?;
            }
        }
    }
    Ok(())
}
