//! From a request path to the resource it names (spec `wire.md` 1.1, 1.2; `spring.md` 1.2, 1.3).
//!
//! Parsed by hand, because a pattern router cannot express the tolerances: an optional version segment, ids with encoded
//! slashes, matrix parameters, exactly one trailing slash, and the literal `delta` that is reserved in lower case only.

use std::borrow::Cow;

use memchr::memchr2;
use percent_encoding::percent_decode_str;
use smallvec::SmallVec;

use super::split::split;

/// A resource of the registry API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resource<'a> {
    /// `apps`
    Applications,
    /// `apps/delta`
    Delta,
    /// `apps/{app}`
    Application {
        /// Name in any letter case.
        app: Cow<'a, str>,
    },
    /// `apps/{app}/{id}`
    Instance {
        /// Name in any letter case.
        app: Cow<'a, str>,
        /// Instance id.
        id: Cow<'a, str>,
    },
    /// `apps/{app}/{id}/status`
    InstanceStatus {
        /// Name in any letter case.
        app: Cow<'a, str>,
        /// Instance id.
        id: Cow<'a, str>,
    },
    /// `apps/{app}/{id}/metadata`
    InstanceMetadata {
        /// Name in any letter case.
        app: Cow<'a, str>,
        /// Instance id.
        id: Cow<'a, str>,
    },
    /// `instances/{id}`
    InstanceById {
        /// Instance id.
        id: Cow<'a, str>,
    },
    /// `vips/{vip}` and `svips/{vip}`
    Vip {
        /// The address as asked.
        vip: Cow<'a, str>,
        /// True for `svips`.
        is_secure: bool,
    },
    /// `asg/{asg}/status`
    AsgStatus {
        /// Name of the group.
        asg: Cow<'a, str>,
    },
    /// `peerreplication/batch`
    Batch,
    /// `status`
    ServerStatus,
    /// `serverinfo/statusoverrides`
    StatusOverrides,
}

/// API version from the path: version 1 rewrites statuses in full XML.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApiVersion {
    /// `v1`
    V1,
    /// `v2` or none
    V2,
}

/// Segments of a path, decoded; kept in place up to the longest path of the API.
pub type Segments<'a> = SmallVec<[Cow<'a, str>; 7]>;

/// What a path inside the context path names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target<'a> {
    /// A resource of the registry API.
    Api(ApiVersion, Resource<'a>),
    /// Anything else: pages, actuator, files. A trailing slash is one empty segment more.
    Other(Segments<'a>),
}

/// A path that no resource can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// Answer 404.
    #[error("no such resource")]
    NotFound,
    /// Answer 400.
    #[error(
        "the path holds a broken percent escape or text that is not UTF-8; expected %XX escapes of UTF-8 bytes"
    )]
    BadEscape,
}

/// Parses a raw path (no query). `context_path` is empty or begins with a slash and does not end with one.
///
/// # Errors
/// See [`PathError`].
pub fn parse<'a>(raw: &'a str, context_path: &str) -> Result<Target<'a>, PathError> {
    // Tomcat folds slashes at the very beginning, and only there: before the context path, not behind it.
    let folded = raw.len() - raw.trim_start_matches('/').len();
    let inside = raw[folded.saturating_sub(1)..].strip_prefix(context_path).ok_or(PathError::NotFound)?;
    let path = inside.strip_prefix('/').ok_or(PathError::NotFound)?;
    let segments = split(path, b'/').map(decode).collect::<Result<Segments<'_>, _>>()?;
    let (version, rest) = match split_version(&segments) {
        Some(found) => found,
        None => return Ok(Target::Other(segments)),
    };
    match resource(rest)? {
        Some(resource) => Ok(Target::Api(version, resource)),
        None => Ok(Target::Other(segments)),
    }
}

/// Cuts matrix parameters off and decodes once, as UTF-8; `+` stays. Most segments need neither and are borrowed.
fn decode(segment: &str) -> Result<Cow<'_, str>, PathError> {
    if memchr2(b'%', b';', segment.as_bytes()).is_none() {
        return Ok(Cow::Borrowed(segment));
    }
    let segment = segment.split(';').next().unwrap_or("");
    if has_broken_escape(segment.as_bytes()) {
        return Err(PathError::BadEscape);
    }
    percent_decode_str(segment).decode_utf8().map_err(|_| PathError::BadEscape)
}

/// True if a percent sign is not followed by two hexadecimal digits.
pub(super) fn has_broken_escape(segment: &[u8]) -> bool {
    segment.iter().enumerate().any(|(index, byte)| {
        let is_hex = |offset| segment.get(index + offset).is_some_and(u8::is_ascii_hexdigit);
        *byte == b'%' && !(is_hex(1) && is_hex(2))
    })
}

/// The API version and the segments behind `/eureka`, `/eureka/v1`, `/eureka/v2`, `/v1` or `/v2`.
fn split_version<'s, 'a>(segments: &'s [Cow<'a, str>]) -> Option<(ApiVersion, &'s [Cow<'a, str>])> {
    let version_of = |segment: &str| match segment {
        "v1" | "V1" => Some(ApiVersion::V1),
        "v2" | "V2" => Some(ApiVersion::V2),
        _ => None,
    };
    let (first, rest) = segments.split_first()?;
    if let Some(version) = version_of(first) {
        return Some((version, rest));
    }
    if first != "eureka" {
        return None;
    }
    match rest.split_first().and_then(|(segment, rest)| Some((version_of(segment)?, rest))) {
        Some(found) => Some(found),
        None => Some((ApiVersion::V2, rest)),
    }
}

