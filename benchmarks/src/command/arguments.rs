//! `--name value` and `--flag`.

use std::collections::BTreeMap;
use std::str::FromStr;

use anyhow::{Context, bail};

/// Options without a value.
const FLAGS: [&str; 2] = ["no-fill", "quick"];

/// Options of one call.
#[derive(Debug)]
pub struct Arguments(BTreeMap<String, String>);

impl Arguments {
    /// Reads options; a value may follow after a blank or after `=`.
    pub fn parse(mut words: impl Iterator<Item = String>) -> anyhow::Result<Self> {
        let mut options = BTreeMap::new();
        while let Some(word) = words.next() {
            let Some(option) = word.strip_prefix("--") else { bail!("expected an option, found {word}") };
            let (name, value) = match option.split_once('=') {
                Some((name, value)) => (name, value.to_owned()),
                None if FLAGS.contains(&option) => (option, "true".to_owned()),
                None => (option, words.next().with_context(|| format!("--{option} needs a value"))?),
            };
            options.insert(name.to_owned(), value);
        }
        Ok(Self(options))
    }

    /// The value of an option.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// True if a flag is set.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// The value of a numeric option.
    pub fn number<T: FromStr>(&self, name: &str, default: T) -> anyhow::Result<T> {
        match self.text(name) {
            None => Ok(default),
            Some(text) => text.parse().ok().with_context(|| format!("--{name} needs a number, found {text}")),
        }
    }

    /// True if a part is wanted: all are if `--only` is absent.
    pub fn wants(&self, part: &str) -> bool {
        self.text("only").is_none_or(|list| list.split(',').any(|name| name == part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &str) -> anyhow::Result<Arguments> {
        Arguments::parse(words.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn options_and_flags_are_told_apart() {
        let arguments = parse("--quick --seed 7 --only=a,b").unwrap();
        assert!(arguments.has("quick") && arguments.wants("a") && !arguments.wants("c"));
        assert_eq!(arguments.number("seed", 1).unwrap(), 7);
        assert_eq!(arguments.number("instances", 5).unwrap(), 5);
        assert!(parse("--seed").is_err() && parse("seed").is_err());
        assert!(parse("--seed x").unwrap().number("seed", 1).is_err());
    }
}
