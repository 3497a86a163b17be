//! The one table from what can go wrong with an API call to its answer.
//!
//! Three kinds of errors meet here. *The caller's*: a body, a query or a header that cannot be used; the answer is a 4xx
//! that names the fault, and nothing has changed. *The node's*: full queues, a full registry, a step that failed; the
//! answer is 503 with `Retry-After` or 500, and says so in words. *Facts, not faults*: an unknown instance; the
//! answer is an empty 404, because clients read any body of such an answer as an instance and then never register again.
//! Answers to heartbeats never have a body, except 409.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use heureka_actors::Refused;
use heureka_protocol::document::Form;
use heureka_protocol::draft::Refusal;
use heureka_protocol::error::{ReadError, batch_error_document, error_document};
use heureka_registry::RegistryError;

use super::body::BodyError;
use super::negotiate::{BodyFormat, ContentTypeError};
use super::reply;

const STILL_COPYING: &str = "the registry of the peers is being copied: send this batch again in a second";

/// What went wrong.
#[derive(Debug)]
pub enum ApiError {
    /// No such resource, application or instance: 404, empty.
    NotFound,
    /// List queries are not answered yet, or the delta is switched off: 403, empty.
    AccessRefused,
    /// A query parameter or path that cannot be used: 400 with the reason.
    BadRequest(String),
    /// The same on a heartbeat: 400, empty.
    BadHeartbeat,
    /// The body is not what the content type says, or not an instance: 400 with an error document.
    UnreadableInstance(BodyFormat, ReadError),
    /// The body is not a replication list: 400 with an error document.
    UnreadableBatch(ReadError),
    /// The instance lacks something: 400 with Java's text.
    IncompleteInstance(Refusal),
    /// The body could not be received.
    Body(BodyError),
    /// 400 or 415.
    ContentType(ContentTypeError),
    /// The metadata would exceed its limits: 400.
    Metadata(RegistryError),
    /// The lists of the peers are on their way here, and what a batch tells belongs to instances in them: 503.
    StillCopying,
    /// The registry refused or failed.
    Registry(Refused),
    /// The registry refused or failed on a heartbeat: the same status, empty.
    RegistryOnHeartbeat(Refused),
}

impl From<Refused> for ApiError {
    fn from(refused: Refused) -> Self {
        Self::Registry(refused)
    }
}

impl ApiError {
    /// The answer.
    pub fn respond(&self) -> HttpResponse {
        let status = self.status();
        let mut response = match self {
            Self::NotFound
            | Self::AccessRefused
            | Self::BadHeartbeat
            | Self::RegistryOnHeartbeat(_)
            | Self::Metadata(RegistryError::InstanceNotFound) => reply::empty(status),
            Self::BadRequest(reason) => reply::text(status, reason.clone()),
            Self::UnreadableInstance(format, error) => {
                let is_json = *format == BodyFormat::Json;
                let form = if is_json { Form::JsonFull } else { Form::XmlFull };
                reply::body(status, form.content_type(), error_document(is_json, error))
            }
            Self::UnreadableBatch(error) => {
                reply::body(status, Form::JsonFull.content_type(), batch_error_document(error))
            }
            Self::IncompleteInstance(refusal) => reply::text(status, refusal.to_string()),
            Self::Body(error) => reply::text(status, error.to_string()),
            Self::ContentType(error) => reply::text(status, content_type_reason(error)),
            Self::Metadata(error) => reply::text(status, error.to_string()),
            Self::StillCopying => reply::text(status, STILL_COPYING.to_owned()),
            Self::Registry(refused) => reply::text(status, refused.to_string()),
        };
        if status == StatusCode::SERVICE_UNAVAILABLE {
            reply::retry_soon(&mut response);
        }
        response
    }

    /// The status of the answer.
    pub fn status(&self) -> StatusCode {
        match self {
            Self::NotFound | Self::Metadata(RegistryError::InstanceNotFound) => StatusCode::NOT_FOUND,
            Self::AccessRefused => StatusCode::FORBIDDEN,
            Self::BadRequest(_)
            | Self::BadHeartbeat
            | Self::UnreadableInstance(..)
            | Self::UnreadableBatch(_)
            | Self::IncompleteInstance(_)
            | Self::Metadata(_)
            | Self::Body(BodyError::NotGzip(_) | BodyError::Broken(_))
            | Self::ContentType(ContentTypeError::Malformed(_)) => StatusCode::BAD_REQUEST,
            Self::Body(BodyError::TooLarge(_)) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Body(BodyError::TooSlow(_)) => StatusCode::REQUEST_TIMEOUT,
            Self::StillCopying | Self::Body(BodyError::Crowded) => StatusCode::SERVICE_UNAVAILABLE,
            Self::ContentType(ContentTypeError::Unsupported(_)) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Registry(refused) | Self::RegistryOnHeartbeat(refused) => match refused {
                Refused::Internal => StatusCode::INTERNAL_SERVER_ERROR,
                _ => StatusCode::SERVICE_UNAVAILABLE,
            },
        }
    }
}

fn content_type_reason(error: &ContentTypeError) -> String {
    let (ContentTypeError::Malformed(found) | ContentTypeError::Unsupported(found)) = error;
    let shown: String = found.chars().take(80).collect();
    format!("Content-Type: found {shown:?}; expected application/json or application/xml in UTF-8")
}
