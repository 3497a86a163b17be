//! Results, and how they are printed.

mod figure;
mod markdown;
pub mod numbers;

pub use figure::{Figure, Verdict};
pub use markdown::table;
