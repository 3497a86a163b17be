//! A registry on the test's own arbiter, and instances to put into it.

use std::sync::Arc;

use heureka_actors::cache::{Encoding, Scope, Variant, View};
use heureka_actors::{Clock, Handle, Options, Placement, Running, start};
use heureka_protocol::document::Form;
use heureka_protocol::instance::LeaseInfo;
use heureka_protocol::{AppName, DataCenter, Instance, Metadata, Port, Status};
use heureka_registry::StartedFrom;

/// Start of the wall clock in tests.
pub const WALL_START_MS: i64 = 1_750_000_000_000;

/// Options with everything on one arbiter.
pub fn options() -> Options {
    Options { placement: Placement::OneArbiter, ..Options::default() }
}

/// A registry that has opened.
pub fn registry(options: Options) -> Handle {
    let Running { handle, .. } = start(Clock::starting_at(WALL_START_MS), options, Vec::new(), 7);
    handle.open_for_traffic(StartedFrom::Nothing);
    handle
}

/// An instance with a lease of 90 s.
pub fn instance(app: &str, id: &str) -> Instance {
    Instance {
        instance_id: id.into(),
        host_name: "host.example".into(),
        app: AppName::new(app),
        ip_addr: "192.0.2.1".into(),
        sid: None,
        status: Status::Up,
        overridden_status: Status::Unknown,
        port: Port::DEFAULT_PLAIN,
        secure_port: Port::DEFAULT_SECURE,
        country_id: 1,
        data_center: DataCenter::MyOwn,
        lease: LeaseInfo::default(),
        metadata: Metadata::new(),
        app_group_name: None,
        home_page_url: None,
        status_page_url: None,
        health_check_url: None,
        secure_health_check_url: None,
        vip_address: Some(app.to_lowercase().into()),
        secure_vip_address: None,
        is_coordinating_discovery_server: false,
        last_updated_timestamp: 0,
        last_dirty_timestamp: 1000,
        action_type: None,
        asg_name: None,
    }
}

/// A whole-registry document as text.
pub fn text(view: &Arc<View>, scope: Scope) -> String {
    let variant = Variant { scope, form: Form::JsonFull, encoding: Encoding::Identity };
    String::from_utf8(view.document(variant).to_vec()).expect("documents are UTF-8")
}

/// Ids of the live instances of an application, in order.
pub fn ids(view: &Arc<View>, app: &str) -> Vec<String> {
    view.app(app)
        .map_or_else(Vec::new, |app| app.entries().iter().map(|entry| entry.id().to_owned()).collect())
}
