//! This node as an instance among others: it registers, renews and leaves as any client does, but with itself. What it
//! says is replicated like any other change (spec `replication.md` 1.4, 6.4).

use std::time::Duration;

use heureka_actors::Handle;
use heureka_protocol::Instance;
use heureka_registry::{Heartbeat, Origin, RenewalAnswer};

/// How soon this node notices that its own instance is gone: a peer has told it a cancel that was meant for its last life,
/// and knows no better.
const LOOK: Duration = Duration::from_secs(1);

/// The lease of this node's own instance.
#[derive(Clone)]
pub struct OwnLease {
    handle: Handle,
    instance: Instance,
}

impl OwnLease {
    /// For an instance that has not been registered.
    #[must_use]
    pub const fn new(handle: Handle, instance: Instance) -> Self {
        Self { handle, instance }
    }

    /// Registers, and renews for ever; registers again soon after the instance has vanished.
    pub async fn hold(mut self) {
        let secs = u64::from(self.instance.lease.renewal_interval_secs.max(1).unsigned_abs());
        loop {
            self.register_or_renew().await;
            let _ = tokio::time::timeout(Duration::from_secs(secs), self.vanishes()).await;
        }
    }

    /// Completes when the registry does not hold the instance any more.
    async fn vanishes(&self) {
        loop {
            tokio::time::sleep(LOOK).await;
            let held = self.handle.instance(&self.instance.app, &self.instance.instance_id).await;
            if matches!(held, Ok(None)) {
                return;
            }
        }
    }

    async fn register_or_renew(&mut self) {
        let (app, id) = (&self.instance.app, &self.instance.instance_id);
        let last_dirty = Some(self.instance.last_dirty_timestamp);
        let beat = Heartbeat { last_dirty, ..Heartbeat::default() };
        let renewed = self.handle.renew(app, id, beat, Origin::Client).await;
        if matches!(renewed, Ok(RenewalAnswer::Renewed)) {
            return;
        }
        // As any client after a 404: what was cancelled was the last record, not this one.
        let now_wall_ms = self.handle.shared().clock.now().wall_ms;
        let dirty = &mut self.instance.last_dirty_timestamp;
        *dirty = now_wall_ms.max(*dirty + 1);
        if let Err(refused) = self.handle.register(self.instance.clone(), Origin::Client).await {
            tracing::warn!(%refused, "this node could not register itself");
        }
    }

    /// Leaves, before the node stops.
    pub async fn cancel(&self) {
        let cancelled =
            self.handle.cancel(&self.instance.app, &self.instance.instance_id, Origin::Client).await;
        if let Err(refused) = cancelled {
            tracing::warn!(%refused, "this node could not cancel its own lease");
        }
    }
}
