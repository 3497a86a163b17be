//! A Java client's copy of the registry, with the defect that makes the order inside a delta matter (`registry.md` 6.4).

use heureka_protocol::{ActionType, Status, StatusCounts};

use super::real::Real;

/// Applications in the order of their arrival, each with ids and statuses.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClientCopy {
    apps: Vec<(usize, Vec<(String, Status)>)>,
    pub fetched_mono_ms: u64,
}

impl ClientCopy {
    /// A full fetch.
    pub fn fetch(real: &Real) -> Self {
        let apps = real.apps.iter().enumerate().filter(|(_, app)| !app.is_empty());
        let instances = |app: &heureka_registry::Application| {
            let statuses = app.records().map(|record| &record.instance);
            statuses.map(|instance| (instance.instance_id.to_string(), instance.status)).collect()
        };
        let apps = apps.map(|(number, app)| (number, instances(app))).collect();
        Self { apps, fetched_mono_ms: real.now.mono_ms }
    }

    /// Applies the delta of this moment.
    pub fn apply_delta(&mut self, real: &Real) {
        for (number, log) in real.deltas.iter().enumerate() {
            let entries: Vec<(String, ActionType, Status)> = log
                .entries()
                .map(|entry| {
                    let instance = &entry.record.instance;
                    (instance.instance_id.to_string(), entry.action, instance.status)
                })
                .collect();
            for (id, action, status) in &entries {
                if *action == ActionType::Deleted {
                    self.remove(number, id);
                } else {
                    self.put(number, id, *status, &entries);
                }
            }
        }
    }

    /// An application that is not there yet is taken over as the delta has it, removals included: the defect.
    fn put(&mut self, app: usize, id: &str, status: Status, delta: &[(String, ActionType, Status)]) {
        if !self.apps.iter().any(|(number, _)| *number == app) {
            let all = delta.iter().map(|(id, _, status)| (id.clone(), *status)).collect();
            self.apps.push((app, all));
        }
        for (_, instances) in self.apps.iter_mut().filter(|(number, _)| *number == app) {
            instances.retain(|(known, _)| known != id);
            instances.push((id.to_owned(), status));
        }
    }

    fn remove(&mut self, app: usize, id: &str) {
        for (_, instances) in self.apps.iter_mut().filter(|(number, _)| *number == app) {
            instances.retain(|(known, _)| known != id);
        }
        self.apps.retain(|(_, instances)| !instances.is_empty());
    }

    /// The copy as a set.
    pub fn contents(&self) -> Vec<(usize, String, Status)> {
        let all = self.apps.iter();
        let mut all: Vec<_> = all
            .flat_map(|(app, instances)| instances.iter().map(|(id, status)| (*app, id.clone(), *status)))
            .collect();
        all.sort();
        all
    }

    /// The reconcile hash that the client computes.
    pub fn hash_code(&self) -> String {
        self.contents().into_iter().map(|(_, _, status)| status).collect::<StatusCounts>().hash_code()
    }
}
