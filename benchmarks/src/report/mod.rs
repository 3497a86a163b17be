//! Results, and how they are printed.

mod figure;
mod markdown;
pub mod numbers;
mod section;
mod svg;

pub use figure::{Figure, Verdict};
pub use markdown::table;
pub use section::{Findings, Plot, Section, Series};
pub use svg::svg;
