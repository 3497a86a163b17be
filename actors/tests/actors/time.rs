//! Leases, eviction, self-preservation and the renew rate under virtual time.

use std::time::Duration;

use heureka_actors::{Handle, Options};
use heureka_registry::{Heartbeat, Origin, ProtectionSettings, RenewalAnswer};

use crate::support::{ids, instance, options, registry};

fn unprotected() -> Options {
    let protection = ProtectionSettings { enabled: false, ..ProtectionSettings::default() };
    Options { protection, ..options() }
}

async fn beat(registry: &Handle, app: &str, id: &str) -> RenewalAnswer {
    registry.renew(app, id, Heartbeat::default(), Origin::Client).await.expect("an answer")
}

#[actix::test]
async fn a_lease_that_is_never_renewed_is_evicted_after_its_duration() {
    tokio::time::pause();
    let registry = registry(unprotected());
    registry.register(instance("SHOP", "a"), Origin::Client).await.expect("registered");
    tokio::time::sleep(Duration::from_secs(89)).await;
    assert!(registry.instance("SHOP", "a").await.expect("an answer").is_some());
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert!(registry.instance("SHOP", "a").await.expect("an answer").is_none(), "hidden from look-ups");
    let view = registry.current_view().await.expect("a view");
    assert_eq!(ids(&view, "SHOP"), ["a"], "still listed until the next run");
    tokio::time::sleep(Duration::from_secs(60)).await;
    let view = registry.current_view().await.expect("a view");
    assert!(ids(&view, "SHOP").is_empty());
    assert_eq!(registry.shared().metrics.expired.all.get(), 1);
}

#[actix::test]
async fn a_renewed_lease_lives_twice_its_duration_as_in_java() {
    tokio::time::pause();
    let registry = registry(unprotected());
    registry.register(instance("SHOP", "a"), Origin::Client).await.expect("registered");
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(matches!(beat(&registry, "SHOP", "a").await, RenewalAnswer::Renewed));
    assert_eq!(registry.shared().metrics.quick_renewals.get(), 1, "no actor was asked");
    tokio::time::sleep(Duration::from_secs(179)).await;
    assert!(registry.instance("SHOP", "a").await.expect("an answer").is_some());
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert!(registry.instance("SHOP", "a").await.expect("an answer").is_none());
}

#[actix::test]
async fn heartbeats_change_no_version() {
    tokio::time::pause();
    let registry = registry(options());
    registry.register(instance("SHOP", "a"), Origin::Client).await.expect("registered");
    let version = registry.current_view().await.expect("a view").version();
    for _ in 0..100 {
        beat(&registry, "SHOP", "a").await;
    }
    assert_eq!(registry.current_view().await.expect("a view").version(), version);
    assert_eq!(registry.shared().metrics.renew.all.get(), 100);
}

#[actix::test]
async fn an_old_view_never_renews_a_lease_that_is_gone() {
    tokio::time::pause();
    let registry = registry(options());
    registry.register(instance("SHOP", "a"), Origin::Client).await.expect("registered");
    registry.current_view().await.expect("a view");
    registry.cancel("SHOP", "a", Origin::Client).await.expect("cancelled");
    assert_eq!(ids(&registry.shared().view(), "SHOP"), ["a"], "the published view is older than the cancel");
    assert!(matches!(beat(&registry, "SHOP", "a").await, RenewalAnswer::NotFound));
}

#[actix::test]
async fn self_preservation_keeps_everybody_when_all_clients_vanish() {
    tokio::time::pause();
    let registry = registry(options());
    for index in 0..20 {
        registry.register(instance("SHOP", &format!("i-{index}")), Origin::Client).await.expect("registered");
    }
    for _ in 0..6 {
        tokio::time::sleep(Duration::from_secs(30)).await;
        for index in 0..20 {
            beat(&registry, "SHOP", &format!("i-{index}")).await;
        }
    }
    assert!(registry.shared().is_lease_expiration_enabled(), "40 renewals a minute are more than 34");
    tokio::time::sleep(Duration::from_secs(3600)).await;
    assert!(!registry.shared().is_lease_expiration_enabled());
    assert_eq!(ids(&registry.current_view().await.expect("a view"), "SHOP").len(), 20);
}

#[actix::test]
async fn one_run_evicts_at_most_its_share() {
    tokio::time::pause();
    let registry = registry(unprotected());
    for index in 0..100 {
        registry.register(instance("SHOP", &format!("i-{index}")), Origin::Client).await.expect("registered");
    }
    tokio::time::sleep(Duration::from_secs(121)).await;
    let mut sizes = Vec::new();
    for _ in 0..3 {
        sizes.push(ids(&registry.current_view().await.expect("a view"), "SHOP").len());
        tokio::time::sleep(Duration::from_secs(60)).await;
    }
    assert_eq!(sizes, [85, 72, 61]);
}
