//! The shipped `application.yml`: every key with its default and the reason, all commented out.
//!
//! Written from the catalogue, so that file and code cannot drift apart; a test compares the file in the repository.

use crate::catalogue::{Default, Effect, KeySpec, Kind, SECTIONS};

const WIDTH: usize = 100;

const HEAD: &str = "\
# Every key that Heureka knows, with its default and the reason.
#
# Nothing has to be set. Each line that starts with # and a letter is a key; take the # away to set it. Such a line stands
# for itself, so keys can be set one by one; the nested form and every spelling that Spring Boot accepts work as well.
# An application.yml of a Spring Cloud Eureka server is read as it is. See docs/configuration.md.
";

/// The text of the shipped file.
pub fn sample() -> String {
    let mut text = String::from(HEAD);
    for section in SECTIONS {
        text.push_str(&format!("\n# ---- {} ----\n", section.title));
        for spec in section.keys {
            text.push('\n');
            write_key(spec, &mut text);
        }
    }
    text
}

fn write_key(spec: &KeySpec, text: &mut String) {
    let mut about = spec.about.to_owned();
    if spec.effect == Effect::Inert {
        about = format!("No effect here. {about}");
    }
    let value = match spec.default {
        Default::Is(value) => value,
        Default::Absent { means, example } => {
            about.push_str(&format!(" Not set: {means}. For example:"));
            example
        }
    };
    if spec.kind == Kind::Family {
        // a prefix cannot be set, only what lies below it
        write_wrapped(&format!("{}: {about}", spec.name), text);
        return;
    }
    write_wrapped(&about, text);
    match (spec.kind.is_map(), value.split_once(": ")) {
        (true, Some((entry, value))) => {
            text.push_str(&format!("#{}.{entry}: {}\n", spec.name, quoted(value)))
        }
        _ => text.push_str(&format!("#{}: {}\n", spec.name, quoted(value))),
    }
}

fn write_wrapped(prose: &str, text: &mut String) {
    let mut line = String::from("#");
    for word in prose.split_whitespace() {
        if line.len() + 1 + word.len() > WIDTH && line.len() > 1 {
            text.push_str(&line);
            text.push('\n');
            line = String::from("#");
        }
        line.push(' ');
        line.push_str(word);
    }
    text.push_str(&line);
    text.push('\n');
}

/// A value as YAML reads it back unchanged.
fn quoted(value: &str) -> String {
    let plain = !value.is_empty()
        && value.starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '-' | '_'))
        && !value.contains(": ")
        && !value.contains(" #");
    if plain { value.to_owned() } else { format!("\"{value}\"") }
}
