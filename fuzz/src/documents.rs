//! Documents of the wire: what was read is written, and read again the same.

use heureka_protocol::document::{
    close_application, close_applications, open_application, open_applications, separator, write_instance,
    write_instance_document,
};
use heureka_protocol::{Applications, Form, Instance, InstanceDraft, Limits, Place, ReadError, json, xml};

/// Limits of what documents are read with again: a text may have grown by upper-casing or escapes.
pub(crate) const WIDE: Limits = Limits {
    metadata_entries: 4096,
    metadata_bytes: 1 << 24,
    text_bytes: 1 << 24,
    ..Limits::SERVER_DOCUMENT
};

/// An error says something, and not too much, whatever the body was.
pub fn check_error(error: &ReadError) {
    let length = error.to_string().len();
    assert!((10..4000).contains(&length), "{error}");
}

/// An instance that passes the checks is written in every form; JSON gives it back, XML gives back what XML can hold.
pub fn check_draft(draft: InstanceDraft, is_from_json: bool) {
    let Ok(instance) = draft.into_listed("A") else { return };
    let written = |form, instance: &Instance| {
        let mut out = Vec::new();
        write_instance_document(form, instance, &instance.lease, &mut out);
        out
    };
    for form in Form::ALL {
        written(form, &instance);
    }
    if is_from_json {
        let again =
            json::read_instance(&written(Form::JsonFull, &instance), &WIDE).expect("JSON that we wrote");
        assert_eq!(again.into_listed("A").as_ref(), Ok(&instance));
    }
    let first = written(Form::XmlFull, &instance);
    let again = xml::read_instance(&first, &WIDE).expect("XML that we wrote");
    let again = again.into_listed("A").expect("an instance that we wrote");
    assert_eq!(first, written(Form::XmlFull, &again));
}

/// Applications that were read are written and read again without loss.
pub fn check_applications(read: &Applications) {
    for form in [Form::JsonFull, Form::XmlFull] {
        let document = applications_document(form, read);
        let again = match form.is_json() {
            true => json::read_applications(&document, &WIDE),
            false => xml::read_applications(&document, &WIDE),
        };
        let again = again.expect("a document that we wrote");
        assert_eq!((again.skipped, again.instance_count()), (0, read.instance_count()), "{form:?}");
        assert_eq!(again.version, read.version);
    }
}

fn applications_document(form: Form, read: &Applications) -> Vec<u8> {
    let mut out = Vec::new();
    let hash = read.hash.as_deref().unwrap_or("");
    open_applications(form, read.version, hash, &mut out);
    for (index, (name, instances)) in read.applications.iter().enumerate() {
        if index > 0 {
            out.extend_from_slice(separator(form));
        }
        open_application(form, Place::InApplications, name, &mut out);
        for (index, instance) in instances.iter().enumerate() {
            if index > 0 {
                out.extend_from_slice(separator(form));
            }
            write_instance(form, Place::InApplications, instance, &instance.lease, &mut out);
        }
        close_application(form, Place::InApplications, &mut out);
    }
    close_applications(form, read.version, hash, &mut out);
    out
}
