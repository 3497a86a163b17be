//! A registry on the test's own arbiter, and instances to put into it.

use std::sync::Arc;

use heureka_actors::cache::{Encoding, Scope, Variant, View};
use heureka_actors::{Clock, Handle, Options, Placement, Running, start};
use heureka_protocol::document::Form;
use heureka_protocol::{AppName, Instance};
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
        vip_address: Some(app.to_lowercase().into()),
        last_dirty_timestamp: 1000,
        ..Instance::with_defaults(AppName::new(app), id.into(), "host.example", "192.0.2.1")
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
