//! Reads a store from end to end, and believes nothing of it before all of it has been checked.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::quality::RandomState;
use heureka_protocol::AppName;
use heureka_protocol::InstanceId;
use heureka_registry::{Now, Record};

use crate::chunks::decode_all;
use crate::doubt::Doubt;
use crate::frame::{self, FrameError};
use crate::key::{Key, Kind, Name};
use crate::seal::{Index, Seal};
use crate::store::Store;
use crate::stored::{
    PayloadError, StoredInstance, StoredMeta, StoredOverride, StoredSeen, StoredTombstone, from_payload,
    seen_hash,
};

/// A store may have so many damaged records, or one in a hundred of all, and still be used.
const BAD_RECORDS_ALWAYS_ALLOWED: u64 = 10;
/// But never more than that: they are removed in one batch.
const BAD_RECORDS_ALLOWED: u64 = 400;

/// An application and an instance of it.
pub type Owner = (AppName, InstanceId);

/// Last signs of life: hash of the key ([`seen_hash`]) to seconds since the epoch.
pub type SeenTimes = HashMap<u64, u32, RandomState>;

/// An instance as it was stored.
#[derive(Debug)]
pub struct LoadedInstance {
    /// The record, with a lease that counts from now. Shared from the start: records are large and must not be moved.
    pub record: Arc<Record>,
    /// Hash of its key ([`seen_hash`]).
    pub seen_hash: u64,
    /// Last sign of life that its own record knows of.
    pub seen_timestamp: i64,
    /// True if its lease had ended when it was stored.
    pub is_ended: bool,
}

impl LoadedInstance {
    /// What was stored under a key.
    ///
    /// # Errors
    /// If it is no whole instance.
    pub fn of(
        stored: StoredInstance<'_>,
        key: &[u8],
        (app, id): Owner,
        now: Now,
    ) -> Result<Self, PayloadError> {
        let (seen_timestamp, is_ended) = (stored.seen_timestamp, stored.eviction_timestamp != 0);
        let record = Arc::new(stored.into_record(app, id, now)?);
        Ok(Self { record, seen_hash: seen_hash(key), seen_timestamp, is_ended })
    }

    /// Its last sign of life before this moment. One in the future says nothing, since the wall clock was set back after it;
    /// if there is no other, it counts as given now.
    #[must_use]
    pub fn last_seen_ms(&self, seen: &SeenTimes, now: Now) -> i64 {
        let listed_ms = seen.get(&self.seen_hash).map(|secs| i64::from(*secs) * 1000);
        let known = listed_ms.into_iter().chain([self.seen_timestamp]);
        known.filter(|ms| *ms <= now.wall_ms).max().unwrap_or(now.wall_ms)
    }
}

/// Everything that a store holds.
#[derive(Debug, Default)]
pub struct Contents {
    /// What it says of itself.
    pub meta: StoredMeta,
    /// Instances, by application.
    pub instances: Vec<LoadedInstance>,
    /// Overrides.
    pub overrides: Vec<(Owner, StoredOverride)>,
    /// Tombstones.
    pub tombstones: Vec<(Owner, StoredTombstone)>,
    /// Last signs of life.
    pub seen: SeenTimes,
    /// Keys of records that cannot be read.
    pub bad_keys: Vec<Vec<u8>>,
    /// Why the first of them cannot be read.
    pub first_fault: Option<String>,
    /// All good keys.
    pub index: Index,
}

/// Reads everything. Nothing of the result has been judged by the rules of a restart yet.
///
/// # Errors
/// If the store must not be believed.
pub fn read(store: &dyn Store, now: Now) -> Result<Contents, Doubt> {
    let contents = read_doubtful(store, now)?;
    contents.check()?;
    Ok(contents)
}

/// Reads everything that can be read, for people who want to see it: [`Contents::check`] says whether it may be believed.
///
/// # Errors
/// If the store does not describe itself, cannot be read to the end, or was written by a later version.
pub fn read_doubtful(store: &dyn Store, now: Now) -> Result<Contents, Doubt> {
    let mut contents = Contents { meta: read_meta(store)?, ..Contents::default() };
    let index = &contents.index;
    let parts = decode_all(store, |chunk| {
        let mut part = Contents { index: index.for_a_part(), ..Contents::default() };
        let mut names = Names::default();
        chunk.pairs().try_for_each(|(key, value)| part.take(key, value, &mut names, now))?;
        Ok(part)
    })?;
    contents.instances.reserve(parts.iter().map(|part| part.instances.len()).sum());
    parts.into_iter().for_each(|part| contents.append(part));
    Ok(contents)
}

