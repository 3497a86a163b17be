//! Digests on the wire, between nodes of our kind only (spec `replication.md` 9.3.4).
//!
//! They travel on the batch end point, asked for by a header on an empty batch: a Java server ignores the header and
//! answers an empty list, so asking the wrong peer does no harm. The answer is a digest if it says so in the same header.

use std::collections::{BTreeMap, HashMap};

use heureka_actors::{Handle, Refused};
use heureka_protocol::{AppName, Instance, InstanceId, Status};
use heureka_registry::replication::digest::application_hash;
use heureka_registry::replication::{DigestRow, DigestTombstone, PeerApplication, Since};
use heureka_registry::{OverrideState, Stamp};
use serde_json::{Value, json};

/// Asks for a digest, and says that an answer is one.
pub const DIGEST_HEADER: &str = "x-heureka-digest";
/// Version of the answers; whoever gets another one does not compare.
pub const DIGEST_VERSION: &str = "2";

/// A peer has answered, but not with a digest.
#[derive(Debug, thiserror::Error)]
#[error("its digest cannot be read")]
pub struct UnreadableDigest;

/// Asks for the hashes of all applications.
const ALL: &str = "applications";
/// Asks for all overrides, in force or removed, with their stamps.
const OVERRIDES: &str = "overrides";
/// Asks for the rows of one application.
const ONE: &str = "application=";
/// An empty batch: what a peer that knows no digests understands.
pub const EMPTY_BATCH: &str = r#"{"replicationList":[]}"#;

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DigestRequest {
    /// A hash for each application.
    All,
    /// A row for each instance of one application.
    One(AppName),
    /// A row for each instance whose override is known to have been set or removed.
    Overrides,
}

/// What a peer knows of the override of one instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownOverride {
    /// What is in force, and since when.
    pub state: OverrideState,
    /// The status that the instance has there.
    pub shown: Status,
}

/// What a peer knows of overrides.
pub type KnownOverrides = HashMap<(AppName, InstanceId), KnownOverride>;

impl DigestRequest {
    /// Reads the header of a request; `None` if it asks for nothing that we know. Names are percent-encoded.
    #[must_use]
    pub fn parse(header: &str) -> Option<Self> {
        match header {
            ALL => return Some(Self::All),
            OVERRIDES => return Some(Self::Overrides),
            _ => {}
        }
        let name = percent_encoding::percent_decode_str(header.strip_prefix(ONE)?).decode_utf8().ok()?;
        Some(Self::One(AppName::new(&name)))
    }

    /// The header for it.
    #[must_use]
    pub fn header(&self) -> String {
        match self {
            Self::All => ALL.to_owned(),
            Self::Overrides => OVERRIDES.to_owned(),
            Self::One(app) => {
                let name = percent_encoding::utf8_percent_encode(app, percent_encoding::NON_ALPHANUMERIC);
                format!("{ONE}{name}")
            }
        }
    }

    /// The answer of this node.
    ///
    /// # Errors
    /// If the registry does not answer.
    pub async fn answer(&self, handle: &Handle) -> Result<Vec<u8>, Refused> {
        let document = match self {
            Self::All => {
                let hashes = own_hashes(handle).await?;
                let written =
                    hashes.iter().map(|(app, hash)| (app.to_string(), json!(format!("{hash:016x}"))));
                Value::Object(written.collect())
            }
            Self::Overrides => own_overrides(handle).await?,
            Self::One(app) => {
                let own = handle.perform(app, |core| core.for_comparison()).await?;
                let now = handle.shared().clock.now();
                application_to_json(&own.map(|own| own.for_peer(now)).unwrap_or_default())
            }
        };
        Ok(document.to_string().into_bytes())
    }
}

/// A hash for each application, as of now. Hashing a large registry takes a while, so it happens elsewhere.
///
/// # Errors
/// If the registry does not answer.
pub async fn own_hashes(handle: &Handle) -> Result<BTreeMap<AppName, u64>, Refused> {
    let view = handle.current_view().await?;
    let hash = move || {
        let of =
            |app: &heureka_actors::cache::AppView| application_hash(app.entries().iter().map(|e| &e.record));
        let shown = view.apps().filter(|app| !app.entries().is_empty());
        shown.map(|app| (app.name.clone(), of(app))).collect()
    };
    tokio::task::spawn_blocking(hash).await.map_err(|_| Refused::Internal)
}

/// Of each instance whose override was set or removed, what is in force and since when.
async fn own_overrides(handle: &Handle) -> Result<Value, Refused> {
    let view = handle.current_view().await?;
    let mut rows = Vec::new();
    for record in view.apps().flat_map(|app| app.entries().iter().map(|entry| &entry.record)) {
        let Some(stamp) = record.override_stamp.get() else { continue };
        let Instance { app, instance_id, overridden_status, status, .. } = &record.instance;
        rows.push(json!([&**app, &**instance_id, overridden_status.as_str(), status.as_str(), stamp.ms()]));
    }
    Ok(Value::Array(rows))
}

/// Reads what a peer knows of overrides; `None` if it makes no sense.
#[must_use]
pub fn read_overrides(body: &[u8]) -> Option<KnownOverrides> {
    let rows: Vec<(String, String, String, String, i64)> = serde_json::from_slice(body).ok()?;
    let read = |(app, id, overridden, shown, ms): (String, String, String, String, i64)| {
        let state = OverrideState::of(Status::from_exact(&overridden)?, Some(Stamp::new(ms)?));
        let known = KnownOverride { state, shown: Status::from_exact(&shown)? };
        Some(((AppName::new(&app), InstanceId::from(id)), known))
    };
    rows.into_iter().map(read).collect()
}

