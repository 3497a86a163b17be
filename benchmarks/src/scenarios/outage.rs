//! A peer that is away for a while: what that costs the node that has everything to tell it, and how soon both are equal again.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::ensure;

use super::Plan;
use super::setup::{self, text_after};
use super::waiting;
use crate::fleet::{Fleet, Record};
use crate::http::{Connection, RequestWriter};
use crate::load::{Generated, Outcome, Pool, Workload, beside};
use crate::report::{Figure, Section, numbers};
use crate::servers::{Folder, Server, Sites};

/// Seconds between two heartbeats of an instance.
const INTERVAL_SECS: f64 = 30.0;
/// One in so many instances changes while the peer is away, and in each of three ways.
const CHANGING: usize = 100;
/// Which of them is cancelled, registers anew, and is taken out of service.
const CANCELLED: usize = 7;
const RENEWED: usize = 17;
const TAKEN_OUT: usize = 27;
/// Nodes that are not equal by then never will be.
const PATIENCE: Duration = Duration::from_secs(120);
/// What the queue may take, for each instance.
const BYTES_EACH: f64 = 200.0;
/// How soon both must be equal, in seconds.
const EQUAL_SECS: f64 = 30.0;

/// The table for it.
#[must_use]
pub fn section(plan: &Plan) -> Section {
    let text = format!(
        "Two nodes; all instances send heartbeats to one of them every 30 s. The other one is stopped, stays away for {} s (life's \
         ten minutes are too long for a benchmark) while 1 % of the instances are cancelled, 1 % register anew and 1 % are taken \
         out of service, and starts again with its snapshot. Equal: the same hash code, and the same status and timestamp of every \
         instance.",
        away(plan).as_secs()
    );
    Section::new(
        "A peer is away",
        &text,
        &[
            "server",
            "instances",
            "CPU before",
            "CPU meanwhile",
            "memory before",
            "memory meanwhile",
            "answers in full after",
            "equal after",
        ],
    )
}

fn away(plan: &Plan) -> Duration {
    plan.duration(3_000, 60_000)
}

/// What a node used of its machine during a stretch.
struct Stretch {
    core_share: f64,
    /// Heap and stacks at its end.
    bytes: f64,
    beats: Outcome,
}

/// Runs it.
///
/// # Errors
/// If a node fails or they never become equal.
pub async fn of_peer(plan: &Plan, instances: usize, section: &mut Section) -> anyhow::Result<Vec<Figure>> {
    let (sites, folder) = (Sites::new(2)?, Folder::new());
    let option = folder.option();
    let options = [&setup::SHORT_DELTA[..], &[option.as_str()]].concat();
    let mut here = sites.spawn_heureka(&plan.launcher, 0, &setup::SHORT_DELTA)?;
    let mut peer = sites.spawn_heureka(&plan.launcher, 1, &options)?;
    waiting::until_complete(&mut here, 0, PATIENCE).await?;
    waiting::until_complete(&mut peer, 0, PATIENCE).await?;
    let fleet = Fleet::new(plan.seed, instances);
    setup::fill(&here, &fleet).await?;
    waiting::until_same_hash(&here, &peer, PATIENCE).await?;
    waiting::until_delta_is_empty(&here, plan.duration(3_000, 20_000)).await?;

    let mut load = Load::new(&here, &fleet).await?;
    let calm = plan.duration(1_500, 20_000);
    let before = load
        .during(async {
            tokio::time::sleep(calm).await;
            Ok(())
        })
        .await?;
    peer.process.stop();
    let mut resent = 0;
    let absence = async {
        tokio::time::sleep(away(plan) / 2).await;
        resent = change(&here, &fleet).await?;
        tokio::time::sleep(away(plan) / 2).await;
        Ok(())
    };
    let meanwhile = load.during(absence).await?;
    let mut peer = sites.spawn_heureka(&plan.launcher, 1, &options)?;
    let mut answered = Duration::ZERO;
    let mut equal = Duration::ZERO;
    let returning = async {
        answered = waiting::until_complete(&mut peer, 1, PATIENCE).await?;
        equal = until_equal(&here, &peer).await?;
        Ok(())
    };
    let back = load.during(returning).await?;
    section.row([
        "Heureka".to_owned(),
        numbers::count(instances as f64),
        core(before.core_share),
        core(meanwhile.core_share),
        numbers::bytes(before.bytes),
        numbers::bytes(meanwhile.bytes),
        numbers::millis(answered.as_secs_f64() * 1000.0),
        numbers::millis(equal.as_secs_f64() * 1000.0),
    ]);
    let figures = figures(instances, &[before, meanwhile, back], equal).into_iter();
    Ok(figures.map(|figure| figure.checked_resent("changes", resent)).collect())
}

