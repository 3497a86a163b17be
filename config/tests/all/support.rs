//! A folder with configuration files and a way to load it.

use heureka_config::{ConfigError, Invocation, Loaded, NoHostFacts, Settings, load_with};
use std::path::Path;

/// A node about to start in a folder of its own.
pub struct Start {
    folder: tempfile::TempDir,
    args: Vec<String>,
    env: Vec<(String, String)>,
}

impl Start {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), args: Vec::new(), env: Vec::new() }
    }

    pub fn file(self, name: &str, text: &str) -> Self {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    pub fn yml(self, text: &str) -> Self {
        self.file("application.yml", text)
    }

    pub fn arg(mut self, arg: &str) -> Self {
        self.args.push(arg.to_owned());
        self
    }

    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn load(&self) -> Result<Loaded, ConfigError> {
        let invocation = Invocation {
            args: self.args.clone(),
            env: self.env.clone(),
            working_dir: self.folder.path().to_owned(),
        };
        load_with(&invocation, &NoHostFacts)
    }

    pub fn loaded(&self) -> Loaded {
        self.load().unwrap_or_else(|error| panic!("{error}"))
    }

    pub fn settings(&self) -> Settings {
        self.loaded().settings
    }

    pub fn error(&self) -> String {
        match self.load() {
            Ok(_) => panic!("should not load"),
            Err(error) => error.to_string(),
        }
    }

    /// The notices as text, one a line.
    pub fn notices(&self) -> String {
        self.loaded().report.notices.iter().map(|notice| format!("{notice}\n")).collect()
    }
}

/// The peers as they may be shown.
pub fn peers(settings: &Settings) -> Vec<String> {
    settings.client.peer_urls().iter().map(|url| url.expose().to_owned()).collect()
}
