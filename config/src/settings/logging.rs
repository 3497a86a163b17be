//! Log levels and form (3.3). Java's logger names are translated to modules of this program.

use std::collections::BTreeMap;

/// `logging.level.*` and `heureka.log.format`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoggingSettings {
    /// Logger name as written (`root`, `com.netflix.eureka`, `heureka.http` ...) to level.
    pub levels: BTreeMap<String, LogLevel>,
    /// How a line looks.
    pub format: LogFormat,
}

/// Java loggers and the crates that do their work here.
const JAVA_LOGGERS: &[(&str, &[&str])] = &[
    ("com.netflix.eureka", &["heureka", "heureka_actors", "heureka_registry", "heureka_snapshots"]),
    ("com.netflix.discovery", &["heureka::peers", "heureka_client"]),
    (
        "com.netflix",
        &["heureka", "heureka_actors", "heureka_registry", "heureka_snapshots", "heureka_client"],
    ),
    ("org.springframework.cloud.netflix.eureka.server", &["heureka", "heureka_actors"]),
    ("org.springframework.cloud.netflix.eureka", &["heureka", "heureka_actors", "heureka_client"]),
];

impl LoggingSettings {
    /// The levels as a filter of `tracing-subscriber`, such as `info,heureka=debug`.
    ///
    /// `root` is the default level (INFO without it). A Java logger stands for the modules that do its work; any other
    /// name is taken as a module path with dots for `::`.
    pub fn filter(&self) -> String {
        let root = self.levels.get("root").or_else(|| self.levels.get("ROOT")).copied().unwrap_or_default();
        let mut directives = vec![root.as_str().to_owned()];
        for (logger, level) in self.levels.iter().filter(|(name, _)| !name.eq_ignore_ascii_case("root")) {
            match JAVA_LOGGERS.iter().find(|(java, _)| java == logger) {
                Some((_, modules)) => {
                    directives.extend(modules.iter().map(|m| format!("{m}={}", level.as_str())))
                }
                None if is_module_path(logger) => {
                    directives.push(format!("{}={}", logger.replace('.', "::"), level.as_str()));
                }
                None => {}
            }
        }
        directives.join(",")
    }
}

/// A name with other characters could change the meaning of the whole filter.
fn is_module_path(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | ':'))
}

/// Boot's levels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogLevel {
    /// Nothing.
    Off,
    /// Errors; `FATAL` too.
    Error,
    /// Warnings.
    Warn,
    /// What an operator wants to read.
    #[default]
    Info,
    /// Every request.
    Debug,
    /// Everything.
    Trace,
}

impl LogLevel {
    /// The word the log filter wants.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
            Self::Trace => "trace",
        }
    }
}

/// `heureka.log.format`; any `logging.structured.format.console` means JSON too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// One readable line.
    #[default]
    Human,
    /// One JSON object a line.
    Json,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn java_loggers_become_modules() {
        let levels = [
            ("root", LogLevel::Warn),
            ("org.springframework.cloud.netflix.eureka.server", LogLevel::Debug),
            ("heureka.http", LogLevel::Trace),
            ("a,b=trace", LogLevel::Trace),
        ];
        let settings = LoggingSettings {
            levels: levels.map(|(name, level)| (name.to_owned(), level)).into(),
            format: LogFormat::Human,
        };
        assert_eq!(settings.filter(), "warn,heureka::http=trace,heureka=debug,heureka_actors=debug");
        assert_eq!(LoggingSettings::default().filter(), "info");
    }
}