fn core(share: f64) -> String {
    format!("{:.1} % of a core", share * 100.0)
}

fn figures(instances: usize, stretches: &[Stretch; 3], equal: Duration) -> Vec<Figure> {
    let [before, meanwhile, back] = stretches;
    let size = numbers::count(instances as f64);
    let each = (meanwhile.bytes - before.bytes).max(0.0) / instances as f64;
    let name = format!("memory for a peer that is away, for each of {size} instances");
    let mut memory = Figure::at_most(&name, numbers::bytes(each), each, BYTES_EACH, "≤ 200 B");
    memory.compared = format!("CPU {} → {}", core(before.core_share), core(meanwhile.core_share));
    let memory =
        memory.checked("heartbeats before", &before.beats).checked("heartbeats meanwhile", &meanwhile.beats);
    let seconds = equal.as_secs_f64();
    let name = format!("peer back with {size} instances → equal");
    let equal = Figure::at_most(&name, format!("{seconds:.1} s"), seconds, EQUAL_SECS, "≤ 30 s");
    let equal = equal.checked("heartbeats meanwhile", &meanwhile.beats);
    vec![memory, equal.checked("heartbeats after", &back.beats)]
}

/// Heartbeats of all instances that are not cancelled, at their own rate.
struct Load<'a> {
    server: &'a Server,
    pool: Pool,
    beats: Rc<dyn Workload>,
    rate: f64,
}

impl<'a> Load<'a> {
    async fn new(server: &'a Server, fleet: &Fleet) -> anyhow::Result<Self> {
        let pool = Pool::open(server.address(), setup::CONNECTIONS, 4096).await?;
        let rate = fleet.len() as f64 / INTERVAL_SECS;
        Ok(Self { server, pool, beats: beats(fleet), rate })
    }

    async fn during(&mut self, work: impl Future<Output = anyhow::Result<()>>) -> anyhow::Result<Stretch> {
        let (started, before) = (Instant::now(), self.server.cpu()?);
        let ((), beats) = beside(&mut self.pool, &self.beats, self.rate, work).await?;
        let used = self.server.cpu()?.since(&before).total();
        Ok(Stretch {
            core_share: used.as_secs_f64() / started.elapsed().as_secs_f64(),
            bytes: self.server.memory()?.anonymous as f64,
            beats,
        })
    }
}

/// Written when they are sent, in an order that visits every instance once in a round.
fn beats(fleet: &Fleet) -> Rc<dyn Workload> {
    let fleet = fleet.clone();
    let write = move |number: u64, out: &mut Vec<u8>| {
        // The stride has no common factor with any size used here.
        let instance = (number.wrapping_mul(7_919) % fleet.len() as u64) as usize;
        let is_cancelled = instance % CHANGING == CANCELLED;
        RequestWriter::SPRING.heartbeat(&fleet.record(instance - usize::from(is_cancelled), 0), out);
    };
    Rc::new(Generated { write, expected_status: 200 })
}

