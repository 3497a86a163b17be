//! The state of auto-scaling groups, kept up to date from a source, shared by the rules and the endpoint.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use actix_web::rt;
use heureka_actors::Clock;
use heureka_config::settings::AsgSettings;
use heureka_registry::{GroupStates, GroupTable};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;
use tokio::task::JoinHandle;

/// Groups that are remembered at most.
const GROUPS_MAX: usize = 10_000;
/// How soon a group is asked for that has just been named for the first time.
const FIRST_LOOK: Duration = Duration::from_secs(1);

/// Somebody who knows whether a group takes traffic: the cloud, or a test.
pub trait GroupSource: Send + Sync {
    /// Asks for one group. A group that does not exist counts as enabled.
    fn is_enabled<'a>(&'a self, group: &'a str) -> Pin<Box<dyn Future<Output = anyhow::Result<bool>> + 'a>>;
}

/// The groups.
pub struct Groups {
    table: Mutex<GroupTable>,
    clock: Clock,
    queries: Counter,
    failures: Counter,
}

impl fmt::Debug for Groups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Groups").field("len", &self.table().len()).finish_non_exhaustive()
    }
}

impl GroupStates for Groups {
    fn is_enabled(&self, asg_name: &str) -> bool {
        self.table().look_up(asg_name, self.clock.now().mono_ms)
    }
}

impl Groups {
    /// No group is known yet. `None` if groups do not exist here.
    #[must_use]
    pub fn new(settings: &AsgSettings, clock: &Clock) -> Option<Arc<Self>> {
        settings.enabled.then(|| {
            Arc::new(Self {
                table: Mutex::new(GroupTable::new(settings.cache_expiry_ms, GROUPS_MAX)),
                clock: clock.clone(),
                queries: Counter::default(),
                failures: Counter::default(),
            })
        })
    }

    fn table(&self) -> MutexGuard<'_, GroupTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Switches a group on or off. False if there is no room for another one.
    pub fn set(&self, name: &str, is_enabled: bool) -> bool {
        self.table().set(name, is_enabled, self.clock.now().mono_ms)
    }

    /// Puts the figures into a metric registry.
    pub fn register_metrics(&self, registry: &mut Registry) {
        let mut counter =
            |name: &str, help: &str, counter: &Counter| registry.register(name, help, counter.clone());
        counter("asg_queries", "Questions about auto-scaling groups", &self.queries);
        counter("asg_query_failures", "Questions about auto-scaling groups that failed", &self.failures);
    }

    /// Asks for what is new every second, and for everything in use in the interval. An answer that fails changes nothing.
    async fn load_for_ever(self: Arc<Self>, source: Arc<dyn GroupSource>, interval: Duration) {
        let mut next_all = self.clock.now().mono_ms;
        loop {
            let now = self.clock.now().mono_ms;
            let names = if now >= next_all {
                next_all = now + u64::try_from(interval.as_millis()).unwrap_or(u64::MAX);
                let mut table = self.table();
                table.expire(now);
                table.names()
            } else {
                self.table().unknown()
            };
            for name in names {
                self.queries.inc();
                match source.is_enabled(&name).await {
                    Ok(is_enabled) => {
                        self.set(&name, is_enabled);
                    }
                    Err(error) => {
                        self.failures.inc();
                        tracing::warn!(group = %name, "the state of an auto-scaling group is not known: {error:#}");
                    }
                }
            }
            tokio::time::sleep(FIRST_LOOK.min(interval)).await;
        }
    }
}

/// The task that asks a source.
#[derive(Debug)]
pub struct Loading(Option<JoinHandle<()>>);

impl Loading {
    /// Starts it, if there is somebody to ask.
    #[must_use]
    pub fn start(
        groups: Option<&Arc<Groups>>,
        source: Option<Arc<dyn GroupSource>>,
        interval: Duration,
    ) -> Self {
        let task = groups
            .zip(source)
            .map(|(groups, source)| rt::spawn(groups.clone().load_for_ever(source, interval)));
        Self(task)
    }

    /// Ends it.
    pub fn stop(self) {
        self.0.iter().for_each(JoinHandle::abort);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One group is suspended, one cannot be asked for.
    struct Recorded;

    impl GroupSource for Recorded {
        fn is_enabled<'a>(
            &'a self,
            group: &'a str,
        ) -> Pin<Box<dyn Future<Output = anyhow::Result<bool>> + 'a>> {
            Box::pin(async move {
                anyhow::ensure!(group != "broken", "throttled");
                Ok(group != "suspended")
            })
        }
    }

    #[test]
    fn groups_that_the_rules_name_are_asked_for_and_a_failure_leaves_them_enabled() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        let local = tokio::task::LocalSet::new();
        local.block_on(&runtime.expect("a runtime"), async {
            let settings = AsgSettings { enabled: true, ..AsgSettings::default() };
            let groups = Groups::new(&settings, &Clock::system()).expect("groups");
            for name in ["suspended", "fine", "broken"] {
                assert!(groups.is_enabled(name), "{name} counts as enabled until something is known");
            }
            let task = tokio::task::spawn_local(groups.clone().load_for_ever(Arc::new(Recorded), FIRST_LOOK));
            tokio::time::sleep(FIRST_LOOK * 2).await;
            assert_eq!(
                ["suspended", "fine", "broken"].map(|name| groups.is_enabled(name)),
                [false, true, true]
            );
            assert!(groups.failures.get() >= 1 && groups.queries.get() >= 3);
            task.abort();
        });
    }
}
