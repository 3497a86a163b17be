//! The published table of applications: name to actor.

use actix::Addr;
use heureka_protocol::AppName;

use crate::app_actor::AppActor;
use crate::cache::Sharded;

/// Address of an application's actor.
#[derive(Clone, Debug)]
pub struct AppAddress(pub Addr<AppActor>);

/// All applications. Readers load it by pointer; only the `RegistryActor` makes new versions.
pub type Directory = Sharded<AppName, AppAddress>;
