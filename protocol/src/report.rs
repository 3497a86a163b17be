//! Where a reader stands in a body, and the first thing it found wrong there.

use std::cell::OnceCell;
use std::fmt;

use crate::error::ReadError;
use crate::limits::Limits;

/// A place in a body, as a chain of steps on the stack: costs nothing until an error shows it.
#[derive(Clone, Copy)]
pub(crate) struct Path<'p> {
    parent: Option<&'p Path<'p>>,
    step: Step<'p>,
}

#[derive(Clone, Copy)]
enum Step<'p> {
    Root,
    Name(&'p str),
    Index(usize),
}

impl<'p> Path<'p> {
    /// The body itself.
    pub(crate) const ROOT: Path<'static> = Path { parent: None, step: Step::Root };

    /// A member of the object at this place.
    pub(crate) const fn name(&'p self, name: &'p str) -> Self {
        Self { parent: Some(self), step: Step::Name(name) }
    }

    /// An item of the list at this place.
    pub(crate) const fn index(&'p self, index: usize) -> Self {
        Self { parent: Some(self), step: Step::Index(index) }
    }
}

/// `replicationList[3].instanceInfo.port.$`; the root is `the body`.
impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LONGEST_NAME: usize = 60;
        let is_first = match self.parent {
            Some(Path { step: Step::Root, .. }) | None => true,
            Some(parent) => {
                parent.fmt(f)?;
                false
            }
        };
        match self.step {
            Step::Root => f.write_str("the body"),
            Step::Index(index) => write!(f, "[{index}]"),
            Step::Name(name) => {
                f.write_str(if is_first { "" } else { "." })?;
                name.chars().take(LONGEST_NAME).try_for_each(|c| write!(f, "{}", c.escape_debug()))
            }
        }
    }
}

/// Collects the first fault of what is read. A fault of content does not stop the reading: the rest of the body is still
/// passed over, so that one bad item of a list costs that item only.
pub(crate) struct Report<'r> {
    pub(crate) limits: &'r Limits,
    outer: Option<&'r Report<'r>>,
    fault: OnceCell<ReadError>,
    broken_at: OnceCell<String>,
}

impl<'r> Report<'r> {
    pub(crate) const fn new(limits: &'r Limits) -> Self {
        Self { limits, outer: None, fault: OnceCell::new(), broken_at: OnceCell::new() }
    }

    /// A report of its own for one item of a list.
    pub(crate) const fn for_item(outer: &'r Report<'r>) -> Self {
        Self { limits: outer.limits, outer: Some(outer), fault: OnceCell::new(), broken_at: OnceCell::new() }
    }

    /// Notes a fault of content, if it is the first one.
    pub(crate) fn fault(&self, at: Path<'_>, found: impl fmt::Display, expected: impl fmt::Display) {
        self.fault.get_or_init(|| ReadError::new(at, found, expected));
    }

    /// A text of bearable length, or `None` and a fault.
    pub(crate) fn bounded_text(&self, at: Path<'_>, text: &str) -> Option<Box<str>> {
        let most = self.limits.text_bytes;
        if text.len() > most {
            let found = format_args!("a text of {} bytes", text.len());
            self.fault(at, found, format_args!("at most {most} bytes"));
            return None;
        }
        Some(text.into())
    }

    /// Notes the place where the text itself breaks off. Called on the way out, so the first call is the deepest place.
    pub(crate) fn broken(&self, at: Path<'_>) {
        match self.outer {
            Some(outer) => outer.broken(at),
            None => {
                self.broken_at.get_or_init(|| at.to_string());
            }
        }
    }

    /// The place noted by [`Report::broken`].
    pub(crate) fn take_broken_at(&mut self) -> Option<String> {
        self.broken_at.take()
    }

    /// What was read, unless a fault was noted.
    pub(crate) fn verdict<T>(mut self, read: T) -> Result<T, ReadError> {
        match self.fault.take() {
            Some(fault) => Err(fault),
            None => Ok(read),
        }
    }
}
