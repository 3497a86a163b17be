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

/// The known name that is nearest, if at most so many letters differ. `None` also for names that are too long.
pub(crate) fn nearest(canonical: &str, max: usize) -> Option<&'static str> {
    if canonical.len() > MAX_LENGTH {
        return None;
    }
    let letters: Vec<char> = canonical.chars().collect();
    let mut best = None;
    let mut max = max;
    for (known, name) in NAMES.iter() {
        if let Some(found) = distance(&letters, known, max) {
            best = Some(name.as_str());
            let Some(nearer) = found.checked_sub(1) else { break };
            max = nearer;
        }
    }
    best
}

/// The known name that was probably meant by a name outside our own prefixes: at most two letters differ. Applications have
/// many keys of their own, so very short names are not compared.
pub(crate) fn probably_meant(canonical: &str) -> Option<&'static str> {
    if canonical.len() < SHORTEST_TYPING_ERROR { None } else { nearest(canonical, TYPING_ERROR_MAX) }
}

/// The one of some words that is nearest, if at most half of the letters differ.
pub(crate) fn nearest_of<'w>(word: &str, words: &[&'w str]) -> Option<&'w str> {
    if word.len() > MAX_LENGTH {
        return None;
    }
    let letters: Vec<char> = word.chars().collect();
    let near = words.iter().filter_map(|known| Some((distance(&letters, known, letters.len() / 2)?, *known)));
    near.min_by_key(|(distance, _)| *distance).map(|(_, known)| known)
}

/// Letters to insert, drop, change, or swap with their neighbour; `None` if there are more than `max`, as for nearly all names.
/// That is found out early: what is equal at both ends is left out, and no cell further than `max` from the diagonal matters.
fn distance(from: &[char], to: &str, max: usize) -> Option<usize> {
    // Known names are ASCII: a byte is a letter.
    if from.len().abs_diff(to.len()) > max {
        return None;
    }
    let to: Vec<char> = to.chars().collect();
    let (from, to) = without_equal_ends(from, &to);
    let far = max + 1;
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).map(|column| column.min(far)).collect();
    for (row, c) in from.iter().enumerate() {
        let mut current = vec![far; to.len() + 1];
        current[0] = (row + 1).min(far);
        let first = row.saturating_sub(max);
        for (column, d) in to.iter().enumerate().take(row + max + 1).skip(first) {
            let changed = last[column] + usize::from(c != d);
            let mut best = changed.min(last[column + 1] + 1).min(current[column] + 1);
            let is_swapped = row > 0 && column > 0 && from[row - 1] == *d && to[column - 1] == *c;
            if is_swapped {
                best = best.min(before_last[column - 1] + 1);
            }
            current[column + 1] = best.min(far);
        }
        if current.iter().min().is_some_and(|least| *least > max) {
            return None;
        }
        before_last = std::mem::replace(&mut last, current);
    }
    last.last().copied().filter(|found| *found <= max)
}

fn without_equal_ends<'a>(mut one: &'a [char], mut two: &'a [char]) -> (&'a [char], &'a [char]) {
    while let ([a, rest @ ..], [b, others @ ..]) = (one, two)
        && a == b
    {
        (one, two) = (rest, others);
    }
    while let ([rest @ .., a], [others @ .., b]) = (one, two)
        && a == b
    {
        (one, two) = (rest, others);
    }
    (one, two)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
            let letters: Vec<char> = from.chars().collect();
            assert_eq!(distance(&letters, to, 9), Some(expected), "{from} {to}");
            assert_eq!(distance(&letters, to, expected), Some(expected), "{from} {to}");
            if expected > 0 {
                assert_eq!(distance(&letters, to, expected - 1), None, "{from} {to}");
            }
        }
    }

    /// The same without any shortcut.
    fn plain_distance(from: &[char], to: &[char]) -> usize {
        let mut table = vec![vec![0; to.len() + 1]; from.len() + 1];
        for row in 0..=from.len() {
            for column in 0..=to.len() {
                table[row][column] = match (row, column) {
                    (0, n) | (n, 0) => n,
                    _ => {
                        let same = from[row - 1] == to[column - 1];
                        let mut best = (table[row - 1][column - 1] + usize::from(!same))
                            .min(table[row - 1][column] + 1)
                            .min(table[row][column - 1] + 1);
                        let is_swapped = row > 1
                            && column > 1
                            && from[row - 2] == to[column - 1]
                            && from[row - 1] == to[column - 2];
                        if is_swapped {
                            best = best.min(table[row - 2][column - 2] + 1);
                        }
                        best
                    }
                };
            }
        }
        table[from.len()][to.len()]
    }

    proptest! {
        #[test]
        fn shortcuts_change_no_distance(from in "[ab]{0,9}", to in "[ab]{0,9}", max in 0_usize..10) {
            let (from, letters): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
            let expected = plain_distance(&from, &letters);
            prop_assert_eq!(distance(&from, &to, max), (expected <= max).then_some(expected));
        }

        #[test]
        fn no_name_panics(name in "\\PC{0,60}", max in 0_usize..40) {
            let _ = (nearest(&name, max), probably_meant(&name));
        }
    }

    #[test]
    fn the_nearest_name_is_found() {
        let near = |name: &str| nearest(&key::canonical(name), 10);
        assert_eq!(
            near("eureka.server.enable-self-preservtion"),
            Some("eureka.server.enable-self-preservation")
        );
        assert_eq!(near("eureka.client.fetchRegistryy"), Some("eureka.client.fetch-registry"));
        assert_eq!(near("server.prot"), Some("server.port"));
        assert_eq!(near(&"x".repeat(500)), None);
    }
}
