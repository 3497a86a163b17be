//! The copy at the start: what the peers hold becomes what this node holds (spec `replication.md` 6.1, 6.4).
//!
//! Every reachable peer is asked, not only one, and of two copies of an instance the one with the newer dirty timestamp
//! wins. A peer of our kind also says when overrides were set and removed, so that of those the latest wins. A peer's list adds
//! and replaces; it never removes anything, and tombstones stand against it. What is no list of all instances is not taken for
//! one: a delta would bring back what was cancelled, and anything empty would say that there is nothing.

use std::collections::HashMap;
use std::time::Duration;

use heureka_actors::{Handle, Refused};
use heureka_config::settings::ServiceUrl;
use heureka_protocol::applications::Applications;
use heureka_protocol::{AppName, Instance, InstanceId, Limits, Status, WholeList, json};
use heureka_registry::replication::{PeerCopy, newest_copies};

use super::copy_metrics::{CopyError, CopyMetrics};
use super::digest::{DigestRequest, KnownOverrides, read_overrides};
use super::http::{FETCH_BYTES_MAX, PeerHttp};
use super::stragglers::{Gathered, gather_both};

const APPS_PATH: &str = "apps/";
/// How long the other peers are waited for when one has given its registry: one peer is enough to open, and what only the
/// others know comes with the next heartbeats.
const STRAGGLERS_GRACE: Duration = Duration::from_secs(5);
/// A list that changed while it was written, or is none, is asked for once more after this.
const SECOND_LOOK: Duration = Duration::from_secs(1);
/// Instances that one step of an application registers at most, so that others get a turn in between.
const STEP_INSTANCES: usize = 500;
/// How often the cache is asked whether it shows what was copied; each attempt has a time limit of its own.
const SHOW_ATTEMPTS: u32 = 12;
/// How old a list can be when it comes: a Java server renews what it answers with every half a minute.
const LIST_AGE_MAX_MS: u64 = 30_000;

/// What the copy needs to know.
#[derive(Clone, Debug)]
pub struct SyncPlan {
    /// The peers.
    pub urls: Vec<ServiceUrl>,
    /// Id of this node's own instance, of which it knows more than any peer; `None` if it does not register.
    pub own_id: Option<String>,
    /// What readers accept.
    pub limits: Limits,
}

/// What one round of questions has brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copied {
    /// Instances.
    pub count: u64,
    /// Every peer has answered with a list: asking again would bring nothing more.
    pub is_complete: bool,
}

/// Asks every peer once and registers what they hold.
pub async fn copy_once(plan: &SyncPlan, http: &PeerHttp, handle: &Handle, metrics: &CopyMetrics) -> Copied {
    // What happens from here on is later than the lists, also a cancel of something that is not here yet.
    let _copying = handle.shared().start_copying();
    let asked_mono_ms = handle.shared().clock.now().mono_ms.saturating_sub(LIST_AGE_MAX_MS);
    let (copies, is_complete) = ask_all(plan, http, handle, metrics).await;
    let count = u64::try_from(copies.len()).unwrap_or(u64::MAX);
    if count > 0 {
        metrics.settle();
    }
    register(copies, asked_mono_ms, handle).await;
    show(handle).await;
    Copied { count, is_complete }
}

/// Waits until readers see what was registered: the gate opens next, and a client that is let in and finds a part of the
/// registry takes the rest for gone.
async fn show(handle: &Handle) {
    for _ in 0..SHOW_ATTEMPTS {
        match handle.current_view().await {
            Err(Refused::TimedOut) => tracing::warn!("what was copied cannot be shown yet"),
            Ok(_) | Err(_) => return,
        }
    }
}

async fn ask_all(
    plan: &SyncPlan,
    http: &PeerHttp,
    handle: &Handle,
    metrics: &CopyMetrics,
) -> (Vec<PeerCopy>, bool) {
    let list = async |url: &ServiceUrl| ask(url, http, plan.limits, metrics).await;
    let overrides = async |url: &ServiceUrl| ask_overrides(url, http, handle).await;
    let suffices = |list: &Applications| list.instance_count() > 0;
    let Gathered { answers, is_complete } =
        gather_both(&plan.urls, list, overrides, suffices, STRAGGLERS_GRACE).await;
    let is_own = |instance: &Instance| plan.own_id.as_deref() == Some(&*instance.instance_id);
    let copies = answers.into_iter().flat_map(|(list, overrides)| {
        let overrides = overrides.unwrap_or_default();
        let instances = list.applications.into_iter().flat_map(|(_, instances)| instances);
        instances.map(move |instance| copy_of(instance, &overrides))
    });
    (newest_copies(copies.filter(|copy| !is_own(&copy.instance))), is_complete)
}

