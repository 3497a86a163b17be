//! What the operating system says about this process and its machine, under the names of Prometheus and of Spring Boot.
//!
//! Where a file of the system cannot be read, the metric is left out rather than shown as 0.

use std::fmt;
use std::fs;
use std::sync::{Arc, Mutex, PoisonError};

use heureka_actors::Shared;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

use super::gauges::Gauges;

/// Linux counts processor time for programs in this unit on every machine that it runs on today.
const TICKS_PER_SEC: f64 = 100.0;
const MS_PER_SEC: f64 = 1000.0;

/// Gauges of the process and the machine.
#[derive(Debug)]
pub struct ProcessGauges {
    shared: Arc<Shared>,
    started_secs: f64,
    process_usage: Mutex<Usage>,
    machine_usage: Mutex<Usage>,
}

/// Turns two growing sums into the share of one in the other since the last time.
#[derive(Debug, Default)]
struct Usage {
    part: f64,
    whole: f64,
}

impl Usage {
    fn since_last(&mut self, part: f64, whole: f64) -> f64 {
        let (part_grown, whole_grown) = (part - self.part, whole - self.whole);
        *self = Self { part, whole };
        if whole_grown > 0.0 { (part_grown / whole_grown).clamp(0.0, 1.0) } else { 0.0 }
    }
}

/// The fields of `/proc/self/stat` that are shown.
#[derive(Clone, Copy, Debug, PartialEq)]
struct ProcessTimes {
    cpu_secs: f64,
    threads: u64,
    virtual_bytes: u64,
}

impl ProcessGauges {
    /// Gauges of this process.
    #[must_use]
    pub fn new(shared: Arc<Shared>) -> Self {
        let now = shared.clock.now();
        let started_secs = millis(u64::try_from(now.wall_ms).unwrap_or(0)) - millis(shared.clock.uptime_ms());
        Self { shared, started_secs, process_usage: Mutex::default(), machine_usage: Mutex::default() }
    }

    fn process(&self, gauges: &mut Gauges<'_>, cores: f64) -> fmt::Result {
        let uptime_secs = millis(self.shared.clock.uptime_ms());
        gauges.set(
            "process_start_time_seconds",
            "Start of the process, seconds since the epoch",
            self.started_secs,
        )?;
        gauges.set("process_uptime_seconds", "Time since the start of the process", uptime_secs)?;
        if let Some(times) = read("/proc/self/stat").as_deref().and_then(process_times) {
            gauges.set(
                "process_virtual_memory_bytes",
                "Virtual memory of the process",
                times.virtual_bytes,
            )?;
            gauges.set("process_threads", "Threads of the process", times.threads)?;
            let usage = lock(&self.process_usage).since_last(times.cpu_secs, uptime_secs * cores);
            gauges.set(
                "process_cpu_usage",
                "Share of the processors used since the last time this was read",
                usage,
            )?;
            cpu_seconds(gauges, times.cpu_secs)?;
        }
        let resident = crate::process::Memory::now().resident_bytes;
        if resident > 0 {
            gauges.set("process_resident_memory_bytes", "Resident memory of the process", resident)?;
        }
        files(gauges)
    }

    fn machine(&self, gauges: &mut Gauges<'_>, cores: f64) -> fmt::Result {
        gauges.set("system_cpu_count", "Processors that the process may use", cores)?;
        if let Some((busy, all)) = read("/proc/stat").as_deref().and_then(machine_times) {
            let usage = lock(&self.machine_usage).since_last(busy, all);
            gauges.set(
                "system_cpu_usage",
                "Share of the machine's processors used since the last time",
                usage,
            )?;
        }
        match read("/proc/loadavg").as_deref().and_then(|text| text.split(' ').next()?.parse::<f64>().ok()) {
            Some(load) => gauges.set("system_load_average_1m", "Load of the machine over a minute", load),
            None => Ok(()),
        }
    }
}

impl Collector for ProcessGauges {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let cores = f64::from(u32::try_from(cores).unwrap_or(1));
        let mut gauges = Gauges(encoder);
        build(&mut gauges)?;
        self.process(&mut gauges, cores)?;
        self.machine(&mut gauges, cores)
    }
}

