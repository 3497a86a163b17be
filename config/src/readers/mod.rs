//! Readers of file formats. Each turns text into documents of properties, never panics, and is bounded in depth and size.

mod json;
mod properties;
mod yaml;
mod yaml_scalar;
mod yaml_tree;

pub(crate) use json::read_json;
pub(crate) use properties::read_properties;
pub(crate) use yaml::read_yaml;

use crate::property::Property;

/// A document of a file: what stands between two separators.
pub(crate) type Document = Vec<Property>;

/// Largest file that is read.
pub(crate) const MAX_FILE_BYTES: usize = 4 << 20;

/// Most values that one file may hold, aliases expanded.
pub(crate) const MAX_PROPERTIES: usize = 20_000;

/// What is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    pub line: usize,
    pub message: String,
}

impl SyntaxError {
    pub(crate) fn new(line: usize, message: impl Into<String>) -> Self {
        Self { line, message: message.into() }
    }
}
