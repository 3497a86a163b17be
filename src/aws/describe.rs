//! Asks Amazon for auto-scaling groups: `DescribeAutoScalingGroups` of the query API, version 2011-01-01 (spec
//! `replication.md` 8.1). A group is disabled if and only if its process `AddToLoadBalancer` is suspended.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use anyhow::Context;
use heureka_config::Secret;
use heureka_config::Settings;
use quick_xml::Reader;
use quick_xml::events::Event;
use reqwest::Client;

use super::groups::GroupSource;
use super::signature::{Signer, Stamp};
use crate::peers::tls::client_config;

/// The process whose suspension takes a group out of service.
const PROCESS: &str = "AddToLoadBalancer";
/// An answer about one group has a few kilobytes.
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// The service in one region.
pub struct AutoScaling {
    client: Client,
    host: String,
    signer: Signer,
}

impl AutoScaling {
    /// For the region `eureka.client.region`, with the keys `eureka.server.a-w-s-access-id` and `a-w-s-secret-key`.
    ///
    /// # Errors
    /// If a key is missing.
    pub fn new(settings: &Settings) -> anyhow::Result<Self> {
        let asg = &settings.registry.asg;
        let missing = "asking Amazon for auto-scaling groups needs eureka.server.a-w-s-access-id and a-w-s-secret-key; \
                       eureka.server.use-aws-asg-api=false does without";
        let (access_id, secret_key) = asg.keys.clone().context(missing)?;
        let region = settings.client.region.clone();
        let client = Client::builder()
            .tls_backend_preconfigured(client_config(None, true)?)
            .connect_timeout(Duration::from_millis(asg.query_timeout_ms))
            .timeout(Duration::from_secs(10))
            .build()?;
        Ok(Self {
            client,
            host: format!("autoscaling.{region}.amazonaws.com"),
            signer: Signer { access_id, secret_key: Secret::new(secret_key.expose().to_owned()), region },
        })
    }

    async fn ask(&self, group: &str) -> anyhow::Result<bool> {
        let body = form_urlencoded::Serializer::new(String::new())
            .append_pair("Action", "DescribeAutoScalingGroups")
            .append_pair("AutoScalingGroupNames.member.1", group)
            .append_pair("Version", "2011-01-01")
            .finish();
        let stamp = Stamp::now();
        let authorization = self.signer.authorization("autoscaling", &self.host, &body, &stamp);
        let request = self
            .client
            .post(format!("https://{}/", self.host))
            .header("content-type", "application/x-www-form-urlencoded; charset=utf-8")
            .header("x-amz-date", stamp.time)
            .header("authorization", authorization)
            .body(body);
        let mut response = request.send().await?;
        let status = response.status();
        anyhow::ensure!(status.is_success(), "Amazon answers {status}");
        let mut answer = Vec::new();
        while let Some(chunk) = response.chunk().await? {
            anyhow::ensure!(answer.len() + chunk.len() <= ANSWER_BYTES_MAX, "the answer is too long");
            answer.extend_from_slice(&chunk);
        }
        is_enabled(&answer, group)
    }
}

impl GroupSource for AutoScaling {
    fn is_enabled<'a>(&'a self, group: &'a str) -> Pin<Box<dyn Future<Output = anyhow::Result<bool>> + 'a>> {
        Box::pin(self.ask(group))
    }
}

/// What the answer has said of one group so far: its members come in any order, the name behind the processes too.
#[derive(Default)]
struct Described {
    name: String,
    is_suspended: bool,
}

/// Reads an answer. A group that it does not mention counts as enabled.
fn is_enabled(answer: &[u8], group: &str) -> anyhow::Result<bool> {
    const GROUP: [&str; 4] = [
        "DescribeAutoScalingGroupsResponse",
        "DescribeAutoScalingGroupsResult",
        "AutoScalingGroups",
        "member",
    ];
    let mut reader = Reader::from_reader(answer);
    // The elements that are open, from the outermost one on.
    let mut open: Vec<String> = Vec::new();
    let (mut described, mut is_suspended, mut saw_result) = (Described::default(), false, false);
    let mut buffer = Vec::new();
    loop {
        match reader.read_event_into(&mut buffer).context("the answer is no XML")? {
            Event::Start(start) => {
                open.push(start.local_name().as_ref().to_owned());
                saw_result |= open == GROUP[..2];
            }
            Event::End(_) => {
                if open == GROUP {
                    let last = std::mem::take(&mut described);
                    is_suspended |= last.is_suspended && last.name == group;
                }
                open.pop();
            }
            Event::Text(text) => {
                let names = open.iter().map(String::as_str).collect::<Vec<_>>();
                match names.strip_prefix(&GROUP[..]) {
                    Some(["AutoScalingGroupName"]) => described.name.push_str(text.trim()),
                    Some(["SuspendedProcesses", "member", "ProcessName"]) => {
                        described.is_suspended |= text.trim() == PROCESS;
                    }
                    _ => {}
                }
            }
            Event::Eof => break,
            _ => {}
        }
        buffer.clear();
    }
    anyhow::ensure!(saw_result, "the answer is not one to DescribeAutoScalingGroups");
    anyhow::ensure!(open.is_empty(), "the answer ends within {}", open.join("/"));
    Ok(!is_suspended)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The shape and order that the service documents, with three groups of which the second is suspended.
    const ANSWER: &str = include_str!("describe_answer.xml");

    #[test]
    fn only_a_suspended_load_balancer_process_disables_a_group() {
        assert!(is_enabled(ANSWER.as_bytes(), "orders-v1").expect("readable"));
        assert!(!is_enabled(ANSWER.as_bytes(), "orders-v2").expect("readable"));
        assert!(is_enabled(ANSWER.as_bytes(), "orders-v3").expect("readable"));
        assert!(is_enabled(ANSWER.as_bytes(), "unknown").expect("readable"));
    }

    #[test]
    fn the_order_of_members_does_not_matter_and_names_elsewhere_do_not_count() {
        let group = |members: &str| {
            format!(
                "<DescribeAutoScalingGroupsResponse><DescribeAutoScalingGroupsResult><AutoScalingGroups><member>{members}\
                 </member></AutoScalingGroups></DescribeAutoScalingGroupsResult></DescribeAutoScalingGroupsResponse>"
            )
        };
        let name = "<AutoScalingGroupName>g</AutoScalingGroupName>";
        let suspended = "<SuspendedProcesses><member><ProcessName>AddToLoadBalancer</ProcessName></member></SuspendedProcesses>";
        let tag = "<Tags><member><ProcessName>AddToLoadBalancer</ProcessName></member></Tags>";
        let launch = "<Instances><member><AutoScalingGroupName>h</AutoScalingGroupName></member></Instances>";
        for (members, enabled) in [
            (format!("{name}{suspended}"), false),
            (format!("{suspended}{name}"), false),
            (format!("{suspended}{launch}{name}"), false),
            (format!("{suspended}{name}{launch}"), false),
            (format!("{name}{tag}"), true),
            (name.to_owned(), true),
        ] {
            assert_eq!(is_enabled(group(&members).as_bytes(), "g").expect("readable"), enabled, "{members}");
        }
    }

    #[test]
    fn an_answer_of_another_kind_is_an_error_and_not_a_state() {
        for answer in [
            "",
            "<html/>",
            "<ErrorResponse><Error><Code>Throttling</Code></Error></ErrorResponse>",
            "<a",
            ANSWER.split("<RequestId>").next().expect("its beginning"),
            "\u{0}",
        ] {
            assert!(is_enabled(answer.as_bytes(), "g").is_err(), "{answer:?}");
        }
    }
}