/// An instance of a list with what the peer has told of its override since.
fn copy_of(mut instance: Instance, overrides: &KnownOverrides) -> PeerCopy {
    let key = (instance.app.clone(), InstanceId::clone(&instance.instance_id));
    let Some(known) = overrides.get(&key) else { return PeerCopy { instance, stamp: None } };
    let overridden = known.state.status.unwrap_or(Status::Unknown);
    if instance.overridden_status != overridden {
        (instance.overridden_status, instance.status) = (overridden, known.shown);
    }
    PeerCopy { instance, stamp: known.state.stamp }
}

/// What a peer of our kind knows of overrides.
async fn ask_overrides(url: &ServiceUrl, http: &PeerHttp, handle: &Handle) -> Option<KnownOverrides> {
    let shared = handle.shared();
    let stamps = &shared.options.rules.stamps;
    let reading = stamps.read(shared.clock.now());
    match http.digest(url, &DigestRequest::Overrides, reading, FETCH_BYTES_MAX).await {
        Ok(reply) => {
            reply.clock.into_iter().for_each(|clock| handle.hear_clock(clock));
            read_overrides(&reply.body)
        }
        Err(error) => {
            tracing::debug!(peer = %url, "it does not say when overrides were set: {error:#}");
            None
        }
    }
}

/// The list of a peer. One that is none is asked for again: it may be one next time.
async fn ask(
    url: &ServiceUrl,
    http: &PeerHttp,
    limits: Limits,
    metrics: &CopyMetrics,
) -> Option<Applications> {
    let mut outcome = ask_once(url, http, limits).await;
    let is_worth_another = |outcome: &Result<WholeList, CopyError>| match outcome {
        Ok(whole) => !whole.is_settled,
        Err(error) => matches!(error, CopyError::NotWhole(_)),
    };
    if is_worth_another(&outcome) {
        tokio::time::sleep(SECOND_LOOK).await;
        let second = ask_once(url, http, limits).await;
        if outcome.is_err() || second.is_ok() {
            outcome = second;
        }
    }
    metrics.count(url, &outcome);
    match outcome {
        Ok(WholeList { list, is_settled }) => {
            let (count, skipped) = (list.instance_count(), list.skipped);
            tracing::info!(peer = %url, count, skipped, is_settled, "copied the registry of a peer");
            Some(list)
        }
        Err(error) => {
            tracing::warn!(peer = %url, "nothing could be copied from this peer: {error}");
            None
        }
    }
}

async fn ask_once(url: &ServiceUrl, http: &PeerHttp, limits: Limits) -> Result<WholeList, CopyError> {
    let failed = |words: &dyn std::fmt::Display| CopyError::Failed(words.to_string());
    let reply = http.get(url, APPS_PATH, FETCH_BYTES_MAX).await;
    let reply = reply.map_err(|error| failed(&format_args!("{error:#}")))?;
    if reply.status != 200 {
        return Err(failed(&format_args!("it answers {}", reply.status)));
    }
    // A large registry takes a second to read: not on the thread that sends batches.
    let read = tokio::task::spawn_blocking(move || json::read_applications(&reply.body, &limits)).await;
    let list = read.map_err(|error| failed(&error))?.map_err(|error| failed(&error))?;
    Ok(list.into_whole()?)
}

async fn register(copies: Vec<PeerCopy>, asked_mono_ms: u64, handle: &Handle) {
    let mut by_application: HashMap<AppName, Vec<PeerCopy>> = HashMap::new();
    for mut copy in copies {
        copy.instance.is_coordinating_discovery_server = false;
        by_application.entry(copy.instance.app.clone()).or_default().push(copy);
    }
    for (app, mut instances) in by_application {
        while !instances.is_empty() {
            let step = instances.split_off(instances.len().saturating_sub(STEP_INSTANCES));
            let registered = handle.perform_or_open(&app, move |core| {
                step.into_iter()
                    .filter(|copy| core.register_copy(copy.clone(), asked_mono_ms).is_err())
                    .count()
            });
            match registered.await {
                Ok(0) => {}
                Ok(count) => {
                    tracing::warn!(%app, count, "copied instances were refused: the application is full")
                }
                Err(refused) => tracing::warn!(%app, %refused, "an application was not copied"),
            }
        }
    }
}
