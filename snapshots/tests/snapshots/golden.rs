//! The format on disk, byte for byte, of every released version. A difference here makes the snapshots of running nodes
//! unreadable; raise `frame::FORMAT` and keep the old files and the old reading rule instead.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use heureka_protocol::{ActionType, DataCenter, Instance, Metadata, Port, Status};
use heureka_registry::{Record, Stamp};
use heureka_snapshots::frame::{self, FORMAT};
use heureka_snapshots::key::{Key, Name};
use heureka_snapshots::stored::{
    StoredInstance, StoredMeta, StoredOverride, StoredSeen, StoredStatus, StoredTombstone, from_payload,
    to_payload,
};

use crate::support::{NOW, instance, record_of};

const GENERATION: u64 = 0x0102_0304;
const NAME: Name<'static> = Name { app: "SHOP", id: "host.example:shop:8080" };

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(format!("format-{FORMAT}-{name}.bin"))
}

fn plain() -> Record {
    record_of(instance(NAME.app, NAME.id), NOW)
}

/// An instance with every member at something else than its default.
fn full() -> Record {
    let amazon: Metadata =
        [("instance-id", "i-0123"), ("availability-zone", "eu-west-1a")].into_iter().collect();
    let mut record = record_of(
        Instance {
            sid: Some("sid".into()),
            status: Status::OutOfService,
            overridden_status: Status::OutOfService,
            port: Port { number: 8080, enabled: true },
            secure_port: Port { number: -1, enabled: true },
            country_id: 49,
            data_center: DataCenter::Amazon(Box::new(amazon)),
            metadata: [("zone", "a"), ("empty", ""), ("größe", "\u{1F600}")].into_iter().collect(),
            app_group_name: Some("GROUP".into()),
            home_page_url: Some("http://host/".into()),
            status_page_url: Some("http://host/info".into()),
            health_check_url: Some("http://host/health".into()),
            secure_health_check_url: Some("https://host/health".into()),
            secure_vip_address: Some("shop-secure".into()),
            is_coordinating_discovery_server: true,
            last_updated_timestamp: 1_750_000_000_001,
            last_dirty_timestamp: -5,
            action_type: Some(ActionType::Modified),
            asg_name: Some("asg".into()),
            ..instance(NAME.app, NAME.id)
        },
        NOW,
    );
    record.reported_status = Status::Starting;
    record.lease.service_up_timestamp = 1_749_999_999_999;
    record.lease.duration_ms = 1_234_000;
    record
}

/// Name of the file, key, payload.
fn examples() -> Vec<(&'static str, Key<'static>, Vec<u8>)> {
    let stored_override = StoredOverride {
        status: StoredStatus::OutOfService,
        orphaned_timestamp: Some(NOW.wall_ms),
        stamp: None,
    };
    let tombstone = StoredTombstone {
        last_dirty_timestamp: 1000,
        cancelled_timestamp: NOW.wall_ms,
        until_timestamp: NOW.wall_ms + 300_000,
        override_stamp: None,
    };
    let stamp = Some(1_700_000_000_000);
    let stamped_override = StoredOverride { stamp, ..stored_override };
    let stamped_tombstone = StoredTombstone { override_stamp: stamp, ..tombstone };
    let plain = plain();
    let stamped_instance =
        StoredInstance { override_stamp: stamp, ..StoredInstance::of(&plain, NOW.wall_ms) };
    let seen = StoredSeen { seconds: BTreeMap::from([(3, 1_750_000_000), (u64::MAX, u32::MAX)]) };
    let meta = StoredMeta {
        node_id: "0123456789abcdef0123456789abcdef".into(),
        starts: 3,
        opened: true,
        saved_timestamp: NOW.wall_ms,
        clean: true,
        generation: GENERATION,
        keys: 4,
        seal: 0x0123_4567_89AB_CDEF,
        software: "0.1.0".into(),
    };
    vec![
        (
            "instance-plain",
            Key::Instance(NAME),
            to_payload(&StoredInstance::of(&plain, NOW.wall_ms)).unwrap(),
        ),
        (
            "instance-full",
            Key::Instance(NAME),
            to_payload(&StoredInstance::of(&full(), NOW.wall_ms)).unwrap(),
        ),
        ("instance-stamped", Key::Instance(NAME), to_payload(&stamped_instance).unwrap()),
        ("override", Key::Override(NAME), to_payload(&stored_override).unwrap()),
        ("override-stamped", Key::Override(NAME), to_payload(&stamped_override).unwrap()),
        ("tombstone-stamped", Key::Tombstone(NAME), to_payload(&stamped_tombstone).unwrap()),
        ("tombstone", Key::Tombstone(NAME), to_payload(&tombstone).unwrap()),
        ("seen", Key::Seen(7), to_payload(&seen).unwrap()),
        ("meta", Key::Meta, to_payload(&meta).unwrap()),
    ]
}

