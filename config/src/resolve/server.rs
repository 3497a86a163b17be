//! `server.*`, `eureka.dashboard.*`, `heureka.limits.*`, `heureka.placement.*`, `heureka.snapshots.*`.

use super::reader::{Reader, Sourced};
use super::tls;
use super::values::is_word;
use crate::settings::{
    CompressionSettings, DashboardSettings, ForwardHeaders, LimitSettings, PlacementSettings, ServerSettings,
    SnapshotSettings,
};
use std::net::{IpAddr, Ipv4Addr};

/// What a path may look like, in words.
const PATH_RULE: &str = "without empty segments, . and .., of letters, digits and -._~!$&'()+,=:@";

/// The heads of Java clients have half as much, those behind a proxy somewhat more.
const HEADER_BYTES_MIN: usize = 1024;

pub(super) fn server(r: &mut Reader<'_>) -> ServerSettings {
    let d = ServerSettings::default();
    ServerSettings {
        port: r.number("server.port", d.port),
        address: address(r, "server.address").unwrap_or(d.address),
        context_path: prefix(r, "server.servlet.context-path", &d.context_path),
        tls: tls::server(r),
        forward_headers: forward_headers(r),
        compression: compression(r),
        shutdown_timeout_ms: shutdown_timeout(r, d.shutdown_timeout_ms),
    }
}

/// The platforms that Boot knows.
const CLOUD_PLATFORMS: [&str; 6] =
    ["cloud-foundry", "heroku", "sap", "nomad", "azure-app-service", "kubernetes"];

/// As Boot: on a cloud platform there is always a proxy in front, elsewhere nobody is believed. Unlike there, the platform
/// `none` means none, as does every name that Boot does not know.
fn forward_headers(r: &mut Reader<'_>) -> ForwardHeaders {
    let words = [
        ("none", ForwardHeaders::None),
        ("native", ForwardHeaders::Native),
        ("framework", ForwardHeaders::Framework),
    ];
    let chosen = r.word("server.forward-headers-strategy", &words);
    let is_on_platform = r
        .cloud_platform()
        .is_some_and(|platform| CLOUD_PLATFORMS.iter().any(|known| is_word(&platform, known)));
    chosen.unwrap_or(if is_on_platform { ForwardHeaders::Native } else { ForwardHeaders::None })
}

/// An address to listen on. Names other than `localhost` would need a look-up that may differ at every start.
pub(super) fn address(r: &mut Reader<'_>, key: &'static str) -> Option<IpAddr> {
    let found = r.optional(key)?;
    let text = found.text.trim();
    if text.eq_ignore_ascii_case("localhost") {
        return Some(IpAddr::V4(Ipv4Addr::LOCALHOST));
    }
    match text.trim_start_matches('[').trim_end_matches(']').parse() {
        Ok(address) => Some(address),
        Err(_) => {
            r.wrong(key, &found, "must be an IP address of this machine or localhost");
            None
        }
    }
}

/// A path in front of others: empty, or with a slash at its start and none at its end.
pub(super) fn prefix(r: &mut Reader<'_>, key: &'static str, default: &str) -> String {
    let Some(found) = r.optional(key) else { return default.to_owned() };
    let path = found.text.trim().trim_end_matches('/');
    if !path.is_empty() && !is_path(path) {
        r.wrong(
            key,
            &found,
            format!("must be a path that starts with a slash, such as /registry, {PATH_RULE}"),
        );
        return default.to_owned();
    }
    path.to_owned()
}

/// True for a path that a request can name: clients resolve `..`, and other characters come escaped or not at all.
fn is_path(path: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~!$&'()+,=:@".contains(c);
    let is_segment = |part: &str| !matches!(part, "" | "." | "..") && part.chars().all(is_plain);
    path == "/" || path.strip_prefix('/').is_some_and(|path| path.split('/').all(is_segment))
}

fn compression(r: &mut Reader<'_>) -> CompressionSettings {
    let d = CompressionSettings::default();
    CompressionSettings {
        enabled: r.flag("server.compression.enabled", d.enabled),
        min_response_bytes: r.size("server.compression.min-response-size").unwrap_or(d.min_response_bytes),
        mime_types: r.list("server.compression.mime-types", &d.mime_types),
    }
}

/// Our own key wins over Boot's; `immediate` wins over both.
fn shutdown_timeout(r: &mut Reader<'_>, default: u64) -> u64 {
    let immediate = r.word("server.shutdown", &[("graceful", false), ("immediate", true)]).unwrap_or(false);
    let own_is_set = r.is_set("heureka.shutdown-timeout-ms");
    let own = r.number("heureka.shutdown-timeout-ms", default);
    let boot = r.duration_ms("spring.lifecycle.timeout-per-shutdown-phase");
    match (immediate, own_is_set, boot) {
        (true, _, _) => 0,
        (false, false, Some(boot)) => boot,
        (false, _, _) => own,
    }
}

