//! What the targets check besides "no panic". One file per kind of input; a target only reads and calls one of these.

mod batches;
mod documents;
mod files;

pub use batches::{check_items, check_responses};
pub use documents::{check_applications, check_draft, check_error};
pub use files::{check_config_error, check_properties, check_yaml};
