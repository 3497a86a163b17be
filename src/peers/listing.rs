//! Comparing with peers that know no digests, such as Java servers, by the lists that they give to clients (spec
//! `replication.md` 9.3.4).
//!
//! A list says what is there, but neither since when nor by whom, and it comes from a cache that may be half a minute old. So
//! only what cannot be a matter of time is mended: an instance that talks to this node and is missing there or older, one that
//! was cancelled here, one that is newer there. Overrides and content of the same dirty timestamp are left alone: nobody could
//! tell which is later. Each difference is looked at again in the peer's answer about that one instance, which comes from no
//! cache, before it counts.

use std::collections::{BTreeMap, BTreeSet};

use actix_web::web::Data;
use anyhow::{Context, ensure};
use heureka_config::settings::ServiceUrl;
use heureka_protocol::applications::Applications;
use heureka_protocol::draft::Registration;
use heureka_protocol::{AppName, Instance, InstanceId, json};
use heureka_registry::replication::{PeerApplication, QueueSettings, Remedy, Repair, repairs_of};

use super::http::{FETCH_BYTES_MAX, PeerHttp};
use crate::node::Node;

/// Differences of a round that are looked at again one by one; the others are in the next ones.
const LOOKS_MAX: usize = 200;
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

    /// What is ours to mend there.
    ///
    /// # Errors
    /// If either does not answer, or the peer with something else.
    pub async fn repairs(&self) -> anyhow::Result<Vec<Repair>> {
        let whole = self.read("apps/").await?.into_whole().context("the answer to apps/")?;
        let theirs = by_application(whole.list);
        let mut repairs = Vec::new();
        for app in self.differing(&theirs).await? {
            if repairs.len() > LOOKS_MAX {
                break;
            }
            let rows = theirs.get(&app).into_iter().flat_map(BTreeMap::values);
            repairs.extend(self.repairs_in(&app, &PeerApplication::listed(rows)).await?);
        }
        let mut confirmed = Vec::new();
        for repair in repairs.into_iter().take(LOOKS_MAX) {
            if self.is_confirmed(&repair).await? {
                confirmed.push(repair);
            }
        }
        Ok(confirmed)
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

    async fn is_confirmed(&self, repair: &Repair) -> anyhow::Result<bool> {
        let (app, id) = (repair.key.app(), repair.key.id());
        let shown = self.instance(app, id).await?;
        let again = self.repairs_in(app, &PeerApplication::listed(&shown)).await?;
        Ok(again.iter().any(|other| other.key == repair.key && other.remedy == repair.remedy))
    }

    async fn instance(&self, app: &AppName, id: &InstanceId) -> anyhow::Result<Option<Instance>> {
        let encoded = |text: &str| {
            percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
        };
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

/// When the whole list of a peer is asked for. Most differences are not ours to mend and stay, such as what another node
/// registered before the peer was there; a large list a minute is too much for them.
#[derive(Debug, Default)]
pub struct Pauses {
    rounds: u32,
    left: u32,
    last: u32,
}

/// Equal hash codes say that there are as many instances of each status. So even then the list is asked for now and then.
const ROUNDS_OF_TRUST: u32 = 10;
/// Longest pause, in rounds.
const PAUSE_MAX: u32 = 10;

impl Pauses {
    /// Whether to ask for the list in this round.
    pub fn is_time(&mut self, has_our_hash: bool) -> bool {
        self.rounds = self.rounds.wrapping_add(1);
        if has_our_hash {
            return self.rounds.is_multiple_of(ROUNDS_OF_TRUST);
        }
        let is_time = self.left == 0;
        self.left = self.left.saturating_sub(1);
        is_time
    }

    /// What the list showed: something to mend is looked at again in the next round.
    pub fn note(&mut self, has_repairs: bool) {
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
    }
}
