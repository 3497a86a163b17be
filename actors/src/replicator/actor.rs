//! The sender to one peer: takes batches from its link's queue, sends them, acts on the answers.
//!
//! It decides nothing itself: when what leaves, and what becomes of it, are the queue's rules. It keeps nothing either: a
//! step that panics costs the batches on their way, and those are sent again.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;
use bytes::Bytes;
use futures_util::FutureExt;
use heureka_protocol::Limits;
use heureka_protocol::batch::Action;
use heureka_registry::SplitMix64;
use heureka_registry::replication::{Batch, DropReason, Effect, Key, Settled};

use super::adoption::{Adoption, adopt_all};
use super::link::PeerLink;
use super::outcome::outcome_of;
use super::replication::Replication;
use super::stamps::{BatchHead, PlacedStamps};
use super::transport::{PeerReply, PeerTransport, TransportError};
use super::wire::encode;
use crate::guard::guarded;
use crate::handle::Handle;

/// The actor.
pub struct PeerReplicatorActor {
    replication: Arc<Replication>,
    link: Arc<PeerLink>,
    transport: Arc<dyn PeerTransport>,
    handle: Handle,
    random: SplitMix64,
    limits: Limits,
    timer: Option<SpawnHandle>,
    /// The failure that the log has told last, until the next success.
    told: Option<Trouble>,
}

/// A failure as far as it is worth a new line in the log: no connection, no answer in time, or a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trouble {
    Unreachable,
    TimedOut,
    Unreadable,
    Status(u16),
}

impl Trouble {
    const fn of(reply: &Result<PeerReply, TransportError>) -> Self {
        match reply {
            Ok(reply) => Self::Status(reply.status),
            Err(TransportError::Unreachable(_)) => Self::Unreachable,
            Err(TransportError::TimedOut(_)) => Self::TimedOut,
            Err(TransportError::Unreadable(_)) => Self::Unreadable,
        }
    }
}

impl PeerReplicatorActor {
    /// A sender to the peer of a link. `limits` bound what is read of answers, `seed` the chance in its pauses.
    #[must_use]
    pub fn new(
        replication: Arc<Replication>,
        link: Arc<PeerLink>,
        transport: Arc<dyn PeerTransport>,
        handle: Handle,
        limits: Limits,
        seed: u64,
    ) -> Self {
        let random = SplitMix64::new(seed);
        Self { replication, link, transport, handle, random, limits, timer: None, told: None }
    }

    /// Asks to be called when the queue has changed. Ends with the link.
    fn listen(&self, ctx: &mut Context<Self>) {
        let link = Arc::clone(&self.link);
        let woken = async move { link.woken().await }.into_actor(self);
        ctx.spawn(woken.map(|(), actor, ctx| {
            if actor.link.has_ended() {
                ctx.stop();
            } else {
                actor.pump(ctx);
                actor.listen(ctx);
            }
        }));
    }

    /// Sends every batch that should leave now, and sets the alarm for the next one.
    fn pump(&mut self, ctx: &mut Context<Self>) {
        if let Some(timer) = self.timer.take() {
            ctx.cancel_future(timer);
        }
        let now = self.replication.clock().now();
        loop {
            let link = Arc::clone(&self.link);
            let next = guarded("replicator", move || {
                let (batch, wake_ms) = link.next_batch(now);
                (batch.map(|batch| (Bytes::from(encode(&batch, now)), batch)), wake_ms)
            });
            match next {
                Err(_) => return self.recover(),
                Ok((Some((body, batch)), _)) => self.send(body, batch, ctx),
                Ok((None, wake_ms)) => {
                    if let Some(wake_ms) = wake_ms {
                        // At least a millisecond: an alarm in the past would spin.
                        let pause = Duration::from_millis(wake_ms.saturating_sub(now.mono_ms).max(1));
                        self.timer = Some(ctx.run_later(pause, Self::pump));
                    }
                    return;
                }
            }
        }
    }

    fn send(&self, body: Bytes, batch: Batch, ctx: &mut Context<Self>) {
        self.replication.metrics().count_departure(&self.link, &batch);
        let started = tokio::time::Instant::now();
        let clock = self.handle.shared().options.rules.stamps.read(self.replication.clock().now());
        let sending =
            AssertUnwindSafe(self.transport.send(body, BatchHead::of(&batch, clock))).catch_unwind();
        let sent = async move {
            sending
                .await
                .unwrap_or_else(|_| Err(TransportError::Unreachable("the sender panicked".to_owned())))
        };
        ctx.spawn(sent.into_actor(self).map(move |reply, actor, ctx| {
            let seconds = started.elapsed().as_secs_f64();
            if guarded("replicator", || actor.finish(&batch, reply, seconds, ctx)).is_err() {
                actor.recover();
            }
            actor.pump(ctx);
        }));
    }

