//! Both tiers: when they show a change, and that all documents of one version agree.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use heureka_actors::cache::{Encoding, MirrorWriter, Scope, Variant, View};
use heureka_protocol::applications::Applications;
use heureka_protocol::document::Form;
use heureka_protocol::limits::Limits;
use heureka_protocol::{ActionType, Instance, Status, StatusCounts, json, xml};
use heureka_registry::{Now, Origin};

use crate::support::{ids, instance, options, registry, text};

#[actix::test]
async fn the_read_write_tier_shows_a_write_at_once_and_the_read_only_tier_within_its_window() {
    tokio::time::pause();
    let registry = registry(options());
    registry.register(instance("SHOP", "a"), Origin::Client).await.expect("registered");
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(ids(&registry.shared().view(), "SHOP"), ["a"], "a lone change is published at once");
    registry.register(instance("SHOP", "b"), Origin::Client).await.expect("registered");
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(ids(&registry.shared().view(), "SHOP"), ["a"], "the next one waits for the end of the window");
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(ids(&registry.shared().view(), "SHOP"), ["a", "b"]);
    registry.register(instance("SHOP", "c"), Origin::Client).await.expect("registered");
    assert_eq!(ids(&registry.current_view().await.expect("a view"), "SHOP"), ["a", "b", "c"]);
}

#[actix::test]
async fn deltas_show_the_last_change_of_an_instance_until_the_retention_has_passed() {
    tokio::time::pause();
    let registry = registry(options());
    for id in ["a", "b"] {
        registry.register(instance("SHOP", id), Origin::Client).await.expect("registered");
    }
    registry.cancel("SHOP", "a", Origin::Client).await.expect("cancelled");
    registry.set_status("SHOP", "b", Status::Down, None, Origin::Client).await.expect("set");
    let view = registry.current_view().await.expect("a view");
    let delta = json::read_applications(text(&view, Scope::Delta).as_bytes(), &Limits::SERVER_DOCUMENT);
    let delta = delta.expect("a readable delta");
    let shown: Vec<_> = delta.applications[0].1.iter().map(|i| (&*i.instance_id, i.action_type)).collect();
    assert_eq!(shown, [("b", Some(ActionType::Modified)), ("a", Some(ActionType::Deleted))]);
    tokio::time::sleep(Duration::from_secs(211)).await;
    let view = registry.current_view().await.expect("a view");
    assert!(text(&view, Scope::Delta).contains("\"application\":[]"));
    assert_eq!(ids(&view, "SHOP"), ["b"]);
}

/// A client's copy of the registry, filled with everything there is.
fn client_of(view: &Arc<View>) -> MirrorWriter {
    let mut client = MirrorWriter::new(180_000);
    client.take_list(read(view, Scope::Full), Now { mono_ms: 0, wall_ms: 0 });
    client
}

fn read(view: &Arc<View>, scope: Scope) -> Applications {
    json::read_applications(text(view, scope).as_bytes(), &Limits::SERVER_DOCUMENT).expect("readable")
}

#[actix::test]
async fn removals_leave_deltas_early_if_they_take_too_much_memory_and_no_client_is_misled() {
    tokio::time::pause();
    let mut options = options();
    options.limits.delta_removal_bytes = 100_000;
    let registry = registry(options);
    let large = |id: String| Instance {
        home_page_url: Some("x".repeat(8_000).into()),
        ..instance(&format!("APP-{}", id.len()), &id)
    };
    for index in 0..20 {
        registry.register(large(format!("old-{index}")), Origin::Client).await.expect("registered");
    }
    let mut late = client_of(&registry.current_view().await.expect("a view"));
    let mut in_time = None;
    for index in 0..20 {
        tokio::time::sleep(Duration::from_millis(5)).await;
        if index == 14 {
            in_time = Some(client_of(&registry.current_view().await.expect("a view")));
        }
        let id = format!("old-{index}");
        registry.cancel(&format!("APP-{}", id.len()), &id, Origin::Client).await.expect("cancelled");
        // As many live as before, with the same status: the numbers in the hash code are the same again.
        registry.register(large(format!("new-{index}")), Origin::Client).await.expect("registered");
        let view = registry.current_view().await.expect("a view");
        assert!(view.removal_bytes() <= 100_000, "{} bytes of removals", view.removal_bytes());
    }
    let view = registry.current_view().await.expect("a view");
    let shown = read(&view, Scope::Delta).applications.into_iter().flat_map(|(_, instances)| instances);
    let removed = shown.filter(|instance| instance.action_type == Some(ActionType::Deleted)).count();
    assert!((6..12).contains(&removed), "{removed} removals are shown");
    let dropped = registry.shared().metrics.dropped_delta_removals.get();
    assert_eq!(dropped, 20 - removed as u64);
    let now = Now { mono_ms: 1, wall_ms: 1 };
    assert!(!late.take_delta(read(&view, Scope::Delta), now), "who has missed one is told so by the hash");
    assert!(in_time.expect("a copy").take_delta(read(&view, Scope::Delta), now));
    tokio::time::sleep(Duration::from_secs(211)).await;
    assert_eq!(registry.current_view().await.expect("a view").removal_bytes(), 0);
}

