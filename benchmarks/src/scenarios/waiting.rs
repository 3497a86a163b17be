//! Waiting until a server shows what it must show.

use std::time::{Duration, Instant};

use anyhow::{Context, ensure};

use super::setup::{fetch, fetch_at, fetch_outside, register, text_after, text_of};
use crate::fleet::Fleet;
use crate::servers::Server;

/// The hash code of a document, which counts instances by status.
#[must_use]
pub fn hash_in(document: &str) -> Option<&str> {
    text_after(document, "\"apps__hashcode\":\"").map(|rest| rest.split('"').next().unwrap_or_default())
}

/// Waits until a server that has just been started answers with a list of at least so many instances; returns the time from
/// the start of its process to the end of that answer.
///
/// # Errors
/// If it ends or the time is over.
pub async fn until_complete(
    server: &mut Server,
    instances: usize,
    patience: Duration,
) -> anyhow::Result<Duration> {
    loop {
        if let Ok(body) = fetch_at(server.address(), "apps/").await {
            let age = server.process.age();
            if text_of(&body)?.matches("\"instanceId\"").count() >= instances {
                return Ok(age);
            }
        }
        ensure!(server.process.is_running(), "{} has ended before it answered", server.name);
        ensure!(server.process.age() < patience, "{} had no complete list in {patience:?}", server.name);
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// The hash code that a server shows, by its delta.
///
/// # Errors
/// If it fails or shows none.
pub async fn hash_of(server: &Server) -> anyhow::Result<String> {
    let text = text_of(&fetch(server, "apps/delta").await?)?;
    hash_in(&text).map(str::to_owned).context("a delta without a hash code")
}

/// Waits until two servers show the same hash code, that of a registry with something in it.
///
/// # Errors
/// If one fails or the time is over.
pub async fn until_same_hash(one: &Server, two: &Server, patience: Duration) -> anyhow::Result<()> {
    let started = Instant::now();
    loop {
        let hash = hash_of(one).await?;
        if !hash.is_empty() && hash == hash_of(two).await? {
            return Ok(());
        }
        ensure!(started.elapsed() < patience, "{} did not become equal in {patience:?}", one.name);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Waits until the delta shows nothing any more, but not for ever: a server may have been started without
/// `SHORT_DELTA`, or keep its answers for a while.
///
/// # Errors
/// If the server fails.
pub async fn until_delta_is_empty(server: &Server, patience: Duration) -> anyhow::Result<()> {
    let started = Instant::now();
    while started.elapsed() < patience {
        if fetch(server, "apps/delta").await?.len() < 400 {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    Ok(())
}

/// How many instances a server lists, by the hash code of its delta.
///
/// # Errors
/// If it fails or shows none.
pub async fn count_of(server: &Server) -> anyhow::Result<usize> {
    Ok(count_in(&hash_of(server).await?))
}

/// The sum of the counts of all states, as in `DOWN_1_OUT_OF_SERVICE_2_UP_9_`.
fn count_in(hash: &str) -> usize {
    hash.split('_').filter_map(|word| word.parse::<usize>().ok()).sum()
}

/// Waits until the delta of a server that was started with `SHORT_DELTA` shows no more than one instance of a fleet that has just
/// registered. A Java server keeps the delta that it has made while it filled until something changes, so one instance
/// registers once more; then it takes up to 30 s until its lists are made again.
///
/// # Errors
/// If the server fails or the delta never becomes small.
pub async fn until_delta_is_settled(server: &Server, fleet: &Fleet) -> anyhow::Result<()> {
    renew_delta(server, fleet).await?;
    until_delta_is_small(server).await
}

/// Waits until the delta shows no more than one instance or two.
///
/// # Errors
/// If the server fails or the delta never becomes small.
pub async fn until_delta_is_small(server: &Server) -> anyhow::Result<()> {
    let started = Instant::now();
    while fetch(server, "apps/delta").await?.len() > 4_000 {
        ensure!(started.elapsed() < Duration::from_secs(45), "the delta of {} stays large", server.name);
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    Ok(())
}

/// The first half of it: what lets a Java server make its delta anew, which it does within 30 s.
///
/// # Errors
/// If the server fails.
pub async fn renew_delta(server: &Server, fleet: &Fleet) -> anyhow::Result<()> {
    tokio::time::sleep(Duration::from_secs(5)).await;
    register(server.address(), fleet, 0..1).await
}

/// Waits until the list of an application shows so many instances.
///
/// # Errors
/// If the time is over first.
pub async fn until_app_listed(
    server: &Server,
    app: &str,
    instances: usize,
    patience: Duration,
) -> anyhow::Result<()> {
    let started = Instant::now();
    let path = format!("apps/{}", app.to_ascii_uppercase());
    loop {
        // 404 as long as nobody has told it of the application.
        if let Ok(body) = fetch(server, &path).await
            && text_of(&body)?.matches("\"instanceId\"").count() >= instances
        {
            return Ok(());
        }
        ensure!(started.elapsed() < patience, "{} has never shown all of {app}", server.name);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Waits until the full document shows so many instances; the time that took.
///
/// # Errors
/// If the server fails or never gets there.
pub async fn until_listed(server: &Server, instances: usize) -> anyhow::Result<Duration> {
    let started = Instant::now();
    loop {
        let text = text_of(&fetch(server, "apps/").await?)?;
        if text.matches("\"instanceId\"").count() >= instances {
            return Ok(started.elapsed());
        }
        ensure!(
            started.elapsed() < Duration::from_secs(90),
            "the list of {} never became complete",
            server.name
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Waits until the snapshot of a node holds everything, but not for ever; true if it does. A node that is stopped in the middle
/// of a flood has only some seconds to write the rest.
///
/// # Errors
/// If the server fails or knows no snapshots.
pub async fn until_written(server: &Server, patience: Duration) -> anyhow::Result<bool> {
    let started = Instant::now();
    loop {
        let is_following = gauge(server, "eureka_snapshot_state{state=\"following\"}").await? > 0.0;
        if is_following && gauge(server, "eureka_snapshot_queue_instances").await? == 0.0 {
            return Ok(true);
        }
        if started.elapsed() > patience {
            return Ok(false);
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// A metric of a node, with its labels if it has any.
///
/// # Errors
/// If the server fails or has none of that name.
pub async fn gauge(server: &Server, name: &str) -> anyhow::Result<f64> {
    let metrics = text_of(&fetch_outside(server, "/actuator/prometheus").await?)?;
    value_of(&metrics, name).with_context(|| format!("{} has no metric {name}", server.name))
}

fn value_of(metrics: &str, name: &str) -> Option<f64> {
    let rest = text_after(metrics, &format!("\n{name} "))?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_of_a_document_is_found() {
        let text =
            r#"{"applications":{"versions__delta":"3","apps__hashcode":"DOWN_1_UP_9_","application":[]}}"#;
        assert_eq!(hash_in(text), Some("DOWN_1_UP_9_"));
        assert_eq!(hash_in("{}"), None);
        assert_eq!(count_in("DOWN_1_OUT_OF_SERVICE_2_UP_9_"), 12);
    }

    #[test]
    fn metrics_are_read_by_their_whole_name_with_labels() {
        let metrics = "# TYPE a_bytes gauge\na_bytes 12.5\na_bytes_max 99\ns{x=\"y\"} 1\ns{x=\"z\"} 0\n";
        assert_eq!(value_of(metrics, "a_bytes"), Some(12.5));
        assert_eq!(value_of(metrics, "a"), None);
        assert_eq!(value_of(metrics, "s{x=\"z\"}"), Some(0.0));
    }
}
