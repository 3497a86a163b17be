//! Plain JSON values as the Java server takes them: numbers for texts, texts for numbers (spec `wire.md` 3.2).
//!
//! A value is looked at in its raw form, so that `1.10` given for a text stays `1.10` and no number is too large to be
//! passed over.

use std::borrow::Cow;
use std::fmt;

use serde_json::value::RawValue;

use crate::text::Excerpt;

/// A value that is neither an object nor a list.
pub(super) enum Scalar<'de> {
    Null,
    Bool(bool),
    /// The digits as they stand in the body.
    Number(&'de str),
    Text(Cow<'de, str>),
}

/// Why a raw value is no scalar.
pub(super) enum NoScalar {
    Object,
    List,
    /// A text with half a surrogate pair.
    BadEscape,
}

impl fmt::Display for NoScalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Object => "an object",
            Self::List => "a list",
            Self::BadEscape => "a text with an invalid escape",
        })
    }
}

impl<'de> Scalar<'de> {
    /// Classifies a raw value; the parser has already made sure that it is well-formed.
    pub(super) fn from_raw(raw: &'de RawValue) -> Result<Self, NoScalar> {
        let raw = raw.get();
        match raw.as_bytes() {
            [b'{', ..] => Err(NoScalar::Object),
            [b'[', ..] => Err(NoScalar::List),
            [b'n', ..] => Ok(Self::Null),
            [b't', ..] => Ok(Self::Bool(true)),
            [b'f', ..] => Ok(Self::Bool(false)),
            [b'"', inner @ .., b'"'] if !inner.contains(&b'\\') => {
                Ok(Self::Text(Cow::Borrowed(&raw[1..raw.len() - 1])))
            }
            [b'"', ..] => match serde_json::from_str(raw) {
                Ok(text) => Ok(Self::Text(Cow::Owned(text))),
                Err(_) => Err(NoScalar::BadEscape),
            },
            _ => Ok(Self::Number(raw)),
        }
    }

    /// The value as a text; `None` for null.
    pub(super) fn into_text(self) -> Option<Cow<'de, str>> {
        match self {
            Self::Null => None,
            Self::Bool(true) => Some(Cow::Borrowed("true")),
            Self::Bool(false) => Some(Cow::Borrowed("false")),
            Self::Number(digits) => Some(Cow::Borrowed(digits)),
            Self::Text(text) => Some(text),
        }
    }

    /// The value as a flag: `true`, the text `true` with blanks around it, or a whole number other than 0.
    pub(super) fn as_flag(&self) -> bool {
        match self {
            Self::Null => false,
            Self::Bool(flag) => *flag,
            Self::Number(digits) => digits.parse::<i64>().is_ok_and(|number| number != 0),
            Self::Text(text) => text.trim() == "true",
        }
    }

    /// The value as a whole number.
    pub(super) fn as_number(&self) -> Number {
        match self {
            Self::Null => Number::Absent,
            Self::Bool(flag) => Number::Whole(i64::from(*flag)),
            Self::Number(digits) => Number::parse(digits),
            Self::Text(text) => Number::parse(text.trim()),
        }
    }
}

/// How a value looks in an error message.
impl fmt::Display for Scalar<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(flag) => write!(f, "{flag}"),
            Self::Number(digits) => f.write_str(digits),
            Self::Text(text) => write!(f, "{}", Excerpt(text)),
        }
    }
}

/// What a value says as a whole number.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Number {
    /// Null.
    Absent,
    /// A text that is no number.
    Word,
    /// A number, its fraction cut off.
    Whole(i64),
    /// A number beyond 64 bits.
    TooLarge,
}

impl Number {
    fn parse(text: &str) -> Self {
        let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
        if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return text.parse().map_or(Self::TooLarge, Self::Whole);
        }
        // Rust also reads words such as "inf" as floating point numbers.
        let looks_numeric = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.');
        match text.parse::<f64>() {
            Ok(number) if looks_numeric => Self::from_float(number),
            _ => Self::Word,
        }
    }

    /// Cuts the fraction off.
    fn from_float(number: f64) -> Self {
        let whole = number.trunc();
        // 2^63 itself does not fit, and every float below it does.
        let fits = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&whole);
        if fits { Self::Whole(whole as i64) } else { Self::TooLarge }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_numbers_are_read_as_jackson_reads_them() {
        let cases = [
            ("81", Number::Whole(81)),
            ("-5", Number::Whole(-5)),
            ("+5", Number::Whole(5)),
            ("80.7", Number::Whole(80)),
            ("-80.7", Number::Whole(-80)),
            ("1e3", Number::Whole(1000)),
            (".5", Number::Whole(0)),
            ("9223372036854775807", Number::Whole(i64::MAX)),
            ("-9223372036854775808", Number::Whole(i64::MIN)),
            ("9223372036854775808", Number::TooLarge),
            ("9223372036854775808.0", Number::TooLarge),
            ("1e999", Number::TooLarge),
            ("", Number::Word),
            ("-", Number::Word),
            ("abc", Number::Word),
            ("inf", Number::Word),
            ("NaN", Number::Word),
            ("0x10", Number::Word),
            ("1 2", Number::Word),
        ];
        for (text, number) in cases {
            assert_eq!(Number::parse(text), number, "{text}");
        }
    }
}
