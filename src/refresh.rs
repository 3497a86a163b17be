//! Settings that are read again while the node runs: `POST /actuator/refresh`, as in Spring, or SIGHUP.
//!
//! What can change at run time changes: who the peers are, and what is logged. Everything else waits for the next start,
//! which is said. Settings that cannot be read change nothing.

use std::sync::{Mutex, PoisonError};

use heureka_config::{ConfigError, Invocation, Loaded, Settings, Written, load_with};

use crate::host::SystemHostFacts;
use crate::peers::current::CurrentSource;
use crate::peers::source::source_of;
use crate::telemetry::logging;

/// Where settings come from; read anew each time.
pub type Places = Box<dyn Fn() -> Result<Loaded, ConfigError> + Send + Sync>;

/// The places that an invocation of the program names.
#[must_use]
pub fn places_of(invocation: Invocation) -> Places {
    Box::new(move || load_with(&invocation, &SystemHostFacts))
}

/// Why the settings in force stay.
#[derive(Debug, thiserror::Error)]
pub enum RefreshError {
    /// They cannot be read, or something in them is wrong.
    #[error("the settings cannot be read again, nothing has changed: {0}")]
    Unreadable(ConfigError),
    /// What they name cannot be used.
    #[error("the peers cannot be listed as the settings say now: {0:#}")]
    Unusable(anyhow::Error),
}

/// Reads settings again and puts in force what may change.
pub struct Refresher {
    places: Places,
    peers: CurrentSource,
    /// What was written when it was last read, and what came of it. Locked for a whole refresh: one at a time.
    last: Mutex<(Written, Settings)>,
}

impl Refresher {
    /// For a node that starts with these settings and this source of peers.
    #[must_use]
    pub fn new(loaded: &Loaded, places: Places, peers: CurrentSource) -> Self {
        Self { places, peers, last: Mutex::new((loaded.written.clone(), loaded.settings.clone())) }
    }

    /// Reads everything again; returns the names of what has changed, as Spring does. It reads files: not for a thread that
    /// has better things to do.
    ///
    /// # Errors
    /// If the settings cannot be used. Nothing has changed then.
    pub fn refresh(&self) -> Result<Vec<String>, RefreshError> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let loaded = (self.places)().map_err(RefreshError::Unreadable)?;
        let changed = loaded.written.changed_since(&last.0);
        let (before, now) = (&last.1, &loaded.settings);
        if lists_peers_differently(before, now) {
            self.peers.replace(source_of(now).map_err(RefreshError::Unusable)?);
        }
        if before.logging.levels != now.logging.levels {
            logging::change_levels(&now.logging);
        }
        tell(&changed, &loaded, before);
        *last = (loaded.written, loaded.settings);
        Ok(changed)
    }
}

fn lists_peers_differently(before: &Settings, now: &Settings) -> bool {
    before.discovery != now.discovery
        || before.client.dns != now.client.dns
        || before.client.region != now.client.region
        || before.client.peer_urls() != now.client.peer_urls()
}

/// The settings before, with those of now that count at once.
fn with_what_may_change(before: &Settings, now: &Settings) -> Settings {
    let mut in_force = before.clone();
    let (client, listed) = (&mut in_force.client, now.client.clone());
    client.service_urls = listed.service_urls;
    client.region = listed.region;
    client.zones = listed.zones;
    client.prefer_same_zone = listed.prefer_same_zone;
    client.dns = listed.dns;
    in_force.discovery = now.discovery.clone();
    in_force.logging.levels = now.logging.levels.clone();
    in_force
}

/// One line for the log: what was read anew, and whether all of it counts already.
fn tell(changed: &[String], loaded: &Loaded, before: &Settings) {
    let in_force = with_what_may_change(before, &loaded.settings);
    let keys = if changed.is_empty() { "nothing has changed".to_owned() } else { changed.join(", ") };
    if changed.is_empty() || in_force == loaded.settings {
        tracing::info!("settings were read again: {keys}");
    } else {
        tracing::warn!("settings were read again: {keys}; some of it counts from the next start only");
    }
    for notice in loaded.report.warnings() {
        tracing::warn!("{notice}");
    }
}
