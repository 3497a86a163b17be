//! How text becomes JSON and XML bytes: escapes, element names, decimal numbers (spec `wire.md` 3.1, 4.1).
//!
//! Everything here appends to a buffer and allocates nothing else. It never judges content: a text that XML cannot hold
//! is made to fit (see [`push_xml_text`]), because one odd value must not spoil the document of everybody else.

use std::fmt;

/// What stands in XML for a character that XML 1.0 forbids.
const REPLACEMENT: &str = "\u{FFFD}";

/// Appends a whole number.
pub(crate) fn push_decimal(number: impl itoa::Integer, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Letter that follows the backslash in a JSON string, `u` for `\u00XX`, 0 for bytes that need no escape.
const JSON_ESCAPES: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = b'u';
        byte += 1;
    }
    table[0x08] = b'b';
    table[b'\t' as usize] = b't';
    table[b'\n' as usize] = b'n';
    table[0x0C] = b'f';
    table[b'\r' as usize] = b'r';
    table[b'"' as usize] = b'"';
    table[b'\\' as usize] = b'\\';
    table
};

/// Appends a JSON string with its quotes, escaped as Jackson does: short forms, else upper-case hex; `/`, DEL and
/// everything beyond ASCII stay as they are.
pub(crate) fn push_json_string(text: &str, out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut plain_from = 0;
    for (index, &byte) in bytes.iter().enumerate() {
        let letter = JSON_ESCAPES[usize::from(byte)];
        if letter == 0 {
            continue;
        }
        out.extend_from_slice(&bytes[plain_from..index]);
        plain_from = index + 1;
        out.extend_from_slice(&[b'\\', letter]);
        if letter == b'u' {
            out.extend_from_slice(b"00");
            out.extend_from_slice(&[HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
        }
    }
    out.extend_from_slice(&bytes[plain_from..]);
    out.push(b'"');
}

/// True for bytes that [`push_xml_text`] has to look at: markup, control characters, and the two lead bytes behind which
/// the C1 controls (`C2`) and the non-characters U+FFFE and U+FFFF (`EF`) are found.
const XML_SPECIAL: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = true;
        byte += 1;
    }
    table[b'\t' as usize] = false;
    table[b'\n' as usize] = false;
    table[b'&' as usize] = true;
    table[b'<' as usize] = true;
    table[b'>' as usize] = true;
    table[b'"' as usize] = true;
    table[b'\'' as usize] = true;
    table[0x7F] = true;
    table[0xC2] = true;
    table[0xEF] = true;
    table
};

/// Appends text content of an element, escaped as XStream does: the five entities, `&#xd;` for a carriage return,
/// `&#x7f;` to `&#x9f;` for DEL and the C1 controls, line feed and tab raw.
///
/// Characters that XML 1.0 does not allow at all (U+0000 to U+001F but tab, line feed and carriage return; U+FFFE,
/// U+FFFF) become U+FFFD. Java writes `&#x1;` there, which every XML parser refuses together with the whole document.
pub(crate) fn push_xml_text(text: &str, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    let mut plain_from = 0;
    let mut index = 0;
    while index < bytes.len() {
        if !XML_SPECIAL[usize::from(bytes[index])] {
            index += 1;
            continue;
        }
        let (length, written) = match bytes[index..] {
            [b'&', ..] => (1, "&amp;"),
            [b'<', ..] => (1, "&lt;"),
            [b'>', ..] => (1, "&gt;"),
            [b'"', ..] => (1, "&quot;"),
            [b'\'', ..] => (1, "&apos;"),
            [b'\r', ..] => (1, "&#xd;"),
            [0x7F, ..] => (1, "&#x7f;"),
            [0xC2, low @ 0x80..=0x9F, ..] => (2, c1_reference(low)),
            [0xEF, 0xBF, 0xBE | 0xBF, ..] => (3, REPLACEMENT),
            [0x00..0x20, ..] => (1, REPLACEMENT),
            _ => {
                index += 1;
                continue;
            }
        };
        out.extend_from_slice(&bytes[plain_from..index]);
        out.extend_from_slice(written.as_bytes());
        index += length;
        plain_from = index;
    }
    out.extend_from_slice(&bytes[plain_from..]);
}

