//! The HTTP edge: one file per resource, and what they share.

pub mod applications;
pub mod base_url;
pub mod batch;
mod batch_refusals;
pub mod body;
pub mod closing;
pub mod compress;
pub mod connections;
pub mod dispatch;
pub mod error;
pub mod groups;
pub mod headers;
pub mod identity;
pub mod instances;
pub mod negotiate;
pub mod pages;
pub mod path;
pub mod pipeline;
pub mod query;
pub mod rate_limiter;
pub mod reply;
pub mod security;
pub mod server;
pub mod serving;
mod split;
pub mod upgrade_offers;