    fn finish(
        &mut self,
        batch: &Batch,
        reply: Result<PeerReply, TransportError>,
        seconds: f64,
        ctx: &mut Context<Self>,
    ) {
        let identity = reply.as_ref().ok().map(|reply| reply.identity.clone());
        if identity.as_ref().is_some_and(|who| who.as_ref() == Some(self.replication.own())) {
            if self.link.close_to_itself() {
                tracing::warn!(
                    peer = self.link.url(),
                    "this peer is the node itself: nothing is sent to it until somebody else answers there"
                );
            }
            return;
        }
        if let Some(identity) = identity
            && self.link.note_identity(identity)
        {
            tracing::info!(peer = self.link.url(), "the peer is a node of our kind");
        }
        let now = self.replication.clock().now();
        if let Some(clock) = reply.as_ref().ok().and_then(|reply| reply.clock) {
            self.handle.hear_clock(clock);
        }
        let (outcome, error) = outcome_of(&reply, batch.items().len(), &self.limits);
        self.say(error.as_deref().map(|words| (Trouble::of(&reply), words)));
        let metrics = self.replication.metrics();
        metrics.count_batch(&self.link, &outcome, seconds);
        metrics.count_retry(&self.link, batch, &outcome);
        let settled = self.link.settle(batch, outcome, error, now, &mut self.random);
        metrics.count_settled(&self.link, &settled);
        let stamps = reply.map(|reply| reply.stamps).unwrap_or_default();
        self.act(settled, batch, &stamps, ctx);
    }

    /// Asks who answers where it was this node itself.
    fn probe(&self, ctx: &mut Context<Self>) {
        let Some(probe) = self.link.next_probe() else { return };
        let now = self.replication.clock().now();
        let clock = self.handle.shared().options.rules.stamps.read(now);
        let sending = self.transport.send(Bytes::from(encode(&probe, now)), BatchHead::of(&probe, clock));
        let answered = AssertUnwindSafe(sending).catch_unwind().into_actor(self);
        ctx.spawn(answered.map(|reply, actor, ctx| {
            // No answer, or one that is none, does not say that it is somebody else.
            let Ok(Ok(reply)) = reply else { return };
            let is_another = (200..300).contains(&reply.status)
                && reply.identity.as_ref() != Some(actor.replication.own());
            if is_another && actor.link.open_to(reply.identity) {
                tracing::info!(
                    peer = actor.link.url(),
                    "somebody else answers where the node met itself: it is a peer"
                );
                actor.pump(ctx);
            }
        }));
    }

    /// One line when the peer begins to fail or fails in another way; the rest is in metrics and on the pages.
    fn say(&mut self, error: Option<(Trouble, &str)>) {
        let peer = self.link.url();
        match error {
            Some((trouble, error)) if self.told != Some(trouble) => {
                tracing::warn!(peer, error, "replication failed")
            }
            Some((_, error)) => tracing::debug!(peer, error, "replication failed again"),
            None if self.told.is_some() => tracing::info!(peer, "replication works again"),
            None => {}
        }
        self.told = error.map(|(trouble, _)| trouble);
    }

    fn act(&self, settled: Settled, batch: &Batch, stamps: &PlacedStamps, ctx: &mut Context<Self>) {
        let (mut adoptions, mut dropped) = (Vec::new(), Vec::new());
        for effect in settled.effects {
            match effect {
                Effect::Adopt { key, instance } => {
                    let stamp = batch.heartbeat_place(&key).and_then(|place| stamps.get(place));
                    adoptions.push(Adoption { key, draft: *instance, stamp });
                }
                Effect::Dropped { key, action, reason } => dropped.push((key, action, reason)),
            }
        }
        self.say_dropped(&dropped);
        if !adoptions.is_empty() {
            let (handle, link) = (self.handle.clone(), Arc::clone(&self.link));
            let adopted = adopt_all(handle, Arc::clone(&self.replication), link, adoptions);
            ctx.spawn(adopted.into_actor(self));
        }
    }

    /// One line a batch, however many items the peer has not taken, and words for the pages.
    fn say_dropped(&self, dropped: &[(Key, Action, DropReason)]) {
        let Some((key, action, reason)) = dropped.first() else { return };
        let (peer, items, app, id, action) =
            (self.link.url(), dropped.len(), key.app(), key.id(), action.as_str());
        let words = if let DropReason::Rejected(code) = reason {
            tracing::warn!(peer, items, %app, %id, action, code, "a peer did not take items; the first is shown");
            format!("did not take {items} items; the first, {action} of {app}/{id}, was answered {code}")
        } else {
            tracing::error!(peer, items, %app, %id, action,
                "the peer refuses every batch with this instance; it is not sent any more");
            format!("refuses every batch with {action} of {app}/{id}, which is not sent any more")
        };
        self.link.note_error(words, self.replication.clock().now());
    }

    /// After a panic: what was on its way is sent again, the alarm is set again by whoever comes next.
    fn recover(&self) {
        self.replication.metrics().panics().inc();
        self.link.abandon_flights(self.replication.clock().now());
        self.link.repair(|_| {});
    }
}

impl Actor for PeerReplicatorActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        self.listen(ctx);
        self.pump(ctx);
    }
}

/// Replaces what carries batches: the peer's credentials have changed. What waits stays.
#[derive(Message)]
#[rtype(result = "()")]
pub struct SetTransport(pub Arc<dyn PeerTransport>);

impl Handler<SetTransport> for PeerReplicatorActor {
    type Result = ();

    fn handle(&mut self, SetTransport(transport): SetTransport, _: &mut Self::Context) {
        self.transport = transport;
    }
}

/// Asks who answers where it was this node itself; does nothing for any other peer.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Probe;

impl Handler<Probe> for PeerReplicatorActor {
    type Result = ();

    fn handle(&mut self, _: Probe, ctx: &mut Self::Context) {
        self.probe(ctx);
    }
}
