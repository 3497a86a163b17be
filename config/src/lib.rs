//! Settings of Heureka: the files, environment variables and arguments that Spring Cloud Eureka users have, read as
//! they are, and turned into one immutable [`Settings`].
//!
//! Two stages. *Raw*: what was written, each value with its source. *Resolved*: what it means, checked. This crate knows no
//! other crate of the workspace, opens no socket and reads no process environment except in one function.

mod binding;
mod catalogue;
mod error;
mod invocation;
mod key;
mod known;
mod nearest;
mod placeholders;
mod profile_expression;
mod property;
mod random;
mod readers;
mod report;
mod resolve;
mod sample;
mod secret;
pub mod settings;
mod sources;
mod text;
mod written;

pub use error::{ConfigError, Problem};
pub use invocation::{HostFacts, InetSettings, Invocation, NoHostFacts};
pub use known::{KeyRole, KeyShape, KnownKey, known_keys};
pub use property::{Origin, Property};
pub use report::{Effective, Notice, Report, Severity};
pub use sample::sample;
pub use secret::{MASK, Secret, mask_credentials};
pub use settings::Settings;
pub use text::{read_properties, read_yaml};
pub use written::Written;

use property::{PropertySource, SourceKind};
use sources::Stack;
use std::path::Path;

/// What a start needs: the settings, and what to tell about them.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// What the node runs with.
    pub settings: Settings,
    /// How that came about.
    pub report: Report,
    /// What was written, to compare with a later time.
    pub written: Written,
}

/// Reads everything an invocation names, without knowing anything about the machine.
///
/// # Errors
/// Files that cannot be read and values that are wrong; see [`ConfigError`].
pub fn load(invocation: &Invocation) -> Result<Loaded, ConfigError> {
    load_with(invocation, &NoHostFacts)
}

/// The same with somebody who knows the machine's name and address.
///
/// # Errors
/// As [`load`].
pub fn load_with(invocation: &Invocation, host: &dyn HostFacts) -> Result<Loaded, ConfigError> {
    let outside = sources::outside_sources(invocation)?;
    let files = sources::collect_files(&outside, &invocation.working_dir)?;
    let stack = Stack::new([files.sources, outside.sources].concat());
    let (settings, mut report) = resolve::resolve(&stack, &invocation.working_dir, host)?;
    report.files = files.names;
    report.profiles = files.profiles;
    report.notices.splice(0..0, sources::odd_arguments(&invocation.args).into_iter().chain(files.notices));
    Ok(Loaded { settings, report, written: Written::of(&stack) })
}

impl Settings {
    /// Settings from pairs of names and values, as a `.properties` file would hold them. For tests and embedding.
    ///
    /// # Errors
    /// Values that are wrong.
    pub fn from_properties(pairs: &[(&str, &str)]) -> Result<Self, ConfigError> {
        let property = |(name, value): &(&str, &str)| Property {
            name: (*name).to_owned(),
            value: (*value).to_owned(),
            origin: Origin::Given,
        };
        let source = PropertySource::new(SourceKind::Plain, pairs.iter().map(property).collect());
        resolve::resolve(&Stack::new(vec![source]), Path::new(""), &NoHostFacts).map(|(settings, _)| settings)
    }
}
