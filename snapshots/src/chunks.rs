//! Keys and values on their way from the thread that reads a store to those that make sense of them.
//!
//! Decoding records costs more than reading pages, and every record can be decoded for itself: one thread reads, others
//! decode. Pairs travel in chunks that are one allocation each.

use std::num::NonZero;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::doubt::Doubt;
use crate::limited::caught;
use crate::store::{Store, StoreError};

/// A chunk is sent when it has so many bytes.
const CHUNK_BYTES: usize = 256 * 1024;
/// Chunks that may wait: what is read ahead is bounded.
const CHUNKS_AHEAD: usize = 4;
/// Threads that decode, at most: beyond them the one that reads is the slowest.
const DECODERS_MAX: usize = 4;

/// Some pairs, one after the other.
pub struct Chunk {
    bytes: Vec<u8>,
    /// Where each key ends, and where its value does.
    ends: Vec<(usize, usize)>,
}

impl Chunk {
    /// An empty chunk that need not grow on its way to [`CHUNK_BYTES`], unless its last pair is large.
    fn empty() -> Self {
        Self { bytes: Vec::with_capacity(CHUNK_BYTES + CHUNK_BYTES / 8), ends: Vec::new() }
    }

    fn push(&mut self, key: &[u8], value: &[u8]) {
        self.bytes.extend_from_slice(key);
        let key_end = self.bytes.len();
        self.bytes.extend_from_slice(value);
        self.ends.push((key_end, self.bytes.len()));
    }

    /// Keys and values, in order.
    pub fn pairs(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|(_, end)| *end));
        starts
            .zip(&self.ends)
            .map(|(start, (key_end, end))| (&self.bytes[start..*key_end], &self.bytes[*key_end..*end]))
    }
}

/// Chunks with their places in the store, for whoever is free. None comes any more after somebody has failed.
type Waiting = Mutex<Option<Receiver<(usize, Chunk)>>>;

/// Reads a store from end to end and decodes it chunk by chunk, several at a time. The results come in the order of the
/// keys; after an error nothing more is read.
///
/// # Errors
/// The first error of `decode` that is met, or that of the store, or the panic of either.
pub fn decode_all<T: Send>(
    store: &dyn Store,
    decode: impl Fn(&Chunk) -> Result<T, Doubt> + Sync,
) -> Result<Vec<T>, Doubt> {
    let (sender, receiver) = sync_channel(CHUNKS_AHEAD);
    let waiting: Waiting = Mutex::new(Some(receiver));
    let decoders = thread::available_parallelism().map_or(1, NonZero::get).min(DECODERS_MAX);
    let mut decoded = thread::scope(|scope| {
        let start = |_| {
            let decoder = thread::Builder::new().name("snapshot-decode".into());
            decoder.spawn_scoped(scope, || decode_waiting(&waiting, &decode))
        };
        let mut started: Vec<_> = (0..decoders).map(start).collect();
        if started.iter().all(Result::is_err)
            && let Some(Err(error)) = started.pop()
        {
            return Err(Doubt::NoThread(error.to_string()));
        }
        let read = read_all(store, sender);
        let mut decoded = Vec::new();
        for decoder in started.into_iter().flatten() {
            let part =
                decoder.join().unwrap_or_else(|_| Err(Doubt::Panicked("while decoding records".into())));
            decoded.extend(part?);
        }
        // If decoding has failed, reading was only broken off.
        read?;
        Ok(decoded)
    })?;
    decoded.sort_by_key(|(place, _)| *place);
    Ok(decoded.into_iter().map(|(_, part)| part).collect())
}

fn read_all(store: &dyn Store, sender: SyncSender<(usize, Chunk)>) -> Result<(), StoreError> {
    let (mut chunk, mut place) = (Chunk::empty(), 0);
    store.visit(&[], &[], &mut |key, value| {
        chunk.push(key, value);
        if chunk.bytes.len() < CHUNK_BYTES {
            return ControlFlow::Continue(());
        }
        let full = std::mem::replace(&mut chunk, Chunk::empty());
        place += 1;
        // Nobody listens any more after an error.
        match sender.send((place, full)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    })?;
    let _ = sender.send((place + 1, chunk));
    Ok(())
}

fn decode_waiting<T>(
    waiting: &Waiting,
    decode: impl Fn(&Chunk) -> Result<T, Doubt>,
) -> Result<Vec<(usize, T)>, Doubt> {
    let mut decoded = Vec::new();
    while let Some((place, chunk)) = next_chunk(waiting) {
        match caught(|| decode(&chunk)).flatten() {
            Ok(part) => decoded.push((place, part)),
            Err(doubt) => {
                // Who reads must not wait for room that nobody makes any more.
                lock(waiting).take();
                return Err(doubt);
            }
        }
    }
    Ok(decoded)
}

fn next_chunk(waiting: &Waiting) -> Option<(usize, Chunk)> {
    lock(waiting).as_ref()?.recv().ok()
}

fn lock(waiting: &Waiting) -> MutexGuard<'_, Option<Receiver<(usize, Chunk)>>> {
    // Nothing that can panic happens under the lock.
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::memory_store::MemoryDisk;
    use crate::store::{Batch, OpenStore, Operation};

    fn store_of(pairs: &[(Vec<u8>, Vec<u8>)], folder: &Path) -> Box<dyn Store> {
        let mut store = MemoryDisk::new().open(folder).unwrap();
        let mut batch = Batch::default();
        for (key, value) in pairs {
            batch.push(Operation::Put { key: key.clone(), value: value.clone() });
        }
        store.apply(batch).unwrap();
        store
    }

    fn many_pairs() -> Vec<(Vec<u8>, Vec<u8>)> {
        (0..5_000_u32).map(|i| (i.to_be_bytes().to_vec(), vec![1; (i % 700) as usize])).collect()
    }

    #[test]
    fn all_pairs_come_in_order_over_many_chunks() {
        let dir = tempfile::tempdir().unwrap();
        for pairs in [Vec::new(), many_pairs()] {
            let store = store_of(&pairs, dir.path());
            let copy =
                |chunk: &Chunk| Ok(chunk.pairs().map(|(k, v)| (k.to_vec(), v.to_vec())).collect::<Vec<_>>());
            let found = decode_all(&*store, copy).unwrap();
            assert!(found.len() > 3 || pairs.is_empty(), "{} chunks", found.len());
            assert!(found.concat() == pairs);
        }
    }

    #[test]
    fn an_error_and_a_panic_end_the_reading() {
        let dir = tempfile::tempdir().unwrap();
        let store = store_of(&many_pairs(), dir.path());
        let failed: Result<Vec<()>, _> = decode_all(&*store, |_| Err(Doubt::NoMeta));
        assert_eq!(failed, Err(Doubt::NoMeta));
        let panicked: Result<Vec<()>, _> = decode_all(&*store, |_| std::panic::panic_any("on purpose"));
        assert_eq!(panicked, Err(Doubt::Panicked("on purpose".into())));
    }

    #[test]
    fn one_bad_chunk_among_many_ends_the_reading() {
        let dir = tempfile::tempdir().unwrap();
        let store = store_of(&many_pairs(), dir.path());
        let bad = 1_500_u32.to_be_bytes();
        let decode = |chunk: &Chunk| match chunk.pairs().any(|(key, _)| key == bad) {
            true => Err(Doubt::NoMeta),
            false => Ok(()),
        };
        assert_eq!(decode_all(&*store, decode), Err(Doubt::NoMeta));
    }
}
