//! What was found, for the operator: files, profiles, remarks, and every effective value with its source.

use std::fmt::{self, Write};

/// How the settings came about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Files that were read, lowest precedence first.
    pub files: Vec<String>,
    /// Active profiles, lowest precedence first; `default` if none was chosen.
    pub profiles: Vec<String>,
    /// What to tell once at start.
    pub notices: Vec<Notice>,
    pub(crate) effective: Vec<Effective>,
}

impl Report {
    /// Files and profiles in one line.
    pub fn places(&self) -> String {
        let files =
            if self.files.is_empty() { "none, defaults hold".to_owned() } else { self.files.join(", ") };
        format!("configuration files: {files}; profiles: {}", self.profiles.join(", "))
    }

    /// Every key that acts with its value (secrets masked) and its source: what `heureka config` prints.
    pub fn effective(&self) -> &[Effective] {
        &self.effective
    }

    /// Notices that deserve attention.
    pub fn warnings(&self) -> impl Iterator<Item = &Notice> {
        self.notices.iter().filter(|notice| notice.severity == Severity::Warning)
    }
}

/// One line of `heureka config`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effective {
    /// Documented name; a map has one line per entry.
    pub key: String,
    /// What holds now, masked if it is a secret.
    pub value: String,
    /// `default`, or where the value stands.
    pub source: String,
}

impl fmt::Display for Effective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = if self.value.is_empty() { "\"\"" } else { &self.value };
        write!(f, "{} = {}   ({})", OneLine(&self.key), OneLine(value), OneLine(&self.source))
    }
}

/// Text on one line: a value must not look like a further setting, nor steer the terminal.
struct OneLine<'a>(&'a str);

impl fmt::Display for OneLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_hidden = |c: char| {
            c.is_control()
                || matches!(c, '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
        };
        self.0.chars().try_for_each(|c| match is_hidden(c) {
            true => write!(f, "{}", c.escape_default()),
            false => f.write_char(c),
        })
    }
}

/// How much a notice matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Good to know: a key that has no meaning here, and why.
    Info,
    /// Probably not what was meant.
    Warning,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Info => "note",
            Self::Warning => "warning",
        })
    }
}

/// A remark on one key or file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// How much it matters.
    pub severity: Severity,
    /// The key as written, or the location.
    pub key: String,
    /// Where it stands.
    pub source: String,
    /// The remark.
    pub message: String,
}

impl Notice {
    pub(crate) fn info(
        key: impl Into<String>,
        source: impl fmt::Display,
        message: impl Into<String>,
    ) -> Self {
        Self {
            severity: Severity::Info,
            key: key.into(),
            source: source.to_string(),
            message: message.into(),
        }
    }

    pub(crate) fn warning(
        key: impl Into<String>,
        source: impl fmt::Display,
        message: impl Into<String>,
    ) -> Self {
        Self {
            severity: Severity::Warning,
            key: key.into(),
            source: source.to_string(),
            message: message.into(),
        }
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A variable's own name is all that there is to say of its place.
        if self.source.ends_with(&format!(" variable {}", self.key)) {
            return write!(f, "{}: {}", OneLine(&self.source), OneLine(&self.message));
        }
        write!(f, "{} ({}): {}", OneLine(&self.key), OneLine(&self.source), OneLine(&self.message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_cannot_fake_a_line_or_steer_the_terminal() {
        let value = "a\nserver.port = 1   (default)\u{1b}[2J\u{202e}é \\n".to_owned();
        let line = Effective { key: "k".into(), value: value.clone(), source: "s".into() }.to_string();
        assert_eq!(line, "k = a\\nserver.port = 1   (default)\\u{1b}[2J\\u{202e}é \\n   (s)");
        let notice = Notice::warning("k", "s", value).to_string();
        assert!(!notice.contains(['\n', '\u{1b}', '\u{202e}']), "{notice}");
    }
}
