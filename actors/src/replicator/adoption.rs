//! Taking over the newer records that a peer has sent (spec `replication.md` 4.2, 9.3.3).

use std::sync::Arc;

use futures_util::future::join_all;
use heureka_protocol::draft::{InstanceDraft, Refusal, Registration};
use heureka_registry::Stamp;
use heureka_registry::replication::Key;

use super::link::PeerLink;
use super::replication::Replication;
use crate::error::Refused;
use crate::handle::Handle;

/// A peer's record, not checked yet.
#[derive(Debug)]
pub struct Adoption {
    /// Whose it should be.
    pub key: Key,
    /// What came.
    pub draft: InstanceDraft,
    /// The stamp of the override that the record has there, or had.
    pub stamp: Option<Stamp>,
}

/// Why a peer's record was not taken over.
#[derive(Debug, thiserror::Error)]
pub enum NotAdopted {
    /// It is about something else.
    #[error("it is the record of {0:?}")]
    OtherInstance(String),
    /// It lacks something.
    #[error("{0}")]
    Invalid(Refusal),
    /// It may be fine.
    #[error("{0}")]
    Refused(Refused),
}

/// Checks the records of one answer and registers them here. They are counted when that is done, and what cannot be taken
/// over is said in one line.
pub async fn adopt_all(
    handle: Handle,
    replication: Arc<Replication>,
    link: Arc<PeerLink>,
    adoptions: Vec<Adoption>,
) {
    let keys: Vec<Key> = adoptions.iter().map(|adoption| adoption.key.clone()).collect();
    let outcomes = join_all(adoptions.into_iter().map(|adoption| adopt(&handle, &link, adoption))).await;
    let imported = outcomes.iter().filter(|outcome| matches!(outcome, Ok(true))).count();
    let refused = outcomes.iter().filter(|outcome| outcome.is_err()).count();
    replication.metrics().count_imports(&link, imported, refused);
    let first = keys.iter().zip(outcomes).find_map(|(key, outcome)| Some((key, outcome.err()?)));
    if let Some((key, error)) = first {
        let (app, id) = (key.app(), key.id());
        tracing::warn!(peer = link.url(), records = refused, %app, %id, %error,
            "newer records of a peer cannot be taken over; the first is shown");
        let words =
            format!("{refused} newer records cannot be taken over, the first, of {app}/{id}: {error}");
        link.note_error(words, replication.clock().now());
    }
}

/// True if the record was registered here. Where it was cancelled here later, the peer hears of the cancel instead.
async fn adopt(handle: &Handle, link: &PeerLink, adoption: Adoption) -> Result<bool, NotAdopted> {
    let Adoption { key, draft, stamp } = adoption;
    let now = handle.shared().clock.now();
    let registration =
        Registration { path_app: key.app(), now_wall_ms: now.wall_ms, require_data_center_id: false };
    let mut instance = draft.into_instance(&registration).map_err(NotAdopted::Invalid)?;
    if instance.instance_id != *key.id() {
        return Err(NotAdopted::OtherInstance(instance.instance_id.to_string()));
    }
    instance.is_coordinating_discovery_server = false;
    let adopted = handle.perform_or_open(key.app(), move |core| core.adopt(instance, stamp)).await;
    match adopted {
        Ok(Ok(())) => Ok(true),
        Ok(Err(cancelled)) => {
            link.repair(|queue| queue.offer_cancel(&key, cancelled, now.mono_ms));
            Ok(false)
        }
        Err(refused) => Err(NotAdopted::Refused(refused)),
    }
}