/// The resource that the segments name; `None` if no resource begins that way.
fn resource<'a>(segments: &[Cow<'a, str>]) -> Result<Option<Resource<'a>>, PathError> {
    let segments = match segments.split_last() {
        Some((last, rest)) if last.is_empty() && !rest.is_empty() => rest,
        _ => segments,
    };
    if segments.iter().any(|segment| segment.is_empty()) {
        return Err(PathError::NotFound);
    }
    let name = |index: usize| segments.get(index).map_or("", |segment| &**segment);
    let owned = |index: usize| segments[index].clone();
    Ok(Some(match (segments.len(), name(0)) {
        (1, "apps") => Resource::Applications,
        (2, "apps") if name(1) == "delta" => Resource::Delta,
        (2, "apps") => Resource::Application { app: owned(1) },
        (3, "apps") => Resource::Instance { app: owned(1), id: owned(2) },
        (4, "apps") if name(3) == "status" => Resource::InstanceStatus { app: owned(1), id: owned(2) },
        (4, "apps") if name(3) == "metadata" => Resource::InstanceMetadata { app: owned(1), id: owned(2) },
        (2, "instances") => Resource::InstanceById { id: owned(1) },
        (2, "vips") => Resource::Vip { vip: owned(1), is_secure: false },
        (2, "svips") => Resource::Vip { vip: owned(1), is_secure: true },
        (3, "asg") if name(2) == "status" => Resource::AsgStatus { asg: owned(1) },
        (2, "peerreplication") if name(1) == "batch" => Resource::Batch,
        (1, "status") => Resource::ServerStatus,
        (2, "serverinfo") if name(1) == "statusoverrides" => Resource::StatusOverrides,
        _ => return Ok(None),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn api(path: &str) -> Resource<'_> {
        match parse(path, "") {
            Ok(Target::Api(_, resource)) => resource,
            other => panic!("{path}: {other:?}"),
        }
    }

    #[test]
    fn every_prefix_leads_to_the_same_resource() {
        for prefix in ["/eureka", "/eureka/v2", "/eureka/v1", "/v2", "/V2", "//eureka"] {
            for slash in ["", "/"] {
                let path = format!("{prefix}/apps{slash}");
                assert_eq!(
                    parse(&path, "").map(|t| matches!(t, Target::Api(_, Resource::Applications))),
                    Ok(true),
                    "{path}"
                );
            }
        }
        assert!(matches!(parse("/eureka/v1/apps", ""), Ok(Target::Api(ApiVersion::V1, _))));
        assert!(matches!(parse("/ctx/eureka/v2/apps", "/ctx"), Ok(Target::Api(ApiVersion::V2, _))));
        assert_eq!(parse("/eureka/apps", "/ctx"), Err(PathError::NotFound));
        assert!(matches!(parse("//ctx/eureka/apps", "/ctx"), Ok(Target::Api(..))));
        assert!(matches!(parse("/ctx//eureka/apps", "/ctx"), Ok(Target::Other(_))));
        assert_eq!(parse("/ctxx/eureka/apps", "/ctx"), Err(PathError::NotFound));
        assert!(matches!(parse("//", ""), Ok(Target::Other(segments)) if segments.as_slice() == [""]));
    }

    #[test]
    fn ids_are_decoded_once_and_keep_encoded_slashes() {
        let id = |path| match api(path) {
            Resource::Instance { id, .. } => id.into_owned(),
            other => panic!("{other:?}"),
        };
        assert_eq!(id("/eureka/apps/A/h:svc%2F1:80"), "h:svc/1:80");
        assert_eq!(id("/eureka/apps/A/a%2520b"), "a%20b");
        assert_eq!(id("/eureka/apps/A/%5B%3F%23%21+%D1%8F;x=1/"), "[?#!+я");
    }

    #[test]
    fn delta_is_reserved_in_lower_case_only() {
        assert_eq!(api("/eureka/apps/delta"), Resource::Delta);
        assert_eq!(api("/eureka/apps/DELTA"), Resource::Application { app: "DELTA".into() });
        assert!(matches!(api("/eureka/apps/delta/i-1"), Resource::Instance { .. }));
    }

    #[test]
    fn empty_segments_and_dots_are_not_found_and_broken_escapes_are_bad() {
        for path in ["/eureka/apps//", "/eureka//apps", "/eureka/apps//x"] {
            assert_eq!(parse(path, ""), Err(PathError::NotFound), "{path}");
        }
        for path in ["/eureka/./apps", "/eureka/x/../apps", "/eureka/v3/apps", "/eureka/vips"] {
            assert!(matches!(parse(path, ""), Ok(Target::Other(_))), "{path}");
        }
        for path in ["/eureka/apps/%zz", "/eureka/apps/a%2", "/eureka/apps/%FF"] {
            assert_eq!(parse(path, ""), Err(PathError::BadEscape), "{path}");
        }
    }
}
