//! Comparing with peers that know no digests, such as Java servers, by the lists that they give to clients (spec
//! `replication.md` 9.3.4).
//!
//! A list says what is there, but neither since when nor by whom, and it comes from a cache that may be half a minute old. So
//! only what cannot be a matter of time is mended: an instance that talks to this node and is missing there or older, one that
//! was cancelled here, one that is newer there. Overrides and content of the same dirty timestamp are left alone: nobody could
//! tell which is later. Each difference is looked at again in the peer's answer about that one instance, which comes from no
//! cache, before it counts. What was cancelled here may live there by now, since a Java server takes every cancel: so it must
//! have let one of its intervals pass without a heartbeat.

use std::collections::{BTreeMap, BTreeSet};

use actix_web::web::Data;
use anyhow::{Context, ensure};
use heureka_config::settings::ServiceUrl;
use heureka_protocol::applications::Applications;
use heureka_protocol::draft::Registration;
use heureka_protocol::{AppName, Instance, InstanceId, json};
use heureka_registry::replication::{PeerApplication, QueueSettings, Remedy, Repair, Rounds, repairs_of};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC};

use super::http::{FETCH_BYTES_MAX, PeerHttp};
use crate::node::Node;

/// Differences of a round that are looked at again one by one; the others are in the next ones.
const LOOKS_MAX: usize = 50;
/// A round with so many looks that failed looks no further.
const FAILURES_MAX: usize = 3;
/// What a name may hold in a path as it is. Servers refuse what need not be escaped and is.
const ESCAPED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b':').remove(b'@');
/// Longest answer about one instance.
const INSTANCE_BYTES_MAX: usize = 1 << 20;

/// A peer that is compared with by its lists.
pub struct Listing<'a> {
    /// This node.
    pub node: &'a Data<Node>,
    /// To ask with.
    pub http: &'a PeerHttp,
    /// The peer.
    pub url: &'a ServiceUrl,
    /// How long a word may be on its way.
    pub queue: &'a QueueSettings,
}

