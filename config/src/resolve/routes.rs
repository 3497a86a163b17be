//! Paths that settings choose must not lead to what has its place already: the routes of the registry come first.

use super::reader::Reader;
use crate::settings::{DashboardSettings, ManagementListener, ManagementSettings};

const ACTUATOR: &str = "management.endpoints.web.base-path";
const PAGE: &str = "eureka.dashboard.path";
/// Notes a problem for each path that would not be reached.
pub(super) fn check(r: &mut Reader<'_>, management: &ManagementSettings, dashboard: &DashboardSettings) {
    let expected =
        "must not begin with /eureka, /v1 or /v2, where the registry is; requests would never get there";
    if management.listener != ManagementListener::Off && is_taken(&management.base_path) {
        r.wrong_as_written(ACTUATOR, expected);
    }
    if !dashboard.enabled {
        return;
    }
    if is_taken(&dashboard.path) {
        r.wrong_as_written(PAGE, expected);
    }
    let is_shared = management.listener == ManagementListener::Shared;
    if is_shared && !management.base_path.is_empty() && management.base_path == dashboard.path {
        r.wrong_as_written(PAGE, format!("must not be that of {ACTUATOR}, whose list of links stands there"));
    }
}

/// True for the first segments of the registry's routes.
fn is_taken(path: &str) -> bool {
    let first = path.trim_start_matches('/').split('/').next().unwrap_or_default();
    matches!(first, "eureka" | "v1" | "V1" | "v2" | "V2")
}