fn build(gauges: &mut Gauges<'_>) -> fmt::Result {
    let help = "Always 1; the labels say which program this is";
    let mut metric = gauges.describe("heureka_build_info", help, MetricType::Gauge)?;
    ConstGauge::new(1_i64).encode(metric.encode_family(&[("version", env!("CARGO_PKG_VERSION"))])?)
}

fn cpu_seconds(gauges: &mut Gauges<'_>, cpu_secs: f64) -> fmt::Result {
    let help = "Processor time of the process, in seconds";
    let metric = gauges.describe("process_cpu_seconds", help, MetricType::Counter)?;
    ConstCounter::new(cpu_secs).encode(metric)
}

fn files(gauges: &mut Gauges<'_>) -> fmt::Result {
    let Ok(open) = fs::read_dir("/proc/self/fd") else { return Ok(()) };
    // The folder itself is open while it is counted.
    let open = open.count().saturating_sub(1);
    gauges.set("process_open_fds", "Open file descriptors", open)?;
    gauges.set("process_files_open_files", "Open file descriptors, under Boot's name", open)?;
    let Some(limit) = read("/proc/self/limits").as_deref().and_then(file_limit) else { return Ok(()) };
    gauges.set("process_max_fds", "File descriptors that the process may open", limit)?;
    gauges.set(
        "process_files_max_files",
        "File descriptors that the process may open, under Boot's name",
        limit,
    )
}

fn read(path: &str) -> Option<String> {
    fs::read_to_string(path).ok()
}

fn lock(usage: &Mutex<Usage>) -> std::sync::MutexGuard<'_, Usage> {
    usage.lock().unwrap_or_else(PoisonError::into_inner)
}

#[expect(clippy::cast_precision_loss, reason = "exact for millions of years")]
fn millis(ms: u64) -> f64 {
    ms as f64 / MS_PER_SEC
}

/// Reads `/proc/self/stat`. The name of the program stands in brackets and may hold anything, so counting begins behind it.
fn process_times(stat: &str) -> Option<ProcessTimes> {
    let (_, behind_name) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = behind_name.split_whitespace().collect();
    let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
    let ticks = u32::try_from(number(11)? + number(12)?).ok()?;
    Some(ProcessTimes {
        cpu_secs: f64::from(ticks) / TICKS_PER_SEC,
        threads: number(17)?,
        virtual_bytes: number(20)?,
    })
}

/// Busy and whole time of all processors, from the first line of `/proc/stat`. Times of guests are part of user time.
fn machine_times(stat: &str) -> Option<(f64, f64)> {
    let line = stat.lines().next()?.strip_prefix("cpu ")?;
    let times: Vec<f64> = line.split_whitespace().take(8).filter_map(|field| field.parse().ok()).collect();
    let all: f64 = times.iter().sum();
    let idle = times.get(3)? + times.get(4)?;
    Some((all - idle, all))
}

fn file_limit(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_the_system_are_read() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194560 1 0 0 0 150 50 0 0 20 0 9 0 42 4096000 100 184";
        let times = process_times(stat).expect("times");
        assert_eq!(times, ProcessTimes { cpu_secs: 2.0, threads: 9, virtual_bytes: 4_096_000 });
        assert_eq!(process_times("nonsense"), None);
        assert_eq!(machine_times("cpu  10 0 10 70 10 0 0 0 5 0\ncpu0 1"), Some((20.0, 100.0)));
        assert_eq!(
            file_limit("Limit  Soft\nMax open files            1024     4096     files\n"),
            Some(1024)
        );
        assert_eq!(file_limit("Max open files            unlimited     unlimited     files\n"), None);
    }

    #[test]
    fn usage_is_a_share_since_the_last_time() {
        let mut usage = Usage::default();
        assert_eq!(usage.since_last(5.0, 10.0), 0.5);
        assert_eq!(usage.since_last(6.0, 20.0), 0.1);
        assert_eq!(usage.since_last(6.0, 20.0), 0.0);
    }
}
