//! The readers of files by themselves, for fuzzing and for tools that look at one file.

use crate::error::ConfigError;
use crate::property::Property;
use crate::readers::{self, SyntaxError};

/// The documents of a `.properties` text.
///
/// # Errors
/// [`ConfigError::Syntax`] with the line.
pub fn read_properties(text: &str, name: &str) -> Result<Vec<Vec<Property>>, ConfigError> {
    readers::read_properties(text, name).map_err(|error| syntax(error, name))
}

/// The documents of a YAML text.
///
/// # Errors
/// [`ConfigError::Syntax`] with the line.
pub fn read_yaml(text: &str, name: &str) -> Result<Vec<Vec<Property>>, ConfigError> {
    readers::read_yaml(text, name).map_err(|error| syntax(error, name))
}

fn syntax(error: SyntaxError, name: &str) -> ConfigError {
    ConfigError::Syntax { place: name.to_owned(), line: error.line, message: error.message }
}
