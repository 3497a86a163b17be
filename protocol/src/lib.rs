//! The Eureka wire protocol: what instances, applications and batches are, and how they look as JSON and XML.
//!
//! Reading is lenient and one pass: every form that a known client sends is accepted, unknown members are skipped, depth
//! and size are bounded, and a refusal names the member. Writing is exact: member order, the `$`, `@enabled` and `@class`
//! oddities and the escapes of the Java server (spec `wire.md` 3 to 5). This crate knows no rule of the registry, no
//! clock and no network.

pub mod applications;
pub mod batch;
pub mod document;
pub mod draft;
pub mod error;
pub mod hash;
pub mod instance;
pub mod json;
pub mod limits;
pub mod metadata;
pub mod names;
mod report;
pub mod status;
mod text;
pub mod whole;
pub mod xml;

pub use applications::Applications;
pub use document::{Form, Place};
pub use draft::{InstanceDraft, Refusal, Registration};
pub use error::{ReadError, batch_error_document, error_document};
pub use hash::StatusCounts;
pub use instance::{DataCenter, Instance, LeaseInfo, Port};
pub use limits::Limits;
pub use metadata::Metadata;
pub use names::{AppName, InstanceId};
pub use status::{ActionType, Status};
pub use whole::{NotWhole, WholeList};