#[actix::test]
async fn published_lease_times_do_not_freeze() {
    tokio::time::pause();
    let registry = registry(options());
    registry.register(instance("SHOP", "a"), Origin::Client).await.expect("registered");
    let before = text(&registry.current_view().await.expect("a view"), Scope::Full);
    registry.renew("SHOP", "a", Default::default(), Origin::Client).await.expect("renewed");
    assert_eq!(text(&registry.current_view().await.expect("a view"), Scope::Full), before);
    tokio::time::sleep(Duration::from_secs(182)).await;
    assert_ne!(text(&registry.current_view().await.expect("a view"), Scope::Full), before);
}

/// A history of changes over several applications, VIPs and statuses; after it every variant of every document must
/// say the same.
#[actix::test]
async fn all_documents_of_one_version_agree() {
    tokio::time::pause();
    let registry = registry(options());
    for step in 0..400_u64 {
        let (app, id) = (format!("APP-{}", step * 7 % 13), format!("i-{}", step * 31 % 29));
        match step % 11 {
            0..=6 => {
                let mut instance = instance(&app, &id);
                instance.last_dirty_timestamp = 1000 + i64::try_from(step).unwrap_or(0);
                instance.vip_address = Some(format!("vip-{}, Shared", step % 5).into());
                instance.status = Status::IN_TEXT_ORDER[(step % 5) as usize];
                registry.register(instance, Origin::Client).await.expect("registered");
            }
            7 => drop(registry.set_status(&app, &id, Status::OutOfService, None, Origin::Client).await),
            8 => drop(registry.remove_override(&app, &id, None, None, Origin::Client).await),
            _ => drop(registry.cancel(&app, &id, Origin::Client).await),
        }
        if step % 40 == 0 {
            check(&registry.current_view().await.expect("a view"));
            tokio::time::sleep(Duration::from_secs(7)).await;
        }
    }
    check(&registry.current_view().await.expect("a view"));
}

type Content = BTreeMap<(String, String), (Status, Option<ActionType>)>;

fn check(view: &View) {
    let mut per_scope: BTreeMap<bool, (Content, String)> = BTreeMap::new();
    for variant in Variant::all() {
        let body = view.document(variant).to_vec();
        assert_eq!(body.len() as u64, view.document(variant).len());
        let plain = match variant.encoding {
            Encoding::Identity => body,
            Encoding::Gzip => gunzip(&body),
        };
        let read = if variant.form.is_json() { json::read_applications } else { xml::read_applications };
        let document = read(&plain, &Limits::SERVER_DOCUMENT).expect("a readable document");
        let content: Content = document
            .applications
            .iter()
            .flat_map(|(app, instances)| instances.iter().map(move |i| (app, i)))
            .map(|(app, i)| ((app.to_string(), i.instance_id.to_string()), (i.status, i.action_type)))
            .collect();
        let hash = document.hash.expect("a hash").to_string();
        let is_delta = variant.scope == Scope::Delta;
        if variant.form == Form::XmlFullV1 {
            continue;
        }
        let first = per_scope.entry(is_delta).or_insert_with(|| (content.clone(), hash.clone()));
        assert_eq!((&content, &hash), (&first.0, &first.1), "{variant:?}");
    }
    let (full, hash) = &per_scope[&false];
    let counted: StatusCounts = full.values().map(|(status, _)| *status).collect();
    assert_eq!(*hash, counted.hash_code());
    assert_eq!(per_scope[&true].1, *hash, "the delta carries the hash of the whole registry");
}

fn gunzip(member: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(member).read_to_end(&mut text).expect("a valid gzip member");
    text
}
