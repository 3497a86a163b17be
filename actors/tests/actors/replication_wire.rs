//! What a batch looks like on the wire: exactly the members that a Java server sends, as recorded from one
//! (spec `replication.md` 2.7; recording `40-replication-sent`).

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails, also inside its helpers")]

use heureka_protocol::{Instance, Metadata, Status};
use heureka_registry::Origin;

use crate::replication_support::{Cluster, Plan, pass};
use crate::support::instance;

fn recorded() -> Instance {
    Instance {
        host_name: "h1.example".into(),
        ip_addr: "10.0.0.1".into(),
        metadata: [("k", "v")].into_iter().collect::<Metadata>(),
        vip_address: Some("orders.vip".into()),
        last_dirty_timestamp: 1_700_000_000_000,
        ..instance("ORDERS", "i-1")
    }
}

async fn last_body(cluster: &Cluster) -> String {
    pass(1_000).await;
    cluster.peers[0].received().pop().unwrap().body
}

#[actix::test]
async fn every_action_has_the_recorded_members_in_the_recorded_order() {
    let cluster = Cluster::new(1);
    let handle = &cluster.handle;
    handle.register(recorded(), Origin::Client).await.unwrap();
    let body = last_body(&cluster).await;
    let start = r#"{"replicationList":[{"appName":"ORDERS","id":"i-1","lastDirtyTimestamp":1700000000000,"status":"UP","instanceInfo":{"instanceId":"i-1","hostName":"h1.example","app":"ORDERS","#;
    let end = r#""lastDirtyTimestamp":"1700000000000","actionType":"ADDED"},"action":"Register"}]}"#;
    assert!(body.starts_with(start) && body.ends_with(end), "{body}");

    let beat = heureka_registry::Heartbeat {
        last_dirty: Some(1_700_000_000_000),
        ..heureka_registry::Heartbeat::default()
    };
    handle.renew("ORDERS", "i-1", beat, Origin::Client).await.unwrap();
    let expected = r#"{"replicationList":[{"appName":"ORDERS","id":"i-1","lastDirtyTimestamp":1700000000000,"status":"UP","action":"Heartbeat"}]}"#;
    assert_eq!(last_body(&cluster).await, expected);

    let dirty = |ms: i64| Some(1_700_000_000_000 + ms);
    handle.set_status("ORDERS", "i-1", Status::OutOfService, dirty(1), Origin::Client).await.unwrap();
    let expected = r#"{"replicationList":[{"appName":"ORDERS","id":"i-1","lastDirtyTimestamp":1700000000001,"overriddenStatus":"OUT_OF_SERVICE","status":"OUT_OF_SERVICE","action":"StatusUpdate"}]}"#;
    assert_eq!(last_body(&cluster).await, expected);

    let beat = heureka_registry::Heartbeat { last_dirty: dirty(1), ..heureka_registry::Heartbeat::default() };
    handle.renew("ORDERS", "i-1", beat, Origin::Client).await.unwrap();
    let expected = r#"{"replicationList":[{"appName":"ORDERS","id":"i-1","lastDirtyTimestamp":1700000000001,"overriddenStatus":"OUT_OF_SERVICE","status":"OUT_OF_SERVICE","action":"Heartbeat"}]}"#;
    assert_eq!(last_body(&cluster).await, expected);

    handle.remove_override("ORDERS", "i-1", Some(Status::Up), dirty(2), Origin::Client).await.unwrap();
    let expected = r#"{"replicationList":[{"appName":"ORDERS","id":"i-1","lastDirtyTimestamp":1700000000002,"status":"UP","action":"DeleteStatusOverride"}]}"#;
    assert_eq!(last_body(&cluster).await, expected);

    handle.cancel("ORDERS", "i-1", Origin::Client).await.unwrap();
    let expected = r#"{"replicationList":[{"appName":"ORDERS","id":"i-1","lastDirtyTimestamp":1700000000002,"action":"Cancel"}]}"#;
    assert_eq!(last_body(&cluster).await, expected);
}

#[actix::test]
async fn a_metadata_change_is_a_registration_with_the_old_dirty_timestamp() {
    let cluster = Cluster::new(1);
    cluster.handle.register(recorded(), Origin::Client).await.unwrap();
    pass(1_000).await;
    let entries = vec![("a".to_owned(), "1".to_owned())];
    let merged =
        cluster.handle.merge_metadata("ORDERS", "i-1", entries, Default::default(), Origin::Client).await;
    merged.unwrap().unwrap();
    let body = last_body(&cluster).await;
    assert!(body.contains(r#""lastDirtyTimestamp":1700000000000,"status":"UP","instanceInfo":"#), "{body}");
    assert!(body.contains(r#""metadata":{"k":"v","a":"1"}"#), "{body}");
    assert!(body.ends_with(r#""action":"Register"}]}"#), "{body}");
}

#[actix::test]
async fn a_registration_shows_the_lease_times_of_the_moment_it_leaves() {
    let cluster = Cluster::new(1);
    cluster.peers[0].plan([Plan::Unreachable]);
    cluster.handle.register(recorded(), Origin::Client).await.unwrap();
    let body = last_body(&cluster).await;
    let registered = crate::support::WALL_START_MS;
    assert!(body.contains(&format!(r#""registrationTimestamp":{registered}"#)), "{body}");
    assert!(body.contains(r#""renewalIntervalInSecs":30,"durationInSecs":90"#), "{body}");
}
