//! Text that is borrowed from the bytes it is read from, wherever it stands.
//!
//! `Cow<str>` is, but only as a field of its own: inside an `Option`, a tuple or a list serde always makes a copy.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use heureka_protocol::Metadata;
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// A piece of text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Text<'a>(Cow<'a, str>);

impl Text<'_> {
    /// A copy that borrows from nothing.
    #[must_use]
    pub fn into_box(self) -> Box<str> {
        self.0.into()
    }
}

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Text<'_> {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(text: &'a str) -> Self {
        Self(Cow::Borrowed(text))
    }
}

impl From<String> for Text<'_> {
    fn from(text: String) -> Self {
        Self(Cow::Owned(text))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("text")
    }

    fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(text.into())
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(text.to_owned().into())
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<Self::Value, E> {
        Ok(text.into())
    }
}

/// Entries in their order, which documents show.
pub(super) fn entries_of(metadata: &Metadata) -> Vec<(Text<'_>, Text<'_>)> {
    metadata.iter().map(|(key, value)| (key.into(), value.into())).collect()
}

/// The other way round.
pub(super) fn metadata_of(entries: &[(Text<'_>, Text<'_>)]) -> Metadata {
    let text_bytes = entries.iter().map(|(key, value)| key.len() + value.len()).sum();
    let mut metadata = Metadata::with_capacity(entries.len(), text_bytes);
    entries.iter().for_each(|(key, value)| metadata.insert(key, value));
    metadata
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stored::{from_payload, to_payload};

    #[derive(Serialize, Deserialize)]
    struct Places<'a> {
        #[serde(borrow)]
        option: Option<Text<'a>>,
        #[serde(borrow)]
        pairs: Vec<(Text<'a>, Text<'a>)>,
    }

    #[test]
    fn text_is_borrowed_wherever_it_stands() {
        let places = Places { option: Some("a".into()), pairs: vec![("b".into(), "c".into())] };
        let payload = to_payload(&places).unwrap();
        let read: Places<'_> = from_payload(&payload).unwrap();
        let texts = [read.option.as_ref().unwrap(), &read.pairs[0].0, &read.pairs[0].1];
        assert_eq!(texts.map(|text| text.to_string()), ["a", "b", "c"]);
        assert!(texts.iter().all(|text| matches!(text.0, Cow::Borrowed(_))), "{texts:?}");
        let escaped: Text<'_> = serde_json::from_str(r#""a\u0062""#).unwrap();
        assert_eq!(escaped, Text::from("ab"));
    }
}
