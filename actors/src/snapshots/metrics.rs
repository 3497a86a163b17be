//! Metrics of the snapshots, read when somebody asks. No label names an instance.

use std::fmt;
use std::sync::Arc;

use heureka_snapshots::news::WriterState;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;

use super::queue::{SnapshotStatus, Snapshots};
use crate::clock::Clock;

const STATES: [WriterState; 4] =
    [WriterState::Waiting, WriterState::Following, WriterState::Rewriting, WriterState::Failing];

impl Snapshots {
    /// Puts everything into a metric registry.
    pub fn register_metrics(self: &Arc<Self>, clock: &Clock, registry: &mut Registry) {
        let collector = SnapshotCollector { snapshots: Arc::clone(self), clock: clock.clone() };
        registry.register_collector(Box::new(collector));
    }
}

#[derive(Debug)]
struct SnapshotCollector {
    snapshots: Arc<Snapshots>,
    clock: Clock,
}

/// The metrics library ends descriptions with a full stop, but not those of metrics that are read on demand.
fn sentence(help: &str) -> String {
    format!("{help}.")
}

struct Encoder<'e>(DescriptorEncoder<'e>);

impl Encoder<'_> {
    #[expect(clippy::cast_precision_loss, reason = "counts, bytes and seconds are far below 2^52")]
    fn gauge(&mut self, name: &str, help: &str, value: u64) -> fmt::Result {
        self.float(name, help, value as f64)
    }

    fn float(&mut self, name: &str, help: &str, value: f64) -> fmt::Result {
        let gauge = self.0.encode_descriptor(name, &sentence(help), None, MetricType::Gauge)?;
        ConstGauge::new(value).encode(gauge)
    }

    fn counter(&mut self, name: &str, help: &str, value: u64) -> fmt::Result {
        let counter = self.0.encode_descriptor(name, &sentence(help), None, MetricType::Counter)?;
        ConstCounter::new(value).encode(counter)
    }

    /// One series per name, 1 for those that hold.
    fn choice(
        &mut self,
        name: &str,
        help: &str,
        label: &'static str,
        choices: &[(&'static str, bool)],
    ) -> fmt::Result {
        let mut family = self.0.encode_descriptor(name, &sentence(help), None, MetricType::Gauge)?;
        for (value, holds) in choices {
            ConstGauge::new(f64::from(u8::from(*holds))).encode(family.encode_family(&[(label, *value)])?)?;
        }
        Ok(())
    }
}

impl Collector for SnapshotCollector {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let status = self.snapshots.status(self.clock.now().mono_ms);
        let mut encoder = Encoder(encoder);
        encode_queue(&mut encoder, &status)?;
        encode_store(&mut encoder, &status)?;
        encode_start(&mut encoder, &status)?;
        let help = "Steps of the snapshot writer that panicked";
        encoder.counter("snapshot_panics", help, self.snapshots.panics.get())
    }
}

#[expect(clippy::cast_precision_loss, reason = "milliseconds of a queue are far below 2^52")]
fn encode_queue(encoder: &mut Encoder<'_>, status: &SnapshotStatus) -> fmt::Result {
    let help = "Instances whose latest state waits for the snapshot";
    encoder.gauge("snapshot_queue_instances", help, status.waiting as u64)?;
    let help = "Age of the oldest change that waits for the snapshot";
    encoder.float("snapshot_lag_seconds", help, status.lag_ms as f64 / 1000.0)?;
    let help = "Changes that found no room in front of the snapshot; it is written anew then";
    encoder.counter("snapshot_dropped_changes", help, status.dropped)
}

#[expect(clippy::cast_precision_loss, reason = "times are far below 2^52 ms")]
fn encode_store(encoder: &mut Encoder<'_>, status: &SnapshotStatus) -> fmt::Result {
    let writer = &status.writer;
    let states = STATES.map(|state| (state.as_str(), state == writer.state));
    encoder.choice("snapshot_state", "What the snapshot writer is at", "state", &states)?;
    encoder.gauge("snapshot_instances", "Instances in the snapshot", writer.counts.instances)?;
    encoder.gauge("snapshot_overrides", "Status overrides in the snapshot", writer.counts.overrides)?;
    encoder.gauge("snapshot_tombstones", "Cancelled instances in the snapshot", writer.counts.tombstones)?;
    encoder.gauge(
        "snapshot_live_bytes",
        "Bytes of all keys and values in the snapshot",
        writer.live_bytes,
    )?;
    encoder.gauge("snapshot_disk_bytes", "Bytes of the snapshot on the disk", writer.disk_bytes)?;
    let help = "When the snapshot last equalled the registry, 0 if it never did";
    encoder.float("snapshot_saved_timestamp_seconds", help, writer.saved_wall_ms as f64 / 1000.0)?;
    encoder.counter("snapshot_rounds", "Rounds that wrote something", writer.rounds)?;
    encoder.counter("snapshot_failures", "Attempts to write that failed", writer.failures)?;
    let help = "Instances that were too large for the snapshot";
    encoder.counter("snapshot_oversized_instances", help, writer.oversized)?;
    encoder.counter("snapshot_rewrites", "Snapshots that were written anew", writer.rewrites)
}

fn encode_start(encoder: &mut Encoder<'_>, status: &SnapshotStatus) -> fmt::Result {
    let report = &status.report;
    let help = "How this start found its snapshot";
    encoder.choice("snapshot_start", help, "outcome", &[(report.outcome.as_str(), true)])?;
    let help = "Instances that the snapshot gave back at the start";
    encoder.gauge("snapshot_restored_instances", help, report.counts.instances)?;
    let help = "Damaged records that were skipped at the start";
    encoder.gauge("snapshot_bad_records", help, report.bad_records)?;
    let help = "Time that the start spent on the snapshot";
    encoder.float("snapshot_load_seconds", help, report.took.as_secs_f64())
}
