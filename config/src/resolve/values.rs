//! Texts to values, by Boot's rules (`spec/spring.md` 3.1). Pure functions; `None` means that the text is not such a value.

/// Boot's words for yes and no.
pub(super) fn boolean(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "on" | "yes" | "1" => Some(true),
        "false" | "off" | "no" | "0" => Some(false),
        _ => None,
    }
}

/// A whole number, decimal or `0x...`; no unit, no separators.
pub(super) fn integer(text: &str) -> Option<i64> {
    let text = text.trim();
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) if hex.starts_with(|c: char| c.is_ascii_hexdigit()) => i64::from_str_radix(hex, 16).ok(),
        Some(_) => None,
        None => text.parse().ok(),
    }
}

/// A finite number.
pub(super) fn decimal(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok().filter(|value| value.is_finite())
}

/// `30s`, `500ms`, `PT1M30S`; a bare number is milliseconds. Result in milliseconds, rounded up.
pub(super) fn duration_ms(text: &str) -> Option<u64> {
    let text = text.trim();
    if text.starts_with(['P', 'p']) {
        return iso_duration_ms(&text[1..]);
    }
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..digits].parse().ok()?;
    match text[digits..].trim().to_ascii_lowercase().as_str() {
        "ns" => Some(number.div_ceil(1_000_000)),
        "us" => Some(number.div_ceil(1_000)),
        "ms" | "" => Some(number),
        "s" => number.checked_mul(1_000),
        "m" => number.checked_mul(60_000),
        "h" => number.checked_mul(3_600_000),
        "d" => number.checked_mul(86_400_000),
        _ => None,
    }
}

/// ISO 8601 after its `P`: days, then `T` with hours, minutes and seconds.
fn iso_duration_ms(text: &str) -> Option<u64> {
    let (days, time) = match text.split_once(['T', 't']) {
        Some((days, time)) if !time.is_empty() => (days, time),
        Some(_) => return None,
        None => (text, ""),
    };
    let days = iso_parts(days, &[('D', 86_400_000.0)])?;
    let time = iso_parts(time, &[('H', 3_600_000.0), ('M', 60_000.0), ('S', 1_000.0)])?;
    let total = days? + time?;
    (!text.is_empty() && total <= 1e15).then_some(total.ceil() as u64)
}

/// Sum of numbers with units, units in order; `None` inside if a unit does not fit.
fn iso_parts(mut text: &str, units: &[(char, f64)]) -> Option<Option<f64>> {
    let mut total = 0.0;
    for (unit, ms) in units {
        if let Some((number, rest)) = text.split_once([*unit, unit.to_ascii_lowercase()]) {
            let plain = number.chars().all(|c| c.is_ascii_digit() || c == '.');
            total += number.parse::<f64>().ok().filter(|_| plain)? * ms;
            text = rest;
        }
    }
    Some(text.is_empty().then_some(total))
}

/// `16384`, `16KB`, `1MB`: bytes, with Boot's binary units.
pub(super) fn size_bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..digits].parse().ok()?;
    let shift = match text[digits..].to_ascii_uppercase().as_str() {
        "" | "B" => 0,
        "KB" => 10,
        "MB" => 20,
        "GB" => 30,
        "TB" => 40,
        _ => return None,
    };
    number.checked_mul(1 << shift)
}

/// True if a text is a word in any case, with or without dashes and underscores.
pub(super) fn is_word(text: &str, word: &str) -> bool {
    crate::key::canonical_element(text.trim()) == crate::key::canonical_element(word)
}

/// True if a name sounds like something that must not be shown.
pub(super) fn is_sensitive(name: &str) -> bool {
    let flat = crate::key::canonical_element(name).replace('.', "");
    ["password", "passwd", "passphrase", "secret", "token", "credential", "privatekey", "apikey"]
        .iter()
        .any(|word| flat.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn booleans_are_boot_s() {
        for text in ["true", "ON", "yes", "1", " true "] {
            assert_eq!(boolean(text), Some(true), "{text}");
        }
        for text in ["false", "Off", "no", "0"] {
            assert_eq!(boolean(text), Some(false), "{text}");
        }
        assert_eq!(boolean("maybe"), None);
    }

    #[test]
    fn numbers_have_no_units() {
        let rows = [
            ("5", Some(5)),
            (" 5 ", Some(5)),
            ("-1", Some(-1)),
            ("+7", Some(7)),
            ("0x10", Some(16)),
            ("010", Some(10)),
        ];
        for (text, value) in rows {
            assert_eq!(integer(text), value, "{text}");
        }
        for text in ["30s", "1_0", "", "1.0", "0x", "0x-1", "99999999999999999999"] {
            assert_eq!(integer(text), None, "{text}");
        }
        assert_eq!(decimal("0.5"), Some(0.5));
        assert_eq!((decimal("NaN"), decimal("inf"), decimal("x")), (None, None, None));
    }

    #[test]
    fn durations_and_sizes_have_units() {
        let rows = [
            ("30s", Some(30_000)),
            ("500ms", Some(500)),
            ("2m", Some(120_000)),
            ("1500", Some(1_500)),
            ("1us", Some(1)),
            ("PT30S", Some(30_000)),
            ("PT1M0.5S", Some(60_500)),
            ("P1DT1H", Some(90_000_000)),
            ("pt5m", Some(300_000)),
            ("30 s", Some(30_000)),
            ("PT", None),
            ("P", None),
            ("PT5X", None),
            ("x", None),
            ("-5s", None),
            ("18446744073709551615d", None),
        ];
        for (text, value) in rows {
            assert_eq!(duration_ms(text), value, "{text}");
        }
        let rows = [
            ("16384", Some(16_384)),
            ("16KB", Some(16_384)),
            ("1mb", Some(1 << 20)),
            ("1 MB", None),
            ("KB", None),
            ("99999999TB", None),
        ];
        for (text, value) in rows {
            assert_eq!(size_bytes(text), value, "{text}");
        }
    }

    #[test]
    fn words_and_sensitive_names() {
        assert!(is_word("when_Authorized", "when-authorized") && !is_word("when", "when-authorized"));
        assert!(is_sensitive("EUREKA_PASSWORD") && is_sensitive("db.api-key") && !is_sensitive("zone"));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC{0,30}") {
            let _ = (boolean(&text), integer(&text), decimal(&text), duration_ms(&text), size_bytes(&text));
        }

        #[test]
        fn no_duration_panics(text in "[PpTt0-9.DHMSdhms]{0,30}") {
            let _ = duration_ms(&text);
        }
    }
}
