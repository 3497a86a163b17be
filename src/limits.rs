//! Bounds on what comes in, in the forms that readers want.

use std::time::Duration;

use heureka_config::settings::LimitSettings;
use heureka_protocol::limits::Limits;
use heureka_registry::MetadataLimits;

use crate::http::body::BodyLimits;

/// All bounds of the HTTP edge.
#[derive(Clone, Copy, Debug)]
pub struct NodeLimits {
    /// Body of a registration.
    pub registration: BodyLimits,
    /// Body of a replication batch.
    pub batch: BodyLimits,
    /// What readers of bodies accept.
    pub reader: Limits,
    /// Metadata of one instance after a change.
    pub metadata: MetadataLimits,
}

impl NodeLimits {
    /// From the settings.
    #[must_use]
    pub fn of(settings: &LimitSettings) -> Self {
        let body = |max_bytes| BodyLimits {
            max_bytes,
            max_time: Duration::from_millis(settings.body_timeout_ms),
            min_bytes_per_sec: u32::try_from(settings.body_min_bytes_per_sec).unwrap_or(u32::MAX),
        };
        Self {
            registration: body(settings.registration_body_bytes),
            batch: body(settings.batch_body_bytes),
            reader: Limits {
                metadata_entries: settings.metadata_max_keys,
                metadata_bytes: settings.metadata_max_bytes,
                ..Limits::DEFAULT
            },
            metadata: MetadataLimits {
                entries_max: settings.metadata_max_keys,
                text_bytes_max: settings.metadata_max_bytes,
            },
        }
    }
}
