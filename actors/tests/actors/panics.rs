//! A step that panics costs its own answer and nothing else.

use heureka_actors::{AppCore, Refused};
use heureka_protocol::{AppName, Status};
use heureka_registry::{ClockReading, Origin};

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
async fn an_override_stays_of_the_time_at_which_it_was_set() {
    tokio::time::pause();
    let registry = registry(options());
    let clock = ClockReading { ms: 1_700_000_000_000, is_in_step: true };
    registry.shared().options.rules.stamps.hear(clock, registry.shared().clock.now());
    for id in ["a", "b"] {
        registry.register(instance("SHOP", id), Origin::Client).await.expect("registered");
        registry.set_status("SHOP", id, Status::OutOfService, None, Origin::Client).await.expect("set");
    }
    registry.remove_override("SHOP", "b", None, None, Origin::Client).await.expect("removed");
    let app = AppName::new("SHOP");
    // What a comparison with a peer tells of each instance: since when it has its content and its override.
    let recorded = |core: &mut AppCore| {
        core.for_comparison()
            .records
            .into_iter()
            .map(|marked| (marked.content, marked.record.override_state()))
            .collect::<Vec<_>>()
    };
    let before = registry.perform(&app, recorded).await.expect("performed");
    assert!(
        before.as_ref().is_some_and(|times| times.iter().all(|(_, overridden)| overridden.stamp.is_some())),
        "{before:?}"
    );
    let failed = registry.perform(&app, |_: &mut AppCore| panic!("on purpose")).await;
    assert!(matches!(failed, Err::<Option<()>, _>(Refused::Internal)));
    assert_eq!(registry.perform(&app, recorded).await.expect("performed"), before);
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
