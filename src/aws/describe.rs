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

/// Reads an answer. A group that it does not mention counts as enabled.
fn is_enabled(answer: &[u8], group: &str) -> anyhow::Result<bool> {
    let mut reader = Reader::from_reader(answer);
    let mut element = String::new();
    let (mut is_this, mut is_suspended, mut saw_result) = (false, false, false);
    let mut buffer = Vec::new();
    loop {
        match reader.read_event_into(&mut buffer).context("the answer is no XML")? {
            Event::Start(start) => {
                element = start.local_name().as_ref().to_owned();
                saw_result |= element == "DescribeAutoScalingGroupsResult";
            }
            Event::Text(text) => match (element.as_str(), text.trim()) {
                (_, "") => {}
                ("AutoScalingGroupName", name) => is_this = name == group,
                ("ProcessName", process) => is_suspended |= is_this && process == PROCESS,
                _ => {}
            },
            Event::Eof => break,
            _ => {}
        }
        buffer.clear();
    }
    anyhow::ensure!(saw_result, "the answer is not one to DescribeAutoScalingGroups");
    Ok(!is_suspended)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The shape that the service documents, with two groups of which the second is suspended.
    const ANSWER: &str = include_str!("describe_answer.xml");

    #[test]
    fn only_a_suspended_load_balancer_process_disables_a_group() {
        assert!(is_enabled(ANSWER.as_bytes(), "orders-v1").expect("readable"));
        assert!(!is_enabled(ANSWER.as_bytes(), "orders-v2").expect("readable"));
        assert!(is_enabled(ANSWER.as_bytes(), "unknown").expect("readable"));
    }

    #[test]
    fn an_answer_of_another_kind_is_an_error_and_not_a_state() {
        for answer in [
            "",
            "<html/>",
            "<ErrorResponse><Error><Code>Throttling</Code></Error></ErrorResponse>",
            "<a",
            "\u{0}",
        ] {
            assert!(is_enabled(answer.as_bytes(), "g").is_err(), "{answer:?}");
        }
    }
}
