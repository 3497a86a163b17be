//! The unions that are asked for, made once per version of what is in them.

use std::sync::{Arc, Mutex, PoisonError};

use heureka_actors::cache::{Mirror, Union, View};

/// Sets of regions whose union is kept; clients of one fleet ask for few.
const SETS_MAX: usize = 8;

/// Unions by the regions in them, the last used one at the end.
#[derive(Debug, Default)]
pub struct Unions(Mutex<Vec<Arc<Union>>>);

impl Unions {
    /// The union of these versions. Whoever asks meanwhile waits: it is made from what is there already, application by
    /// application, in a millisecond or two.
    pub fn of(&self, own: &Arc<View>, mirrors: Vec<Mirror>) -> Arc<Union> {
        let mut unions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let previous = unions.iter().position(|union| union.is_of_regions(&mirrors));
        let previous = previous.map(|index| unions.remove(index));
        let union = match previous {
            Some(known) if known.is_of(own, &mirrors) => known,
            known => Arc::new(Union::new(own.clone(), mirrors, known.as_deref())),
        };
        if unions.len() >= SETS_MAX {
            unions.remove(0);
        }
        unions.push(union.clone());
        union
    }
}
