//! Documents as the Java server writes them, put together from pieces (spec `wire.md` 3.1, 3.4, 4.1, 4.3).
//!
//! An instance is encoded once per change and kept; a document is `open` + pieces joined by [`separator`] + `close`, which
//! gives byte for byte what Java writes in one go. The writers only append to a buffer: they never allocate anything
//! else, never fail and never leave an XML document that a parser refuses, whatever an instance holds.

mod json;
mod xml;

use crate::instance::{Instance, LeaseInfo};
use crate::names::AppName;
use crate::text::{push_decimal, push_json_string, push_xml_text};

/// The formats in which documents are kept and sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// Full JSON (`wire.md` 3.1).
    JsonFull,
    /// Compact JSON (`wire.md` 3.4).
    JsonCompact,
    /// Full XML (`wire.md` 4.1).
    XmlFull,
    /// Full XML for `/v1`: statuses other than UP, DOWN and STARTING appear as DOWN (`wire.md` 1.1).
    XmlFullV1,
    /// Compact XML (`wire.md` 4.3).
    XmlCompact,
}

impl Form {
    /// All forms, in the order of [`Form::index`].
    pub const ALL: [Self; 5] =
        [Self::JsonFull, Self::JsonCompact, Self::XmlFull, Self::XmlFullV1, Self::XmlCompact];

    /// Position in [`Form::ALL`], for tables that hold something per form.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// True for the two JSON forms.
    #[must_use]
    pub const fn is_json(self) -> bool {
        matches!(self, Self::JsonFull | Self::JsonCompact)
    }

    /// True for the forms that leave out most members.
    #[must_use]
    pub const fn is_compact(self) -> bool {
        matches!(self, Self::JsonCompact | Self::XmlCompact)
    }

    /// Value of the Content-Type header: no charset, as Java.
    #[must_use]
    pub const fn content_type(self) -> &'static str {
        if self.is_json() { "application/json" } else { "application/xml" }
    }
}

/// Where a piece stands; decides the indentation of full XML and whether JSON has a root wrapper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// Inside an `applications` document.
    InApplications,
    /// Inside an `application` document; for instances only.
    InApplication,
    /// The document itself.
    Alone,
}

impl Place {
    /// How many elements an instance at this place is inside of.
    const fn instance_depth(self) -> usize {
        match self {
            Self::InApplications => 2,
            Self::InApplication => 1,
            Self::Alone => 0,
        }
    }
}

/// Appends the bare instance: a JSON object without root wrapper, or an `instance` element. `lease` is written in place
/// of `instance.lease`, because lease times change without the instance changing.
pub fn write_instance(form: Form, place: Place, instance: &Instance, lease: &LeaseInfo, out: &mut Vec<u8>) {
    match form {
        Form::JsonFull => json::write_full(instance, lease, out),
        Form::JsonCompact => json::write_compact(instance, out),
        Form::XmlFull => xml::write_full(instance, lease, instance.status, place.instance_depth(), out),
        Form::XmlFullV1 => {
            xml::write_full(instance, lease, instance.status.in_version_1(), place.instance_depth(), out);
        }
        Form::XmlCompact => xml::write_compact(instance, out),
    }
}

/// Appends a complete `instance` document: `{"instance":{...}}` or `<instance>...</instance>`.
pub fn write_instance_document(form: Form, instance: &Instance, lease: &LeaseInfo, out: &mut Vec<u8>) {
    if form.is_json() {
        out.extend_from_slice(b"{\"instance\":");
    }
    write_instance(form, Place::Alone, instance, lease, out);
    if form.is_json() {
        out.push(b'}');
    }
}

/// Appends what stands before the first instance of an application. With [`Place::Alone`] that is the beginning of an
/// `application` document, with any other place a part of an `applications` document.
pub fn open_application(form: Form, place: Place, name: &AppName, out: &mut Vec<u8>) {
    let is_alone = place == Place::Alone;
    if form.is_json() {
        out.extend_from_slice(if is_alone { b"{\"application\":{\"name\":" } else { b"{\"name\":" });
        push_json_string(name, out);
        out.extend_from_slice(b",\"instance\":[");
        return;
    }
    let (before, between): (&[u8], &[u8]) = match (form.is_compact(), is_alone) {
        (true, _) => (b"<application>", b"<name>"),
        (false, true) => (b"<application>", b"\n  <name>"),
        (false, false) => (b"\n  <application>", b"\n    <name>"),
    };
    out.extend_from_slice(before);
    out.extend_from_slice(between);
    push_xml_text(name, out);
    out.extend_from_slice(b"</name>");
}

/// Appends what stands behind the last instance of an application; the counterpart of [`open_application`].
pub fn close_application(form: Form, place: Place, out: &mut Vec<u8>) {
    let is_alone = place == Place::Alone;
    out.extend_from_slice(match (form.is_json(), form.is_compact(), is_alone) {
        (true, _, true) => b"]}}",
        (true, _, false) => b"]}",
        (false, true, _) => b"</application>",
        (false, false, true) => b"\n</application>",
        (false, false, false) => b"\n  </application>",
    });
}

/// Appends what stands before the first application of an `applications` document. The full forms name version and hash
/// here, the compact ones at the end; Java's stray `registeredApplicationsEmpty` is left out (`wire.md` Q34).
pub fn open_applications(form: Form, version: i64, hash: &str, out: &mut Vec<u8>) {
    match form {
        Form::JsonFull => {
            out.extend_from_slice(b"{\"applications\":{");
            push_json_header(version, hash, out);
            out.extend_from_slice(b",\"application\":[");
        }
        Form::JsonCompact => out.extend_from_slice(b"{\"applications\":{\"application\":["),
        Form::XmlFull | Form::XmlFullV1 => {
            out.extend_from_slice(b"<applications>");
            push_xml_header("\n  ", version, hash, out);
        }
        Form::XmlCompact => out.extend_from_slice(b"<applications>"),
    }
}

/// Appends what stands behind the last application; the counterpart of [`open_applications`], with the same arguments.
pub fn close_applications(form: Form, version: i64, hash: &str, out: &mut Vec<u8>) {
    match form {
        Form::JsonFull => out.extend_from_slice(b"]}}"),
        Form::JsonCompact => {
            out.extend_from_slice(b"],");
            push_json_header(version, hash, out);
            out.extend_from_slice(b"}}");
        }
        Form::XmlFull | Form::XmlFullV1 => out.extend_from_slice(b"\n</applications>"),
        Form::XmlCompact => {
            push_xml_header("", version, hash, out);
            out.extend_from_slice(b"</applications>");
        }
    }
}

/// What stands between two instances and between two applications.
#[must_use]
pub const fn separator(form: Form) -> &'static [u8] {
    if form.is_json() { b"," } else { b"" }
}

fn push_json_header(version: i64, hash: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b"\"versions__delta\":\"");
    push_decimal(version, out);
    out.extend_from_slice(b"\",\"apps__hashcode\":");
    push_json_string(hash, out);
}

fn push_xml_header(indent: &str, version: i64, hash: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(indent.as_bytes());
    out.extend_from_slice(b"<versions__delta>");
    push_decimal(version, out);
    out.extend_from_slice(b"</versions__delta>");
    out.extend_from_slice(indent.as_bytes());
    out.extend_from_slice(b"<apps__hashcode>");
    push_xml_text(hash, out);
    out.extend_from_slice(b"</apps__hashcode>");
}
