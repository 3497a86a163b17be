//! A registry in memory, filled with a fleet, without actors and without HTTP.

#![allow(dead_code, reason = "every bench uses its own part")]

use std::collections::BTreeMap;

use heureka_actors::cache::View;
use heureka_bench::fleet::{Fleet, write_json};
use heureka_protocol::draft::Registration;
use heureka_protocol::{AppName, Instance, Limits, json};
use heureka_registry::{Application, Change, Now, Origin, Rules};

/// A fixed moment.
pub const NOW: Now = Now { mono_ms: 1_000_000_000, wall_ms: 1_796_100_000_000 };

/// The registration body of an instance.
pub fn body(fleet: &Fleet, instance: usize, generation: u32) -> Vec<u8> {
    let mut body = Vec::new();
    write_json(&fleet.record(instance, generation), &mut body);
    body.shrink_to_fit();
    body
}

/// Reads a registration as the server does.
pub fn read(body: &[u8], app: &str) -> Instance {
    let draft = json::read_instance(body, &Limits::default()).unwrap_or_else(|error| panic!("{error}"));
    let registration =
        Registration { path_app: app, now_wall_ms: NOW.wall_ms, require_data_center_id: false };
    draft.into_instance(&registration).unwrap_or_else(|error| panic!("{error}"))
}

/// All applications with their rules, and the view of them.
pub struct Registry {
    /// By name.
    pub applications: BTreeMap<AppName, Application>,
    /// The materialised view.
    pub view: View,
    rules: Rules,
}

impl Registry {
    /// Without instances.
    pub fn new() -> Self {
        Self { applications: BTreeMap::new(), view: View::default(), rules: Rules::default() }
    }

    /// With a whole fleet in it.
    pub fn filled(fleet: &Fleet) -> Self {
        let mut registry = Self::new();
        for instance in 0..fleet.len() {
            let change = registry.register(fleet, instance, 0);
            registry.view.apply(&change, NOW);
        }
        registry
    }

    /// Registers an instance with its application; the view does not know yet.
    pub fn register(&mut self, fleet: &Fleet, instance: usize, generation: u32) -> Change {
        let name = AppName::new(&fleet.app_of(instance).name);
        let incoming = read(&body(fleet, instance, generation), &name);
        let application = self.applications.entry(name.clone()).or_insert_with(|| Application::new(name));
        let change = application.register(incoming, Origin::Client, NOW, &self.rules);
        change.unwrap_or_else(|| panic!("a first registration is a change"))
    }
}
