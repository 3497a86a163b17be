//! One exchange together with its surroundings: what the changes of `differences.rs` look at.

use super::difference::{Names, Select};
use super::differences::DIFFERENCES;
use super::expected::Expected;
use super::recording::{Exchange, Request, Scenario};

/// One exchange of one scenario.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case<'a> {
    /// All scenarios, to borrow answers from.
    pub(crate) all: &'a [Scenario],
    /// Its own scenario.
    pub(crate) scenario: &'a Scenario,
    /// The exchange.
    pub(crate) exchange: &'a Exchange,
    /// The port of the server under test.
    pub(crate) port: u16,
}

impl<'a> Case<'a> {
    /// The request; panics where only the server acted.
    pub(crate) fn request(&self) -> &'a Request {
        self.exchange.request.as_ref().expect("a request")
    }

    /// The exchange's name.
    pub(crate) fn name(&self) -> &'a str {
        &self.exchange.name
    }

    /// The recorded body as text.
    pub(crate) fn recorded_text(&self) -> &'a str {
        self.exchange.response.as_ref().and_then(|response| response.body.as_deref()).unwrap_or_default()
    }

    /// Whether the request goes to the registry's API, and not to a page or to the actuator.
    pub(crate) fn is_api(&self) -> bool {
        let path = self.request().path_only();
        path.contains("/eureka/") || path.ends_with("/eureka") || path.starts_with("/v2/")
    }

    /// Whether the request goes to a resource that ends with those segments.
    pub(crate) fn is_at(&self, end: &str) -> bool {
        self.request().path_only().trim_end_matches('/').ends_with(end)
    }

    /// What is required of the exchange of that name in the same scenario.
    pub(crate) fn like(&self, name: &str) -> Expected {
        self.elsewhere(&self.scenario.scenario, name)
    }

    /// What is required of an exchange of another scenario.
    pub(crate) fn elsewhere(&self, scenario: &str, name: &str) -> Expected {
        let scenario =
            self.all.iter().find(|other| other.scenario == scenario).expect("a scenario of that name");
        let exchange = scenario.exchanges.iter().find(|other| other.name == name);
        let exchange = exchange.unwrap_or_else(|| panic!("{}: no exchange `{name}`", scenario.scenario));
        Case { scenario, exchange, ..*self }.required().0
    }

    /// What is required, and the differences that were needed to get from the recording to it.
    pub(crate) fn required(&self) -> (Expected, Vec<&'static str>) {
        let mut expected = Expected::recorded(self.exchange, self.port);
        let mut applied = Vec::new();
        for difference in DIFFERENCES {
            let selected = match &difference.of {
                Select::Named(scenarios) => self.is_named(scenarios),
                Select::Where(holds) => holds(self, &expected),
            };
            if selected {
                let before = expected.clone();
                (difference.change)(self, &mut expected);
                if expected != before {
                    applied.push(difference.id);
                }
            }
        }
        (expected, applied)
    }

    /// Whether one of the patterns names this exchange.
    pub(crate) fn is_named(&self, scenarios: Names) -> bool {
        let names = scenarios.iter().filter(|(scenario, _)| *scenario == self.scenario.scenario);
        names.flat_map(|(_, names)| names.iter()).any(|pattern| fits(pattern, self.name()))
    }
}

/// Whether a name fits a pattern; a `*` at either end stands for any text.
pub(crate) fn fits(pattern: &str, name: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(end), None) => name.ends_with(end),
        (None, Some(start)) => name.starts_with(start),
        (Some(_), Some(_)) => pattern == "*",
        (None, None) => pattern == name,
    }
}
