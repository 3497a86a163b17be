//! The start of a registry that has applications already, from a snapshot: everything is in its place before the first call.

use std::sync::Arc;

use actix::Addr;
use heureka_registry::{Application, LeaseTotals};

use crate::app_actor::AppActor;
use crate::arbiters::Arbiters;
use crate::cache::View;
use crate::cache_actor::CacheActor;
use crate::directory::{AppAddress, Directory};
use crate::registry_actor::{RegistryActor, TakeDirectory};
use crate::shared::Shared;

/// Makes the view of these applications and publishes it, if there are any.
pub fn publish_view(shared: &Shared, applications: &[Application]) -> View {
    if applications.is_empty() {
        return View::default();
    }
    let view = View::restored(applications, shared.clock.now());
    shared.publish_view(view.clone());
    view
}

/// Starts an actor for each application and publishes where they are.
pub fn start_applications(
    shared: &Arc<Shared>,
    arbiters: &Arbiters,
    cache: &Addr<CacheActor>,
    registry: &Addr<RegistryActor>,
    applications: Vec<Application>,
) {
    if applications.is_empty() {
        return;
    }
    let mut directory = Directory::default();
    for application in applications {
        let name = application.name().clone();
        shared.replace_totals(LeaseTotals::default(), application.totals());
        let (shared, cache, registry) = (shared.clone(), cache.clone(), registry.clone());
        let actor = move || AppActor::new(shared, application, cache, registry);
        let address = AppAddress(arbiters.start_application(&name, actor));
        directory.insert(name, Arc::new(address));
    }
    shared.publish_directory(directory.clone());
    registry.do_send(TakeDirectory(directory));
}