/// The reference of a C1 control, given its second UTF-8 byte, which equals its code point.
fn c1_reference(low: u8) -> &'static str {
    const REFERENCES: &[u8; 32 * 6] = b"&#x80;&#x81;&#x82;&#x83;&#x84;&#x85;&#x86;&#x87;\
        &#x88;&#x89;&#x8a;&#x8b;&#x8c;&#x8d;&#x8e;&#x8f;&#x90;&#x91;&#x92;&#x93;&#x94;&#x95;&#x96;&#x97;\
        &#x98;&#x99;&#x9a;&#x9b;&#x9c;&#x9d;&#x9e;&#x9f;";
    let from = usize::from(low & 0x1F) * 6;
    std::str::from_utf8(&REFERENCES[from..from + 6]).unwrap_or(REPLACEMENT)
}

/// Appends a metadata key as an element name, escaped as XStream does: `_` doubled, `$` as `_-`, whatever a name may not
/// hold as `_.` and four lower-case hex digits per UTF-16 unit.
///
/// Two kinds of characters are escaped that Java leaves, because a parser that refuses them refuses the document of
/// everybody: `:`, which makes a name space prefix that nobody declared, and letters that names may hold only since the
/// fifth edition of XML 1.0, which expat (Python) and Xerces (Java) do not follow. XStream reads both forms. The key must
/// not be empty: an element has a name (spec `wire.md` Q33).
pub(crate) fn push_xml_name(key: &str, out: &mut Vec<u8>) {
    let mut is_first = true;
    for character in key.chars() {
        match character {
            '_' => out.extend_from_slice(b"__"),
            '$' => out.extend_from_slice(b"_-"),
            'A'..='Z' | 'a'..='z' => out.push(character as u8),
            '0'..='9' | '-' | '.' if !is_first => out.push(character as u8),
            _ if is_wide_name_start(character) || (!is_first && is_wide_name_part(character)) => {
                out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
            _ => push_hex_units(character, out),
        }
        is_first = false;
    }
}

/// `_.` and four hex digits for each UTF-16 unit.
fn push_hex_units(character: char, out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    for unit in character.encode_utf16(&mut [0; 2]) {
        out.extend_from_slice(b"_.");
        for shift in [12, 8, 4, 0] {
            out.push(HEX[usize::from((*unit >> shift) & 15)]);
        }
    }
}

/// Letters beyond ASCII with which a name may begin by every edition of XML 1.0: Latin, Greek, Cyrillic, Hebrew, Arabic,
/// Devanagari, Thai, kana, Chinese characters, Hangul. Rarer ones are allowed too, but nobody misses them here.
const fn is_wide_name_start(character: char) -> bool {
    matches!(character,
        '\u{C0}'..='\u{D6}' | '\u{D8}'..='\u{F6}' | '\u{F8}'..='\u{131}' | '\u{134}'..='\u{13E}'
        | '\u{141}'..='\u{148}' | '\u{14A}'..='\u{17E}' | '\u{180}'..='\u{1C3}' | '\u{38E}'..='\u{3A1}'
        | '\u{3A3}'..='\u{3CE}' | '\u{401}'..='\u{40C}' | '\u{40E}'..='\u{44F}' | '\u{451}'..='\u{45C}'
        | '\u{45E}'..='\u{481}' | '\u{5D0}'..='\u{5EA}' | '\u{621}'..='\u{63A}' | '\u{905}'..='\u{939}'
        | '\u{E01}'..='\u{E2E}' | '\u{3041}'..='\u{3094}' | '\u{30A1}'..='\u{30FA}'
        | '\u{4E00}'..='\u{9FA5}' | '\u{AC00}'..='\u{D7A3}')
}

/// Marks beyond ASCII that a name may hold, but not at its start: the middle dot and the common accents.
const fn is_wide_name_part(character: char) -> bool {
    matches!(character, '\u{B7}' | '\u{300}'..='\u{345}')
}

/// Undoes [`push_xml_name`], and every form that XStream writes. What is no escape is taken as it is.
pub(crate) fn xml_key(name: &str) -> Box<str> {
    if !name.contains('_') {
        return name.into();
    }
    let mut units: Vec<u16> = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some(character) = rest.chars().next() {
        let (unit, length) = match rest.as_bytes() {
            [b'_', b'-', ..] => (Some(u16::from(b'$')), 2),
            [b'_', b'_', ..] => (Some(u16::from(b'_')), 2),
            [b'_', b'.', ..] => match rest.get(2..6).and_then(hex_unit) {
                Some(unit) => (Some(unit), 6),
                None => (None, 1),
            },
            _ => (None, character.len_utf8()),
        };
        match unit {
            Some(unit) => units.push(unit),
            None => units.extend_from_slice(character.encode_utf16(&mut [0; 2])),
        }
        rest = &rest[length..];
    }
    String::from_utf16_lossy(&units).into_boxed_str()
}

/// Exactly four hex digits; `from_str_radix` alone would take a sign.
fn hex_unit(digits: &str) -> Option<u16> {
    let all_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if all_hex { u16::from_str_radix(digits, 16).ok() } else { None }
}

/// Shows a piece of foreign text in a sentence: quoted, control characters escaped, cut after 60 characters.
pub(crate) struct Excerpt<'a>(pub(crate) &'a str);

