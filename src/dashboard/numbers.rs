//! How figures and times are written on the pages.

use chrono::{DateTime, Local, TimeZone};

/// A number with its digits in groups of three, as Java prints the threshold: `1,191`.
pub fn grouped(number: impl Into<i64>) -> String {
    let number = number.into();
    let digits = number.unsigned_abs().to_string();
    let mut text = String::from(if number < 0 { "-" } else { "" });
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with its digits in groups of three.
pub fn grouped_count(count: u64) -> String {
    grouped(i64::try_from(count).unwrap_or(i64::MAX))
}

/// A moment in the server's time zone, in the pattern of Spring's "Current time": `2026-01-31T09:05:00 +0100`.
pub fn current_time(wall_ms: i64) -> String {
    local(wall_ms).map_or_else(String::new, |time| time.format("%Y-%m-%dT%H:%M:%S %z").to_string())
}

/// A moment in the server's time zone, for lists.
pub fn event_time(wall_ms: i64) -> String {
    local(wall_ms).map_or_else(String::new, |time| time.format("%Y-%m-%d %H:%M:%S").to_string())
}

fn local(wall_ms: i64) -> Option<DateTime<Local>> {
    Local.timestamp_millis_opt(wall_ms).single()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_from_the_right() {
        let cases = [(0, "0"), (999, "999"), (1191, "1,191"), (-1_000_000, "-1,000,000"), (12_345, "12,345")];
        for (number, text) in cases {
            assert_eq!(grouped(number), text);
        }
        assert_eq!(grouped_count(u64::MAX), "9,223,372,036,854,775,807");
    }

    #[test]
    fn times_have_the_pattern_of_the_page_and_nonsense_has_none() {
        let time = current_time(1_700_000_000_000);
        let pattern: String = time
            .chars()
            .map(|c| if c.is_ascii_digit() { '0' } else { c })
            .collect::<String>()
            .replace('-', "+");
        assert_eq!(pattern, "0000+00+00T00:00:00 +0000", "{time}");
        assert_eq!(event_time(i64::MAX), "");
    }
}
