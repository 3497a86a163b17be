//! What a caller may send, how much is kept, and how many threads do the work: `heureka.limits.*`, `heureka.placement.*`.

/// `heureka.limits.*`. Reaching one has a documented answer (`docs/configuration.md`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitSettings {
    /// Body of a registration, bytes after decompression.
    pub registration_body_bytes: usize,
    /// Body of a replication batch, bytes after decompression.
    pub batch_body_bytes: usize,
    /// Request line and headers, bytes; also `server.max-http-request-header-size`.
    pub header_bytes: usize,
    /// Time for the headers of a request.
    pub header_timeout_ms: u64,
    /// Time for the body of a request.
    pub body_timeout_ms: u64,
    /// A body that comes slower than this is refused, bytes per second.
    pub body_min_bytes_per_sec: u64,
    /// Bodies on their way in, together, bytes; the first of each are not counted.
    pub max_body_bytes_in_flight: usize,
    /// Hashed passwords that may wait for their check.
    pub max_waiting_password_checks: usize,
    /// Entries of one instance's metadata.
    pub metadata_max_keys: usize,
    /// Keys and values of one instance's metadata together, bytes.
    pub metadata_max_bytes: usize,
    /// Open connections in all; also `server.tomcat.max-connections`.
    pub max_connections: usize,
    /// Open connections of one address.
    pub max_connections_per_address: usize,
    /// Applications in the registry.
    pub max_applications: usize,
    /// Instances of all applications together.
    pub max_instances: usize,
    /// Instances of one application.
    pub max_instances_per_application: usize,
    /// Changes that may wait for the cache before writers are told to come back.
    pub cache_backlog: usize,
    /// Removed instances that deltas show, about so many bytes in memory.
    pub delta_removal_bytes: usize,
}

impl Default for LimitSettings {
    fn default() -> Self {
        Self {
            registration_body_bytes: 1 << 20,
            batch_body_bytes: 8 << 20,
            header_bytes: 16 << 10,
            header_timeout_ms: 5_000,
            body_timeout_ms: 15_000,
            body_min_bytes_per_sec: 1_024,
            max_body_bytes_in_flight: 256 << 20,
            max_waiting_password_checks: 32,
            metadata_max_keys: 64,
            metadata_max_bytes: 16 << 10,
            max_connections: 16_384,
            max_connections_per_address: 8_192,
            max_applications: 20_000,
            max_instances: 1_000_000,
            max_instances_per_application: 100_000,
            cache_backlog: 65_536,
            delta_removal_bytes: 128 << 20,
        }
    }
}

/// `heureka.placement.*`: fewer threads win on small machines (`design.md`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacementSettings {
    /// Threads that answer HTTP.
    pub http_workers: usize,
    /// Threads that own leases.
    pub lease_arbiters: usize,
}

impl PlacementSettings {
    /// The default for a machine: 1 and 1 on two cores, then half and a quarter of the cores.
    pub fn for_cores(cores: usize) -> Self {
        Self { http_workers: (cores / 2).max(1), lease_arbiters: (cores / 4).max(1) }
    }
}

impl Default for PlacementSettings {
    fn default() -> Self {
        Self::for_cores(std::thread::available_parallelism().map_or(2, std::num::NonZero::get))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_machines_get_one_thread_of_each_kind() {
        for (cores, http, lease) in [(1, 1, 1), (2, 1, 1), (4, 2, 1), (16, 8, 4)] {
            assert_eq!(
                PlacementSettings::for_cores(cores),
                PlacementSettings { http_workers: http, lease_arbiters: lease },
                "{cores} cores"
            );
        }
    }
}
