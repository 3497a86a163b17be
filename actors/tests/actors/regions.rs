//! This registry and mirrors of other regions as one: whatever happens on either side, the documents show the same set,
//! and a client that follows by deltas ends with that set (`registry.md` 7.4, `replication.md` 7).

use std::collections::BTreeMap;
use std::sync::Arc;

use heureka_actors::cache::{Encoding, Mirror, MirrorWriter, Scope, Union, Variant, View, Whitelist};
use heureka_protocol::applications::Applications;
use heureka_protocol::{ActionType, AppName, Form, Instance, Limits, Status, StatusCounts, json};
use heureka_registry::Now;

const RETENTION_MS: u64 = 180_000;

/// Instances by application and id.
type Set = BTreeMap<(String, String), Instance>;

fn instance(app: &str, id: &str, host: &str, status: Status) -> Instance {
    let made = Instance::with_defaults(AppName::new(app), id.into(), host, "192.0.2.1");
    Instance { status, vip_address: Some(format!("{}.vip", app.to_lowercase()).into()), ..made }
}

fn key(instance: &Instance) -> (String, String) {
    (instance.app.to_string(), instance.instance_id.to_string())
}

/// A document of these instances, as a region would answer.
fn list(set: &Set) -> Applications {
    let mut apps: BTreeMap<AppName, Vec<Instance>> = BTreeMap::new();
    for instance in set.values() {
        apps.entry(instance.app.clone()).or_default().push(instance.clone());
    }
    let counts: StatusCounts = set.values().map(|instance| instance.status).collect();
    Applications {
        hash: Some(counts.hash_code().into()),
        applications: apps.into_iter().collect(),
        ..Applications::default()
    }
}

fn read(union: &Union, scope: Scope) -> Applications {
    let variant = Variant { scope, form: Form::JsonFull, encoding: Encoding::Identity };
    json::read_applications(&union.document(variant).to_vec(), &Limits::SERVER_DOCUMENT).expect("a document")
}

/// What says something about an instance: not when it was last seen.
fn told(set: &Set) -> Vec<(String, String, String, Status)> {
    let row =
        |i: &Instance| (i.app.to_string(), i.instance_id.to_string(), i.host_name.to_string(), i.status);
    set.values().map(row).collect()
}

fn of(document: &Applications) -> Set {
    document.applications.iter().flat_map(|(_, list)| list).map(|i| (key(i), i.clone())).collect()
}

/// One registry that changes by chance, and its view.
struct Side {
    name: &'static str,
    set: Set,
    writer: MirrorWriter,
    view: Arc<View>,
}

impl Side {
    fn new(name: &'static str) -> Self {
        let first = instance(&format!("ONLY-{name}"), "first", name, Status::Up);
        let mut side = Self {
            name,
            set: Set::from([(key(&first), first)]),
            writer: MirrorWriter::new(RETENTION_MS),
            view: Arc::default(),
        };
        side.publish(0);
        side
    }

    fn change(&mut self, draw: &mut impl FnMut(u64) -> u64) {
        let app = ["A", "B", "C"][draw(3) as usize];
        let id = format!("i-{}", draw(4));
        let status = [Status::Up, Status::Down, Status::OutOfService][draw(3) as usize];
        let new = instance(app, &id, self.name, status);
        if draw(12) == 0 {
            self.set.clear();
        } else if draw(3) == 0 {
            self.set.remove(&key(&new));
        } else {
            self.set.insert(key(&new), new);
        }
    }

    fn publish(&mut self, mono_ms: u64) {
        let now = Now { mono_ms, wall_ms: 1 };
        self.writer.take_list(list(&self.set), now);
        if let Some(view) = self.writer.publish(now) {
            self.view = view;
        }
    }

    fn mirror(&self, whitelist: &Arc<Whitelist>) -> Mirror {
        Mirror { view: self.view.clone(), whitelist: whitelist.clone() }
    }
}

/// A generator of its own, so that a seed says everything.
fn dice(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    }
}