pub(super) fn dashboard(r: &mut Reader<'_>) -> DashboardSettings {
    let d = DashboardSettings::default();
    DashboardSettings {
        enabled: r.flag("eureka.dashboard.enabled", d.enabled),
        path: page_path(r, "eureka.dashboard.path").unwrap_or(d.path),
    }
}

/// Spring puts a missing slash in front and takes one at the end away.
fn page_path(r: &mut Reader<'_>, key: &'static str) -> Option<String> {
    let found: Sourced = r.optional(key)?;
    let path = format!("/{}", found.text.trim().trim_matches('/'));
    if !is_path(&path) {
        r.wrong(key, &found, format!("must be a path such as /dashboard, {PATH_RULE}"));
        return None;
    }
    Some(path)
}

pub(super) fn limits(r: &mut Reader<'_>) -> LimitSettings {
    let d = LimitSettings::default();
    let boot_header = r.size("server.max-http-request-header-size");
    let tomcat_connections = r.optional_number("server.tomcat.max-connections");
    let limits = LimitSettings {
        registration_body_bytes: bytes(
            r,
            "heureka.limits.registration-body-bytes",
            d.registration_body_bytes,
        ),
        batch_body_bytes: bytes(r, "heureka.limits.batch-body-bytes", d.batch_body_bytes),
        header_bytes: bytes(
            r,
            "heureka.limits.header-bytes",
            boot_header.and_then(|size| usize::try_from(size).ok()).unwrap_or(d.header_bytes),
        ),
        header_timeout_ms: r.number("heureka.limits.header-timeout-ms", d.header_timeout_ms),
        body_timeout_ms: r.number("heureka.limits.body-timeout-ms", d.body_timeout_ms),
        body_min_bytes_per_sec: r.number("heureka.limits.body-min-bytes-per-sec", d.body_min_bytes_per_sec),
        max_body_bytes_in_flight: bytes(
            r,
            "heureka.limits.max-body-bytes-in-flight",
            d.max_body_bytes_in_flight,
        ),
        max_waiting_password_checks: r
            .number("heureka.limits.max-waiting-password-checks", d.max_waiting_password_checks),
        metadata_max_keys: r.number("heureka.limits.metadata-max-keys", d.metadata_max_keys),
        metadata_max_bytes: bytes(r, "heureka.limits.metadata-max-bytes", d.metadata_max_bytes),
        max_connections: r
            .number("heureka.limits.max-connections", tomcat_connections.unwrap_or(d.max_connections)),
        max_connections_per_address: r
            .number("heureka.limits.max-connections-per-address", d.max_connections_per_address),
        max_applications: r.number("heureka.limits.max-applications", d.max_applications),
        max_instances: r.number("heureka.limits.max-instances", d.max_instances),
        max_instances_per_application: r
            .number("heureka.limits.max-instances-per-application", d.max_instances_per_application),
        cache_backlog: r.number("heureka.limits.cache-backlog", d.cache_backlog),
        delta_removal_bytes: bytes(r, "heureka.limits.delta-removal-bytes", d.delta_removal_bytes),
    };
    for key in ["heureka.limits.header-bytes", "server.max-http-request-header-size"] {
        if r.is_set(key) && limits.header_bytes < HEADER_BYTES_MIN {
            let needs = format!(
                "must be at least {HEADER_BYTES_MIN} bytes, or the heads of usual clients would be refused"
            );
            r.wrong_as_written(key, needs);
            break;
        }
    }
    let largest = limits.registration_body_bytes.max(limits.batch_body_bytes);
    if limits.max_body_bytes_in_flight < largest {
        let needs = format!(
            "must be at least {largest} bytes, the larger of heureka.limits.registration-body-bytes and \
             heureka.limits.batch-body-bytes, or such a body would be refused for ever"
        );
        r.wrong_as_written("heureka.limits.max-body-bytes-in-flight", needs);
    }
    limits
}

fn bytes(r: &mut Reader<'_>, key: &'static str, default: usize) -> usize {
    r.size(key).and_then(|size| usize::try_from(size).ok()).unwrap_or(default)
}

pub(super) fn placement(r: &mut Reader<'_>) -> PlacementSettings {
    let d = PlacementSettings::default();
    PlacementSettings {
        http_workers: r.threads("heureka.placement.http-workers").unwrap_or(d.http_workers),
        lease_arbiters: r.threads("heureka.placement.lease-arbiters").unwrap_or(d.lease_arbiters),
    }
}

pub(super) fn snapshots(r: &mut Reader<'_>) -> SnapshotSettings {
    let d = SnapshotSettings::default();
    SnapshotSettings {
        enabled: r.flag("heureka.snapshots.enabled", d.enabled),
        folder: r.path("heureka.snapshots.folder").unwrap_or_else(|| r.in_working_dir(&d.folder)),
        write_behind_ms: r.number("heureka.snapshots.write-behind-ms", d.write_behind_ms),
        max_age_secs: r.number("heureka.snapshots.max-age-secs", d.max_age_secs),
    }
}