/// What happens while the peer is away; says how many changes had to be sent twice.
async fn change(server: &Server, fleet: &Fleet) -> anyhow::Result<u64> {
    let mut connection = Connection::new(server.address(), 16 * 1024);
    let (mut scratch, mut request) = (Vec::new(), Vec::new());
    let mut send = async |write: &mut dyn FnMut(&mut Vec<u8>)| -> anyhow::Result<()> {
        request.clear();
        write(&mut request);
        let answer = connection.exchange(&request).await?;
        ensure!(answer.status / 100 == 2, "a change was answered {}", answer.status);
        Ok(())
    };
    let writer = RequestWriter::SPRING;
    for first in (0..fleet.len().saturating_sub(CHANGING - 1)).step_by(CHANGING) {
        let record =
            |offset: usize, generation: u32| -> Record<'_> { fleet.record(first + offset, generation) };
        send(&mut |out| writer.cancel(&record(CANCELLED, 0), out)).await?;
        send(&mut |out| writer.register(&record(RENEWED, 1), &mut scratch, out)).await?;
        send(&mut |out| writer.set_status(&record(TAKEN_OUT, 0), "OUT_OF_SERVICE", out)).await?;
    }
    Ok(connection.resent())
}

/// Waits until both show the same; the time from the start of the peer's process.
async fn until_equal(here: &Server, peer: &Server) -> anyhow::Result<Duration> {
    loop {
        if waiting::hash_of(here).await? == waiting::hash_of(peer).await? {
            // The hash counts instances only; this takes longer, so the time stops before.
            let age = peer.process.age();
            if fingerprint_of(here).await? == fingerprint_of(peer).await? {
                return Ok(age);
            }
        }
        ensure!(peer.process.age() < PATIENCE, "the peer has not become equal in {PATIENCE:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn fingerprint_of(server: &Server) -> anyhow::Result<(usize, u64)> {
    Ok(fingerprint(&setup::text_of(&setup::fetch(server, "apps/").await?)?))
}

/// Number of instances, and a sum over id, status and timestamp of each, in whatever order they come.
fn fingerprint(document: &str) -> (usize, u64) {
    let mut all = (0, 0_u64);
    for instance in document.split("{\"instanceId\":\"").skip(1) {
        let value = |key: &str| text_after(instance, key).and_then(|rest| rest.split([',', '}']).next());
        let mut hasher = DefaultHasher::new();
        (instance.split('"').next(), value("\"status\":"), value("\"lastDirtyTimestamp\":"))
            .hash(&mut hasher);
        all = (all.0 + 1, all.1.wrapping_add(hasher.finish()));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_see_every_instance_and_no_order() {
        let instance = |id: &str, status: &str, dirty: u64| {
            format!(
                r#"{{"instanceId":"{id}","status":"{status}","lastDirtyTimestamp":"{dirty}","actionType":"ADDED"}}"#
            )
        };
        let (a, b) = (instance("a", "UP", 1), instance("b", "UP", 2));
        let both = fingerprint(&format!("[{a},{b}]"));
        assert_eq!(both.0, 2);
        assert_eq!(both, fingerprint(&format!("[{b},{a}]").replace("ADDED", "MODIFIED")));
        for other in [instance("b", "DOWN", 2), instance("b", "UP", 3), instance("c", "UP", 2)] {
            assert_ne!(both, fingerprint(&format!("[{a},{other}]")));
        }
    }

    #[test]
    fn cancelled_instances_send_no_heartbeats() {
        let fleet = Fleet::new(1, 1_000);
        let workload = beats(&fleet);
        let cancelled = fleet.record(CHANGING + CANCELLED, 0).id;
        let other = fleet.record(CHANGING + CANCELLED + 1, 0).id;
        let count = |id: &str| {
            let sent = (0..1_000).filter(|number| {
                let mut scratch = Vec::new();
                memchr::memmem::find(workload.request(*number, &mut scratch), id.as_bytes()).is_some()
            });
            sent.count()
        };
        assert_eq!((count(&cancelled), count(&other)), (0, 1));
    }
}
