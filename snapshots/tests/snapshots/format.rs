//! Payloads: every record comes back as it was, and versions that know more or less get along.

use std::collections::BTreeMap;

use heureka_protocol::Status;
use heureka_registry::Record;
use heureka_snapshots::stored::{
    PayloadError, StoredInstance, StoredMeta, StoredOverride, StoredPort, StoredSeen, StoredTombstone,
    from_payload, to_payload,
};
use proptest::prelude::*;
use serde::Serialize;

use crate::support::{NOW, any_instance, instance, later, record_of};

fn round_trip(record: &Record) -> Record {
    let payload = to_payload(&StoredInstance::of(record, NOW.wall_ms)).unwrap();
    let stored: StoredInstance<'_> = from_payload(&payload).unwrap();
    let (app, id) = (record.instance.app.clone(), record.instance.instance_id.clone());
    stored.into_record(app, id, later(60_000)).unwrap()
}

proptest! {
    #[test]
    fn every_instance_comes_back_as_it_was(instance in any_instance(), service_up in any::<i64>()) {
        let mut record = record_of(instance, NOW);
        record.reported_status = Status::Starting;
        record.lease.service_up_timestamp = service_up;
        let restored = round_trip(&record);
        prop_assert_eq!(&restored.instance, &record.instance);
        prop_assert_eq!(restored.reported_status, record.reported_status);
        prop_assert_eq!(restored.lease.registration_timestamp, record.lease.registration_timestamp);
        prop_assert_eq!(restored.lease.service_up_timestamp, service_up);
        prop_assert_eq!(restored.lease.duration_ms, record.lease.duration_ms);
        prop_assert_eq!(restored.lease.eviction_timestamp, 0);
    }
}

#[test]
fn a_restored_lease_counts_from_now() {
    let restored = round_trip(&record_of(instance("SHOP", "a"), NOW));
    assert_eq!(restored.lease.clock.get(), Some(later(60_000).mono_ms));
    assert_eq!(restored.lease.direct_contact_ms(), None);
    assert!(!restored.lease.is_expired(later(150_000).mono_ms, 0));
    assert!(restored.lease.is_expired(later(150_001).mono_ms, 0));
}

/// What a later version might write: more members, some of them missing, in another order.
#[derive(Serialize)]
struct Later<'a> {
    invented_later: BTreeMap<&'a str, Vec<u8>>,
    ip_addr: &'a str,
    last_dirty_timestamp: i64,
    host_name: &'a str,
    status: &'a str,
}

#[test]
fn unknown_members_are_ignored_and_missing_ones_have_their_default() {
    let later = Later {
        invented_later: BTreeMap::from([("x", vec![1, 2, 3])]),
        ip_addr: "192.0.2.1",
        last_dirty_timestamp: 7,
        host_name: "host",
        status: "DOWN",
    };
    let payload = to_payload(&later).unwrap();
    let stored: StoredInstance<'_> = from_payload(&payload).unwrap();
    let record = stored.into_record("SHOP".into(), "a".into(), NOW).unwrap();
    assert_eq!((record.instance.status, record.instance.last_dirty_timestamp), (Status::Down, 7));
    assert_eq!((record.instance.country_id, record.instance.port.number), (1, 7001));
    assert_eq!(record.lease.duration_ms, 90_000);
}

#[test]
fn what_no_registration_can_be_is_refused() {
    let without_address = StoredInstance { host_name: "host".into(), ..StoredInstance::default() };
    let refused = without_address.into_record("SHOP".into(), "a".into(), NOW).unwrap_err();
    assert_eq!(refused, PayloadError::Missing("address"));
    let payload = to_payload(&BTreeMap::from([("status", "BROKEN")])).unwrap();
    assert!(matches!(from_payload::<StoredInstance<'_>>(&payload), Err(PayloadError::Unreadable(_))));
    assert!(matches!(from_payload::<StoredInstance<'_>>(b"\xC1"), Err(PayloadError::Unreadable(_))));
    let too_short = StoredInstance { lease_duration_ms: 0, ..with_names() };
    assert_eq!(too_short.into_record("SHOP".into(), "a".into(), NOW).unwrap().lease.duration_ms, 1000);
}

fn with_names() -> StoredInstance<'static> {
    StoredInstance { host_name: "host".into(), ip_addr: "192.0.2.1".into(), ..StoredInstance::default() }
}

#[test]
fn empty_payloads_are_defaults() {
    let empty = to_payload(&BTreeMap::<String, u8>::new()).unwrap();
    assert_eq!(from_payload::<StoredInstance<'_>>(&empty).unwrap(), StoredInstance::default());
    assert_eq!(from_payload::<StoredOverride>(&empty).unwrap(), StoredOverride::default());
    assert_eq!(from_payload::<StoredTombstone>(&empty).unwrap(), StoredTombstone::default());
    assert_eq!(from_payload::<StoredMeta>(&empty).unwrap(), StoredMeta::default());
    assert_eq!(from_payload::<StoredSeen>(&empty).unwrap(), StoredSeen::default());
    assert_eq!(from_payload::<StoredPort>(&empty).unwrap(), StoredPort::default());
}
