//! The start page and the page of the last events (spec `spring.md` 2), for people and for the scrapers they have written.
//!
//! Headings, table ids and body ids are those of Spring's pages; everything else is our own. A page is made from one view
//! of the registry, on a thread that answers no heartbeats, and every value in it is escaped by the template engine. The
//! pages never change anything and never show credentials.

mod banner;
mod figures;
pub mod files;
mod frame;
mod histories;
mod instances;
mod links;
mod numbers;
mod peers;
mod regions;
mod render;
mod sections;
mod visible;

pub use render::{last_n, status};