/// One list for the instances, one for the cancels; in each a list per entry, without names.
fn application_to_json(application: &PeerApplication) -> Value {
    let rows: Vec<Value> = application.rows.iter().map(row_to_json).collect();
    let tombstone = |stone: &DigestTombstone| json!([&*stone.id, stone.dirty, stone.age_ms]);
    let tombstones: Vec<Value> = application.tombstones.iter().map(tombstone).collect();
    json!([rows, tombstones])
}

fn row_to_json(row: &DigestRow) -> Value {
    json!([
        &*row.id,
        row.dirty,
        row.status.as_str(),
        row.overridden.as_str(),
        format!("{:016x}", row.content),
        row.content_since.age_ms,
        row.content_since.is_own,
        row.override_stamp.map(Stamp::ms),
        row.contact_age_ms
    ])
}

/// Reads a peer's hashes; `None` if they make no sense.
#[must_use]
pub fn read_hashes(body: &[u8]) -> Option<BTreeMap<AppName, u64>> {
    let document: BTreeMap<String, String> = serde_json::from_slice(body).ok()?;
    document
        .iter()
        .map(|(app, hash)| Some((AppName::new(app), u64::from_str_radix(hash, 16).ok()?)))
        .collect()
}

type Age = Option<u64>;
type Row = (String, i64, String, String, String, Age, bool, Option<i64>, Age);
type Tombstone = (String, i64, u64);

/// Reads what a peer knows of an application; `None` if it makes no sense.
#[must_use]
pub fn read_application(body: &[u8]) -> Option<PeerApplication> {
    let (rows, tombstones): (Vec<Row>, Vec<Tombstone>) = serde_json::from_slice(body).ok()?;
    let tombstones = tombstones.into_iter();
    Some(PeerApplication {
        rows: rows.into_iter().map(read_row).collect::<Option<_>>()?,
        tombstones: tombstones
            .map(|(id, dirty, age_ms)| DigestTombstone { id: id.into(), dirty, age_ms })
            .collect(),
    })
}

fn read_row(row: Row) -> Option<DigestRow> {
    let (id, dirty, status, overridden, content, content_age, content_own, override_stamp, contact) = row;
    Some(DigestRow {
        id: id.into(),
        dirty,
        status: Status::from_exact(&status)?,
        overridden: Status::from_exact(&overridden)?,
        content: u64::from_str_radix(&content, 16).ok()?,
        content_since: Since { age_ms: content_age, is_own: content_own },
        override_stamp: override_stamp.and_then(Stamp::new),
        contact_age_ms: contact,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_survive_the_header_with_any_name() {
        for app in ["ORDERS", "A B;=\u{e4}%", ""] {
            let request = DigestRequest::One(AppName::new(app));
            assert!(request.header().is_ascii());
            assert_eq!(DigestRequest::parse(&request.header()), Some(request));
        }
        for request in [DigestRequest::All, DigestRequest::Overrides] {
            assert_eq!(DigestRequest::parse(&request.header()), Some(request));
        }
        assert_eq!(DigestRequest::parse("something else"), None);
    }

    #[test]
    fn known_overrides_are_read_and_nonsense_is_not() {
        let read = |text: &str| read_overrides(text.as_bytes());
        let known = read(r#"[["A","i","UNKNOWN","DOWN",5],["B","j","UP","UP",7]]"#).unwrap();
        let of = |app: &str, id: &str| known[&(AppName::new(app), InstanceId::from(id))];
        assert_eq!(of("A", "i").state, OverrideState { status: None, stamp: Stamp::new(5) });
        assert_eq!((of("A", "i").shown, of("B", "j").state.status), (Status::Down, Some(Status::Up)));
        assert_eq!(read("[]"), Some(KnownOverrides::new()));
        for text in ["", "{}", r#"[["A","i","up","UP",5]]"#, r#"[["A","i","UP","UP",0]]"#, r#"[["A"]]"#] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn rows_are_read_as_written_and_nonsense_is_not() {
        let row = DigestRow {
            id: "i-1".into(),
            dirty: -5,
            status: Status::Up,
            overridden: Status::Unknown,
            content: u64::MAX,
            content_since: Since { age_ms: Some(7), is_own: true },
            override_stamp: Stamp::new(1_700_000_000_000),
            contact_age_ms: None,
        };
        let tombstone = DigestTombstone { id: "i-2".into(), dirty: i64::MIN, age_ms: 9 };
        let application = PeerApplication { rows: vec![row], tombstones: vec![tombstone] };
        let body = application_to_json(&application).to_string();
        assert_eq!(read_application(body.as_bytes()), Some(application));
        assert_eq!(read_application(b"[[],[]]"), Some(PeerApplication::default()));
        let row = |status: &str, content: &str| {
            format!(r#"[[["i",1,"{status}","UP","{content}",null,false,null,null]],[]]"#)
        };
        assert!(read_application(row("UP", "0").as_bytes()).is_some());
        for body in ["", "{}", "[]", "[[[1]],[]]", "[[],[[1]]]", &row("up", "0"), &row("UP", "x")] {
            assert_eq!(read_application(body.as_bytes()), None, "{body}");
        }
        assert_eq!(read_hashes(br#"{"orders":"ff"}"#), Some([(AppName::new("ORDERS"), 255)].into()));
        for body in ["[]", r#"{"A":1}"#, r#"{"A":"xyz"}"#] {
            assert_eq!(read_hashes(body.as_bytes()), None, "{body}");
        }
    }
}
