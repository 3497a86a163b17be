//! A step that panics costs its own answer and nothing else.

use heureka_actors::{AppCore, Refused};
use heureka_protocol::{AppName, Status};
use heureka_registry::Origin;

use crate::support::{ids, instance, options, registry};

#[actix::test]
async fn an_application_that_panics_goes_on_with_all_its_instances() {
    tokio::time::pause();
    let registry = registry(options());
    for id in ["a", "b", "c"] {
        registry.register(instance("SHOP", id), Origin::Client).await.expect("registered");
    }
    registry.set_status("SHOP", "b", Status::OutOfService, None, Origin::Client).await.expect("overridden");

    let panicking = |core: &mut AppCore| {
        core.cancel("a", Origin::Client);
        panic!("on purpose, half-way through a step");
    };
    let answer = registry.perform(&AppName::new("SHOP"), panicking).await;
    assert!(matches!(answer, Err::<Option<()>, _>(Refused::Internal)));

    let view = registry.current_view().await.expect("a view");
    assert_eq!(registry.shared().metrics.actor_panics.get(), 1);
    // What the step had done and announced before it panicked stays done; everything else is as before.
    assert_eq!(ids(&view, "SHOP"), ["b", "c"]);
    let record = registry.instance("SHOP", "b").await.expect("an answer").expect("still there");
    assert_eq!(record.instance.overridden_status, Status::OutOfService);
    assert!(registry.instance("SHOP", "a").await.expect("an answer").is_none());
    assert_eq!(registry.shared().totals().leases, 2);
    registry.register(instance("SHOP", "d"), Origin::Client).await.expect("registered after the panic");
    let view = registry.current_view().await.expect("a view");
    assert_eq!(ids(&view, "SHOP"), ["b", "c", "d"]);
}

#[actix::test]
async fn every_further_panic_is_survived_too() {
    tokio::time::pause();
    let registry = registry(options());
    registry.register(instance("SHOP", "a"), Origin::Client).await.expect("registered");
    for _ in 0..5 {
        let answer = registry.perform(&AppName::new("SHOP"), |_: &mut AppCore| panic!("on purpose")).await;
        assert!(matches!(answer, Err::<Option<()>, _>(Refused::Internal)));
        assert!(registry.instance("SHOP", "a").await.expect("an answer").is_some());
    }
}
