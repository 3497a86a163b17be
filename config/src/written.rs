//! What the sources that can change while a node runs say, to find out later what has changed.
//!
//! Environment variables stay as they are for as long as the process lives and are left out, as Spring leaves them out.

use crate::key;
use crate::property::SourceKind;
use crate::sources::Stack;
use std::collections::BTreeMap;
use std::fmt;

/// Every value as it was written, placeholders unresolved; in any order of spelling.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Written(BTreeMap<String, (String, String)>);

impl Written {
    pub(crate) fn of(stack: &Stack) -> Self {
        let sources = stack.sources.iter().filter(|source| source.kind != SourceKind::Environment);
        let values = sources.flat_map(|source| &source.properties).map(|property| {
            (key::canonical(&property.name), (property.name.clone(), property.value.clone()))
        });
        Self(values.collect())
    }

    /// Names of values that are new, changed or gone since an earlier time, as they are written now or were then; in order.
    #[must_use]
    pub fn changed_since(&self, before: &Self) -> Vec<String> {
        let name = |key: &String| self.0.get(key).or_else(|| before.0.get(key)).map(|(name, _)| name.clone());
        let value = |written: &Self, key: &String| written.0.get(key).map(|(_, value)| value.clone());
        let mut keys: Vec<&String> = self.0.keys().chain(before.0.keys()).collect();
        keys.sort_unstable();
        keys.dedup();
        keys.into_iter().filter(|key| value(self, key) != value(before, key)).filter_map(name).collect()
    }
}

/// Values may be secrets, so none is shown.
impl fmt::Debug for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Written({} values)", self.0.len())
    }
}
