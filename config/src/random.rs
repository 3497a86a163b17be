//! `${random.*}`: a value that is new each time (`spec/spring.md` 3.2). Not for secrets.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

/// The value of a name such as `random.int[1,9]`, or `None` if it does not begin with `random.`.
///
/// # Errors
/// Says what is wrong with a range.
pub(crate) fn random_value(name: &str) -> Option<Result<String, String>> {
    let what = name.strip_prefix("random.")?;
    Some(match what {
        "uuid" => Ok(uuid()),
        "int" => Ok((random_bits() as i32).to_string()),
        "long" => Ok((random_bits() as i64).to_string()),
        _ => match what.strip_prefix("int").or_else(|| what.strip_prefix("long")) {
            Some(range) if !range.is_empty() => in_range(range),
            _ => Ok(format!("{:016x}{:016x}", random_bits(), random_bits())),
        },
    })
}

/// `(max)`, `(min,max)` or `[min,max]`; the maximum itself is never chosen.
fn in_range(range: &str) -> Result<String, String> {
    let wrong = || "a range is (max) or [min,max] with min < max".to_owned();
    let mut inside = range.chars();
    let (Some(_), Some(_)) = (inside.next(), inside.next_back()) else { return Err(wrong()) };
    let number = |text: &str| text.trim().parse::<i64>().map_err(|_| wrong());
    let (min, max) = match inside.as_str().split_once(',') {
        Some((min, max)) => (number(min)?, number(max)?),
        None => (0, number(inside.as_str())?),
    };
    if min >= max {
        return Err(wrong());
    }
    let width = i128::from(max) - i128::from(min);
    Ok((i128::from(min) + i128::from(random_bits()) % width).to_string())
}

/// A random identifier in the form of RFC 9562, version 4.
fn uuid() -> String {
    let high = (random_bits() & !0xf000) | 0x4000;
    let low = (random_bits() & !(0b11 << 62)) | (0b10 << 62);
    let (a, b, c) = (high >> 32, (high >> 16) & 0xffff, high & 0xffff);
    format!("{a:08x}-{b:04x}-{c:04x}-{:04x}-{:012x}", low >> 48, low & 0xffff_ffff_ffff)
}

/// The standard library seeds each hasher differently; that is random enough for ports and ids and needs no crate.
fn random_bits() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(name: &str) -> String {
        random_value(name).unwrap().unwrap()
    }

    #[test]
    fn ranges_are_kept() {
        for _ in 0..200 {
            assert!((0..10).contains(&value("random.int(10)").parse::<i64>().unwrap()));
            assert!((5..7).contains(&value("random.int[5,7]").parse::<i64>().unwrap()));
            assert!((5..7).contains(&value("random.long(5,7)").parse::<i64>().unwrap()));
        }
        assert!(value("random.int").parse::<i32>().is_ok());
    }

    #[test]
    fn ids_have_their_form_and_differ() {
        let id = value("random.uuid");
        assert_eq!(id.len(), 36);
        assert_eq!(id.as_bytes()[14], b'4');
        assert!(matches!(id.as_bytes()[19], b'8' | b'9' | b'a' | b'b'), "{id}");
        assert_ne!(id, value("random.uuid"));
        assert_eq!(value("random.value").len(), 32);
    }

    #[test]
    fn bad_ranges_are_refused_and_other_names_are_not_ours() {
        for name in [
            "random.int(0)",
            "random.int[7,5]",
            "random.int(x)",
            "random.int(",
            "random.long[1,2,3]",
            "random.intx",
        ] {
            assert!(random_value(name).unwrap().is_err(), "{name}");
        }
        assert!(random_value("server.port").is_none());
    }
}
