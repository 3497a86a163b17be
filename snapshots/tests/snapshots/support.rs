//! Records to write, and arbitrary ones for properties.

use heureka_protocol::{ActionType, AppName, DataCenter, Instance, LeaseInfo, Metadata, Port, Status};
use heureka_registry::{Lease, Now, Record, StampCell};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// A moment.
pub const NOW: Now = Now { mono_ms: 1_000_000_000, wall_ms: 1_750_000_000_000 };

/// The moment so many milliseconds later.
pub fn later(ms: u64) -> Now {
    Now { mono_ms: NOW.mono_ms + ms, wall_ms: NOW.wall_ms.saturating_add_unsigned(ms) }
}

/// A plain instance.
pub fn instance(app: &str, id: &str) -> Instance {
    Instance {
        vip_address: Some(app.to_lowercase().into()),
        last_dirty_timestamp: 1000,
        ..Instance::with_defaults(AppName::new(app), id.into(), "host.example", "192.0.2.1")
    }
}

/// A record of an instance, registered now.
pub fn record_of(instance: Instance, now: Now) -> Record {
    let lease = Lease::starting(now, Lease::duration_ms_of(&instance.lease));
    Record { reported_status: instance.status, instance, lease, override_stamp: StampCell::default() }
}

fn status() -> impl Strategy<Value = Status> {
    proptest::sample::select(&Status::IN_TEXT_ORDER[..])
}

fn text() -> impl Strategy<Value = Box<str>> {
    prop_oneof!["[a-z0-9.:/-]{1,40}", any::<String>()].prop_map(String::into_boxed_str)
}

fn filled_text() -> impl Strategy<Value = Box<str>> {
    text().prop_map(|text| if text.is_empty() { "x".into() } else { text })
}

fn metadata() -> impl Strategy<Value = Metadata> {
    vec((text(), text()), 0..6).prop_map(|entries| entries.into_iter().collect())
}

fn data_center() -> impl Strategy<Value = DataCenter> {
    prop_oneof![
        Just(DataCenter::MyOwn),
        Just(DataCenter::Netflix),
        metadata().prop_map(|metadata| DataCenter::Amazon(Box::new(metadata))),
    ]
}

fn port() -> impl Strategy<Value = Port> {
    (any::<i32>(), any::<bool>()).prop_map(|(number, enabled)| Port { number, enabled })
}

fn action() -> impl Strategy<Value = Option<ActionType>> {
    option::of(proptest::sample::select(vec![ActionType::Added, ActionType::Modified, ActionType::Deleted]))
}

/// Any instance that can be registered.
pub fn any_instance() -> impl Strategy<Value = Instance> {
    let names = (filled_text(), filled_text(), filled_text(), filled_text());
    let states = (status(), status(), port(), port(), any::<i32>(), data_center(), action());
    let texts = vec(option::of(text()), 9);
    let numbers = (1..i32::MAX, 1..i32::MAX, any::<i64>(), any::<i64>(), any::<bool>());
    (names, states, texts, metadata(), numbers).prop_map(|(names, states, mut texts, metadata, numbers)| {
        let mut text = || texts.pop().flatten();
        Instance {
            instance_id: (&*names.0).into(),
            host_name: names.1,
            app: AppName::new(&names.2),
            ip_addr: names.3,
            sid: text(),
            status: states.0,
            overridden_status: states.1,
            port: states.2,
            secure_port: states.3,
            country_id: states.4,
            data_center: states.5,
            lease: LeaseInfo {
                renewal_interval_secs: numbers.0,
                duration_secs: numbers.1,
                ..LeaseInfo::default()
            },
            metadata,
            app_group_name: text(),
            home_page_url: text(),
            status_page_url: text(),
            health_check_url: text(),
            secure_health_check_url: text(),
            vip_address: text(),
            secure_vip_address: text(),
            is_coordinating_discovery_server: numbers.4,
            last_updated_timestamp: numbers.2,
            last_dirty_timestamp: numbers.3,
            action_type: states.6,
            asg_name: text(),
        }
    })
}