impl fmt::Display for Excerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LONGEST: usize = 60;
        match self.0.char_indices().nth(LONGEST) {
            Some((end, _)) => write!(f, "{:?}...", &self.0[..end]),
            None => write!(f, "{:?}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(push: impl Fn(&str, &mut Vec<u8>), text: &str) -> String {
        let mut out = Vec::new();
        push(text, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn json_strings_are_escaped_as_jackson_does() {
        assert_eq!(
            written(push_json_string, "a\"b\\c/\u{8}\t\n\u{c}\r\u{1}\u{1f}\u{7f}é😀"),
            "\"a\\\"b\\\\c/\\b\\t\\n\\f\\r\\u0001\\u001F\u{7f}é😀\""
        );
    }

    #[test]
    fn xml_text_holds_no_character_that_xml_forbids() {
        assert_eq!(
            written(push_xml_text, "<>&\"'\r\n\t\u{1}\u{7f}\u{85}\u{a0}\u{fffd}\u{fffe}\u{ffff}😀"),
            "&lt;&gt;&amp;&quot;&apos;&#xd;\n\t\u{fffd}&#x7f;&#x85;\u{a0}\u{fffd}\u{fffd}\u{fffd}😀"
        );
    }

    #[test]
    fn every_c1_control_has_its_own_reference() {
        for code in 0x80..=0x9Fu32 {
            let text = char::from_u32(code).unwrap().to_string();
            assert_eq!(written(push_xml_text, &text), format!("&#x{code:x};"));
        }
    }

    #[test]
    fn keys_become_the_names_that_xstream_writes() {
        let cases = [
            ("zone", "zone"),
            ("a_b", "a__b"),
            ("c$d", "c_-d"),
            ("1x", "_.0031x"),
            ("e f", "e_.0020f"),
            ("g:h", "g_.003ah"),
            ("i-j.k", "i-j.k"),
            ("-x", "_.002dx"),
            ("angle<>&\"'", "angle_.003c_.003e_.0026_.0022_.0027"),
            ("ключ", "ключ"),
            ("u\u{308}", "u\u{308}"),
            ("\u{308}u", "_.0308u"),
            ("\u{2c00}\u{200c}", "_.2c00_.200c"),
            ("😀", "_.d83d_.de00"),
            ("@class", "_.0040class"),
        ];
        for (key, name) in cases {
            assert_eq!(written(push_xml_name, key), name);
            assert_eq!(&*xml_key(name), key);
        }
    }

    #[test]
    fn names_that_are_no_escapes_are_taken_as_they_are() {
        for name in ["g:h", "_x", "a_.12", "a_.zzzz", "_.+123", "é_", "_.é"] {
            assert_eq!(&*xml_key(name), name);
        }
        assert_eq!(&*xml_key("_.d83d"), "\u{fffd}");
    }

    #[test]
    fn long_excerpts_are_cut() {
        assert_eq!(Excerpt("a\nb").to_string(), r#""a\nb""#);
        assert_eq!(Excerpt(&"é".repeat(61)).to_string(), format!("\"{}\"...", "é".repeat(60)));
    }
}
