//! Metrics of replication, one label `peer` and no label per instance (spec `replication.md` 9.3.9).

use std::fmt;
use std::sync::Arc;

use heureka_protocol::batch::Action;
use heureka_registry::replication::{Batch, DropReason, Outcome, Remedy, Repair, Settled, Sick};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use super::link::PeerLink;
use super::metric_words::{Class, Comparison, class};
use super::replication::Replication;
use super::status::{PeerState, PeerStatus};

const REQUEST_BUCKETS: [f64; 9] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 1.0];
const WAIT_BUCKETS: [f64; 9] = [0.001, 0.005, 0.025, 0.1, 0.5, 1.0, 5.0, 30.0, 180.0];
const ITEM_BUCKETS: [f64; 8] = [1.0, 2.0, 5.0, 10.0, 25.0, 50.0, 100.0, 250.0];
const PROPAGATION_BUCKETS: [f64; 9] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 30.0];

const BATCH_RESULTS: [&str; 4] = ["ok", "network", "congestion", "rejected"];

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct PeerLabel {
    peer: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ResultLabels {
    peer: String,
    result: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ItemLabels {
    peer: String,
    action: &'static str,
    code: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct DropLabels {
    peer: String,
    action: &'static str,
    reason: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RepairLabels {
    peer: String,
    action: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct DifferenceLabels {
    peer: String,
    kind: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RefusedLabels {
    sender: &'static str,
    reason: &'static str,
}

/// Counters and histograms.
#[derive(Clone, Debug)]
pub struct ReplicationMetrics {
    batches: Family<ResultLabels, Counter>,
    items: Family<ItemLabels, Counter>,
    imports: Family<PeerLabel, Counter>,
    refused_imports: Family<PeerLabel, Counter>,
    comparisons: Family<ResultLabels, Counter>,
    repairs: Family<RepairLabels, Counter>,
    differences: Family<DifferenceLabels, Gauge>,
    request_seconds: Family<PeerLabel, Histogram>,
    wait_seconds: Family<PeerLabel, Histogram>,
    batch_items: Family<PeerLabel, Histogram>,
    retried: Family<PeerLabel, Counter>,
    propagation_seconds: Family<PeerLabel, Histogram>,
    panics: Counter,
    overtaken: Counter,
    refused_items: Family<RefusedLabels, Counter>,
}

impl Default for ReplicationMetrics {
    fn default() -> Self {
        Self {
            batches: Family::default(),
            items: Family::default(),
            imports: Family::default(),
            refused_imports: Family::default(),
            comparisons: Family::default(),
            repairs: Family::default(),
            differences: Family::default(),
            request_seconds: Family::new_with_constructor(|| Histogram::new(REQUEST_BUCKETS)),
            wait_seconds: Family::new_with_constructor(|| Histogram::new(WAIT_BUCKETS)),
            batch_items: Family::new_with_constructor(|| Histogram::new(ITEM_BUCKETS)),
            retried: Family::default(),
            propagation_seconds: Family::new_with_constructor(|| Histogram::new(PROPAGATION_BUCKETS)),
            panics: Counter::default(),
            overtaken: Counter::default(),
            refused_items: Family::default(),
        }
    }
}

impl ReplicationMetrics {
    /// Counts a batch that leaves: its items, and how long they have waited.
    pub(super) fn count_departure(&self, link: &PeerLink, batch: &Batch) {
        let label = PeerLabel { peer: link.url().to_owned() };
        link.while_open(|| {
            self.batch_items.get_or_create(&label).observe(of(batch.items().len() as u64));
            let waited = self.wait_seconds.get_or_create(&label);
            batch.waited_ms().iter().for_each(|ms| waited.observe(of(*ms) / 1000.0));
        });
    }

    /// Counts the items of a batch that failed as a whole: they go back into the queue.
    pub(super) fn count_retry(&self, link: &PeerLink, batch: &Batch, outcome: &Outcome) {
        if !matches!(outcome, Outcome::Answered(_)) {
            let label = PeerLabel { peer: link.url().to_owned() };
            link.while_open(|| {
                self.retried.get_or_create(&label).inc_by(batch.items().len() as u64);
            });
        }
    }

    pub(super) fn count_batch(&self, link: &PeerLink, outcome: &Outcome, seconds: f64) {
        let [ok, network, congestion, rejected] = BATCH_RESULTS;
        let result = match outcome {
            Outcome::Answered(_) => ok,
            Outcome::Failed(Sick::Unreachable) => network,
            Outcome::Failed(Sick::Congested) => congestion,
            Outcome::Failed(Sick::Refusing) | Outcome::Rejected(_) => rejected,
        };
        let peer = link.url().to_owned();
        link.while_open(|| {
            self.request_seconds.get_or_create(&PeerLabel { peer: peer.clone() }).observe(seconds);
            self.batches.get_or_create(&ResultLabels { peer, result }).inc();
        });
    }

    pub(super) fn count_settled(&self, link: &PeerLink, settled: &Settled) {
        let peer = link.url().to_owned();
        link.while_open(|| {
            for (action, code) in &settled.answers {
                let labels =
                    ItemLabels { peer: peer.clone(), action: action.as_str(), code: class(*code).as_str() };
                self.items.get_or_create(&labels).inc();
            }
            if !settled.propagation_ms.is_empty() {
                let histogram = self.propagation_seconds.get_or_create(&PeerLabel { peer });
                settled.propagation_ms.iter().for_each(|ms| histogram.observe(of(*ms) / 1000.0));
            }
        });
    }

    /// Counts newer records of a peer: those that were taken over, and those that could not be.
    pub(super) fn count_imports(&self, link: &PeerLink, imported: usize, refused: usize) {
        let label = PeerLabel { peer: link.url().to_owned() };
        link.while_open(|| {
            for (family, count) in [(&self.imports, imported), (&self.refused_imports, refused)] {
                if count > 0 {
                    family.get_or_create(&label).inc_by(u64::try_from(count).unwrap_or(u64::MAX));
                }
            }
        });
    }

    /// Counts items of peers' batches that were not applied, by the kind of their sender and by what was wrong.
    pub fn count_refused_items(&self, is_ours: bool, reason: &'static str, items: usize) {
        let labels = RefusedLabels { sender: if is_ours { "heureka" } else { "other" }, reason };
        self.refused_items.get_or_create(&labels).inc_by(u64::try_from(items).unwrap_or(u64::MAX));
    }

    /// Counts the items of a peer's batch that were not applied because later batches of that peer had overtaken it.
    pub fn count_overtaken(&self, items: usize) {
        self.overtaken.inc_by(u64::try_from(items).unwrap_or(u64::MAX));
    }

    /// Counts a comparison with a peer by how it ended.
    pub fn count_comparison(&self, link: &PeerLink, result: Comparison) {
        let labels = ResultLabels { peer: link.url().to_owned(), result: result.as_str() };
        link.while_open(|| {
            self.comparisons.get_or_create(&labels).inc();
        });
    }

    /// Shows the differences that the last comparison with a peer has found and that are ours to mend.
    pub fn show_differences(&self, link: &PeerLink, repairs: &[Repair]) {
        link.while_open(|| {
            for remedy in Remedy::ALL {
                let count = repairs.iter().filter(|repair| repair.remedy == remedy).count();
                let labels = DifferenceLabels { peer: link.url().to_owned(), kind: remedy.difference() };
                self.differences.get_or_create(&labels).set(i64::try_from(count).unwrap_or(i64::MAX));
            }
        });
    }

    /// Counts something that was found wrong twice and is being mended.
    pub fn count_repair(&self, link: &PeerLink, remedy: Remedy) {
        let labels = RepairLabels { peer: link.url().to_owned(), action: remedy.as_str() };
        link.while_open(|| {
            self.repairs.get_or_create(&labels).inc();
        });
    }

    /// Removes all that is shown of a peer whose link is closed. If it comes back it begins at nothing, which whoever
    /// reads counters takes for a restart.
    pub(super) fn forget(&self, url: &str) {
        let peer = || url.to_owned();
        let label = PeerLabel { peer: peer() };
        for family in [&self.imports, &self.refused_imports, &self.retried] {
            family.remove(&label);
        }
        for family in
            [&self.request_seconds, &self.wait_seconds, &self.batch_items, &self.propagation_seconds]
        {
            family.remove(&label);
        }
        for result in BATCH_RESULTS {
            self.batches.remove(&ResultLabels { peer: peer(), result });
        }
        for result in Comparison::ALL {
            self.comparisons.remove(&ResultLabels { peer: peer(), result: result.as_str() });
        }
        for action in Action::ALL {
            for code in Class::ALL {
                let (action, code) = (action.as_str(), code.as_str());
                self.items.remove(&ItemLabels { peer: peer(), action, code });
            }
        }
        for remedy in Remedy::ALL {
            self.repairs.remove(&RepairLabels { peer: peer(), action: remedy.as_str() });
            self.differences.remove(&DifferenceLabels { peer: peer(), kind: remedy.difference() });
        }
    }

    pub(super) const fn panics(&self) -> &Counter {
        &self.panics
    }
}

impl Replication {
    /// Puts everything into a metric registry.
    pub fn register_metrics(self: &Arc<Self>, registry: &mut Registry) {
        let metrics = self.metrics();
        registry.register("replication_batches", "Batches sent, by how they ended", metrics.batches.clone());
        let help = "Items answered by peers, by action and status";
        registry.register("replication_items", help, metrics.items.clone());
        let help = "Newer records of peers that were taken over";
        registry.register("replication_409_imports", help, metrics.imports.clone());
        let help = "Newer records of peers that could not be taken over";
        registry.register("replication_409_refused", help, metrics.refused_imports.clone());
        let help = "Items of peers' batches that were not applied, by the sender's kind and what was wrong";
        registry.register("replication_refused_items", help, metrics.refused_items.clone());
        let help = "Comparisons with peers, by how they ended";
        registry.register("antientropy_rounds", help, metrics.comparisons.clone());
        let help = "Differences that were mended, by what mends them";
        registry.register("antientropy_repairs", help, metrics.repairs.clone());
        let help = "Differences that the last comparison has found and that are to be mended here, by kind";
        registry.register("antientropy_differences", help, metrics.differences.clone());
        let help = "Time from sending a batch to its answer";
        registry.register_with_unit(
            "replication_batch",
            help,
            Unit::Seconds,
            metrics.request_seconds.clone(),
        );
        let help = "Items of batches that left";
        registry.register("replication_batch_items", help, metrics.batch_items.clone());
        let help = "Items that went back into the queue because their batch failed as a whole";
        registry.register("replication_retried", help, metrics.retried.clone());
        let help = "Time from a change to the departure of the batch with it";
        registry.register_with_unit("replication_wait", help, Unit::Seconds, metrics.wait_seconds.clone());
        let help = "Time from a change to its confirmation by the peer";
        let histogram = metrics.propagation_seconds.clone();
        registry.register_with_unit("replication_propagation", help, Unit::Seconds, histogram);
        let help = "Items of late batches that were not applied, because later ones had overtaken them";
        registry.register("replication_overtaken_items", help, metrics.overtaken.clone());
        registry.register("replication_panics", "Steps of replicators that panicked", metrics.panics.clone());
        registry.register_collector(Box::new(Gauges(Arc::clone(self))));
    }
}

/// What is read off the queues when somebody asks.
#[derive(Debug)]
struct Gauges(Arc<Replication>);

impl Gauges {
    fn gauge(
        &self,
        encoder: &mut DescriptorEncoder<'_>,
        name: &str,
        help: &str,
        value: impl Fn(&PeerStatus) -> f64,
    ) -> Result<(), fmt::Error> {
        let mut family = encoder.encode_descriptor(name, &sentence(help), None, MetricType::Gauge)?;
        for status in self.0.statuses() {
            let labels = PeerLabel { peer: status.url.clone() };
            ConstGauge::new(value(&status)).encode(family.encode_family(&labels)?)?;
        }
        Ok(())
    }

    fn available(&self, encoder: &mut DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let help = "1 if the last batch was answered, 0 if it failed; absent before the first";
        let name = "replication_peer_available";
        let mut family = encoder.encode_descriptor(name, &sentence(help), None, MetricType::Gauge)?;
        for status in self.0.statuses() {
            let value = match status.state {
                PeerState::Available => 1_i64,
                PeerState::Failing => 0,
                PeerState::NotContacted | PeerState::Itself => continue,
            };
            let labels = PeerLabel { peer: status.url };
            ConstGauge::new(value).encode(family.encode_family(&labels)?)?;
        }
        Ok(())
    }

    fn counter(
        &self,
        encoder: &mut DescriptorEncoder<'_>,
        name: &str,
        help: &str,
        value: impl Fn(&PeerLink) -> u64,
    ) -> Result<(), fmt::Error> {
        let mut family = encoder.encode_descriptor(name, &sentence(help), None, MetricType::Counter)?;
        for link in self.0.links().iter() {
            let labels = PeerLabel { peer: link.url().to_owned() };
            ConstCounter::new(value(link)).encode(family.encode_family(&labels)?)?;
        }
        Ok(())
    }

    fn dropped(&self, encoder: &mut DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let help = "What was dropped without the peer having it";
        let mut family =
            encoder.encode_descriptor("replication_dropped", &sentence(help), None, MetricType::Counter)?;
        for link in self.0.links().iter() {
            let tally = link.read(|queue| *queue.tally());
            for action in Action::ALL {
                for reason in DropReason::ALL {
                    let count = tally.dropped(action, reason);
                    let peer = link.url().to_owned();
                    let labels = DropLabels { peer, action: action.as_str(), reason: reason.as_str() };
                    ConstCounter::new(count).encode(family.encode_family(&labels)?)?;
                }
            }
        }
        Ok(())
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts and milliseconds are far below 2^52")]
impl Collector for Gauges {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let encoder = &mut encoder;
        let help = "Instances of which something waits for the peer";
        self.gauge(encoder, "replication_queue_items", help, |peer| peer.queued_instances as f64)?;
        let help = "Age of the oldest event that the peer has not confirmed";
        self.gauge(encoder, "replication_oldest_age_seconds", help, |peer| {
            peer.oldest_age_ms as f64 / 1000.0
        })?;
        let help = "Batches on their way";
        self.gauge(encoder, "replication_inflight_batches", help, |peer| peer.batches_in_flight as f64)?;
        let help = "Length of the pause that failures have caused";
        self.gauge(encoder, "replication_backoff_seconds", help, |peer| peer.backoff_ms as f64 / 1000.0)?;
        let help = "Time of the last batch that was answered, seconds since the epoch";
        let success = |peer: &PeerStatus| peer.last_success_wall_ms.unwrap_or(0) as f64 / 1000.0;
        self.gauge(encoder, "replication_last_success_timestamp_seconds", help, success)?;
        self.available(encoder)?;
        let help = "Events that were to be told to the peer";
        self.counter(encoder, "replication_accepted", help, |link| link.read(|queue| queue.tally().offered))?;
        let help = "Batches that were halved because the peer refused them";
        self.counter(encoder, "replication_bisected", help, |link| {
            link.read(|queue| queue.tally().bisected)
        })?;
        let help = "Events that found their instance waiting and were merged with it";
        self.counter(encoder, "replication_merged", help, |link| link.read(|queue| queue.tally().merged))?;
        let help = "Registrations because the peer did not know an instance";
        let registered = |link: &PeerLink| link.read(|queue| queue.tally().registered_after_404);
        self.counter(encoder, "replication_404_reregisters", help, registered)?;
        let help = "Heartbeats for which there was no room on the way to the queues";
        let family = encoder.encode_descriptor(
            "replication_lost_heartbeats",
            &sentence(help),
            None,
            MetricType::Counter,
        )?;
        ConstCounter::new(self.0.dropped_renewals()).encode(family)?;
        self.dropped(encoder)
    }
}

/// A number for a histogram.
#[expect(clippy::cast_precision_loss, reason = "counts and milliseconds of a queue are far below 2^52")]
fn of(value: u64) -> f64 {
    value as f64
}

/// The registry ends the help of its own metrics with a full stop.
fn sentence(help: &str) -> String {
    format!("{help}.")
}
