//! Which instance a slot belongs to.

use std::borrow::Borrow;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use heureka_protocol::{AppName, Instance, InstanceId};

/// An instance by name. Cheap to clone: the queue holds it in several places.
#[derive(Clone, Debug)]
pub struct Key(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    app: AppName,
    id: InstanceId,
}

impl Key {
    /// Of an application and an id.
    #[must_use]
    pub fn new(app: AppName, id: InstanceId) -> Self {
        Self(Arc::new(Parts { app, id }))
    }

    /// Of an instance.
    #[must_use]
    pub fn of(instance: &Instance) -> Self {
        Self::new(instance.app.clone(), InstanceId::clone(&instance.instance_id))
    }

    /// The application.
    #[must_use]
    pub fn app(&self) -> &AppName {
        &self.0.app
    }

    /// The id of the instance.
    #[must_use]
    pub fn id(&self) -> &InstanceId {
        &self.0.id
    }
}

/// Anything that names an instance, so that maps can be asked without making a key.
pub(super) trait Named {
    fn names(&self) -> (&str, &str);
}

impl Named for Key {
    fn names(&self) -> (&str, &str) {
        (&self.0.app, &self.0.id)
    }
}

impl Named for (&str, &str) {
    fn names(&self) -> (&str, &str) {
        *self
    }
}

impl<'a> Borrow<dyn Named + 'a> for Key {
    fn borrow(&self) -> &(dyn Named + 'a) {
        self
    }
}

impl Hash for dyn Named + '_ {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.names().hash(state);
    }
}

impl PartialEq for dyn Named + '_ {
    fn eq(&self, other: &Self) -> bool {
        self.names() == other.names()
    }
}

impl Eq for dyn Named + '_ {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.names().hash(state);
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.names() == other.names()
    }
}

impl Eq for Key {}
