//! What becomes of a batch when its outcome is known (`replication.md` 4, 9.3.2, 9.3.3).

use heureka_protocol::batch::{Action, ItemResponse};

use crate::random::Random;
use crate::replication::backoff::pause_ms;
use crate::replication::batch::{Batch, DropReason, Effect, Item, Outcome, Settled, Sick};
use crate::replication::intents::{Intents, OverrideKind, Weight};
use crate::replication::key::Key;
use crate::replication::slot::{InFlight, Slot, Trouble};

use super::PeerQueue;

/// Refusals in a row that no single poisonous item can explain: then the peer itself is at fault and gets a pause. Halving
/// 250 items takes 9.
const REFUSALS_OF_ONE_ITEM: u32 = 10;
/// An answer to an instance that travels alone may come of the peer's own trouble, which comes and goes: the instance is
/// poison if others have got through between its refusals so often. What says that the request is wrong needs one such proof.
const PROOFS_OF_POISON: u32 = 3;
/// Batches with an instance in it that a peer refuses without a word about them, until one of the items is suspected: a
/// firewall in between may refuse one, but most such answers speak of the peer, or of who may talk to it.
const REFUSALS_BEFORE_SUSPICION: u32 = 3;
/// Refusals of an instance that travelled alone after which it is dropped even if nothing else shows the peer to be well.
const LONE_REFUSALS_MAX: u32 = 8;
/// Attempts for an item whose status says that a retry may help, but that does not matter for ever.
const ITEM_ATTEMPTS_MAX: u32 = 5;
/// Smallest size to which time-outs reduce a batch.
const BATCH_LIMIT_MIN: usize = 16;

const NOT_FOUND: u16 = 404;
const INTERNAL_ERROR: u16 = 500;

impl PeerQueue {
    /// Takes a batch back with its outcome. A batch that the queue no longer knows changes nothing.
    pub fn on_result(
        &mut self,
        batch: &Batch,
        outcome: Outcome,
        now_ms: u64,
        random: &mut dyn Random,
    ) -> Settled {
        let Some(flight) = self.flights.remove(&batch.number()) else { return Settled::default() };
        let items = flight.items;
        match outcome {
            Outcome::Answered(answers) if answers.len() == items.len() => {
                self.note_success();
                self.settle_items(&items, answers, now_ms, random)
            }
            Outcome::Answered(_) | Outcome::Failed(Sick::Refusing) => {
                if self.is_suspicious(&items, flight.has_suspects) {
                    self.reject(&items, Blame::Refused, now_ms, random)
                } else {
                    self.fail(&items, Sick::Refusing, now_ms, random)
                }
            }
            Outcome::Rejected(INTERNAL_ERROR) => self.reject(&items, Blame::Unclear, now_ms, random),
            Outcome::Rejected(_) => self.reject(&items, Blame::Request, now_ms, random),
            Outcome::Failed(why) => self.fail(&items, why, now_ms, random),
        }
    }

    /// Takes all batches back without outcome: their sender has died. They are sent again.
    pub fn abandon_flights(&mut self, now_ms: u64) {
        for flight in std::mem::take(&mut self.flights).into_values() {
            self.put_back(&flight.items, now_ms);
        }
    }

    fn note_success(&mut self) {
        self.backoff.succeed();
        self.successes += 1;
        self.refusals_in_row = 0;
        self.batch_limit = self.batch_limit.saturating_mul(2).min(self.settings.batch_items_max);
    }

    fn fail(&mut self, items: &[Item], why: Sick, now_ms: u64, random: &mut dyn Random) -> Settled {
        self.backoff.fail(why, &self.settings, now_ms, random);
        if why == Sick::Congested {
            let floor = BATCH_LIMIT_MIN.min(self.settings.batch_items_max);
            self.batch_limit = (self.batch_limit / 2).max(floor);
        }
        self.put_back(items, now_ms);
        Settled::default()
    }

