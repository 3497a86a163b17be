//! Applications without instances leave the directory, and come back when somebody registers.

use std::time::Duration;

use heureka_actors::{LimitOptions, Options, Refused};
use heureka_registry::Origin;

use crate::support::{ids, instance, options, registry};

#[actix::test]
async fn an_empty_application_is_dropped_once_nothing_is_remembered() {
    tokio::time::pause();
    let registry = registry(options());
    registry.register(instance("SHOP", "a"), Origin::Client).await.expect("registered");
    assert!(registry.cancel("SHOP", "a", Origin::Client).await.expect("cancelled"));
    tokio::time::sleep(Duration::from_secs(31)).await;
    assert_eq!(registry.shared().directory().len(), 1, "the tombstone is still needed");
    tokio::time::sleep(Duration::from_secs(3600)).await;
    assert_eq!(registry.shared().directory().len(), 0);
    registry.register(instance("SHOP", "a"), Origin::Client).await.expect("registered again");
    let view = registry.current_view().await.expect("a view");
    assert_eq!(ids(&view, "SHOP"), ["a"]);
    assert_eq!(registry.shared().directory().len(), 1);
}

#[actix::test]
async fn a_registry_full_of_memories_makes_room_for_the_living() {
    tokio::time::pause();
    let limits = LimitOptions { applications: 5, ..LimitOptions::default() };
    let registry = registry(Options { limits, ..options() });
    for index in 0..5 {
        let app = format!("GONE-{index}");
        registry.register(instance(&app, "a"), Origin::Client).await.expect("registered");
        assert!(registry.cancel(&app, "a", Origin::Client).await.expect("cancelled"));
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    let refused = registry.register(instance("SHOP", "a"), Origin::Client).await;
    assert_eq!(refused, Err(Refused::RegistryFull { limit: 5 }));
    tokio::time::sleep(Duration::from_secs(1)).await;
    registry.register(instance("SHOP", "a"), Origin::Client).await.expect("there is room now");
    assert_eq!(ids(&registry.current_view().await.expect("a view"), "SHOP"), ["a"]);
}

#[actix::test]
async fn what_is_remembered_of_cancels_is_counted_until_it_is_forgotten() {
    tokio::time::pause();
    let limits = LimitOptions { applications: 1, ..LimitOptions::default() };
    let registry = registry(Options { limits, ..options() });
    for id in ["a", "b", "c"] {
        registry.register(instance("SHOP", id), Origin::Client).await.expect("registered");
    }
    for id in ["a", "b"] {
        assert!(registry.cancel("SHOP", id, Origin::Client).await.expect("cancelled"));
    }
    registry.register(instance("SHOP", "a"), Origin::Client).await.expect("registered again");
    assert_eq!(registry.shared().tombstones(), 1);
    for id in ["a", "c"] {
        assert!(registry.cancel("SHOP", id, Origin::Client).await.expect("cancelled"));
    }
    assert_eq!(registry.shared().tombstones(), 3);
    tokio::time::sleep(Duration::from_secs(3600)).await;
    assert_eq!((registry.shared().tombstones(), registry.shared().directory().len()), (0, 0));
}
