//! Values of a form that their key cannot have: a list or a mapping where one value belongs, a mapping where a list does.
//!
//! Boot passes over them in silence and the default holds; here they stop the start.

use crate::catalogue::{Form, KeySpec, Kind};
use crate::error::Problem;
use crate::key;
use crate::property::Property;
use crate::secret::{MASK, mask_credentials, mask_mistyped_url};

/// Items of a value that are shown at most.
const SHOWN_MAX: usize = 5;

/// A part of such a value.
#[derive(Clone, Debug)]
pub(crate) struct Misshapen {
    pub spec: &'static KeySpec,
    pub form: Form,
    pub property: Property,
}

/// One problem for each key, with all that was written for it.
pub(crate) fn problems(misshapen: &[Misshapen]) -> Vec<Problem> {
    let mut done: Vec<&str> = Vec::new();
    let mut problems = Vec::new();
    for first in misshapen {
        if !done.contains(&first.spec.name) {
            done.push(first.spec.name);
            let parts = misshapen.iter().filter(|part| part.spec.name == first.spec.name);
            problems.push(problem(first, &parts.collect::<Vec<_>>()));
        }
    }
    problems
}

fn problem(first: &Misshapen, parts: &[&Misshapen]) -> Problem {
    let shown: Vec<String> = parts.iter().take(SHOWN_MAX).map(|part| part.shown()).collect();
    let more = if parts.len() > SHOWN_MAX { ", ..." } else { "" };
    let (found, what) = match first.form {
        Form::List => (format!("[{}{more}]", shown.join(", ")), "a list"),
        Form::Map => (format!("{{{}{more}}}", shown.join(", ")), "a mapping"),
    };
    let example =
        if first.spec.kind.is_map() { format!(", such as {}.NAME", first.spec.name) } else { String::new() };
    Problem {
        key: first.spec.name.into(),
        found,
        origin: first.property.origin.to_string(),
        expected: format!("must be {}{example}; {what} was found", first.spec.kind.allowed()),
    }
}

impl Misshapen {
    fn shown(&self) -> String {
        let is_secret = self.spec.kind == Kind::Secret;
        let value = match self.spec.name.contains("-url") {
            _ if is_secret => MASK.into(),
            true => mask_mistyped_url(&mask_credentials(&self.property.value)),
            false => mask_credentials(&self.property.value),
        };
        let elements = key::elements(&self.property.name);
        match (self.form, elements.last()) {
            (Form::Map, Some(name)) => format!("{}: {value}", name.written),
            _ => value,
        }
    }
}
