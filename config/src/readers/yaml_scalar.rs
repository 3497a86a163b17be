//! What a plain YAML scalar becomes when Boot reads it: `SnakeYAML` gives it a type by the rules of YAML 1.1, and the
//! binder turns it back into text. `yes` becomes `true`, `010` becomes `8`, `1.10` becomes `1.1`. Quoted scalars are text.
//!
//! Users' files were made to work with exactly this, so it is copied (checked against Boot 4.0.7).

/// The text of a plain scalar.
pub(crate) fn plain_scalar(text: &str) -> String {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return String::new(),
        "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => return "true".into(),
        "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => return "false".into(),
        _ => {}
    }
    let numeric = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.'));
    if !numeric {
        return text.to_owned();
    }
    integer(text).or_else(|| float(text)).unwrap_or_else(|| text.to_owned())
}

fn integer(text: &str) -> Option<String> {
    let (negative, digits) = match text.strip_prefix(['+', '-']) {
        Some(rest) => (text.starts_with('-'), rest),
        None => (false, text),
    };
    let magnitude = if let Some(hex) = digits.strip_prefix("0x") {
        radix(hex, 16)?
    } else if let Some(binary) = digits.strip_prefix("0b") {
        radix(binary, 2)?
    } else if digits == "0" {
        0
    } else if let Some(octal) = digits.strip_prefix('0') {
        radix(octal, 8)?
    } else if digits.contains(':') {
        sexagesimal(digits)?
    } else {
        return decimal(digits).map(|kept| if negative { format!("-{kept}") } else { kept });
    };
    Some(if negative && magnitude != 0 { format!("-{magnitude}") } else { magnitude.to_string() })
}

/// Decimals may be longer than any machine integer.
fn decimal(digits: &str) -> Option<String> {
    let starts_well = digits.starts_with(|c: char| c.is_ascii_digit());
    let kept: String = digits.chars().filter(|c| *c != '_').collect();
    (starts_well && kept.chars().all(|c| c.is_ascii_digit())).then_some(kept)
}

fn radix(digits: &str, base: u32) -> Option<u128> {
    let kept: String = digits.chars().filter(|c| *c != '_').collect();
    let plain = !kept.is_empty() && kept.chars().all(|c| c.is_digit(base));
    plain.then(|| u128::from_str_radix(&kept, base).ok()).flatten()
}

/// `1:30` is 90: YAML 1.1 counts in sixties.
fn sexagesimal(digits: &str) -> Option<u128> {
    let (first, rest) = digits.split_once(':')?;
    let mut value: u128 = decimal(first)?.parse().ok()?;
    for part in rest.split(':') {
        value = value.checked_mul(60)?.checked_add(u128::from(sixtieth(part)?))?;
    }
    Some(value)
}

/// One or two digits below 60.
fn sixtieth(part: &str) -> Option<u8> {
    let plain = matches!(part.len(), 1 | 2) && part.bytes().all(|b| b.is_ascii_digit());
    part.parse().ok().filter(|number| plain && *number < 60)
}

fn float(text: &str) -> Option<String> {
    match text {
        "-.inf" | "-.Inf" | "-.INF" => return Some("-Infinity".into()),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => return Some("Infinity".into()),
        ".nan" | ".NaN" | ".NAN" => return Some("NaN".into()),
        _ => {}
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let value = if unsigned.contains(':') { sexagesimal_float(unsigned)? } else { plain_float(unsigned)? };
    Some(java_double(if text.starts_with('-') { -value } else { value }))
}

/// Digits with a point, an exponent or both.
fn plain_float(unsigned: &str) -> Option<f64> {
    let starts_well =
        unsigned.strip_prefix('.').unwrap_or(unsigned).starts_with(|c: char| c.is_ascii_digit());
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let good_exponent = exponent.is_none_or(|e| digits(e.strip_prefix(['+', '-']).unwrap_or(e)));
    let good_mantissa = mantissa.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '_'));
    if !starts_well || !good_exponent || !good_mantissa || !unsigned.contains(['.', 'e', 'E']) {
        return None;
    }
    unsigned.replace('_', "").parse().ok()
}

/// `190:20:30.15`: the last part has a point.
fn sexagesimal_float(unsigned: &str) -> Option<f64> {
    let (whole, fraction) = unsigned.split_once('.')?;
    let fraction: String = fraction.chars().filter(|c| *c != '_').collect();
    let (before, last) = whole.rsplit_once(':')?;
    let before = if before.contains(':') { sexagesimal(before)? } else { decimal(before)?.parse().ok()? };
    let last: f64 = format!("{}.{fraction}", sixtieth(last)?).parse().ok()?;
    (fraction.bytes().all(|b| b.is_ascii_digit())).then_some(before as f64 * 60.0 + last)
}

/// A number as Java prints a `double`.
pub(crate) fn java_double(value: f64) -> String {
    let magnitude = value.abs();
    if value.is_infinite() {
        return if value > 0.0 { "Infinity".into() } else { "-Infinity".into() };
    }
    if value == 0.0 || (1e-3..1e7).contains(&magnitude) {
        return format!("{value:?}");
    }
    let scientific = format!("{value:e}");
    match scientific.split_once('e') {
        Some((mantissa, exponent)) if mantissa.contains('.') => format!("{mantissa}E{exponent}"),
        Some((mantissa, exponent)) => format!("{mantissa}.0E{exponent}"),
        None => scientific,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn scalars_read_as_boot_reads_them() {
        let table = [
            ("010", "8"),
            ("1_000", "1000"),
            ("1.10", "1.1"),
            ("yes", "true"),
            ("off", "false"),
            ("0x1F", "31"),
            ("1e3", "1000.0"),
            ("1:30", "90"),
            ("2024-01-02", "2024-01-02"),
            ("~", ""),
            ("null", ""),
            ("", ""),
            ("12345678901234567890", "12345678901234567890"),
            ("+5", "5"),
            (".5", "0.5"),
            (".inf", "Infinity"),
            ("1.0", "1.0"),
            ("100000000.0", "1.0E8"),
            ("0.0001", "1.0E-4"),
            ("0o17", "0o17"),
            ("-07", "-7"),
            ("089", "089"),
            ("8761", "8761"),
            ("0", "0"),
            ("10.0.0.1", "10.0.0.1"),
            ("peer1", "peer1"),
            ("-", "-"),
            (".", "."),
            ("1:99", "1:99"),
            ("190:20:30.15", "685230.15"),
            ("1e400", "Infinity"),
            ("+_874.", "+_874."),
            ("28414:2_", "28414:2_"),
            ("-.5", "-0.5"),
        ];
        for (written, read) in table {
            assert_eq!(plain_scalar(written), read, "{written}");
        }
    }

    proptest! {
        #[test]
        fn no_scalar_panics(text in "[0-9a-fx_:.+\\-eE]{0,40}") {
            let _ = plain_scalar(&text);
        }
    }
}
