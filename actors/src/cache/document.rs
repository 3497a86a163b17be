//! A whole-registry document as runs of bytes that are shared with the parts they come from.

use std::sync::Arc;

use bytes::Bytes;
use heureka_protocol::document::{self, Form};

use super::app_view::{AppView, Part};
use super::memo::{Encoding, Memo, Variant};
use super::piece::{Checksum, Deflated, GZIP_HEADER, gzip_trailer};
use super::sharded::Sharded;
use crate::side_by_side;

use heureka_protocol::AppName;

/// Applications of a view, with the segments of documents as memo of each shard.
pub type Apps = Sharded<AppName, AppView, Memo<Segment, { Variant::COUNT }>>;

/// Longest document that is kept in one piece, in bytes.
const JOIN_UP_TO: u64 = 1 << 20;

/// From so many instances on, parts are made on several threads: it takes as long as 20 ms to write and deflate them.
const SIDE_BY_SIDE_FROM: usize = 5_000;

/// The version that full documents carry: anything but -1, which makes Java clients fetch in full for ever.
pub const FULL_VERSION: i64 = 1;

/// What one shard contributes to a document: every application with the separator in front of it.
#[derive(Clone, Debug, Default)]
pub struct Segment {
    /// In order; plain text or deflate blocks.
    chunks: Arc<[Bytes]>,
    /// Bytes of all chunks.
    len: u64,
    /// Of the text behind the first separator; kept for gzip only.
    sum: Checksum,
}

/// A finished body.
#[derive(Clone, Debug)]
pub struct Document {
    runs: Vec<Arc<[Bytes]>>,
    len: u64,
}

impl Document {
    /// Length in bytes, as sent.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// True if there is nothing to send.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bytes, run by run. Cloning a chunk copies no bytes.
    #[must_use]
    pub fn runs(&self) -> &[Arc<[Bytes]>] {
        &self.runs
    }

    /// A copy of all bytes.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u8> {
        self.runs.iter().flat_map(|run| run.iter()).flat_map(|chunk| chunk.iter().copied()).collect()
    }
}

/// Puts a document together: head, the segments of all shards, tail.
pub fn assemble(apps: &Apps, variant: Variant, version: i64, hash: &str) -> Document {
    let (mut head, mut tail) = (Vec::new(), Vec::new());
    document::open_applications(variant.form, version, hash, &mut head);
    document::close_applications(variant.form, version, hash, &mut tail);
    let segments = apps.shards().iter().map(|shard| {
        shard.memo.get_or_make(variant.index(), || segment(shard.values().map(|app| &**app), variant))
    });
    let segments: Vec<&Segment> = segments.filter(|segment| segment.len > 0).collect();
    match variant.encoding {
        Encoding::Identity => assemble_plain(variant.form, head, &segments, tail),
        Encoding::Gzip => assemble_gzip(variant.form, &head, &segments, &tail),
    }
}

/// Makes what is missing of a large document with the help of other threads, for somebody who waits for it. Usually little
/// is missing, and nothing is done here; everything is after a restart, and when a format is asked for the first time.
pub fn make_parts_side_by_side(apps: &Apps, variant: Variant) {
    let is_wanted = |app: &&AppView| app.is_shown(variant.scope) && !app.has_part(variant);
    let shards = apps.shards().iter().filter(|shard| shard.memo.get(variant.index()).is_none());
    let missing: Vec<&AppView> =
        shards.flat_map(|shard| shard.values()).map(|app| &**app).filter(is_wanted).collect();
    let instances: usize = missing.iter().map(|app| app.entries().len()).sum();
    if instances >= SIDE_BY_SIDE_FROM {
        side_by_side::map(missing, |app| {
            app.part(variant);
        });
    }
}

fn assemble_plain(form: Form, head: Vec<u8>, segments: &[&Segment], tail: Vec<u8>) -> Document {
    let mut document = Document { runs: Vec::with_capacity(segments.len() + 2), len: 0 };
    document.push(Arc::from([Bytes::from(head)]));
    document.push_segments(segments, document::separator(form).len());
    document.push(Arc::from([Bytes::from(tail)]));
    document.join_if_small()
}

