//! Instances that change in a known way, and what has been seen of them.

use std::collections::VecDeque;
use std::time::Instant;

use super::setup::text_after;
use crate::fleet::Record;
use crate::http::RequestWriter;

/// The application of the instances that are looked at.
pub const PROBE_APP: &str = "propagation-probe";

/// What an instance shows of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// How often it has registered anew.
    pub generation: u32,
    /// Its status.
    pub status: &'static str,
}

/// One change.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    kind: Kind,
    /// What the instance shows after it.
    pub after: Shown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Register,
    TakeOut,
    TakeIn,
}

const CYCLE: [Kind; 3] = [Kind::Register, Kind::TakeOut, Kind::TakeIn];

/// All instances and what they show; they change in turn.
pub struct Probes {
    shown: Vec<Shown>,
    number: usize,
}

impl Probes {
    /// Instances that have been registered once.
    pub fn new(count: usize) -> Self {
        Self { shown: vec![Shown { generation: 0, status: "UP" }; count], number: 0 }
    }

    /// The next instance and its change. Every other instance begins with a registration, the rest with a change of status.
    pub fn next(&mut self) -> (usize, Change) {
        let (probe, round) = (self.number % self.shown.len(), self.number / self.shown.len());
        self.number += 1;
        let kind = CYCLE[(round + probe % 2) % CYCLE.len()];
        let shown = &mut self.shown[probe];
        match kind {
            Kind::Register => shown.generation += 1,
            Kind::TakeOut => shown.status = "OUT_OF_SERVICE",
            Kind::TakeIn => shown.status = "UP",
        }
        (probe, Change { kind, after: *shown })
    }
}

impl Change {
    /// Appends the request for it. `scratch` is overwritten.
    pub fn write(&self, record: &Record<'_>, scratch: &mut Vec<u8>, out: &mut Vec<u8>) {
        let writer = RequestWriter::SPRING;
        match self.kind {
            Kind::Register => writer.register(record, scratch, out),
            Kind::TakeOut => writer.set_status(record, self.after.status, out),
            Kind::TakeIn => writer.delete_status(record, self.after.status, out),
        }
    }
}

/// What is to be seen, and how long it took to see it.
pub struct Board {
    /// For each instance, oldest first.
    waiting: Vec<VecDeque<(Shown, Instant)>>,
    delays_ms: Vec<f64>,
    is_closed: bool,
}

impl Board {
    /// Nothing is expected of so many instances yet.
    pub fn new(count: usize) -> Self {
        Self { waiting: vec![VecDeque::new(); count], delays_ms: Vec::new(), is_closed: false }
    }

    /// A change was due now.
    pub fn expect(&mut self, probe: usize, shown: Shown, due: Instant) {
        self.waiting[probe].push_back((shown, due));
    }

    /// No more changes will come.
    pub fn close(&mut self) {
        self.is_closed = true;
    }

    /// True if every change has been seen.
    pub fn is_done(&self) -> bool {
        self.is_closed && self.waiting.iter().all(VecDeque::is_empty)
    }

    /// A document was seen. A change that a later one of the same instance has overtaken counts as seen with that one.
    pub fn see(&mut self, document: &str, ids: &[String], now: Instant) {
        for (waiting, id) in self.waiting.iter_mut().zip(ids) {
            if waiting.is_empty() {
                continue;
            }
            let Some(instance) = instance_in(document, id) else { continue };
            let Some(seen) = waiting.iter().rposition(|(shown, _)| shows(instance, shown)) else { continue };
            let delays = waiting.drain(..=seen).map(|(_, due)| (now - due).as_secs_f64() * 1000.0);
            self.delays_ms.extend(delays);
        }
    }

    /// Delays in milliseconds, in no order.
    pub fn delays_ms(&self) -> &[f64] {
        &self.delays_ms
    }

    /// So large a share of the delays is not longer.
    pub fn quantile_ms(&self, share: f64) -> f64 {
        let mut sorted = self.delays_ms.clone();
        sorted.sort_by(f64::total_cmp);
        let rank = (sorted.len() as f64 * share).ceil() as usize;
        sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
    }
}

/// The part of a document that is about an instance.
fn instance_in<'d>(document: &'d str, id: &str) -> Option<&'d str> {
    let rest = text_after(document, &format!("{{\"instanceId\":\"{id}\""))?;
    Some(rest.split("{\"instanceId\":").next().unwrap_or(rest))
}

fn shows(instance: &str, shown: &Shown) -> bool {
    let begins = |key: &str, value: &str| {
        let rest = text_after(instance, key);
        rest.and_then(|rest| rest.strip_prefix(value)).is_some_and(|rest| rest.starts_with('"'))
    };
    begins("\"status\":\"", shown.status) && begins("\"deployment\":\"", &shown.generation.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn document(instances: &[(&str, Shown)]) -> String {
        let text = |(id, shown): &(&str, Shown)| {
            let Shown { generation, status } = shown;
            format!(
                r#"{{"instanceId":"{id}","overriddenStatus":"X","status":"{status}","metadata":{{"deployment":"{generation}"}}}}"#
            )
        };
        instances.iter().map(text).collect()
    }

    #[test]
    fn instances_change_in_turn_and_in_both_ways() {
        let mut probes = Probes::new(2);
        let seen: Vec<_> =
            (0..6).map(|_| probes.next()).map(|(probe, change)| (probe, change.after)).collect();
        let shown = |generation, status| Shown { generation, status };
        assert_eq!(seen[0], (0, shown(1, "UP")));
        assert_eq!(seen[1], (1, shown(0, "OUT_OF_SERVICE")));
        assert_eq!(seen[2], (0, shown(1, "OUT_OF_SERVICE")));
        assert_eq!(seen[3], (1, shown(0, "UP")));
        assert_eq!(seen[4], (0, shown(1, "UP")));
        assert_eq!(seen[5], (1, shown(1, "UP")));
    }

    #[test]
    fn a_change_is_seen_when_the_document_shows_its_state_and_not_before() {
        let (start, ids) = (Instant::now(), ["a".to_owned(), "b".to_owned()]);
        let after = |ms| start + Duration::from_millis(ms);
        let old = Shown { generation: 0, status: "UP" };
        let [first, second] = [1, 12].map(|generation| Shown { generation, status: "UP" });
        let mut board = Board::new(2);
        board.expect(0, first, start);
        board.expect(0, second, after(10));
        board.close();
        board.see(&document(&[("a", old), ("b", first)]), &ids, after(20));
        assert!(board.delays_ms().is_empty() && !board.is_done());
        board.see(&document(&[("a", second), ("b", old)]), &ids, after(30));
        assert_eq!(board.delays_ms(), [30.0, 20.0]);
        assert!(board.is_done());
        assert_eq!((board.quantile_ms(0.5), board.quantile_ms(0.99)), (20.0, 30.0));
    }
}
