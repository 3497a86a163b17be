//! A registry that starts with applications: served at once, and nobody is told that anything changed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use heureka_actors::cache::Scope;
use heureka_actors::{ChangeSink, Clock, Handle, Running, start_with};
use heureka_protocol::{AppName, Status};
use heureka_registry::{
    Application, Change, Heartbeat, Origin, RenewalAnswer, Rules, StartedFrom, StatusOutcome,
};

use crate::support::{WALL_START_MS, ids, instance, options, text};

/// Counts what it hears.
#[derive(Default)]
struct Counting(AtomicUsize);

impl ChangeSink for Counting {
    fn accept(&self, _: &Change) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// An application as a snapshot gives it back.
fn application(clock: &Clock, name: &str, names: &[&str]) -> Application {
    let rules = Rules::default();
    let mut application = Application::new(AppName::new(name));
    for id in names {
        application.register(instance(name, id), Origin::Client, clock.now(), &rules);
    }
    let records: Vec<_> = application.records().cloned().collect();
    Application::from_records(AppName::new(name), records, [], 1, clock.now())
}

fn started(clock: &Clock, applications: Vec<Application>, sink: Arc<Counting>) -> Handle {
    let Running { handle, .. } = start_with(clock.clone(), options(), vec![sink], 7, applications);
    handle.open_for_traffic(StartedFrom::Snapshot);
    handle
}

#[actix::test]
async fn what_was_restored_is_served_from_the_first_moment() {
    tokio::time::pause();
    let clock = Clock::starting_at(WALL_START_MS);
    let mut shop = application(&clock, "SHOP", &["a", "b"]);
    let down = shop.set_status("b", Status::Down, None, Origin::StartUp, clock.now(), &Rules::default());
    assert!(matches!(down, StatusOutcome::Changed(_)));
    let sink = Arc::new(Counting::default());
    let registry = started(&clock, vec![shop, application(&clock, "CART", &["c"])], sink.clone());

    // Without any await: not one message has been handled yet.
    let view = registry.shared().view();
    assert_eq!((ids(&view, "SHOP"), ids(&view, "CART")), (vec!["a".into(), "b".into()], vec!["c".into()]));
    assert_eq!(view.counts().hash_code(), "DOWN_1_UP_2_");
    assert!(text(&view, Scope::Full).contains(r#""apps__hashcode":"DOWN_1_UP_2_""#));
    assert!(text(&view, Scope::Delta).contains(r#""application":[]"#), "{}", text(&view, Scope::Delta));
    assert_eq!(registry.shared().totals().leases, 3);
    assert_eq!(registry.shared().directory().len(), 2);

    let beat = registry.renew("SHOP", "a", Heartbeat::default(), Origin::Client).await.expect("an answer");
    assert!(matches!(beat, RenewalAnswer::Renewed));
    let found = registry.instance("CART", "c").await.expect("an answer");
    assert_eq!(found.expect("it is there").instance.app.as_str(), "CART");
    assert_eq!(sink.0.load(Ordering::SeqCst), 0, "nothing has changed");
}

#[actix::test]
async fn restored_applications_change_and_end_like_all_others() {
    tokio::time::pause();
    let clock = Clock::starting_at(WALL_START_MS);
    let sink = Arc::new(Counting::default());
    let registry = started(&clock, vec![application(&clock, "SHOP", &["a", "b"])], sink.clone());
    registry.register(instance("SHOP", "c"), Origin::Client).await.expect("registered");
    registry.register(instance("CART", "d"), Origin::Client).await.expect("registered");
    assert!(registry.cancel("SHOP", "a", Origin::Client).await.expect("an answer"));
    let view = registry.current_view().await.expect("a view");
    assert_eq!((ids(&view, "SHOP"), ids(&view, "CART")), (vec!["b".into(), "c".into()], vec!["d".into()]));
    assert_eq!(registry.shared().totals().leases, 3);
    assert_eq!(registry.shared().directory().len(), 2);
    assert_eq!(sink.0.load(Ordering::SeqCst), 3);
}

#[actix::test]
async fn restored_leases_expire_after_their_grace_once_renewals_say_so() {
    tokio::time::pause();
    let clock = Clock::starting_at(WALL_START_MS);
    let names: Vec<String> = (0..20).map(|index| format!("id-{index:02}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let registry = started(&clock, vec![application(&clock, "SHOP", &names)], Arc::default());
    // One is dead; the others beat.
    for _ in 0..14 {
        for id in &names[1..] {
            registry.renew("SHOP", id, Heartbeat::default(), Origin::Client).await.expect("an answer");
        }
        tokio::time::sleep(Duration::from_secs(15)).await;
        let view = registry.current_view().await.expect("a view");
        let is_within_grace = clock.uptime_ms() <= 90_000;
        assert!(!is_within_grace || ids(&view, "SHOP").len() == 20);
    }
    let view = registry.current_view().await.expect("a view");
    assert_eq!(ids(&view, "SHOP"), names[1..]);
}
