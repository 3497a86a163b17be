//! From what was written to what it means: the second stage. One file per concern; `reader` is how they read.

mod client;
mod discovery;
mod exposure;
mod instance;
mod lookup;
mod operation;
mod reader;
mod regions;
mod registry;
mod remarks;
mod routes;
mod server;
mod tls;
mod values;

use crate::binding::{self, Bound, Misshapen};
use crate::catalogue;
use crate::error::ConfigError;
use crate::invocation::{HostFacts, InetSettings, NoHostFacts};
use crate::key;
use crate::report::Report;
use crate::settings::Settings;
use crate::sources::Stack;
use lookup::Everything;
use reader::Reader;
use std::collections::BTreeSet;
use std::path::Path;

/// Settings and report of a set of sources.
pub(crate) fn resolve(
    stack: &Stack,
    working_dir: &Path,
    host: &dyn HostFacts,
) -> Result<(Settings, Report), ConfigError> {
    let bound = binding::bind(stack);
    let inet = inet(&bound, stack, working_dir);
    let lookup = Everything::new(stack, host, inet);
    let mut reader = Reader::new(&bound.raw, &lookup, working_dir);
    let settings = settings(&mut reader);
    let mut problems = bound.problems.clone();
    problems.extend(binding::problems_of_form(&not_read(&bound.misshapen, &reader.used)));
    problems.append(&mut reader.problems);
    if !problems.is_empty() {
        return Err(ConfigError::Invalid(problems));
    }
    let mut effective = std::mem::take(&mut reader.effective);
    effective.sort_by_cached_key(|line| catalogue::position(&line.key));
    let mut report = Report { effective, ..Report::default() };
    report.notices.append(&mut reader.notices);
    report.notices.extend(remarks::remarks(&bound, &lookup, &reader.used));
    Ok((settings, report))
}

/// Values that no placeholder reads: what one reads is a name of the user's own that lies below a known key.
fn not_read(misshapen: &[Misshapen], used: &BTreeSet<String>) -> Vec<Misshapen> {
    let used: BTreeSet<String> = used.iter().map(|name| key::canonical(name)).collect();
    misshapen.iter().filter(|part| !used.contains(&key::canonical(&part.property.name))).cloned().collect()
}

/// How to guess the machine's name must be known before any placeholder may ask for it.
fn inet(bound: &Bound, stack: &Stack, working_dir: &Path) -> InetSettings {
    let lookup = Everything::new(stack, &NoHostFacts, InetSettings::default());
    operation::inet(&mut Reader::new(&bound.raw, &lookup, working_dir))
}

fn settings(r: &mut Reader<'_>) -> Settings {
    let d = Settings::default();
    let application_name = r.optional_text("spring.application.name");
    let server = server::server(r);
    let management = operation::management(r, &server);
    let client = client::client(r);
    let discovery = discovery::discovery(r);
    let has_peers = !client.peer_urls().is_empty() || client.dns.is_some() || discovery.is_used();
    let registers = client.register_with_eureka && has_peers;
    let registry = registry::registry(r, registers, &client.region);
    let around = instance::Surroundings {
        server: &server,
        management: &management,
        application_name: application_name.as_deref(),
    };
    let instance = instance::instance(r, &around);
    operation::inet(r);
    let dashboard = server::dashboard(r);
    routes::check(r, &management, &dashboard);
    Settings {
        dashboard,
        environment: r.text("eureka.environment", &d.environment),
        datacenter: r.text("eureka.datacenter", &d.datacenter),
        security: operation::security(r),
        logging: operation::logging(r),
        limits: server::limits(r),
        placement: server::placement(r),
        snapshots: server::snapshots(r),
        application_name: application_name.unwrap_or(d.application_name),
        server,
        registry,
        client,
        discovery,
        instance,
        management,
    }
}
