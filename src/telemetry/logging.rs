//! Log output: one readable line or one JSON object per event.
//!
//! Names and ids come from outside and may hold line breaks and terminal codes. In readable lines they are escaped, whatever
//! the event, so that nobody can write a line of their own into the log; in JSON they are escaped by the format.

use std::fmt::{self, Write};
use std::io::IsTerminal;

use heureka_config::settings::{LogFormat, LoggingSettings};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::field::MakeExt;
use tracing_subscriber::fmt::format::{Writer, debug_fn};
use tracing_subscriber::fmt::time::ChronoLocal;

/// RFC 3339 in local time, as precise as a person can use.
const TIME: &str = "%Y-%m-%dT%H:%M:%S%.3f%:z";

/// Starts logging for the process. A second call changes nothing: the first one holds.
pub fn start(settings: &LoggingSettings) {
    // The server's own lines repeat what the node says itself; a level for it in the settings comes later and wins.
    let filter = EnvFilter::try_new(format!("actix_server=warn,{}", settings.filter()))
        .unwrap_or_else(|_| EnvFilter::new("info"));
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let timer = ChronoLocal::new(TIME.to_owned());
    // Fails only if logging has been started before, for example by a test.
    let _ = match settings.format {
        LogFormat::Human => builder
            .with_timer(timer)
            .with_target(false)
            // Colours are for people in front of a terminal, not for files.
            .with_ansi(std::io::stderr().is_terminal())
            .fmt_fields(
                debug_fn(|writer, field, value| write_field(writer, field.name(), value)).delimited(" "),
            )
            .try_init(),
        LogFormat::Json => builder.with_timer(timer).json().flatten_event(true).try_init(),
    };
}

fn write_field(writer: &mut Writer<'_>, name: &str, value: &dyn fmt::Debug) -> fmt::Result {
    if name != "message" {
        write!(writer, "{name}=")?;
    }
    write!(OneLine(writer), "{value:?}")
}

/// Escapes what would end a line or move a cursor.
struct OneLine<'a, 'w>(&'a mut Writer<'w>);

impl Write for OneLine<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let is_harmful =
            |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202A}'..='\u{202E}');
        if !text.contains(is_harmful) {
            return self.0.write_str(text);
        }
        for c in text.chars() {
            if is_harmful(c) { write!(self.0, "{}", c.escape_debug())? } else { self.0.write_char(c)? }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(name: &str, value: &dyn fmt::Debug) -> String {
        let mut text = String::new();
        write_field(&mut Writer::new(&mut text), name, value).expect("written");
        text
    }

    #[test]
    fn a_value_from_outside_stays_in_its_line() {
        let text = "x\r\n2026 ERROR forged \u{1b}[31m\u{9b}\u{202e}\u{2028}ä";
        for name in ["id", "message"] {
            for value in [&format_args!("{text}") as &dyn fmt::Debug, &text] {
                let line = written(name, value);
                assert!(
                    !line.contains(|c: char| c.is_control() || "\u{202e}\u{2028}".contains(c)),
                    "{line:?}"
                );
                assert!(line.contains("forged") && line.ends_with(['ä', '"']), "{line:?}");
            }
        }
        assert_eq!(written("id", &format_args!("plain")), "id=plain");
        assert_eq!(written("message", &format_args!("a plain one")), "a plain one");
    }
}
