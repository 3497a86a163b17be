//! One other region: its last copy, and how it goes with asking it.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use heureka_actors::Clock;
use heureka_actors::cache::{Mirror, View, Whitelist};
use heureka_config::settings::{RemoteRegion, ServiceUrl};
use heureka_protocol::AppName;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;

/// A region, shared by whoever asks it and whoever shows it.
#[derive(Debug)]
pub struct Region {
    /// Lower case.
    pub name: String,
    /// Where its registry is read.
    pub url: ServiceUrl,
    whitelist: Arc<Whitelist>,
    view: ArcSwap<View>,
    is_ready: AtomicBool,
    /// Monotonic time of the last answer that could be used, milliseconds.
    answered_mono_ms: AtomicU64,
    problem: Mutex<Option<String>>,
    /// Deltas after which the copy was what the region said it is.
    pub delta_successes: Counter,
    /// Deltas after which it was not.
    pub delta_mismatches: Counter,
    /// Questions without an answer that could be used.
    pub failures: Counter,
    /// Of these, answers that were no list of all instances.
    pub refused_lists: Counter,
}

/// A region at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionState {
    /// Its name.
    pub name: String,
    /// Where its registry is read, without credentials.
    pub url: String,
    /// Instances in the copy.
    pub instances: u64,
    /// Age of the copy, milliseconds; `None` if there has never been one.
    pub age_ms: Option<u64>,
    /// Why the last question was not answered.
    pub problem: Option<String>,
}

impl Region {
    /// A region that nobody has asked yet.
    #[must_use]
    pub fn new(settings: &RemoteRegion) -> Self {
        let whitelist = match &settings.whitelist {
            None => Whitelist::All,
            Some(names) => Whitelist::Only(names.iter().map(|name| AppName::new(name)).collect()),
        };
        Self {
            name: settings.name.clone(),
            url: settings.url.clone(),
            whitelist: Arc::new(whitelist),
            view: ArcSwap::default(),
            is_ready: AtomicBool::new(false),
            answered_mono_ms: AtomicU64::new(0),
            problem: Mutex::new(None),
            delta_successes: Counter::default(),
            delta_mismatches: Counter::default(),
            failures: Counter::default(),
            refused_lists: Counter::default(),
        }
    }

    /// True once it has been copied.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.is_ready.load(Ordering::Acquire)
    }

    /// Its last copy.
    #[must_use]
    pub fn mirror(&self) -> Mirror {
        Mirror { view: self.view.load_full(), whitelist: self.whitelist.clone() }
    }

    /// Shows a new version of the copy.
    pub fn publish(&self, view: Arc<View>) {
        self.view.store(view);
    }

    /// Notes a usable answer. True if it was the first one.
    pub fn note_answer(&self, mono_ms: u64) -> bool {
        self.answered_mono_ms.store(mono_ms, Ordering::Release);
        *self.problem.lock().unwrap_or_else(PoisonError::into_inner) = None;
        !self.is_ready.swap(true, Ordering::AcqRel)
    }

    /// Notes why there was none. True if that is news.
    pub fn note_failure(&self, problem: String) -> bool {
        self.failures.inc();
        let mut known = self.problem.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = known.as_ref() != Some(&problem);
        *known = Some(problem);
        is_new
    }

    /// How it stands.
    #[must_use]
    pub fn state(&self, mono_ms: u64) -> RegionState {
        let answered = self.answered_mono_ms.load(Ordering::Acquire);
        RegionState {
            name: self.name.clone(),
            url: self.url.without_credentials(),
            instances: self.view.load().counts().total(),
            age_ms: self.is_ready().then(|| mono_ms.saturating_sub(answered)),
            problem: self.problem.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }
}

/// Puts the figures of all regions into a metric registry; none without regions.
pub fn register_metrics(regions: &[Arc<Region>], clock: &Clock, registry: &mut Registry) {
    if !regions.is_empty() {
        registry
            .register_collector(Box::new(RegionMetrics { regions: regions.to_vec(), clock: clock.clone() }));
    }
}

/// Reads the figures of regions when somebody asks (spec `registry.md` 8.2, `replication.md` 7.5).
struct RegionMetrics {
    regions: Vec<Arc<Region>>,
    clock: Clock,
}

impl fmt::Debug for RegionMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RegionMetrics").field("regions", &self.regions).finish_non_exhaustive()
    }
}

impl Collector for RegionMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let now = self.clock.now().mono_ms;
        let states: Vec<RegionState> = self.regions.iter().map(|region| region.state(now)).collect();
        let mut gauge = |name: &str, help: &str, value: &dyn Fn(&RegionState) -> Option<f64>| {
            let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            for state in &states {
                if let Some(value) = value(state) {
                    let labels = [("region", state.name.as_str())];
                    ConstGauge::new(value).encode(metric.encode_family(&labels)?)?;
                }
            }
            Ok::<(), fmt::Error>(())
        };
        gauge("region_instances", "Instances in the copy of another region.", &|s| Some(s.instances as f64))?;
        gauge("region_up", "1 if the last question to another region was answered.", &|s| {
            Some(f64::from(u8::from(s.problem.is_none() && s.age_ms.is_some())))
        })?;
        gauge("region_fetch_age_seconds", "Time since another region was copied last.", &|s| {
            s.age_ms.map(|age| age as f64 / 1000.0)
        })?;
        let mut counter = |name: &str, help: &str, value: &dyn Fn(&Region) -> u64| {
            let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
            for region in &self.regions {
                let labels = [("region", region.name.as_str())];
                ConstCounter::new(value(region)).encode(metric.encode_family(&labels)?)?;
            }
            Ok::<(), fmt::Error>(())
        };
        counter("region_delta_successes", "Deltas of a region that fitted the copy.", &|r| {
            r.delta_successes.get()
        })?;
        counter("region_delta_mismatches", "Deltas of a region after which all was fetched.", &|r| {
            r.delta_mismatches.get()
        })?;
        counter("region_fetch_failures", "Questions to a region without a usable answer.", &|r| {
            r.failures.get()
        })?;
        counter("region_refused_lists", "Answers of a region that were no list of all instances.", &|r| {
            r.refused_lists.get()
        })
    }
}
