//! When the pages warn about self-preservation, and in which words (spec `spring.md` 2.3).

use heureka_registry::Explanation;

/// A warning at the top of both pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Banner {
    /// Class of the box: how grave it is.
    pub level: &'static str,
    /// One line.
    pub title: &'static str,
    /// What happens, why, and what it means for the reader.
    pub text: String,
}

impl Banner {
    /// The warning of this moment. `is_below_threshold` is the table's A, `is_protected` its B: only "enough renewals, and
    /// protected" is normal.
    pub fn of(is_below_threshold: bool, is_protected: bool, explanation: &Explanation) -> Option<Self> {
        let Explanation { renewals, threshold, leases, .. } = explanation;
        let banner = match (is_below_threshold, is_protected) {
            (false, true) => return None,
            (false, false) => Self {
                level: "caution",
                title: "Self-preservation is switched off",
                text: "Expired instances are evicted, however few clients renew. After a network fault healthy ones may \
                       vanish too, because their heartbeats do not get here."
                    .to_owned(),
            },
            (true, false) => Self {
                level: "alarm",
                title: "Renewals are below the threshold, and self-preservation is switched off",
                text: format!(
                    "{renewals} renewals in the last full minute are not more than the threshold of {threshold}, and \
                     expired instances are evicted all the same. If the network is at fault, healthy instances vanish \
                     too."
                ),
            },
            (true, true) if *leases == 0 => Self {
                level: "caution",
                title: "EMERGENCY state, but nothing is registered",
                text: "No instance is registered, so no renewals come in. There is nothing to protect."
                    .to_owned(),
            },
            (true, true) => Self {
                level: "alarm",
                title: "EMERGENCY: renewals are below the threshold",
                text: format!("{explanation} Instances shown as UP may be gone."),
            },
        };
        Some(banner)
    }
}

#[cfg(test)]
mod tests {
    use heureka_registry::ProtectionState;

    use super::*;

    fn explanation(state: ProtectionState, leases: u64) -> Explanation {
        Explanation {
            state,
            expected_clients: 10,
            threshold: 17,
            renewals: 3,
            leases,
            clients_enough: Some(9),
        }
    }

    #[test]
    fn a_banner_stands_exactly_where_spring_has_one() {
        let few = explanation(ProtectionState::TooFewRenewals, 10);
        let off = explanation(ProtectionState::SwitchedOff, 10);
        assert_eq!(Banner::of(false, true, &few), None);
        let emergency = Banner::of(true, true, &few).expect("a banner");
        assert!(emergency.title.starts_with("EMERGENCY") && emergency.text.contains("3 renewals"));
        let switched_off = Banner::of(false, false, &off).expect("a banner");
        assert!(switched_off.title.contains("off") && !switched_off.title.contains("EMERGENCY"));
        let both = Banner::of(true, false, &off).expect("a banner");
        assert!(both.title.contains("below") && both.text.contains("threshold of 17"));
        let empty =
            Banner::of(true, true, &explanation(ProtectionState::NothingExpected, 0)).expect("a banner");
        assert!(empty.title.starts_with("EMERGENCY") && empty.level == "caution");
    }
}