/// Reads only what a store says of itself.
///
/// # Errors
/// If it does not say it, or in the words of a later version.
pub fn read_meta(store: &dyn Store) -> Result<StoredMeta, Doubt> {
    let key = Key::Meta.to_bytes().ok_or(Doubt::NoMeta)?;
    let value = store.get(&key)?.ok_or(Doubt::NoMeta)?;
    let frame = frame::unwrap(&key, &value).map_err(|error| match error {
        FrameError::NewerFormat(format) => Doubt::NewerFormat(format),
        FrameError::CutOff | FrameError::Damaged => Doubt::NoMeta,
    })?;
    from_payload(frame.payload).map_err(|_| Doubt::NoMeta)
}

/// The name of the last application, since keys of one application follow each other.
#[derive(Default)]
struct Names(Option<AppName>);

impl Names {
    fn owner(&mut self, name: Name<'_>) -> Owner {
        let app = match &self.0 {
            Some(app) if **app == *name.app => app.clone(),
            _ => self.0.insert(AppName::new(name.app)).clone(),
        };
        (app, Arc::from(name.id))
    }
}

impl Contents {
    /// Takes one record in. An error only if a later version has written it; damage is counted.
    fn take(&mut self, key: &[u8], value: &[u8], names: &mut Names, now: Now) -> Result<(), Doubt> {
        if Kind::of(key) == Some(Kind::Meta) {
            return Ok(());
        }
        let frame = match frame::unwrap(key, value) {
            Ok(frame) => frame,
            Err(FrameError::NewerFormat(format)) => return Err(Doubt::NewerFormat(format)),
            Err(error) => {
                self.note_bad(key, &error);
                return Ok(());
            }
        };
        let Some(parsed) = Key::parse(key) else {
            self.note_bad(key, &"the key is damaged");
            return Ok(());
        };
        self.index.put(key, value);
        // Formats differ in nothing yet; a later one gets its own arm here.
        if let Err(error) = self.take_payload(key, parsed, frame.payload, names, now) {
            self.index.remove(key);
            self.note_bad(key, &error);
        }
        Ok(())
    }

    fn take_payload(
        &mut self,
        key: &[u8],
        parsed: Key<'_>,
        payload: &[u8],
        names: &mut Names,
        now: Now,
    ) -> Result<(), PayloadError> {
        match parsed {
            Key::Meta => {}
            Key::Instance(name) => {
                let stored = from_payload(payload)?;
                self.instances.push(LoadedInstance::of(stored, key, names.owner(name), now)?);
            }
            Key::Override(name) => self.overrides.push((names.owner(name), from_payload(payload)?)),
            Key::Tombstone(name) => self.tombstones.push((names.owner(name), from_payload(payload)?)),
            Key::Seen(_) => self.seen.extend(from_payload::<StoredSeen>(payload)?.seconds),
        }
        Ok(())
    }

    /// Adds what stands under later keys.
    fn append(&mut self, later: Self) {
        // Each part comes from the store that `self` describes.
        let Self { meta: _, mut instances, overrides, tombstones, seen, bad_keys, first_fault, index } =
            later;
        self.instances.append(&mut instances);
        self.overrides.extend(overrides);
        self.tombstones.extend(tombstones);
        self.seen.extend(seen);
        self.bad_keys.extend(bad_keys);
        self.first_fault = self.first_fault.take().or(first_fault);
        self.index.append(index);
    }

    fn note_bad(&mut self, key: &[u8], fault: &dyn std::fmt::Display) {
        self.bad_keys.push(key.to_vec());
        self.first_fault.get_or_insert_with(|| fault.to_string());
    }

    /// Checks that the contents are, as a whole, what was written last.
    ///
    /// With damaged records the sum cannot be checked any more, but their number can: sled shows damage by losing or
    /// returning values, hardly ever by changing one.
    ///
    /// # Errors
    /// If they are not.
    pub fn check(&self) -> Result<(), Doubt> {
        let bad = self.bad_keys.len() as u64;
        let found = self.index.seal();
        let all = found.keys + bad;
        let allowed = (all / 100).clamp(BAD_RECORDS_ALWAYS_ALLOWED, BAD_RECORDS_ALLOWED);
        if bad > allowed {
            return Err(Doubt::TooManyBadRecords { bad, all });
        }
        let is_whole = if bad == 0 {
            found == Seal { keys: self.meta.keys, sum: self.meta.seal }
        } else {
            all == self.meta.keys
        };
        if is_whole { Ok(()) } else { Err(Doubt::BrokenSeal) }
    }
}
