//! Where an instance runs.

use heureka_protocol::DataCenter;
use serde::{Deserialize, Serialize};

use super::text::{Text, entries_of, metadata_of};

/// Data centre of an instance.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum StoredDataCenter<'a> {
    /// Own machines.
    #[default]
    MyOwn,
    /// Netflix' own.
    Netflix,
    /// Amazon, with what the instance says of itself.
    Amazon(#[serde(borrow)] Vec<(Text<'a>, Text<'a>)>),
}

impl<'a> From<&'a DataCenter> for StoredDataCenter<'a> {
    fn from(data_center: &'a DataCenter) -> Self {
        match data_center {
            DataCenter::MyOwn => Self::MyOwn,
            DataCenter::Netflix => Self::Netflix,
            DataCenter::Amazon(metadata) => Self::Amazon(entries_of(metadata)),
        }
    }
}

impl From<StoredDataCenter<'_>> for DataCenter {
    fn from(data_center: StoredDataCenter<'_>) -> Self {
        match data_center {
            StoredDataCenter::MyOwn => Self::MyOwn,
            StoredDataCenter::Netflix => Self::Netflix,
            StoredDataCenter::Amazon(entries) => Self::Amazon(Box::new(metadata_of(&entries))),
        }
    }
}
