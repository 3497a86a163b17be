//! The reconcile hash code, `apps__hashcode` (spec `wire.md` 5).

use std::fmt::Write;

use crate::status::Status;

/// Number of instances per status; the hash code is a function of nothing else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatusCounts([u64; 5]);

impl StatusCounts {
    /// Counts one instance more.
    pub fn add(&mut self, status: Status) {
        self.0[status as usize] += 1;
    }

    /// Counts one instance less; saturates at zero.
    pub fn remove(&mut self, status: Status) {
        let slot = &mut self.0[status as usize];
        *slot = slot.saturating_sub(1);
    }

    /// Instances with a status.
    #[must_use]
    pub fn get(&self, status: Status) -> u64 {
        self.0[status as usize]
    }

    /// Instances in all.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// The counts that a hash code says; `None` if it is none.
    #[must_use]
    pub fn parse(hash: &str) -> Option<Self> {
        let (mut counts, mut rest) = (Self::default(), hash);
        while !rest.is_empty() {
            let after = |status: &Status| rest.strip_prefix(status.as_str())?.strip_prefix('_');
            let (status, after) =
                Status::IN_TEXT_ORDER.iter().find_map(|status| Some((*status, after(status)?)))?;
            let (count, next) = after.split_once('_')?;
            counts.0[status as usize] = count.parse().ok()?;
            rest = next;
        }
        Some(counts)
    }

    /// The hash code, for example `DOWN_1_UP_3_`; empty text if there are no instances.
    #[must_use]
    pub fn hash_code(&self) -> String {
        let mut text = String::new();
        for status in Status::IN_TEXT_ORDER {
            let count = self.get(status);
            if count > 0 {
                // Writing to a String cannot fail.
                let _ = write!(text, "{status}_{count}_");
            }
        }
        text
    }
}

impl FromIterator<Status> for StatusCounts {
    fn from_iter<I: IntoIterator<Item = Status>>(statuses: I) -> Self {
        let mut counts = Self::default();
        for status in statuses {
            counts.add(status);
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_text_order_and_zero_counts_are_left_out() {
        let statuses = [Status::Up, Status::OutOfService, Status::Starting, Status::Unknown, Status::Down];
        let counts: StatusCounts = statuses.into_iter().chain([Status::Up, Status::Up]).collect();
        assert_eq!(counts.hash_code(), "DOWN_1_OUT_OF_SERVICE_1_STARTING_1_UNKNOWN_1_UP_3_");
        assert_eq!(StatusCounts::default().hash_code(), "");
        for counts in [counts, StatusCounts::default()] {
            assert_eq!(StatusCounts::parse(&counts.hash_code()), Some(counts));
        }
        for text in ["UP", "UP_", "UP_1", "UP_-1_", "UP_x_", "GONE_1_", "UP_1_ ", "_"] {
            assert_eq!(StatusCounts::parse(text), None, "{text}");
        }
    }
}
