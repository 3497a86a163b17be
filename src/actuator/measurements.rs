//! `/actuator/metrics`: single metrics in Boot's form, for those who look at one by hand. Not exposed by default.
//!
//! The names are those of `/actuator/prometheus` with dots for underscores, so there is one set of metrics and two ways to
//! read it.

use std::collections::{BTreeMap, BTreeSet};

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use serde_json::{Map, Value, json};

use super::openmetrics::{self, Metric, Sample};
use super::{accept, prometheus};
use crate::http::reply;
use crate::node::Node;

/// The list of names.
pub async fn names(request: &HttpRequest, node: &Node) -> HttpResponse {
    let Ok(text) = prometheus::scrape(node).await else {
        return reply::empty(StatusCode::INTERNAL_SERVER_ERROR);
    };
    let metrics = openmetrics::parse(&text);
    let with_values = metrics.iter().filter(|metric| !metric.samples.is_empty());
    let names: BTreeSet<String> = with_values.map(boots_name).collect();
    accept::json(request, StatusCode::OK, &json!({ "names": names }))
}

/// One metric, over all its labels or those that `tag=name:value` selects; 404 without a body if there is none.
pub async fn metric(request: &HttpRequest, node: &Node, name: &str) -> HttpResponse {
    let Ok(text) = prometheus::scrape(node).await else {
        return reply::empty(StatusCode::INTERNAL_SERVER_ERROR);
    };
    let metrics = openmetrics::parse(&text);
    let tags = tags(request.query_string());
    let found = metrics.iter().find(|metric| boots_name(metric) == name);
    match found.and_then(|metric| measure(metric, name, &tags)) {
        Some(value) => accept::json(request, StatusCode::OK, &value),
        None => reply::empty(StatusCode::NOT_FOUND),
    }
}

/// Boot leaves the unit out of names: `http.server.requests`.
fn boots_name(metric: &Metric<'_>) -> String {
    let unit = format!("_{}", metric.unit);
    let name = if metric.unit.is_empty() { metric.name } else { metric.name.trim_end_matches(unit.as_str()) };
    name.replace('_', ".")
}

fn tags(query: &str) -> Vec<(String, String)> {
    let given = form_urlencoded::parse(query.as_bytes()).filter(|(key, _)| key == "tag");
    given
        .filter_map(|(_, tag)| tag.split_once(':').map(|(name, value)| (name.to_owned(), value.to_owned())))
        .collect()
}

fn measure(metric: &Metric<'_>, name: &str, tags: &[(String, String)]) -> Option<Value> {
    let is_wanted = |sample: &&Sample<'_>| {
        let has = |tag: &(String, String)| {
            sample.labels.iter().any(|(name, value)| *name == tag.0 && *value == tag.1)
        };
        sample.suffix != "_bucket" && tags.iter().all(has)
    };
    let samples: Vec<&Sample<'_>> = metric.samples.iter().filter(is_wanted).collect();
    if samples.is_empty() {
        return None;
    }
    let mut answer = Map::new();
    answer.insert("availableTags".to_owned(), available_tags(&samples, tags));
    if !metric.unit.is_empty() {
        answer.insert("baseUnit".to_owned(), metric.unit.into());
    }
    answer.insert("description".to_owned(), metric.help.into());
    answer.insert("measurements".to_owned(), measurements(&samples, metric.kind));
    answer.insert("name".to_owned(), name.into());
    Some(answer.into())
}

fn measurements(samples: &[&Sample<'_>], kind: &str) -> Value {
    let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
    for sample in samples {
        let statistic = match (sample.suffix, kind) {
            ("_sum", _) => "TOTAL_TIME",
            ("_count", _) | (_, "counter") => "COUNT",
            _ => "VALUE",
        };
        *sums.entry(statistic).or_default() += sample.value;
    }
    sums.into_iter().map(|(statistic, value)| json!({"statistic": statistic, "value": value})).collect()
}

/// Labels by which one could select further.
fn available_tags(samples: &[&Sample<'_>], chosen: &[(String, String)]) -> Value {
    let mut tags: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (name, value) in samples.iter().flat_map(|sample| &sample.labels) {
        if chosen.iter().all(|(known, _)| known != name) {
            tags.entry(name).or_default().insert(value);
        }
    }
    tags.into_iter().map(|(tag, values)| json!({"tag": tag, "values": values})).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# HELP eureka_server_instances Instances.\n# TYPE eureka_server_instances gauge\n\
                        eureka_server_instances{application=\"A\",status=\"UP\"} 2\n\
                        eureka_server_instances{application=\"A\",status=\"DOWN\"} 1\n\
                        # HELP t_seconds Time.\n# TYPE t_seconds histogram\n# UNIT t_seconds seconds\n\
                        t_seconds_sum 0.5\nt_seconds_count 4\nt_seconds_bucket{le=\"1\"} 4\n";

    #[test]
    fn a_gauge_is_summed_over_what_the_tags_select() {
        let metrics = openmetrics::parse(TEXT);
        let all = measure(&metrics[0], "eureka.server.instances", &[]).expect("values");
        let tags_of_all =
            json!([{"tag": "application", "values": ["A"]}, {"tag": "status", "values": ["DOWN", "UP"]}]);
        let expected = json!({
            "availableTags": tags_of_all,
            "description": "Instances.",
            "measurements": [{"statistic": "VALUE", "value": 3.0}],
            "name": "eureka.server.instances",
        });
        assert_eq!(all, expected);
        let down = tags("tag=status:DOWN&x=1");
        let some = measure(&metrics[0], "x", &down).expect("values");
        assert_eq!(some["measurements"][0]["value"], 1.0);
        assert_eq!(some["availableTags"].as_array().map(Vec::len), Some(1));
        assert_eq!(measure(&metrics[0], "x", &tags("tag=status:STARTING")), None);
    }

    #[test]
    fn a_histogram_has_count_and_total_time() {
        let metrics = openmetrics::parse(TEXT);
        let value = measure(&metrics[1], "t", &[]).expect("values");
        assert_eq!(
            value["measurements"],
            json!([{"statistic": "COUNT", "value": 4.0}, {"statistic": "TOTAL_TIME", "value": 0.5}])
        );
        assert_eq!((value["baseUnit"].as_str(), boots_name(&metrics[1])), (Some("seconds"), "t".to_owned()));
    }
}
