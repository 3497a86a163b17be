//! What readers may work out once from an immutable value and share.

use std::sync::OnceLock;

use heureka_protocol::document::Form;

/// Which of the two whole-registry documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Every live instance.
    Full,
    /// What changed inside the retention of the delta log.
    Delta,
}

/// Plain bytes or gzip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// As it is.
    Identity,
    /// One gzip member.
    Gzip,
}

/// One of the forms in which a whole-registry document can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Variant {
    /// Full registry or delta.
    pub scope: Scope,
    /// JSON or XML, full or compact.
    pub form: Form,
    /// Plain or gzip.
    pub encoding: Encoding,
}

impl Variant {
    /// Number of variants.
    pub const COUNT: usize = Form::ALL.len() * 4;

    /// A number below [`Variant::COUNT`], different for every variant.
    #[must_use]
    pub const fn index(self) -> usize {
        let scope = matches!(self.scope, Scope::Delta) as usize;
        let encoding = matches!(self.encoding, Encoding::Gzip) as usize;
        self.form.index() * 4 + scope * 2 + encoding
    }

    /// All variants, in the order of their index.
    pub fn all() -> impl Iterator<Item = Self> {
        let scopes = [Scope::Full, Scope::Delta];
        let encodings = [Encoding::Identity, Encoding::Gzip];
        Form::ALL.into_iter().flat_map(move |form| {
            scopes.into_iter().flat_map(move |scope| {
                encodings.into_iter().map(move |encoding| Self { scope, form, encoding })
            })
        })
    }
}

/// `N` values, each worked out at most once. A clone starts empty: it belongs to a value that is about to change.
#[derive(Debug)]
pub struct Memo<T, const N: usize>([OnceLock<Box<T>>; N]);

impl<T, const N: usize> Default for Memo<T, N> {
    fn default() -> Self {
        Self(std::array::from_fn(|_| OnceLock::new()))
    }
}

impl<T, const N: usize> Clone for Memo<T, N> {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<T, const N: usize> Memo<T, N> {
    /// The value at an index, made on first use. A second reader waits for the first instead of doing the work again.
    pub fn get_or_make(&self, index: usize, make: impl FnOnce() -> T) -> &T {
        self.0[index].get_or_init(|| Box::new(make()))
    }

    /// True if nobody has made any value.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|slot| slot.get().is_none())
    }

    /// The value at an index if somebody has made it.
    pub fn get(&self, index: usize) -> Option<&T> {
        self.0[index].get().map(|value| &**value)
    }
}