fn history(seed: u64) {
    let mut draw = dice(seed);
    let (mut own, mut near, mut far) = (Side::new("own"), Side::new("near"), Side::new("far"));
    let only = Whitelist::Only(["A", "ONLY-FAR"].map(AppName::new).into());
    let (all, only) = (Arc::new(Whitelist::All), Arc::new(only));
    let mut union: Option<Union> = None;
    let mut client = Set::new();
    for step in 0..60 {
        let mono_ms = 1000 * (step + 1);
        for side in [&mut own, &mut near, &mut far] {
            if draw(2) == 0 {
                side.change(&mut draw);
                side.publish(mono_ms);
            }
        }
        let mirrors = vec![near.mirror(&all), far.mirror(&only)];
        let next = Union::new(own.view.clone(), mirrors.clone(), union.as_ref());
        assert!(next.is_of(&own.view, &mirrors));

        let mut expected = own.set.clone();
        expected.extend(near.set.clone());
        expected.extend(far.set.clone().into_iter().filter(|((app, _), _)| app == "A" || app == "ONLY-FAR"));
        let full = read(&next, Scope::Full);
        assert_eq!(told(&of(&full)), told(&expected), "seed {seed}, step {step}");
        let counts: StatusCounts = expected.values().map(|instance| instance.status).collect();
        let hash = counts.hash_code();
        assert_eq!(full.hash.as_deref(), Some(&*hash), "seed {seed}, step {step}");
        for app in ["A", "B"] {
            let body = next.vip_document(
                &format!("{}.vip", app.to_lowercase()),
                false,
                Form::JsonFull,
                Encoding::Identity,
            );
            let found = of(&json::read_applications(&body, &Limits::SERVER_DOCUMENT).expect("a document"));
            let members: Set = expected.clone().into_iter().filter(|((name, _), _)| name == app).collect();
            assert_eq!(told(&found), told(&members), "VIP {app}, seed {seed}, step {step}");
        }

        let delta = read(&next, Scope::Delta);
        assert_eq!(delta.hash.as_deref(), Some(&*hash), "seed {seed}, step {step}");
        if step == 0 {
            client = of(&full);
        }
        for change in delta.applications.into_iter().flat_map(|(_, list)| list) {
            if change.action_type == Some(ActionType::Deleted) {
                client.remove(&key(&change));
            } else {
                client.insert(key(&change), change);
            }
        }
        assert_eq!(told(&client), told(&expected), "a client that follows, seed {seed}, step {step}");
        union = Some(next);
    }
}

#[test]
fn a_union_shows_one_set_in_every_document_and_its_deltas_lead_there() {
    (0..25).for_each(history);
}

#[test]
fn an_application_that_stands_in_one_registry_only_is_shared_and_a_merged_one_is_kept() {
    let (own, near) = (Side::new("own"), Side::new("near"));
    let mut both = [own, near];
    for side in &mut both {
        let shared = instance("BOTH", side.name, side.name, Status::Up);
        side.set.insert(key(&shared), shared);
        side.publish(1);
    }
    let [mut own, near] = both;
    let all = Arc::new(Whitelist::All);
    let union = Union::new(own.view.clone(), vec![near.mirror(&all)], None);
    let app = |union: &Union, name: &str| union.view().app(name).cloned().expect("the application");
    assert!(Arc::ptr_eq(&app(&union, "ONLY-NEAR"), near.view.app("ONLY-NEAR").expect("the application")));
    let more = instance("MORE", "i", "own", Status::Up);
    own.set.insert(key(&more), more);
    own.publish(2);
    let next = Union::new(own.view.clone(), vec![near.mirror(&all)], Some(&union));
    assert!(Arc::ptr_eq(&app(&union, "BOTH"), &app(&next, "BOTH")), "neither side has changed");
    assert!(next.view().version() > union.view().version());
}

#[test]
fn a_delta_that_does_not_lead_to_the_regions_own_hash_is_said_to_be_wrong() {
    let now = Now { mono_ms: 1, wall_ms: 1 };
    let one = instance("A", "1", "h", Status::Up);
    let mut writer = MirrorWriter::new(RETENTION_MS);
    assert!(writer.is_empty());
    writer.take_list(list(&Set::from([(key(&one), one.clone())])), now);
    assert!(!writer.is_empty() && writer.publish(now).is_some());
    assert!(writer.publish(now).is_none(), "nothing has changed");
    let added = instance("A", "2", "h", Status::Up);
    let mut delta = list(&Set::from([(key(&added), added)]));
    delta.hash = Some("UP_2_".into());
    assert!(writer.take_delta(delta.clone(), now));
    delta.hash = Some("UP_3_".into());
    assert!(!writer.take_delta(delta.clone(), now));
    delta.hash = None;
    assert!(!writer.take_delta(delta, now));
    let view = writer.publish(now).expect("a new version");
    assert_eq!(view.counts().total(), 2);
    assert_eq!(view.recent_len(), 2);
    let later = Now { mono_ms: RETENTION_MS + 2, wall_ms: 1 };
    assert_eq!(writer.publish(later).expect("a new version").recent_len(), 0);
}

#[test]
fn a_large_region_that_appears_is_no_news_and_one_that_comes_back_is() {
    let now = Now { mono_ms: 1, wall_ms: 1 };
    let many = |count: usize| -> Set {
        (0..count).map(|id| instance("A", &id.to_string(), "h", Status::Up)).map(|i| (key(&i), i)).collect()
    };
    let mut writer = MirrorWriter::new(RETENTION_MS);
    writer.take_list(list(&many(2_000)), now);
    assert_eq!(writer.publish(now).expect("a version").recent_len(), 0);
    writer.take_list(list(&Set::new()), now);
    writer.take_list(list(&many(1_500)), now);
    let view = writer.publish(now).expect("a version");
    assert_eq!((view.counts().total(), view.recent_len()), (1_500, 2_000), "500 of them as gone");
}
