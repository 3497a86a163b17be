//! The materialised view and its documents: pure data, built by the `CacheActor`, shared by every reader.

pub mod app_view;
mod crc;
pub mod document;
pub mod entry;
pub mod memo;
pub mod mirror;
pub mod piece;
mod sharded;
pub mod union;
pub mod view;
mod vip_view;
mod vips;

pub use app_view::AppView;
pub use document::Document;
pub use entry::Entry;
pub use memo::{Encoding, Scope, Variant};
pub use mirror::MirrorWriter;
pub use piece::gzip;
pub use sharded::Sharded;
pub use union::{Mirror, Union, Whitelist};
pub use view::View;
