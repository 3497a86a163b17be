//! Where an instance runs.

use std::borrow::Cow;

use heureka_protocol::{DataCenter, Metadata};
use serde::{Deserialize, Serialize};

/// Data centre of an instance.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum StoredDataCenter<'a> {
    /// Own machines.
    #[default]
    MyOwn,
    /// Netflix' own.
    Netflix,
    /// Amazon, with what the instance says of itself.
    Amazon(#[serde(borrow)] Vec<(Cow<'a, str>, Cow<'a, str>)>),
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
            StoredDataCenter::Amazon(entries) => Self::Amazon(Box::new(entries.into_iter().collect())),
        }
    }
}

/// Entries in their order, which documents show.
pub(super) fn entries_of(metadata: &Metadata) -> Vec<(Cow<'_, str>, Cow<'_, str>)> {
    metadata.iter().map(|(key, value)| (Cow::Borrowed(key), Cow::Borrowed(value))).collect()
}
