//! What a row of `differences.rs` is made of.

use super::case::Case;
use super::expected::Expected;

/// Names of exchanges, by scenario; a `*` at either end of a name stands for any text.
pub(crate) type Names = &'static [(&'static str, &'static [&'static str])];

/// One difference that is meant.
pub(crate) struct Difference {
    /// Short name for reports.
    pub(crate) id: &'static str,
    /// What the Java server answers.
    pub(crate) java: &'static str,
    /// What Heureka answers instead.
    pub(crate) heureka: &'static str,
    /// The reason: section of the specification or decision of the design.
    pub(crate) why: &'static str,
    /// The exchanges that it is about.
    pub(crate) of: Select,
    /// Turns the requirement into the other one.
    pub(crate) change: fn(&Case<'_>, &mut Expected),
}

/// Which exchanges a difference is about.
pub(crate) enum Select {
    /// Those of these names.
    Named(Names),
    /// Those that fulfil a condition.
    Where(fn(&Case<'_>, &Expected) -> bool),
}
