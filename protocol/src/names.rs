//! Names that identify things on the wire: application names and instance ids (spec `wire.md` 6.1, 6.2).

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// Id of an instance, unique inside its application only; case-sensitive, any characters.
pub type InstanceId = Arc<str>;

/// Name of an application, always in upper case (full Unicode upper-casing, no locale), so that every comparison
/// is case-insensitive by construction.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AppName(Arc<str>);

impl AppName {
    /// Makes a name from text in any case.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let is_upper = text.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_lowercase());
        if is_upper { Self(Arc::from(text)) } else { Self(Arc::from(text.to_uppercase())) }
    }

    /// The upper-case text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Deref for AppName {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for AppName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AppName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for AppName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl From<&str> for AppName {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}
