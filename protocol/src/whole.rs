//! Whether a document is the list of all instances of a registry, or the answer to another request: a delta, one
//! application, a page of somebody in between (spec `wire.md` 5).
//!
//! The hash code tells: a server makes it from the very instances that it lists, so their number is right. A Java server
//! writes what an instance is at that moment, and keeps what it has written for half a minute: a status may have changed and
//! an instance may have been cancelled between the counting and the writing.

use crate::applications::Applications;
use crate::hash::StatusCounts;
use crate::status::{ActionType, Status};
use crate::text::Excerpt;

/// Of so many instances of a list one may have been cancelled while it was written. A delta in its place has more.
const CANCELLED_ONE_IN: u64 = 20;

/// The list of all instances. None of them is cancelled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WholeList {
    /// What was listed.
    pub list: Applications,
    /// False if something changed while it was written: asking again may bring a better one.
    pub is_settled: bool,
}

/// Why a document is no list of all instances.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotWhole {
    /// As an answer about one application, or an empty object.
    #[error(
        "apps__hashcode: found none, expected that of all instances; this is no list of all applications"
    )]
    NoHash,
    /// As a delta.
    #[error(
        "apps__hashcode: found {hash}, expected {expected:?} as of the instances listed; this is no list of all of them"
    )]
    OtherHash {
        /// What the document says, shortened.
        hash: Box<str>,
        /// What its instances make.
        expected: Box<str>,
    },
}

