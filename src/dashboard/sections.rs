//! Two-column tables: names and values.

/// One row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Left.
    pub name: &'static str,
    /// Right.
    pub value: String,
}

impl Row {
    /// A row.
    pub fn new(name: &'static str, value: impl Into<String>) -> Self {
        Self { name, value: value.into() }
    }
}