fn assemble_gzip(form: Form, head: &[u8], segments: &[&Segment], tail: &[u8]) -> Document {
    let head = Deflated::store(head);
    let separator = Deflated::store(document::separator(form));
    let mut document = Document { runs: Vec::with_capacity(segments.len() + 2), len: 0 };
    document.push(Arc::from([Bytes::from_static(&GZIP_HEADER), head.bytes]));
    document.push_segments(segments, separator.bytes.len());
    let mut sum = head.sum;
    for (index, segment) in segments.iter().enumerate() {
        if index > 0 {
            sum = sum.join(separator.sum);
        }
        sum = sum.join(segment.sum);
    }
    let tail = Deflated::store(tail);
    let trailer = gzip_trailer(sum.join(tail.sum));
    document.push(Arc::from([tail.bytes, Bytes::copy_from_slice(&trailer)]));
    document.join_if_small()
}

impl Document {
    fn push(&mut self, run: Arc<[Bytes]>) {
        self.len += run.iter().map(|chunk| chunk.len() as u64).sum::<u64>();
        self.runs.push(run);
    }

    /// Adds the segments; the first one without the separator in front of it.
    fn push_segments(&mut self, segments: &[&Segment], separator_len: usize) {
        let Some((first, rest)) = segments.split_first() else { return };
        let mut chunks = first.chunks.to_vec();
        if let Some(chunk) = chunks.first_mut() {
            *chunk = chunk.slice(separator_len..);
        }
        self.push(chunks.into());
        for segment in rest {
            self.push(segment.chunks.clone());
        }
    }

    /// Copies a small document into one piece. The server gathers chunks in a buffer and writes whenever it has 32 KB, but one
    /// large chunk with a single call: profiles of fetches showed it. Large documents stay shared, so that a change never
    /// copies more than [`JOIN_UP_TO`].
    fn join_if_small(self) -> Self {
        if self.len > JOIN_UP_TO {
            return self;
        }
        Self::from_bytes(self.to_vec().into())
    }

    /// A document in one piece.
    #[must_use]
    pub fn from_bytes(bytes: Bytes) -> Self {
        Self { len: bytes.len() as u64, runs: vec![Arc::from([bytes])] }
    }
}

/// The segment of one shard. Plain parts stay shared; deflated ones are small and are copied into one chunk, so that
/// sending a document touches few buffers.
fn segment<'a>(apps: impl Iterator<Item = &'a AppView>, variant: Variant) -> Segment {
    let separator = document::separator(variant.form);
    let stored = Deflated::store(separator);
    let mut chunks: Vec<Bytes> = Vec::new();
    let mut deflated: Vec<u8> = Vec::new();
    let mut sum = Checksum::default();
    for (index, app) in apps.filter(|app| app.is_shown(variant.scope)).enumerate() {
        match app.part(variant) {
            Part::Plain(text) => {
                chunks.push(Bytes::from_static(separator));
                chunks.push(text.clone());
            }
            Part::Deflated(part) => {
                deflated.extend_from_slice(&stored.bytes);
                deflated.extend_from_slice(&part.bytes);
                sum = if index > 0 { sum.join(stored.sum).join(part.sum) } else { part.sum };
            }
        }
    }
    if !deflated.is_empty() {
        deflated.shrink_to_fit();
        chunks.push(deflated.into());
    }
    Segment { len: chunks.iter().map(|chunk| chunk.len() as u64).sum(), chunks: chunks.into(), sum }
}

#[cfg(test)]
mod tests {
    use heureka_protocol::Instance;
    use heureka_registry::{Application, Now, Origin, Rules};

    use super::*;
    use crate::cache::View;

    const NOW: Now = Now { mono_ms: 1, wall_ms: 1 };

    fn application(name: &str, instances: usize) -> Application {
        let mut app = Application::new(AppName::new(name));
        for index in 0..instances {
            let id = format!("i-{index}").into();
            let instance = Instance::with_defaults(AppName::new(name), id, "h", "192.0.2.1");
            app.register(instance, Origin::Client, NOW, &Rules::default());
        }
        app
    }

    #[test]
    fn a_large_document_is_the_same_whoever_makes_its_parts() {
        let share = SIDE_BY_SIDE_FROM / 3 + 1;
        let apps = ["CART", "MAIL", "SHOP"].map(|name| application(name, share));
        let (view, alone) = (View::restored(&apps, NOW), View::restored(&apps, NOW));
        for variant in Variant::all() {
            let together = view.document_at_once(variant).to_vec();
            assert!(together == alone.document(variant).to_vec(), "{variant:?}");
        }
    }
}
