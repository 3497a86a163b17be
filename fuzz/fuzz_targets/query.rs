//! Request paths and queries: `path?query`, as a request line holds them.
//!
//! Three files of the node are included, not the node: they need nothing else of it, and only they are to be watched.
#![no_main]
#![allow(dead_code)]

#[path = "../../src/http/path.rs"]
mod path;
#[path = "../../src/http/query.rs"]
mod query;
#[path = "../../src/http/split.rs"]
mod split;

use path::{ApiVersion, PathError, Resource, Target};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

libfuzzer_sys::fuzz_target!(|text: &str| {
    let (raw_path, raw_query) = text.split_once('?').unwrap_or((text, ""));
    check_path(raw_path);
    check_query(raw_query);
});

/// A path that was understood means the same with every sign escaped, and inside a context path.
fn check_path(raw: &str) {
    let (inside, folded) = (format!("/ctx{raw}"), format!("//ctx{raw}"));
    let parsed = path::parse(raw, "");
    // slashes are folded at the very beginning only, so not behind a context path
    if !raw.starts_with("//") {
        assert_eq!(path::parse(&inside, "/ctx"), parsed);
    }
    assert_eq!(path::parse(&folded, "/ctx"), path::parse(&inside, "/ctx"));
    if let Ok(target) = parsed {
        check_escaped(&target);
    }
}

fn check_escaped(target: &Target<'_>) {
    let segments: Vec<&str> = match target {
        Target::Api(version, resource) => {
            let version = if *version == ApiVersion::V1 { "v1" } else { "v2" };
            ["eureka", version].into_iter().chain(segments(resource)).collect()
        }
        // an empty first segment can only stand in front of matrix parameters; escaped, it would be a leading slash
        Target::Other(segments) if segments.len() > 1 && segments[0].is_empty() => return,
        Target::Other(segments) => segments.iter().map(|segment| &**segment).collect(),
    };
    let escaped: String = segments
        .iter()
        .map(|segment| format!("/{}", utf8_percent_encode(segment, NON_ALPHANUMERIC)))
        .collect();
    // as texts, because the two borrow from different ones
    let again = path::parse(&escaped, "");
    assert_eq!(format!("{again:?}"), format!("{:?}", Ok::<_, PathError>(target)), "{escaped}");
}

/// The segments behind the version that name a resource.
fn segments<'a>(resource: &'a Resource<'_>) -> Vec<&'a str> {
    match resource {
        Resource::Applications => vec!["apps"],
        Resource::Delta => vec!["apps", "delta"],
        Resource::Application { app } => vec!["apps", app],
        Resource::Instance { app, id } => vec!["apps", app, id],
        Resource::InstanceStatus { app, id } => vec!["apps", app, id, "status"],
        Resource::InstanceMetadata { app, id } => vec!["apps", app, id, "metadata"],
        Resource::InstanceById { id } => vec!["instances", id],
        Resource::Vip { vip, is_secure } => vec![if *is_secure { "svips" } else { "vips" }, vip],
        Resource::AsgStatus { asg } => vec!["asg", asg, "status"],
        Resource::Batch => vec!["peerreplication", "batch"],
        Resource::ServerStatus => vec!["status"],
        Resource::StatusOverrides => vec!["serverinfo", "statusoverrides"],
    }
}

/// All parameters are found one by one, numbers are what their text says, and nothing is lost by encoding again.
fn check_query(raw: &str) {
    // broken escapes are refused
    let Ok(entries) = query::all(raw) else { return };
    for (name, value) in &entries {
        assert_eq!(query::first(raw, name).as_deref(), Some(value.as_str()), "{name}");
        match query::number(raw, name) {
            Ok(number) => assert_eq!(number, value.parse().ok(), "{name}"),
            Err(text) => assert!(text == value.as_str() && value.parse::<i64>().is_err(), "{name}"),
        }
    }
    let encoded = form_urlencoded::Serializer::new(String::new()).extend_pairs(&entries).finish();
    assert_eq!(query::all(&encoded).ok(), Some(entries), "{encoded}");
}
