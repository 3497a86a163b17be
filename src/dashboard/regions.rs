//! Other regions as the pages list them.

use crate::regions::RegionState;

/// A region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionLine {
    /// Its name.
    pub name: String,
    /// Where its registry is read.
    pub url: String,
    /// What is known of it, in words.
    pub words: String,
}

impl RegionLine {
    /// From what its mirror knows.
    pub fn of(state: RegionState) -> Self {
        let copy = match state.age_ms {
            None => "not copied yet: requests that name it are refused".to_owned(),
            Some(age_ms) => format!("{} instances, copied {} s ago", state.instances, age_ms / 1000),
        };
        let words = match state.problem {
            None => copy,
            Some(problem) => format!("{copy}; last failure: {problem}"),
        };
        Self { name: state.name, url: state.url, words }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_says_how_old_its_copy_is_and_what_failed() {
        let state = RegionState {
            name: "eu".into(),
            url: "http://eu/eureka/".into(),
            instances: 7,
            age_ms: Some(61_500),
            problem: Some("connection refused".into()),
        };
        let words = |state| RegionLine::of(state).words;
        assert_eq!(words(state.clone()), "7 instances, copied 61 s ago; last failure: connection refused");
        let never = RegionState { age_ms: None, problem: None, ..state };
        assert_eq!(words(never), "not copied yet: requests that name it are refused");
    }
}
