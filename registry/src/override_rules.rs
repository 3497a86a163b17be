//! Which status an instance gets: the override rules in order (`registry.md` 3.7). Pure; changes nothing.

use heureka_protocol::Status;

/// What the rules look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Situation {
    /// Status of the record that is registered or renewed.
    pub record: Status,
    /// The override of the instance, if there is one.
    pub overridden: Option<Status>,
    /// State of the record's auto-scaling group; `None` outside AWS or if it names no group.
    pub group_is_enabled: Option<bool>,
    /// Status of the existing lease, if there is one.
    pub existing: Option<Status>,
    /// True for a replica call.
    pub replicated: bool,
}

/// The rule that decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DecidedBy {
    /// 1: DOWN, STARTING and UNKNOWN always show through.
    DownOrStarting,
    /// 2: an override exists.
    OverrideExists,
    /// 2a: the auto-scaling group decides.
    GroupEnabled,
    /// 3: a client cannot move itself between UP and `OUT_OF_SERVICE`.
    LeaseExists,
    /// 4: nothing else matched.
    AlwaysMatch,
}

/// Is it one of the two statuses between which the registry, not the instance, decides?
const fn is_traffic_status(status: Status) -> bool {
    matches!(status, Status::Up | Status::OutOfService)
}

/// The effective status and the rule that gave it; the first match wins (invariants O-1 to O-5).
#[must_use]
pub fn decide(situation: Situation) -> (Status, DecidedBy) {
    let Situation { record, overridden, group_is_enabled, existing, replicated } = situation;
    if !is_traffic_status(record) {
        return (record, DecidedBy::DownOrStarting);
    }
    if let Some(status) = overridden {
        return (status, DecidedBy::OverrideExists);
    }
    if let Some(is_enabled) = group_is_enabled {
        let status = if is_enabled { Status::Up } else { Status::OutOfService };
        return (status, DecidedBy::GroupEnabled);
    }
    match existing {
        Some(status) if !replicated && is_traffic_status(status) => (status, DecidedBy::LeaseExists),
        _ => (record, DecidedBy::AlwaysMatch),
    }
}

#[cfg(test)]
mod tests {
    use Status::{Down, OutOfService, Starting, Unknown, Up};

    use super::*;

    const NONE_OR_ANY: [Option<Status>; 6] =
        [None, Some(Up), Some(Down), Some(Starting), Some(OutOfService), Some(Unknown)];

    fn all_situations() -> impl Iterator<Item = Situation> {
        Status::IN_TEXT_ORDER.into_iter().flat_map(|record| {
            NONE_OR_ANY.into_iter().flat_map(move |overridden| {
                NONE_OR_ANY.into_iter().flat_map(move |existing| {
                    [None, Some(true), Some(false)].into_iter().flat_map(move |group_is_enabled| {
                        [false, true].map(|replicated| Situation {
                            record,
                            overridden,
                            group_is_enabled,
                            existing,
                            replicated,
                        })
                    })
                })
            })
        })
    }

    /// One row of the truth table; `None` matches anything.
    struct Row {
        record: &'static [Status],
        overridden: Option<bool>,
        group: Option<Option<bool>>,
        replicated: Option<bool>,
        existing: Option<&'static [Option<Status>]>,
        result: fn(&Situation) -> Status,
        by: DecidedBy,
    }

    const NO_TRAFFIC: &[Option<Status>] = &[None, Some(Down), Some(Starting), Some(Unknown)];

