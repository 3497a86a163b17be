//! The known name that is nearest to an unknown one.

use crate::catalogue::{self, Kind};
use crate::key;
use std::sync::LazyLock;

/// Longest name that is compared; longer ones are nobody's typing error.
const MAX_LENGTH: usize = 200;

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
    let distances = NAMES.iter().map(|(known, name)| (distance(canonical, known), name.as_str()));
    distances.min_by_key(|(distance, _)| *distance).map(|(distance, name)| (name, distance))
}

/// True if a name is so near to a known one that it was probably meant.
pub(crate) fn is_typing_error(canonical: &str, distance: usize) -> bool {
    distance <= 2 && canonical.len() >= 10
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
