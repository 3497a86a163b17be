//! Bounds on what the readers take, so that one body cannot cost unbounded memory or time.

/// How much of everything a reader accepts. What exceeds a bound is refused with an error that names it.
///
/// The size of a body as a whole is bounded before a reader sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Entries of one metadata map.
    pub metadata_entries: usize,
    /// Bytes of all keys and values of one metadata map together.
    pub metadata_bytes: usize,
    /// Bytes of any other text member, for example a host name.
    pub text_bytes: usize,
    /// Levels of nesting of an unknown JSON member, or of an XML document.
    pub depth: usize,
    /// Items of one replication list.
    pub batch_items: usize,
}

impl Limits {
    /// For what clients and peers send to a server.
    pub const DEFAULT: Self = Self {
        metadata_entries: 64,
        metadata_bytes: 16 * 1024,
        text_bytes: 8 * 1024,
        depth: 64,
        batch_items: 10_000,
    };

    /// For documents that servers write: a Java server bounds nothing, and one large instance must not be lost.
    pub const SERVER_DOCUMENT: Self =
        Self { metadata_entries: 1024, metadata_bytes: 1024 * 1024, text_bytes: 64 * 1024, ..Self::DEFAULT };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
