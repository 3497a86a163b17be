//! Keys and values on their way from the thread that reads a store to the one that makes sense of them.
//!
//! Reading pages and decoding records cost about the same; side by side they take half the time. Pairs travel in chunks
//! that are one allocation each.

use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use crate::doubt::Doubt;
use crate::store::{Store, StoreError};

/// A chunk is sent when it has so many bytes.
const CHUNK_BYTES: usize = 256 * 1024;
/// Chunks that may wait: what is read ahead is bounded.
const CHUNKS_AHEAD: usize = 4;

/// Some pairs, one after the other.
struct Chunk {
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

    fn pairs(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|(_, end)| *end));
        starts
            .zip(&self.ends)
            .map(|(start, (key_end, end))| (&self.bytes[start..*key_end], &self.bytes[*key_end..*end]))
    }
}

/// Hands all pairs of a store, in order, to `take`, which runs on a thread of its own. Stops at its first error.
///
/// # Errors
/// The error of `take`, or of the store, or the panic of either.
pub fn for_each_pair<F>(store: &dyn Store, take: F) -> Result<(), Doubt>
where
    F: FnMut(&[u8], &[u8]) -> Result<(), Doubt> + Send,
{
    let (sender, receiver) = sync_channel(CHUNKS_AHEAD);
    thread::scope(|scope| {
        let taking = scope.spawn(move || take_all(receiver, take));
        let read = read_all(store, sender);
        let taken = taking.join().unwrap_or_else(|_| Err(Doubt::Panicked("while decoding records".into())));
        // If taking has failed, reading was only broken off.
        taken.and_then(|()| Ok(read?))
    })
}

fn read_all(store: &dyn Store, sender: SyncSender<Chunk>) -> Result<(), StoreError> {
    let mut chunk = Chunk::empty();
    store.visit(&[], &[], &mut |key, value| {
        chunk.push(key, value);
        if chunk.bytes.len() < CHUNK_BYTES {
            return ControlFlow::Continue(());
        }
        // Nobody listens any more after an error.
        match sender.send(std::mem::replace(&mut chunk, Chunk::empty())) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    })?;
    let _ = sender.send(chunk);
    Ok(())
}

fn take_all(
    receiver: Receiver<Chunk>,
    mut take: impl FnMut(&[u8], &[u8]) -> Result<(), Doubt>,
) -> Result<(), Doubt> {
    receiver.into_iter().try_for_each(|chunk| chunk.pairs().try_for_each(|(key, value)| take(key, value)))
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
        (0..3_000_u32).map(|i| (i.to_be_bytes().to_vec(), vec![1; (i % 700) as usize])).collect()
    }

    #[test]
    fn all_pairs_come_in_order_over_many_chunks() {
        let dir = tempfile::tempdir().unwrap();
        for pairs in [Vec::new(), many_pairs()] {
            let mut found = Vec::new();
            let store = store_of(&pairs, dir.path());
            for_each_pair(&*store, |key, value| {
                found.push((key.to_vec(), value.to_vec()));
                Ok(())
            })
            .unwrap();
            assert!(found == pairs);
        }
    }

    #[test]
    fn an_error_and_a_panic_end_the_reading() {
        let dir = tempfile::tempdir().unwrap();
        let store = store_of(&many_pairs(), dir.path());
        assert_eq!(for_each_pair(&*store, |_, _| Err(Doubt::NoMeta)), Err(Doubt::NoMeta));
        let panicked = for_each_pair(&*store, |_, _| std::panic::panic_any("on purpose"));
        assert!(matches!(panicked, Err(Doubt::Panicked(_))));
    }
}
