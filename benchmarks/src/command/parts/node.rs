//! Parts about one node: how it starts, how large it is, what its snapshots cost.

use heureka_bench::report::{Figure, numbers};
use heureka_bench::scenarios::{memory, restart, snapshots, start};
use heureka_bench::stats::Spread;

use super::Run;

impl Run<'_> {
    pub(super) fn start(&mut self) -> anyhow::Result<()> {
        let mut figure = start::cold(self.plan, 50.0)?;
        // In short runs the part `rates` says how long its Java server took.
        let mut starts = Vec::new();
        for _ in 0..if self.plan.is_quick { 0 } else { JAVA_STARTS } {
            starts.extend(self.java(&[]).map(|java| java.started_in.as_secs_f64()));
        }
        if !starts.is_empty() {
            let starts = Spread::of(starts);
            figure.compared +=
                &format!("; Java: {:.1} s (worst {:.1} s of {})", starts.median, starts.high, starts.count);
        }
        self.findings.figures.push(figure);
        Ok(())
    }

    pub(super) async fn restart(&mut self) -> anyhow::Result<()> {
        let plan = self.plan;
        let index = self.findings.begin(restart::section());
        restart::cold(plan, &mut self.findings.sections[index]).await?;
        for &(size, limit_ms) in if plan.is_quick { &WARM[..1] } else { &WARM[..] } {
            let figure = restart::warm(plan, size, limit_ms, &mut self.findings.sections[index]).await;
            self.keep("warm start", figure);
        }
        for &size in self.sizes(&[10_000], &[10_000, 100_000]) {
            let figure =
                restart::from_peer(plan, size, FROM_PEER_MS, &mut self.findings.sections[index]).await;
            self.keep("start from a peer", figure);
        }
        if !plan.is_quick {
            let result = restart::java(plan, 10_000, &mut self.findings.sections[index]).await;
            self.note_java("restart", result);
        }
        Ok(())
    }

    pub(super) async fn memory(&mut self) -> anyhow::Result<()> {
        let plan = self.plan;
        let section = self.findings.begin(memory::section());
        let (mut ours, mut java) = (Vec::new(), Vec::new());
        for &size in self.sizes(&[10_000], &[1_000, 10_000, 100_000, 1_000_000]) {
            let mut servers = Vec::new();
            for _ in 0..if plan.is_quick || size > 100_000 { 1 } else { 2 } {
                let server = plan.launcher.heureka(&[])?;
                servers.push(memory::filled(plan, &server, size).await?);
            }
            let filled = memory::row("Heureka", &servers, &mut self.findings.sections[section]);
            let [empty, each] = filled.figures(if size >= 100_000 { 2048.0 } else { 4096.0 });
            self.findings.figures.extend((size == 10_000).then_some(empty));
            self.findings.figures.extend((size >= 10_000).then_some(each));
            ours.push(filled);
        }
        // Beyond that its garbage collector is measured, not its records.
        for &size in self.sizes(&[], &[10_000, 100_000]) {
            let mut servers = Vec::new();
            for _ in 0..if size > 10_000 { 1 } else { 2 } {
                let Some(server) = self.java(&[]) else { break };
                match memory::filled(plan, &server, size).await {
                    Ok(filled) => servers.push(filled),
                    Err(error) => self.note_java("memory", Err(error)),
                }
            }
            if servers.is_empty() {
                break;
            }
            let filled = memory::row("Java", &servers, &mut self.findings.sections[section]);
            if let Some(our) = ours.iter().find(|our| our.instances == size) {
                let name = format!("memory of a fresh server with {}", numbers::count(size as f64));
                self.findings.figures.push(Figure::memory_against_java(&name, our.filled, filled.filled));
            }
            java.push(filled);
        }
        self.findings.plots.push(memory::plot(&[("Heureka".to_owned(), ours), ("Java".to_owned(), java)]));
        Ok(())
    }

    pub(super) async fn snapshots(&mut self) -> anyhow::Result<()> {
        let section = self.findings.begin(snapshots::section());
        let Run { plan, findings, .. } = self;
        let report =
            snapshots::Report { figures: &mut findings.figures, section: &mut findings.sections[section] };
        snapshots::costs(plan, report).await
    }
}

/// Cold starts of Java.
const JAVA_STARTS: usize = 5;
/// Sizes of warm starts and what they may take, in milliseconds.
const WARM: [(usize, f64); 2] = [(10_000, 100.0), (100_000, 500.0)];
/// What a start from a peer may take, of any size up to 100,000, in milliseconds.
const FROM_PEER_MS: f64 = 3_000.0;