fn golden(name: &str) -> Vec<u8> {
    fs::read(path(name)).unwrap_or_else(|error| panic!("{}: {error}", path(name).display()))
}

#[test]
fn frames_are_written_byte_for_byte_as_ever() {
    for (name, key, payload) in examples() {
        let frame = frame::wrap(&key.to_bytes().unwrap(), GENERATION, &payload).unwrap();
        assert_eq!(frame, golden(name), "{name}");
    }
}

#[test]
fn golden_instances_are_read_as_they_were() {
    for (name, record) in [("instance-plain", plain()), ("instance-full", full())] {
        let bytes = golden(name);
        let frame = frame::unwrap(&Key::Instance(NAME).to_bytes().unwrap(), &bytes).unwrap();
        assert_eq!(frame.generation, GENERATION);
        let stored: StoredInstance<'_> = from_payload(frame.payload).unwrap();
        let restored = stored.into_record(NAME.app.into(), NAME.id.into(), NOW).unwrap();
        assert_eq!(restored.instance, record.instance, "{name}");
        assert_eq!(restored.reported_status, record.reported_status, "{name}");
        assert_eq!(restored.lease.duration_ms, record.lease.duration_ms, "{name}");
    }
}

#[test]
fn the_other_golden_files_are_read_as_they_were() {
    for (name, key, payload) in examples() {
        let bytes = golden(name);
        let frame = frame::unwrap(&key.to_bytes().unwrap(), &bytes).unwrap();
        assert_eq!((frame.format, frame.payload), (FORMAT, &*payload), "{name}");
    }
    let bytes = golden("meta");
    let frame = frame::unwrap(&Key::Meta.to_bytes().unwrap(), &bytes).unwrap();
    let meta: StoredMeta = from_payload(frame.payload).unwrap();
    assert_eq!((meta.starts, meta.keys, meta.clean), (3, 4, true));
}

#[test]
fn the_times_of_operations_on_overrides_are_read_as_they_were() {
    let bytes = golden("instance-stamped");
    let frame = frame::unwrap(&Key::Instance(NAME).to_bytes().unwrap(), &bytes).unwrap();
    let stored: StoredInstance<'_> = from_payload(frame.payload).unwrap();
    let restored = stored.into_record(NAME.app.into(), NAME.id.into(), NOW).unwrap();
    assert_eq!(restored.override_stamp.get(), Stamp::new(1_700_000_000_000));
    let bytes = golden("tombstone-stamped");
    let frame = frame::unwrap(&Key::Tombstone(NAME).to_bytes().unwrap(), &bytes).unwrap();
    let stored: StoredTombstone = from_payload(frame.payload).unwrap();
    assert_eq!(stored.restored(NOW).unwrap().override_stamp, Stamp::new(1_700_000_000_000));
}

/// Run by hand when a new format gets its files: `cargo test -p heureka-snapshots -- --ignored write_golden_files`.
#[test]
#[ignore = "writes the files that the other tests compare with"]
fn write_golden_files() {
    for (name, key, payload) in examples() {
        let frame = frame::wrap(&key.to_bytes().unwrap(), GENERATION, &payload).unwrap();
        fs::write(path(name), frame).unwrap();
    }
}
