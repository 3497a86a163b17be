//! Queues have limits, and a full one refuses in words.

use heureka_actors::{LimitOptions, Options, Refused};
use heureka_registry::Origin;

use crate::support::{instance, options, registry};

fn with_limits(limits: LimitOptions) -> Options {
    Options { limits, ..options() }
}

#[actix::test]
async fn a_full_application_refuses_new_instances_but_not_known_ones() {
    let registry =
        registry(with_limits(LimitOptions { instances_per_application: 2, ..LimitOptions::default() }));
    for id in ["a", "b"] {
        registry.register(instance("SHOP", id), Origin::Client).await.expect("registered");
    }
    let refused = registry.register(instance("SHOP", "c"), Origin::Client).await;
    assert_eq!(refused, Err(Refused::ApplicationFull { limit: 2 }));
    registry.register(instance("SHOP", "a"), Origin::Client).await.expect("registered again");
    registry.register(instance("CART", "c"), Origin::Client).await.expect("another application has room");
}

#[actix::test]
async fn a_full_registry_refuses_new_applications_but_not_known_ones() {
    let registry = registry(with_limits(LimitOptions { applications: 1, ..LimitOptions::default() }));
    registry.register(instance("SHOP", "a"), Origin::Client).await.expect("registered");
    let refused = registry.register(instance("CART", "a"), Origin::Client).await;
    assert_eq!(refused, Err(Refused::RegistryFull { limit: 1 }));
    registry.register(instance("SHOP", "b"), Origin::Client).await.expect("registered");
}

#[actix::test]
async fn writes_are_refused_while_the_cache_lags_and_taken_again_when_it_has_caught_up() {
    let registry = registry(with_limits(LimitOptions { cache_backlog: 2, ..LimitOptions::default() }));
    let backlog = &registry.shared().cache_backlog;
    backlog.enter();
    backlog.enter();
    let refused = registry.register(instance("SHOP", "a"), Origin::Client).await;
    assert_eq!(refused, Err(Refused::Overloaded { waiting: 2 }));
    backlog.leave();
    registry.register(instance("SHOP", "a"), Origin::Client).await.expect("registered");
}

#[actix::test]
async fn writes_in_flight_are_bounded() {
    let registry = registry(with_limits(LimitOptions { writes_in_flight: 1, ..LimitOptions::default() }));
    let permit = registry.shared().writes.try_enter().expect("room for one");
    let refused = registry.register(instance("SHOP", "a"), Origin::Client).await;
    assert_eq!(refused, Err(Refused::Overloaded { waiting: 1 }));
    drop(permit);
    registry.register(instance("SHOP", "a"), Origin::Client).await.expect("registered");
    assert_eq!(registry.shared().writes.len(), 0, "every permit is given back");
}

#[actix::test]
async fn a_full_registry_refuses_new_instances_in_any_application() {
    let registry = registry(with_limits(LimitOptions { instances: 2, ..LimitOptions::default() }));
    registry.register(instance("SHOP", "a"), Origin::Client).await.expect("registered");
    registry.register(instance("CART", "a"), Origin::Client).await.expect("registered");
    let refused = registry.register(instance("MAIL", "a"), Origin::Client).await;
    assert_eq!(refused, Err(Refused::InstancesFull { limit: 2 }));
    registry.register(instance("CART", "a"), Origin::Client).await.expect("registered again");
    registry.cancel("SHOP", "a", Origin::Client).await.expect("cancelled");
    registry.register(instance("MAIL", "a"), Origin::Client).await.expect("there is room again");
}
