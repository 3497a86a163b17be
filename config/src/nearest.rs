//! The known name that is nearest to an unknown one.

use crate::catalogue::{self, Kind};
use crate::key;
use std::sync::LazyLock;

/// Longest name that is compared; longer ones are nobody's typing error.
const MAX_LENGTH: usize = 200;

/// Shorter names are near to too many others.
const SHORTEST_TYPING_ERROR: usize = 10;
/// Letters that a typing error changes at most.
const TYPING_ERROR_MAX: usize = 2;

static NAMES: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
    let keys = catalogue::all().filter(|spec| spec.kind != Kind::Family).map(|spec| spec.name.to_owned());
    let netflix = catalogue::netflix_names().map(|(name, _)| name);
    keys.chain(netflix).map(|name| (key::canonical(&name), name)).collect()
});

/// The nearest known name and how many letters differ. `None` for names that are too long.
pub(crate) fn nearest(canonical: &str) -> Option<(&'static str, usize)> {
    if canonical.len() > MAX_LENGTH {
        return None;
    }
    // The letters that two names differ by are at least the difference of their lengths, so most names need no comparison.
    let letters = canonical.chars().count();
    let mut best: Option<(&'static str, usize)> = None;
    for (known, name) in NAMES.iter() {
        let at_least = known.len().abs_diff(letters);
        if best.is_some_and(|(_, distance)| distance <= at_least) {
            continue;
        }
        let found = distance(canonical, known);
        if best.is_none_or(|(_, distance)| found < distance) {
            best = Some((name.as_str(), found));
        }
    }
    best
}

/// The known name that was probably meant by a name outside our own prefixes: at most two letters differ. Applications have
/// many keys of their own, so only names of nearly the same length are compared.
pub(crate) fn probably_meant(canonical: &str) -> Option<&'static str> {
    if canonical.len() < SHORTEST_TYPING_ERROR || canonical.len() > MAX_LENGTH {
        return None;
    }
    let letters = canonical.chars().count();
    let near = NAMES.iter().filter(|(known, _)| known.len().abs_diff(letters) <= TYPING_ERROR_MAX);
    let distances = near.map(|(known, name)| (name.as_str(), distance(canonical, known)));
    let meant = distances.filter(|(_, distance)| *distance <= TYPING_ERROR_MAX);
    meant.min_by_key(|(_, distance)| *distance).map(|(name, _)| name)
}

/// Letters to insert, drop, change, or swap with their neighbour.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    let mut previous = None;
    for (row, c) in from.chars().enumerate() {
        let mut current = vec![row + 1];
        for (column, d) in to.iter().enumerate() {
            let changed = last[column] + usize::from(c != *d);
            let mut best = changed.min(last[column + 1] + 1).min(current[column] + 1);
            let swapped = column > 0 && previous == Some(*d) && to[column - 1] == c;
            if let (true, Some(distance)) =
                (swapped, column.checked_sub(1).and_then(|at| before_last.get(at)))
            {
                best = best.min(distance + 1);
            }
            current.push(best);
        }
        before_last = std::mem::replace(&mut last, current);
        previous = Some(c);
    }
    last.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_letters() {
        let rows = [
            ("", "", 0),
            ("abc", "abc", 0),
            ("abc", "abd", 1),
            ("prot", "port", 1),
            ("ab", "abcd", 2),
            ("x", "", 1),
        ];
        for (from, to, expected) in rows {
            assert_eq!(distance(from, to), expected, "{from} {to}");
        }
    }

    #[test]
    fn the_nearest_name_is_found() {
        let near = |name: &str| nearest(&key::canonical(name)).map(|(name, _)| name);
        assert_eq!(
            near("eureka.server.enable-self-preservtion"),
            Some("eureka.server.enable-self-preservation")
        );
        assert_eq!(near("eureka.client.fetchRegistryy"), Some("eureka.client.fetch-registry"));
        assert_eq!(near("server.prot"), Some("server.port"));
        assert_eq!(near(&"x".repeat(500)), None);
    }
}
