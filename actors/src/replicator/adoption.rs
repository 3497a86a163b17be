//! Taking over the newer record that a peer has sent (spec `replication.md` 4.2, 9.3.3).

use std::sync::Arc;

use heureka_protocol::draft::{InstanceDraft, Registration};
use heureka_registry::Stamp;
use heureka_registry::replication::Key;

use super::link::PeerLink;
use crate::handle::Handle;

/// Checks a peer's record and registers it here. Where it was cancelled here later, the peer hears of the cancel instead.
/// `stamp` is that of the override that the record has there, or had.
pub async fn adopt_draft(
    handle: Handle,
    link: Arc<PeerLink>,
    key: Key,
    draft: InstanceDraft,
    stamp: Option<Stamp>,
) {
    let now = handle.shared().clock.now();
    let registration =
        Registration { path_app: key.app(), now_wall_ms: now.wall_ms, require_data_center_id: false };
    let mut instance = match draft.into_instance(&registration) {
        Ok(instance) if instance.instance_id == *key.id() => instance,
        Ok(other) => {
            tracing::warn!(peer = link.url(), app = %key.app(), id = %key.id(), other = %other.instance_id,
                "a peer sent the record of another instance");
            return;
        }
        Err(refusal) => {
            tracing::warn!(peer = link.url(), app = %key.app(), id = %key.id(), %refusal,
                "a peer's newer record cannot be taken over");
            return;
        }
    };
    instance.is_coordinating_discovery_server = false;
    let adopted = handle.perform_or_open(key.app(), move |core| core.adopt(instance, stamp)).await;
    match adopted {
        Ok(Ok(())) => {}
        Ok(Err(cancelled)) => link.repair(|queue| queue.offer_cancel(&key, cancelled, now.mono_ms)),
        Err(refused) => {
            tracing::warn!(peer = link.url(), app = %key.app(), id = %key.id(), %refused,
                "a peer's newer record was not taken over");
        }
    }
}
