//! Keys of a store. Part of the format: they sort by kind, then by application, and never change.
//!
//! `kind`, then for everything that belongs to an instance two bytes (big endian) with the length of the application's
//! name, the name, and the id. Names and ids may hold any character, so nothing is used as a separator.

/// A key, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key<'a> {
    /// What is known of the whole store.
    Meta,
    /// An instance with its lease.
    Instance(Name<'a>),
    /// A status override.
    Override(Name<'a>),
    /// A cancelled instance.
    Tombstone(Name<'a>),
    /// Last signs of life of a part of the instances.
    Seen(u16),
}

/// Whose key it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name<'a> {
    /// Application.
    pub app: &'a str,
    /// Instance.
    pub id: &'a str,
}

/// What a key stands for; the discriminant is its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// See [`Key::Instance`].
    Instance = b'i',
    /// See [`Key::Meta`].
    Meta = b'm',
    /// See [`Key::Override`].
    Override = b'o',
    /// See [`Key::Seen`].
    Seen = b's',
    /// See [`Key::Tombstone`].
    Tombstone = b't',
}

impl Kind {
    /// All kinds in the order of their keys.
    pub const ALL: [Self; 5] = [Self::Instance, Self::Meta, Self::Override, Self::Seen, Self::Tombstone];

    /// What all keys of this kind begin with.
    #[must_use]
    pub const fn prefix(self) -> [u8; 1] {
        [self as u8]
    }

    /// The kind of a key.
    #[must_use]
    pub fn of(key: &[u8]) -> Option<Self> {
        let first = *key.first()?;
        Self::ALL.into_iter().find(|kind| *kind as u8 == first)
    }
}

impl<'a> Key<'a> {
    /// The bytes. `None` if the name of the application is longer than two bytes can say.
    #[must_use]
    pub fn to_bytes(self) -> Option<Vec<u8>> {
        match self {
            Self::Meta => Some(vec![Kind::Meta as u8]),
            Self::Seen(part) => {
                let [high, low] = part.to_be_bytes();
                Some(vec![Kind::Seen as u8, high, low])
            }
            Self::Instance(name) => name.under(Kind::Instance),
            Self::Override(name) => name.under(Kind::Override),
            Self::Tombstone(name) => name.under(Kind::Tombstone),
        }
    }

    /// Takes bytes apart; `None` if they are no key.
    #[must_use]
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let rest = bytes.get(1..)?;
        match Kind::of(bytes)? {
            Kind::Meta => rest.is_empty().then_some(Self::Meta),
            Kind::Seen => Some(Self::Seen(u16::from_be_bytes(rest.try_into().ok()?))),
            Kind::Instance => Name::parse(rest).map(Self::Instance),
            Kind::Override => Name::parse(rest).map(Self::Override),
            Kind::Tombstone => Name::parse(rest).map(Self::Tombstone),
        }
    }
}

impl<'a> Name<'a> {
    fn under(self, kind: Kind) -> Option<Vec<u8>> {
        let length = u16::try_from(self.app.len()).ok()?;
        let mut bytes = Vec::with_capacity(3 + self.app.len() + self.id.len());
        bytes.push(kind as u8);
        bytes.extend_from_slice(&length.to_be_bytes());
        bytes.extend_from_slice(self.app.as_bytes());
        bytes.extend_from_slice(self.id.as_bytes());
        Some(bytes)
    }

    fn parse(rest: &'a [u8]) -> Option<Self> {
        let (length, rest) = rest.split_first_chunk::<2>()?;
        let (app, id) = rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
        Some(Self { app: str::from_utf8(app).ok()?, id: str::from_utf8(id).ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_back_whatever_the_names_hold() {
        for (app, id) in [("SHOP", "host:shop:8080"), ("", ""), ("A", ""), ("", "a"), ("ÄÖ\0/", "x\0y z")] {
            let name = Name { app, id };
            for key in [Key::Instance(name), Key::Override(name), Key::Tombstone(name)] {
                assert_eq!(Key::parse(&key.to_bytes().unwrap()), Some(key));
            }
        }
        for key in [Key::Meta, Key::Seen(0), Key::Seen(0x1234)] {
            assert_eq!(Key::parse(&key.to_bytes().unwrap()), Some(key));
        }
    }

    #[test]
    fn names_that_read_alike_have_different_keys() {
        let one = Key::Instance(Name { app: "AB", id: "C" }).to_bytes();
        let other = Key::Instance(Name { app: "A", id: "BC" }).to_bytes();
        assert_ne!(one, other);
    }

    #[test]
    fn what_is_no_key_is_refused() {
        for bytes in
            [&b""[..], b"x", b"i", b"i\0", b"i\0\x05SHOP", b"i\0\x01\xFFa", b"s\0", b"s\0\0\0", b"mm"]
        {
            assert_eq!(Key::parse(bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn a_name_beyond_two_bytes_has_no_key() {
        let app = "A".repeat(usize::from(u16::MAX) + 1);
        assert_eq!(Key::Instance(Name { app: &app, id: "x" }).to_bytes(), None);
    }
}
