//! Walking through an XML document element by element, bounded in depth and without any entity but the five of XML.

use std::borrow::Cow;

use quick_xml::Reader;
use quick_xml::events::{BytesRef, BytesStart, Event};

use crate::error::ReadError;
use crate::limits::Limits;
use crate::report::Path;
use crate::text::Excerpt;

/// A reader that stands inside an element, or before the root.
pub(super) struct Cursor<'x> {
    reader: Reader<&'x [u8]>,
    depth: usize,
    max_depth: usize,
}

/// What an element holds.
pub(super) struct Content<'x> {
    /// All its text together.
    pub(super) text: Cow<'x, str>,
    /// Whether there are elements inside it; they have been passed over.
    pub(super) has_elements: bool,
}

impl<'x> Cursor<'x> {
    /// Starts before the root of a document. The parser passes over a byte order mark; an encoding declaration is not looked
    /// at, because bodies are UTF-8.
    pub(super) fn new(body: &'x [u8], limits: &Limits) -> Result<Self, ReadError> {
        let body = std::str::from_utf8(body).map_err(|error| {
            let position = error.valid_up_to();
            ReadError::new(Path::ROOT, format_args!("bytes that are not UTF-8 at {position}"), "UTF-8")
        })?;
        let mut reader = Reader::from_str(body);
        reader.config_mut().expand_empty_elements = true;
        Ok(Self { reader, depth: 0, max_depth: limits.depth })
    }

    /// Enters the root element.
    pub(super) fn root(&mut self, expected: &str) -> Result<BytesStart<'x>, ReadError> {
        loop {
            match self.event(Path::ROOT)? {
                Event::Start(start) => {
                    self.enter(Path::ROOT)?;
                    return Ok(start);
                }
                Event::Text(text) if text.trim_ascii().is_empty() => {}
                Event::Comment(_) | Event::PI(_) | Event::Decl(_) => {}
                Event::Eof => return Err(ReadError::new(Path::ROOT, "nothing", expected)),
                _ => return Err(ReadError::new(Path::ROOT, "text", expected)),
            }
        }
    }

    /// Enters the next child of the element at `at`; `None` when its end tag has been passed. Text between elements is
    /// passed over.
    pub(super) fn next_child(&mut self, at: Path<'_>) -> Result<Option<BytesStart<'x>>, ReadError> {
        loop {
            match self.event(at)? {
                Event::Start(start) => {
                    self.enter(at)?;
                    return Ok(Some(start));
                }
                Event::End(_) => {
                    self.depth = self.depth.saturating_sub(1);
                    return Ok(None);
                }
                Event::GeneralRef(reference) => drop(resolve(&reference, at)?),
                Event::Eof => return Err(ReadError::new(at, "the end of the text", "an end tag")),
                _ => {}
            }
        }
    }

    /// Reads the element just entered to its end.
    pub(super) fn content(&mut self, at: Path<'_>) -> Result<Content<'x>, ReadError> {
        let mut text = Cow::Borrowed("");
        let mut has_elements = false;
        loop {
            match self.event(at)? {
                Event::Text(piece) => append(&mut text, piece.xml10_content()),
                Event::CData(piece) => append(&mut text, piece.xml10_content()),
                Event::GeneralRef(reference) => {
                    text.to_mut().push(resolve(&reference, at)?);
                }
                Event::Start(_) => {
                    self.enter(at)?;
                    self.skip(at)?;
                    has_elements = true;
                }
                Event::End(_) => {
                    self.depth = self.depth.saturating_sub(1);
                    return Ok(Content { text, has_elements });
                }
                Event::Eof => return Err(ReadError::new(at, "the end of the text", "an end tag")),
                _ => {}
            }
        }
    }

    /// Passes over the element just entered.
    pub(super) fn skip(&mut self, at: Path<'_>) -> Result<(), ReadError> {
        let outside = self.depth.saturating_sub(1);
        while self.depth > outside {
            self.next_child(at)?;
        }
        Ok(())
    }

    fn enter(&mut self, at: Path<'_>) -> Result<(), ReadError> {
        self.depth += 1;
        if self.depth > self.max_depth {
            let most = self.max_depth;
            return Err(ReadError::new(at, "deeply nested elements", format_args!("at most {most} levels")));
        }
        Ok(())
    }

    /// The next event. A document type is refused: it is where entity bombs are made.
    fn event(&mut self, at: Path<'_>) -> Result<Event<'x>, ReadError> {
        match self.reader.read_event() {
            Ok(Event::DocType(_)) => Err(ReadError::new(at, "a document type declaration", "none")),
            Ok(event) => Ok(event),
            Err(error) => {
                let position = self.reader.error_position();
                let found = format_args!("malformed XML ({error}, byte {position})");
                Err(ReadError::new(at, found, "well-formed XML"))
            }
        }
    }
}

/// Borrows as long as there is only one piece.
fn append<'x>(text: &mut Cow<'x, str>, piece: Cow<'x, str>) {
    if text.is_empty() {
        *text = piece;
    } else {
        text.to_mut().push_str(&piece);
    }
}

/// The character that a reference stands for: one of the five entities of XML, or a character number.
fn resolve(reference: &BytesRef<'_>, at: Path<'_>) -> Result<char, ReadError> {
    let named = match &**reference {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => reference.resolve_char_ref().ok().flatten(),
    };
    named.ok_or_else(|| {
        let found = format_args!("the entity {}", Excerpt(reference));
        ReadError::new(at, found, "one of lt, gt, amp, quot, apos or a character number")
    })
}