impl Applications {
    /// Judges it, and takes from it what has been cancelled.
    ///
    /// # Errors
    ///
    /// If this is something else.
    pub fn into_whole(mut self) -> Result<WholeList, NotWhole> {
        let hash = self.hash.as_deref().ok_or(NotWhole::NoHash)?;
        let read = self.instance_count() as u64;
        for (_, instances) in &mut self.applications {
            instances.retain(|instance| instance.action_type != Some(ActionType::Deleted));
        }
        self.applications.retain(|(_, instances)| !instances.is_empty());
        let statuses = self.applications.iter().flat_map(|(_, instances)| instances);
        let counts: StatusCounts = statuses.map(|instance| instance.status).collect();
        let (skipped, cancelled) = (self.skipped as u64, read - counts.total());
        let said = StatusCounts::parse(hash);
        let has_number = |said: &StatusCounts, number: u64| {
            (number..=number.saturating_add(skipped)).contains(&said.total())
        };
        let is_as_said = |said: &StatusCounts| {
            has_number(said, counts.total())
                && Status::IN_TEXT_ORDER.iter().all(|status| counts.get(*status) <= said.get(*status))
        };
        let has_moved = |said: &StatusCounts| has_number(said, read) && cancelled * CANCELLED_ONE_IN <= read;
        match said {
            Some(said) if is_as_said(&said) => Ok(WholeList { list: self, is_settled: true }),
            Some(said) if has_moved(&said) => Ok(WholeList { list: self, is_settled: false }),
            _ => Err(NotWhole::OtherHash {
                hash: Excerpt(hash).to_string().into(),
                expected: counts.hash_code().into(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::{json, xml};

    /// A document with instances of one application: status and action of each; `{}` stands for one that cannot be read.
    fn document(hash: &str, instances: &[(&str, &str)]) -> String {
        let one = |(n, (status, action)): (usize, &(&str, &str))| match *status {
            "{}" => "{}".to_owned(),
            status => format!(
                r#"{{"instanceId":"i-{n}","app":"A","hostName":"h","ipAddr":"10.0.0.1","status":"{status}",
                "dataCenterInfo":{{"@class":"com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo","name":"MyOwn"}},
                "actionType":"{action}"}}"#
            ),
        };
        let instances: Vec<String> = instances.iter().enumerate().map(one).collect();
        let application = format!(r#"{{"name":"A","instance":[{}]}}"#, instances.join(","));
        format!(
            r#"{{"applications":{{"versions__delta":"1","apps__hashcode":"{hash}","application":[{application}]}}}}"#
        )
    }

    fn judged(document: &str) -> Result<WholeList, NotWhole> {
        json::read_applications(document.as_bytes(), &Limits::SERVER_DOCUMENT).expect("readable").into_whole()
    }

    fn ids(list: &WholeList) -> Vec<&str> {
        list.list.applications.iter().flat_map(|(_, all)| all).map(|i| &*i.instance_id).collect()
    }

    #[test]
    fn a_list_has_the_hash_code_of_its_instances() {
        let all =
            ["DOWN", "OUT_OF_SERVICE", "STARTING", "UNKNOWN", "UP", "UP"].map(|status| (status, "ADDED"));
        let list =
            judged(&document("DOWN_1_OUT_OF_SERVICE_1_STARTING_1_UNKNOWN_1_UP_2_", &all)).expect("whole");
        assert_eq!((list.list.instance_count(), list.is_settled), (6, true));
    }

    #[test]
    fn an_empty_registry_has_an_empty_hash_code_in_every_form_of_java() {
        for body in [
            r#"{"applications":{"versions__delta":"1","apps__hashcode":"","application":[]}}"#,
            r#"{"applications":{"application":[],"registeredApplicationsEmpty":true,"versions__delta":"1","apps__hashcode":""}}"#,
            r#"{"applications":{"versions__delta":1,"apps__hashcode":""}}"#,
        ] {
            assert!(judged(body).expect("whole").is_settled, "{body}");
        }
        let body = "<applications>\n  <versions__delta>1</versions__delta>\n  <apps__hashcode></apps__hashcode>\n</applications>";
        for body in [body, &body.replace("></apps__hashcode>", "/>")] {
            let read = xml::read_applications(body.as_bytes(), &Limits::SERVER_DOCUMENT).expect("readable");
            assert!(read.into_whole().expect("whole").is_settled, "{body}");
        }
    }

    #[test]
    fn answers_to_other_requests_are_no_list() {
        let app = r#"{"application":{"name":"A","instance":[]}}"#;
        for body in [r#"{"applications":{}}"#, r#"{"applications":{"apps__hashcode":null}}"#, app] {
            assert_eq!(judged(body), Err(NotWhole::NoHash), "{body}");
        }
        let others: [(&str, &[(&str, &str)]); 6] = [
            ("UP_9_", &[("UP", "ADDED")]),
            ("UP_1_", &[("UP", "DELETED")]),
            ("UP_1_", &[("UP", "ADDED"), ("UP", "ADDED")]),
            ("UP_2_", &[("UP", "ADDED"), ("UP", "DELETED")]),
            ("", &[("UP", "ADDED")]),
            ("UP_x_", &[("UP", "ADDED")]),
        ];
        for (hash, instances) in others {
            let refusal = judged(&document(hash, instances)).expect_err(hash).to_string();
            assert!(refusal.contains(&format!("found {hash:?}")), "{refusal}");
        }
    }

    #[test]
    fn a_list_that_something_happened_to_while_it_was_written_is_one_and_not_settled() {
        let moved = judged(&document("DOWN_1_UP_1_", &[("UP", "ADDED"), ("UP", "MODIFIED")])).expect("whole");
        assert_eq!((ids(&moved), moved.is_settled), (vec!["i-0", "i-1"], false));
        let mut all = vec![("UP", "ADDED"); 19];
        all.push(("UP", "DELETED"));
        let moved = judged(&document("UP_20_", &all)).expect("whole");
        assert_eq!((moved.list.instance_count(), moved.is_settled), (19, false));
        let settled = judged(&document("UP_19_", &all)).expect("whole");
        assert_eq!((settled.list.instance_count(), settled.is_settled), (19, true));
    }

    #[test]
    fn what_cannot_be_read_is_counted_by_its_server_and_costs_only_itself() {
        let list = judged(&document("DOWN_1_UP_1_", &[("UP", "ADDED"), ("{}", "")])).expect("whole");
        assert_eq!((ids(&list), list.is_settled), (vec!["i-0"], true));
        assert!(judged(&document("DOWN_2_UP_1_", &[("UP", "ADDED"), ("{}", "")])).is_err());
    }
}
