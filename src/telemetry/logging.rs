//! Log output: one readable line or one JSON object per event.
//!
//! Names and ids come from outside and may hold line breaks and terminal codes. In readable lines they are escaped, whatever
//! the event, so that nobody can write a line of their own into the log; in JSON they are escaped by the format.

use std::fmt::{self, Write};
use std::io::IsTerminal;
use std::sync::OnceLock;

use heureka_config::settings::{LogFormat, LoggingSettings};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::field::MakeExt;
use tracing_subscriber::fmt::format::{Writer, debug_fn};
use tracing_subscriber::fmt::time::ChronoLocal;

/// RFC 3339 in local time, as precise as a person can use.
const TIME: &str = "%Y-%m-%dT%H:%M:%S%.3f%:z";

/// Puts another filter in the place of the one that was started with.
type Change = Box<dyn Fn(EnvFilter) + Send + Sync>;

/// How the filter of this process is changed; nothing before logging has started.
static CHANGE: OnceLock<Change> = OnceLock::new();

/// Starts logging for the process. A second call changes nothing: the first one holds.
pub fn start(settings: &LoggingSettings) {
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter(settings))
        .with_writer(std::io::stderr)
        .with_timer(ChronoLocal::new(TIME.to_owned()));
    // Starting fails only if it has been done before, for example by a test; then that one stays.
    match settings.format {
        LogFormat::Human => {
            let builder = builder
                .with_target(false)
                // Colours are for people in front of a terminal, not for files.
                .with_ansi(std::io::stderr().is_terminal())
                .fmt_fields(
                    debug_fn(|writer, field, value| write_field(writer, field.name(), value)).delimited(" "),
                )
                .with_filter_reloading();
            let handle = builder.reload_handle();
            if builder.try_init().is_ok() {
                remember(Box::new(move |filter| drop(handle.reload(filter))));
            }
        }
        LogFormat::Json => {
            let builder = builder.json().flatten_event(true).with_filter_reloading();
            let handle = builder.reload_handle();
            if builder.try_init().is_ok() {
                remember(Box::new(move |filter| drop(handle.reload(filter))));
            }
        }
    }
}

/// Changes what is logged from now on; the form of the lines stays.
pub fn change_levels(settings: &LoggingSettings) {
    if let Some(change) = CHANGE.get() {
        change(filter(settings));
    }
}

fn remember(change: Change) {
    let _ = CHANGE.set(change);
}

fn filter(settings: &LoggingSettings) -> EnvFilter {
    // The server's own lines repeat what the node says itself, and those below it let any stranger write an error for each
    // broken request; a level for them in the settings comes later and wins.
    EnvFilter::try_new(format!("actix_server=warn,actix_http=off,{}", settings.filter()))
        .unwrap_or_else(|_| EnvFilter::new("info"))
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
