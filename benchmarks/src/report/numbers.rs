//! Numbers as people read them.

use crate::stats::Spread;

/// A count with a comma between thousands, rounded to three or four digits that mean something.
#[must_use]
pub fn count(value: f64) -> String {
    if value < 10.0 {
        return format!("{value:.2}");
    }
    if value < 100.0 {
        return format!("{value:.1}");
    }
    let digits = (value.round() as u64).to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A share as percent.
#[must_use]
pub fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// A ratio: as percent, or as a multiple if it is one.
#[must_use]
pub fn share_or_multiple(ratio: f64) -> String {
    if ratio < 2.0 { percent(ratio) } else { format!("{ratio:.1} x") }
}

/// Bytes with a unit.
#[must_use]
pub fn bytes(value: f64) -> String {
    match value {
        v if v >= 1024.0 * 1024.0 => format!("{:.1} MB", v / 1024.0 / 1024.0),
        v if v >= 1024.0 => format!("{:.1} KB", v / 1024.0),
        v => format!("{v:.0} B"),
    }
}

/// Milliseconds with as many digits as they deserve.
#[must_use]
pub fn millis(value: f64) -> String {
    match value {
        v if v >= 100.0 => format!("{v:.0} ms"),
        v if v >= 10.0 => format!("{v:.1} ms"),
        v => format!("{v:.2} ms"),
    }
}

/// A rate with its spread.
#[must_use]
pub fn rate(spread: &Spread) -> String {
    format!("{}/s ±{:.0} %", count(spread.median), spread.percent())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!(count(1234567.4), "1,234,567");
        assert_eq!(count(999.6), "1,000");
        assert_eq!(count(12.34), "12.3");
        assert_eq!(percent(0.849), "85 %");
        assert_eq!(bytes(3.5 * 1024.0), "3.5 KB");
        assert_eq!(millis(0.123), "0.12 ms");
    }
}