    /// True if a batch that was refused without a word about its items may have been so because of one of them: the oldest
    /// would be in every batch, and nothing else would ever get through.
    fn is_suspicious(&mut self, items: &[Item], has_suspects: bool) -> bool {
        let mut refusals = 0;
        for run in runs(items) {
            let Some(slot) = self.slots.get_mut(&run[0].key) else { continue };
            let trouble = slot.trouble.get_or_insert_default();
            trouble.batch_refusals = trouble.batch_refusals.saturating_add(1);
            refusals = refusals.max(trouble.batch_refusals);
        }
        has_suspects || refusals >= REFUSALS_BEFORE_SUSPICION
    }

    /// A batch was refused because of what is in it: halve it until the guilty instance stands alone.
    fn reject(&mut self, items: &[Item], blame: Blame, now_ms: u64, random: &mut dyn Random) -> Settled {
        self.refusals_in_row = self.refusals_in_row.saturating_add(1);
        if self.refusals_in_row >= REFUSALS_OF_ONE_ITEM {
            self.backoff.fail(Sick::Refusing, &self.settings, now_ms, random);
        }
        let keys: Vec<&Key> = runs(items).map(|run| &run[0].key).collect();
        if let [key] = *keys {
            return self.reject_alone(key, blame, now_ms, random);
        }
        self.tally.bisected += 1;
        let (cap, successes) = (keys.len().div_ceil(2), self.successes);
        for key in &keys {
            let Some(slot) = self.slots.get_mut(*key) else { continue };
            let trouble = slot.trouble.get_or_insert_default();
            if trouble.batch_cap.is_none() {
                trouble.successes_before = successes;
            }
            trouble.batch_cap = Some(cap);
        }
        self.put_back(items, now_ms);
        Settled::default()
    }

    fn reject_alone(&mut self, key: &Key, blame: Blame, now_ms: u64, random: &mut dyn Random) -> Settled {
        let (successes, settings) = (self.successes, self.settings);
        let Some(slot) = self.slots.get_mut(key) else { return Settled::default() };
        let is_hopeless = blame == Blame::Request && slot.refusals() + 1 >= LONE_REFUSALS_MAX;
        let trouble = slot.trouble.get_or_insert_default();
        let others_passed = trouble.batch_cap.is_some() && successes > trouble.successes_before;
        if blame == Blame::Refused && !others_passed {
            // It may as well be that nobody is let in.
            self.backoff.fail(Sick::Refusing, &settings, now_ms, random);
        }
        // What says nothing about the request proves nothing, however often: one of several servers behind the peer's address
        // may be broken. It is only put off.
        trouble.proofs += u32::from(others_passed && blame != Blame::Refused);
        (trouble.batch_cap, trouble.successes_before) = (Some(1), successes);
        let is_poison = match blame {
            Blame::Request => is_hopeless || trouble.proofs >= 1,
            Blame::Unclear => trouble.proofs >= PROOFS_OF_POISON,
            Blame::Refused => false,
        };
        if is_poison {
            trouble.proofs = 0;
        }
        let mut settled = Settled::default();
        if is_poison {
            let flying = slot.flying();
            // A cancel is never the poison if something else is there to be it.
            let saved = if flying.has_cancel() && flying != Intents::CANCEL {
                Intents::CANCEL
            } else {
                Intents::NONE
            };
            let poison = if saved.is_empty() { flying } else { flying.without_cancel() };
            if let Some(flight) = &mut slot.in_flight {
                flight.intents = saved;
            }
            self.tally.drop_all(poison, DropReason::Poison);
            settled.effects = dropped(key, poison, DropReason::Poison).collect();
        }
        let until_ms = now_ms.saturating_add(pause_ms(&settings, slot.refusals(), random));
        slot.put_off(until_ms);
        self.put_back_one(key, now_ms);
        settled
    }