    /// `registry.md` 3.7, row by row, then the rows for groups.
    fn truth_table() -> Vec<Row> {
        let row = |record, result, by| Row {
            record,
            overridden: Some(false),
            group: Some(None),
            replicated: Some(false),
            existing: None,
            result,
            by,
        };
        let traffic: &[Status] = &[Up, OutOfService];
        vec![
            Row {
                overridden: None,
                group: None,
                replicated: None,
                ..row(&[Down, Starting, Unknown], |s| s.record, DecidedBy::DownOrStarting)
            },
            Row {
                overridden: Some(true),
                group: None,
                replicated: None,
                ..row(traffic, |s| s.overridden.unwrap(), DecidedBy::OverrideExists)
            },
            Row {
                group: Some(Some(true)),
                replicated: None,
                ..row(traffic, |_| Up, DecidedBy::GroupEnabled)
            },
            Row {
                group: Some(Some(false)),
                replicated: None,
                ..row(traffic, |_| OutOfService, DecidedBy::GroupEnabled)
            },
            Row { existing: Some(NO_TRAFFIC), ..row(&[Up], |_| Up, DecidedBy::AlwaysMatch) },
            Row { existing: Some(&[Some(Up)]), ..row(&[Up], |_| Up, DecidedBy::LeaseExists) },
            Row {
                existing: Some(&[Some(OutOfService)]),
                ..row(&[Up], |_| OutOfService, DecidedBy::LeaseExists)
            },
            Row {
                existing: Some(NO_TRAFFIC),
                ..row(&[OutOfService], |_| OutOfService, DecidedBy::AlwaysMatch)
            },
            Row { existing: Some(&[Some(Up)]), ..row(&[OutOfService], |_| Up, DecidedBy::LeaseExists) },
            Row {
                existing: Some(&[Some(OutOfService)]),
                ..row(&[OutOfService], |_| OutOfService, DecidedBy::LeaseExists)
            },
            Row { replicated: Some(true), ..row(&[Up], |_| Up, DecidedBy::AlwaysMatch) },
            Row { replicated: Some(true), ..row(&[OutOfService], |_| OutOfService, DecidedBy::AlwaysMatch) },
        ]
    }

    impl Row {
        fn matches(&self, s: &Situation) -> bool {
            self.record.contains(&s.record)
                && self.overridden.is_none_or(|wanted| wanted == s.overridden.is_some())
                && self.group.is_none_or(|wanted| wanted == s.group_is_enabled)
                && self.replicated.is_none_or(|wanted| wanted == s.replicated)
                && self.existing.is_none_or(|wanted| wanted.contains(&s.existing))
        }
    }

    #[test]
    fn the_truth_table_holds_in_all_situations() {
        let table = truth_table();
        let mut count = 0;
        for situation in all_situations() {
            let rows: Vec<&Row> = table.iter().filter(|row| row.matches(&situation)).collect();
            assert_eq!(rows.len(), 1, "{situation:?}");
            assert_eq!(decide(situation), ((rows[0].result)(&situation), rows[0].by), "{situation:?}");
            count += 1;
        }
        assert_eq!(count, 5 * 6 * 6 * 3 * 2);
    }

    #[test]
    fn o_1_down_starting_and_unknown_show_through() {
        let silent = |s: &Situation| matches!(s.record, Down | Starting | Unknown);
        assert!(all_situations().filter(silent).all(|s| decide(s).0 == s.record));
    }

    #[test]
    fn o_2_a_replica_without_override_and_group_is_believed() {
        let plain = |s: &Situation| s.replicated && s.overridden.is_none() && s.group_is_enabled.is_none();
        assert!(all_situations().filter(plain).all(|s| decide(s).0 == s.record));
    }

    #[test]
    fn o_3_an_override_rules_up_and_out_of_service() {
        let ruled = |s: &Situation| matches!(s.record, Up | OutOfService) && s.overridden.is_some();
        assert!(all_situations().filter(ruled).all(|s| Some(decide(s).0) == s.overridden));
    }

    #[test]
    fn o_4_the_result_is_a_fixed_point_of_a_renewal() {
        for situation in all_situations() {
            let (status, _) = decide(situation);
            let again = Situation { record: status, existing: Some(status), ..situation };
            assert_eq!(decide(again).0, status, "{situation:?}");
        }
    }

    #[test]
    fn o_5_the_result_comes_from_one_of_its_sources() {
        for s in all_situations() {
            let (status, _) = decide(s);
            let by_group = s.group_is_enabled.is_some() && matches!(status, Up | OutOfService);
            let known = [Some(s.record), s.overridden, s.existing].contains(&Some(status));
            assert!(known || by_group, "{s:?} gave {status}");
        }
    }
}
