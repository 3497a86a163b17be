//! The instances that the load pretends to be: as many as asked for, in applications of unequal size, made from a seed.
//!
//! Nothing is stored per instance: an instance is worked out from its number, so a million of them cost no memory here.

mod body;
mod names;
mod record;

pub use body::{write_json, write_xml};
pub use record::Record;

use crate::random::Random;

/// Instances per application on average; the size of applications must not grow with the registry.
pub const INSTANCES_PER_APP: usize = 50;

/// A number of instances in a number of applications.
#[derive(Clone, Debug)]
pub struct Fleet {
    seed: u64,
    apps: Vec<App>,
    len: usize,
}

/// One application of a fleet.
#[derive(Clone, Debug)]
pub struct App {
    /// Name, lower case as in `spring.application.name`.
    pub name: String,
    /// Number of its first instance.
    pub first: usize,
    /// How many instances it has.
    pub len: usize,
}

impl Fleet {
    /// A fleet with the usual size of applications.
    #[must_use]
    pub fn new(seed: u64, instances: usize) -> Self {
        Self::with_apps(seed, instances, (instances / INSTANCES_PER_APP).max(1))
    }

    /// A fleet of `instances` in `apps` applications, at least one instance in each. Sizes are spread evenly over the
    /// orders of magnitude from 1 to 64, then scaled: many small applications, few large ones, the largest about four
    /// times the mean.
    #[must_use]
    pub fn with_apps(seed: u64, instances: usize, apps: usize) -> Self {
        let apps = apps.min(instances).max(1);
        let mut random = Random::new(seed);
        let weights: Vec<f64> = (0..apps).map(|_| 64_f64.powf(random.unit())).collect();
        let total: f64 = weights.iter().sum();
        let spare = instances.saturating_sub(apps);
        let (mut first, mut sum) = (0, 0.0);
        let apps = weights.iter().enumerate().map(|(index, weight)| {
            sum += weight;
            let end = index + 1 + (spare as f64 * (sum / total).min(1.0)).round() as usize;
            let app = App { name: names::application(index), first, len: end.min(instances) - first };
            first = end;
            app
        });
        Self { seed, apps: apps.collect(), len: instances }
    }

    /// A fleet of one application with a name of its own.
    #[must_use]
    pub fn of_one_app(seed: u64, name: &str, instances: usize) -> Self {
        let app = App { name: name.to_owned(), first: 0, len: instances };
        Self { seed, apps: vec![app], len: instances }
    }

    /// The same with other names of applications, and so other instances: for what stands beside a usual fleet.
    #[must_use]
    pub fn of_others(mut self) -> Self {
        for app in &mut self.apps {
            app.name.insert_str(0, "other-");
        }
        self
    }

    /// Number of instances.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The applications.
    #[must_use]
    pub fn apps(&self) -> &[App] {
        &self.apps
    }

    /// The application of an instance.
    #[must_use]
    pub fn app_of(&self, instance: usize) -> &App {
        let index = self.apps.partition_point(|app| app.first + app.len <= instance);
        &self.apps[index.min(self.apps.len() - 1)]
    }

    /// An instance, by number, after so many changes of its own: a higher generation is a newer registration.
    #[must_use]
    pub fn record(&self, instance: usize, generation: u32) -> Record<'_> {
        Record::new(self.seed, self.app_of(instance), instance, generation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_instance_belongs_to_exactly_one_application() {
        for (instances, apps) in [(1, 1), (7, 7), (1000, 20), (10_000, 200)] {
            let fleet = Fleet::with_apps(1, instances, apps);
            assert_eq!(fleet.apps().len(), apps);
            let mut next = 0;
            for app in fleet.apps() {
                assert_eq!(app.first, next);
                assert!(app.len > 0);
                next += app.len;
            }
            assert_eq!(next, instances);
            assert_eq!(fleet.app_of(0).name, fleet.apps()[0].name);
            assert_eq!(fleet.app_of(instances - 1).name, fleet.apps()[apps - 1].name);
        }
    }

    #[test]
    fn others_share_no_application_and_no_instance() {
        let (fleet, others) = (Fleet::new(1, 100), Fleet::new(1, 100).of_others());
        assert_ne!(fleet.apps()[0].name, others.apps()[0].name);
        assert_ne!(fleet.record(0, 0).id, others.record(0, 0).id);
    }

    #[test]
    fn applications_do_not_grow_with_the_fleet() {
        for instances in [1000, 10_000, 100_000] {
            let fleet = Fleet::new(1, instances);
            let largest = fleet.apps().iter().map(|app| app.len).max().unwrap();
            assert!((100..300).contains(&largest), "{largest} of {instances}");
        }
    }
}