    fn put_back(&mut self, items: &[Item], now_ms: u64) {
        for run in runs(items) {
            self.put_back_one(&run[0].key, now_ms);
        }
    }

    /// What was on its way waits again, in its old place, before what came meanwhile.
    fn put_back_one(&mut self, key: &Key, now_ms: u64) {
        let Some(slot) = self.slots.get_mut(key) else { return };
        let Some(flight) = slot.in_flight.take() else { return };
        resume(slot, *flight, flight.intents);
        self.place(key, now_ms);
    }

    fn settle_items(
        &mut self,
        items: &[Item],
        answers: Vec<ItemResponse>,
        now_ms: u64,
        random: &mut dyn Random,
    ) -> Settled {
        let mut settled = Settled::default();
        let mut answers = answers.into_iter();
        for run in runs(items) {
            let answered: Vec<_> =
                run.iter().zip(answers.by_ref()).map(|(item, answer)| (item.action, answer)).collect();
            settled.answers.extend(answered.iter().map(|(action, answer)| (*action, answer.status_code)));
            self.settle_one(&run[0].key, answered, now_ms, random, &mut settled);
        }
        settled
    }

    fn settle_one(
        &mut self,
        key: &Key,
        answered: Vec<(Action, ItemResponse)>,
        now_ms: u64,
        random: &mut dyn Random,
        settled: &mut Settled,
    ) {
        let settings = self.settings;
        let Some(slot) = self.slots.get_mut(key) else { return };
        let Some(flight) = slot.in_flight.take() else { return };
        let mut verdict = Verdict::default();
        for (action, answer) in answered {
            verdict.hear(slot, flight.intents, action, answer, settings.sync_when_timestamp_differs);
        }
        if verdict.is_cancel_refused {
            // The registration after it must come after it again.
            verdict.retry = flight.intents;
        }
        if let Some(instance) = verdict.adopt {
            settled.effects.push(Effect::Adopt { key: key.clone(), instance });
        }
        let is_confirmed = verdict.refused.is_empty();
        for (intents, code) in verdict.refused {
            self.tally.drop_all(intents, DropReason::Rejected(code));
            settled.effects.extend(dropped(key, intents, DropReason::Rejected(code)));
        }
        self.tally.registered_after_404 += u64::from(verdict.lacks_instance);
        if verdict.retry.is_empty() {
            slot.trouble = None;
            if is_confirmed {
                settled.propagation_ms.push(now_ms.saturating_sub(flight.since_ms));
            }
        } else {
            let pause = match (verdict.is_lame, slot.refusals()) {
                (false, 0) => 0,
                (_, refusals) => pause_ms(&settings, refusals, random),
            };
            slot.trouble = slot
                .trouble
                .take()
                .map(|trouble| Box::new(Trouble { batch_cap: None, batch_refusals: 0, ..*trouble }));
            slot.put_off(now_ms.saturating_add(pause));
            resume(slot, *flight, verdict.retry);
        }
        self.place(key, now_ms);
    }
}

/// What the refusal of a whole batch says about its items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Blame {
    /// The request is wrong: 400, 413, 431.
    Request,
    /// One of them may have broken something at the peer: 500.
    Unclear,
    /// Nothing, but it has been so again and again.
    Refused,
}

/// What the answers to the items of one instance add up to.
#[derive(Default)]
struct Verdict {
    /// To be sent again, before what came meanwhile.
    retry: Intents,
    /// Given up, with the peer's status.
    refused: Vec<(Intents, u16)>,
    adopt: Option<Box<heureka_protocol::draft::InstanceDraft>>,
    is_cancel_refused: bool,
    /// The peer does not know the instance.
    lacks_instance: bool,
    /// The peer could not do it now; at once would be too early.
    is_lame: bool,
}

