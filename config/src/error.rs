//! Why a configuration cannot be used.
//!
//! Every message stands alone: the key, the value that was found (masked if it is a secret), where it stands, what would be
//! right. No retry helps; somebody has to change a file, a variable or an argument.

use std::fmt;
use std::io;

/// A configuration that must not start a node.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// Values that are wrong, all of them at once.
    #[error("{}", all(.0))]
    Invalid(Vec<Problem>),
    /// A file that is not YAML, properties or JSON.
    #[error("{place}, line {line}: {message}")]
    Syntax {
        /// File, or the variable that holds JSON.
        place: String,
        /// Line from 1.
        line: usize,
        /// What is wrong there.
        message: String,
    },
    /// A file that exists and cannot be read. The cause stands in the message, so it is no `source` of it: whoever prints
    /// the whole chain would say it twice.
    #[error("cannot read {path}: {cause}")]
    Unreadable {
        /// The file or folder.
        path: String,
        /// What the system says.
        cause: io::Error,
    },
    /// A folder where a file belongs, as a mount makes one of a file that is not there.
    #[error("{path} is a folder where a file with settings belongs")]
    Folder {
        /// The folder.
        path: String,
    },
    /// A file that was named and does not exist.
    #[error(
        "{location} does not exist (named by {named_by}); write optional:{location} if it may be missing"
    )]
    Missing {
        /// As written.
        location: String,
        /// Who named it.
        named_by: String,
    },
    /// A location of a kind that only a Spring application can read.
    #[error(
        "{location} cannot be read (named by {named_by}): {reason}; write optional:{location} to start without it"
    )]
    Unsupported {
        /// As written.
        location: String,
        /// Who named it.
        named_by: String,
        /// Why.
        reason: String,
    },
    /// A location that is neither a folder nor a file of a kind that is read.
    #[error("{location} cannot be read (named by {named_by}): {reason}")]
    Unknown {
        /// As written.
        location: String,
        /// Who named it.
        named_by: String,
        /// What would be right.
        reason: String,
    },
    /// A condition on profiles that has no meaning.
    #[error("{origin}: the profile condition {expression:?} is malformed: {reason}")]
    Condition {
        /// Where it stands.
        origin: String,
        /// As written.
        expression: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A limit of this crate, reached by imports of imports or huge files.
    #[error("{place}: {what}")]
    TooMuch {
        /// The file or location.
        place: String,
        /// The limit.
        what: String,
    },
}

/// One value that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The key by its documented name.
    pub key: String,
    /// The value as found, masked if it is a secret.
    pub found: String,
    /// Where it stands.
    pub origin: String,
    /// What is allowed, or why it cannot be resolved.
    pub expected: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {:?} ({}): {}", self.key, self.found, self.origin, self.expected)
    }
}

/// One problem in one line; several below a heading, a line each.
fn all(problems: &[Problem]) -> String {
    match problems {
        [problem] => problem.to_string(),
        _ => problems.iter().fold(format!("{} settings are wrong:", problems.len()), |text, problem| {
            format!("{text}\n  {problem}")
        }),
    }
}