impl Listing<'_> {
    /// True if the peer's hash code is that of this node's own instances. A peer without deltas does not say.
    ///
    /// # Errors
    /// If either does not answer.
    pub async fn has_our_hash(&self) -> anyhow::Result<bool> {
        let reply = self.http.get(self.url, "apps/delta", FETCH_BYTES_MAX).await?;
        if reply.status != 200 {
            return Ok(false);
        }
        let delta = json::read_applications(&reply.body, &self.node.limits.reader)?;
        let view = self.node.registry.current_view().await?;
        Ok(delta.hash.as_deref() == Some(&*view.counts().hash_code()))
    }

    /// What is ours to mend there. `lives` is what was seen in earlier rounds.
    ///
    /// # Errors
    /// If either does not answer, or the peer with something else.
    pub async fn repairs(&self, lives: &mut Lives) -> anyhow::Result<Vec<Repair>> {
        let whole = self.read("apps/").await?.into_whole().context("the answer to apps/")?;
        let theirs = by_application(whole.list);
        let mut repairs = Vec::new();
        for app in self.differing(&theirs).await? {
            let rows = theirs.get(&app).into_iter().flat_map(BTreeMap::values);
            repairs.extend(self.repairs_in(&app, &PeerApplication::listed(rows)).await?);
        }
        let size = usize::try_from(self.node.registry.shared().totals().leases).unwrap_or(usize::MAX);
        if repairs.len() > Rounds::most(size) {
            // Nothing of it is mended, but said.
            return Ok(repairs);
        }
        lives.keep_only(&repairs);
        let (mut confirmed, mut failures) = (Vec::new(), 0);
        for repair in repairs.into_iter().take(LOOKS_MAX) {
            match self.is_confirmed(&repair, lives).await {
                Ok(true) => confirmed.push(repair),
                Ok(false) => {}
                Err(error) => {
                    tracing::debug!(peer = %self.url, "one instance could not be looked at: {error:#}");
                    failures += 1;
                    if failures == FAILURES_MAX {
                        break;
                    }
                }
            }
        }
        self.without_revived(confirmed).await
    }

    /// Leaves out the cancels of what has come back here while others were looked at.
    async fn without_revived(&self, repairs: Vec<Repair>) -> anyhow::Result<Vec<Repair>> {
        let mut kept = Vec::new();
        for repair in repairs {
            let (app, id) = (repair.key.app(), repair.key.id());
            let is_alive =
                repair.remedy == Remedy::Cancel && self.node.registry.instance(app, id).await?.is_some();
            if !is_alive {
                kept.push(repair);
            }
        }
        Ok(kept)
    }

    /// Applications of which the ids or dirty timestamps differ. Cancels are those of ids that only the peer has.
    async fn differing(&self, theirs: &ByApplication) -> anyhow::Result<BTreeSet<AppName>> {
        let view = self.node.registry.current_view().await?;
        let ours: BTreeMap<AppName, BTreeMap<InstanceId, i64>> = view
            .apps()
            .map(|app| {
                let rows = app.entries().iter().map(|entry| &entry.record.instance);
                let rows = rows.map(|i| (InstanceId::clone(&i.instance_id), i.last_dirty_timestamp));
                (app.name.clone(), rows.collect())
            })
            .collect();
        let is_same = |app: &&AppName| {
            let listed = theirs.get(*app).into_iter().flatten();
            let known = ours.get(*app).into_iter().flatten();
            listed.map(|(id, instance)| (id, instance.last_dirty_timestamp)).eq(known.map(|(id, d)| (id, *d)))
        };
        Ok(theirs.keys().chain(ours.keys()).filter(|app| !is_same(app)).cloned().collect())
    }

    async fn repairs_in(&self, app: &AppName, theirs: &PeerApplication) -> anyhow::Result<Vec<Repair>> {
        let own = self.node.registry.perform(app, |core| core.for_comparison()).await?;
        let now = self.node.registry.shared().clock.now();
        let mut repairs = own.map_or_else(Vec::new, |own| repairs_of(&own, theirs, now, self.queue));
        repairs.retain(|repair| is_timeless(repair, theirs));
        Ok(repairs)
    }

    async fn is_confirmed(&self, repair: &Repair, lives: &mut Lives) -> anyhow::Result<bool> {
        let (app, id) = (repair.key.app(), repair.key.id());
        let shown = self.instance(app, id).await?;
        let again = self.repairs_in(app, &PeerApplication::listed(&shown)).await?;
        let is_there = again.iter().any(|other| other.key == repair.key && other.remedy == repair.remedy);
        let now_ms = self.node.registry.shared().clock.now().mono_ms;
        let is_silent = |instance: &Instance| lives.is_silent(instance, now_ms);
        Ok(is_there && (repair.remedy != Remedy::Cancel || shown.as_ref().is_some_and(is_silent)))
    }

    async fn instance(&self, app: &AppName, id: &InstanceId) -> anyhow::Result<Option<Instance>> {
        let encoded = |text: &str| percent_encoding::utf8_percent_encode(text, ESCAPED).to_string();
        let path = format!("apps/{}/{}", encoded(app), encoded(id));
        let reply = self.http.get(self.url, &path, INSTANCE_BYTES_MAX).await?;
        if reply.status == 404 {
            return Ok(None);
        }
        ensure!(reply.status == 200, "{path} is answered with {}", reply.status);
        let draft = json::read_instance(&reply.body, &self.node.limits.reader)?;
        let registration = Registration {
            path_app: app,
            now_wall_ms: self.node.registry.shared().clock.now().wall_ms,
            require_data_center_id: false,
        };
        Ok(Some(draft.into_instance(&registration)?))
    }

    async fn read(&self, path: &str) -> anyhow::Result<Applications> {
        let reply = self.http.get(self.url, path, FETCH_BYTES_MAX).await?;
        ensure!(reply.status == 200, "{path} is answered with {}", reply.status);
        let limits = self.node.limits.reader;
        // A large registry takes a second to read: not on the thread that sends batches.
        let read = tokio::task::spawn_blocking(move || json::read_applications(&reply.body, &limits)).await;
        read.context("the answer was not read")?.with_context(|| format!("the answer to {path}"))
    }
}

/// The last heartbeats that a peer has shown of instances that were cancelled here.
#[derive(Debug, Default)]
pub struct Lives(BTreeMap<(AppName, InstanceId), Life>);

#[derive(Debug)]
struct Life {
    last_renewal_timestamp: i64,
    since_mono_ms: u64,
}

impl Lives {
    fn keep_only(&mut self, repairs: &[Repair]) {
        let named: BTreeSet<_> = repairs.iter().map(|repair| (repair.key.app(), repair.key.id())).collect();
        self.0.retain(|(app, id), _| named.contains(&(app, id)));
    }

    /// True if some of them may be found silent in the next round.
    pub fn are_watched(&self) -> bool {
        !self.0.is_empty()
    }

