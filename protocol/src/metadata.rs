//! Free text entries of an instance or of an Amazon data centre.

/// Room for what an instance usually says, until `shrink` gives the rest back.
const USUAL_BYTES: usize = 256;
const USUAL_ENDS: usize = 16;

/// A small ordered map of text to text: keys are unique, the order of first insertion is kept.
///
/// All keys and values stand in one text. Instances carry a handful of entries, are written far more often than asked, and
/// are kept by the hundred thousand: two allocations in all cost less than two for each entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// Key, value, key, value.
    text: String,
    /// Where each of them ends.
    ends: Vec<u32>,
}

impl Metadata {
    /// No entries.
    #[must_use]
    pub const fn new() -> Self {
        Self { text: String::new(), ends: Vec::new() }
    }

    /// No entries, and room for so many of them with so many bytes of text.
    #[must_use]
    pub fn with_capacity(entries: usize, text_bytes: usize) -> Self {
        Self { text: String::with_capacity(text_bytes), ends: Vec::with_capacity(entries * 2) }
    }

    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&str> {
        self.iter().find(|(known, _)| *known == key).map(|(_, value)| value)
    }

    /// Adds an entry or replaces the value of a key that is there.
    pub fn insert(&mut self, key: impl AsRef<str>, value: impl AsRef<str>) {
        let (key, value) = (key.as_ref(), value.as_ref());
        let Some(index) = self.iter().position(|(known, _)| known == key) else {
            if self.ends.capacity() == 0 {
                self.text.reserve(USUAL_BYTES);
                self.ends.reserve(USUAL_ENDS);
            }
            for part in [key, value] {
                self.text.push_str(part);
                self.ends.push(u32::try_from(self.text.len()).unwrap_or(u32::MAX));
            }
            return;
        };
        let changed = |(place, (key, old))| if place == index { (key, value) } else { (key, old) };
        let mut all = Self::new();
        // Keys are unique already, so nothing is replaced again.
        self.iter().enumerate().map(changed).for_each(|(key, value)| all.insert(key, value));
        *self = all;
    }

    /// Entries in insertion order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        let mut start = 0;
        self.ends.chunks_exact(2).map(move |ends| {
            let (middle, end) = (ends[0] as usize, ends[1] as usize);
            let entry = (&self.text[start..middle], &self.text[middle..end]);
            start = end;
            entry
        })
    }

    /// Number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len() / 2
    }

    /// True if there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Bytes of all keys and values together.
    #[must_use]
    pub fn text_bytes(&self) -> usize {
        self.text.len()
    }

    /// Gives back spare room; call it once a map is complete.
    pub fn shrink(&mut self) {
        self.text.shrink_to_fit();
        self.ends.shrink_to_fit();
    }
}

impl<K: AsRef<str>, V: AsRef<str>> FromIterator<(K, V)> for Metadata {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = Self::new();
        for (key, value) in entries {
            map.insert(key, value);
        }
        map.shrink();
        map
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_keeps_its_place_and_takes_the_last_value() {
        let mut map: Metadata = [("a", "1"), ("", "empty"), ("b", ""), ("a", "long")].into_iter().collect();
        assert!(map.iter().eq([("a", "long"), ("", "empty"), ("b", "")]));
        map.insert("b", "2");
        map.insert("c", "я");
        assert_eq!(
            (map.get("b"), map.get("c"), map.get(""), map.get("x")),
            (Some("2"), Some("я"), Some("empty"), None)
        );
        assert_eq!(
            (map.len(), map.text_bytes()),
            (4, "along".len() + "empty".len() + "b2".len() + "cя".len())
        );
        assert_eq!(map, map.iter().collect());
        assert!(Metadata::new().is_empty() && Metadata::new().iter().next().is_none());
    }
}