impl Verdict {
    fn hear(
        &mut self,
        slot: &Slot,
        flying: Intents,
        action: Action,
        answer: ItemResponse,
        takes_newer: bool,
    ) {
        let code = answer.status_code;
        // An operation that stored nothing stays one, also if it is told again.
        let is_stated = flying.override_kind() == Some(OverrideKind::Stated);
        let intents = match action {
            Action::StatusUpdate if is_stated => Intents::override_op(OverrideKind::Stated),
            _ => Intents::of(action),
        };
        let still_counts = flying.actions().any(|flying| flying == action);
        if (200..300).contains(&code) || !still_counts {
            return;
        }
        let is_known_here = slot.record.is_some();
        let may_retry = slot.refusals() + 1 < ITEM_ATTEMPTS_MAX;
        match (action, code) {
            (Action::Cancel, NOT_FOUND) => {}
            (_, NOT_FOUND) if !is_known_here => {}
            (Action::Cancel, _) => (self.is_cancel_refused, self.is_lame) = (true, true),
            (Action::Heartbeat, NOT_FOUND) => {
                self.lacks_instance = true;
                self.retry = self.retry.then(Intents::REGISTER);
            }
            (Action::Heartbeat, _) => match answer.entity {
                Some(entity) if takes_newer => self.adopt = Some(entity),
                _ => self.refused.push((intents, code)),
            },
            // The registration behind it brings the instance, and the override with it, unless the peer still has another one
            // from an earlier life of the instance. Both are told once more, now that there is something to tell it of.
            (Action::StatusUpdate | Action::DeleteStatusOverride, NOT_FOUND) if flying.has_register() => {
                if is_stated {
                    // Nothing was stored, so the registration has told everything.
                } else if may_retry {
                    self.retry = self.retry.then(Intents::REGISTER).then(intents);
                } else {
                    self.refused.push((intents, code));
                }
            }
            (Action::StatusUpdate | Action::DeleteStatusOverride, NOT_FOUND) => {
                self.lacks_instance = true;
                self.retry = self.retry.then(Intents::REGISTER).then(intents);
            }
            (_, INTERNAL_ERROR..) if may_retry => {
                self.is_lame = true;
                self.retry = self.retry.then(intents);
            }
            _ => self.refused.push((intents, code)),
        }
    }
}

/// Puts intents that come back from a flight in front of those that wait.
fn resume(slot: &mut Slot, flight: InFlight, returned: Intents) {
    if returned.is_empty() {
        return;
    }
    let waiting = (slot.pending, slot.deadline_ms);
    slot.deadline_ms = later_deadline_ms((returned, flight.deadline_ms), waiting);
    slot.pending = returned.then(slot.pending);
    // The slot is in no list while something of it is on its way, so its place can change freely.
    (slot.ticket, slot.since_ms) = (flight.ticket, flight.since_ms);
}

/// Until when what has come back is worth telling together with what waits behind it. A list ends with the heaviest that is
/// left in it: see [`Slot::new_deadline_ms`].
fn later_deadline_ms(returned: (Intents, u64), waiting: (Intents, u64)) -> u64 {
    let Some(weight) = returned.0.then(waiting.0).weight() else { return u64::MAX };
    if weight == Weight::Register {
        return u64::MAX;
    }
    // A cancel takes all that came before it along.
    let returned = if waiting.0.has_cancel() { (Intents::NONE, 0) } else { returned };
    let bounded = if weight == Weight::Heartbeat { weight } else { Weight::Override };
    let counts = |(intents, _): &(Intents, u64)| intents.weight() >= Some(bounded);
    [returned, waiting].into_iter().filter(counts).map(|(_, ms)| ms).max().unwrap_or(u64::MAX)
}

fn dropped(key: &Key, intents: Intents, reason: DropReason) -> impl Iterator<Item = Effect> {
    intents.actions().map(move |action| Effect::Dropped { key: key.clone(), action, reason })
}

/// Items cut into those of one instance each.
fn runs(items: &[Item]) -> impl Iterator<Item = &[Item]> {
    items.chunk_by(|a, b| a.key == b.key)
}