    /// True if one of its intervals has passed since it was first seen with this heartbeat.
    fn is_silent(&mut self, instance: &Instance, now_mono_ms: u64) -> bool {
        let key = (instance.app.clone(), InstanceId::clone(&instance.instance_id));
        let last_renewal_timestamp = instance.lease.last_renewal_timestamp;
        let interval_ms = u64::from(instance.lease.renewal_interval_secs.max(1).unsigned_abs()) * 1000;
        match self.0.get(&key) {
            Some(life) if life.last_renewal_timestamp == last_renewal_timestamp => {
                now_mono_ms.saturating_sub(life.since_mono_ms) >= interval_ms
            }
            _ => {
                self.0.insert(key, Life { last_renewal_timestamp, since_mono_ms: now_mono_ms });
                false
            }
        }
    }
}

/// When the whole list of a peer is asked for. Most differences are not ours to mend and stay, such as what another node
/// registered before the peer was there; a large list a minute is too much for them.
#[derive(Debug, Default)]
pub struct Pauses {
    rounds: u32,
    left: u32,
    last: u32,
    /// The last list showed something to mend.
    has_repairs: bool,
}

/// Equal hash codes say that there are as many instances of each status. So even then the list is asked for now and then.
const ROUNDS_OF_TRUST: u32 = 10;
/// Longest pause, in rounds.
const PAUSE_MAX: u32 = 10;

impl Pauses {
    /// Whether to ask for the list in this round.
    pub fn is_time(&mut self, has_our_hash: bool) -> bool {
        self.rounds = self.rounds.wrapping_add(1);
        if self.has_repairs {
            // It must show twice in a row.
            return true;
        }
        if has_our_hash {
            return self.rounds.is_multiple_of(ROUNDS_OF_TRUST);
        }
        let is_time = self.left == 0;
        self.left = self.left.saturating_sub(1);
        is_time
    }

    /// What the list showed.
    pub fn note(&mut self, has_repairs: bool) {
        self.has_repairs = has_repairs;
        self.last = if has_repairs { 0 } else { (self.last * 2 + 1).min(PAUSE_MAX) };
        self.left = self.last;
    }
}

type ByApplication = BTreeMap<AppName, BTreeMap<InstanceId, Instance>>;

fn by_application(list: Applications) -> ByApplication {
    let mut found = ByApplication::new();
    for (app, instances) in list.applications {
        let rows = instances.into_iter().map(|instance| (InstanceId::clone(&instance.instance_id), instance));
        found.entry(app).or_default().extend(rows);
    }
    found
}

/// True if it mends what no age is needed for.
fn is_timeless(repair: &Repair, theirs: &PeerApplication) -> bool {
    match repair.remedy {
        Remedy::Cancel | Remedy::Heartbeat => true,
        Remedy::Register => {
            let ours = repair.record.as_ref().map(|record| record.instance.last_dirty_timestamp);
            let row = theirs.rows.iter().find(|row| &row.id == repair.key.id());
            row.is_none_or(|row| Some(row.dirty) < ours)
        }
        Remedy::SetOverride | Remedy::RemoveOverride | Remedy::ForgetCancel => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_that_shows_nothing_to_mend_is_asked_for_ever_more_rarely() {
        let mut pauses = Pauses::default();
        let asked: Vec<u32> = (1..40)
            .filter(|_| {
                let is_time = pauses.is_time(false);
                if is_time {
                    pauses.note(false);
                }
                is_time
            })
            .collect();
        assert_eq!(asked, [1, 3, 7, 15, 26, 37]);
        assert!((0..PAUSE_MAX).any(|_| pauses.is_time(false)));
        pauses.note(true);
        assert!(pauses.is_time(false), "what is to be mended must show twice in a row");
    }

    #[test]
    fn equal_hash_codes_are_trusted_for_some_rounds() {
        let mut pauses = Pauses::default();
        let asked: Vec<u32> = (1..=20).filter(|_| pauses.is_time(true)).collect();
        assert_eq!(asked, [10, 20]);
        pauses.note(true);
        assert!(pauses.is_time(true), "a zombie and a missing instance of the same status hide each other");
    }

    #[test]
    fn what_has_sent_a_heartbeat_within_its_interval_is_not_silent() {
        let mut instance =
            Instance::with_defaults(AppName::new("A"), "1".into(), "host.example", "192.0.2.1");
        instance.lease.renewal_interval_secs = 30;
        instance.lease.last_renewal_timestamp = 5;
        let mut lives = Lives::default();
        assert!(!lives.is_silent(&instance, 1_000), "nobody knows yet");
        assert!(!lives.is_silent(&instance, 30_999));
        assert!(lives.is_silent(&instance, 31_000));
        instance.lease.last_renewal_timestamp = 6;
        assert!(!lives.is_silent(&instance, 90_000), "it lives");
    }
}
