//! Parts about many instances and many changes: what a change costs, how many one node carries, storms and deployments.

use std::collections::BTreeMap;
use std::time::Duration;

use heureka_bench::fleet::Fleet;
use heureka_bench::report::{Series, numbers};
use heureka_bench::scenarios::operations::Operation;
use heureka_bench::scenarios::{cost, deploy, fleet, setup, storm, waiting, warm_up};
use tokio::task::JoinSet;

use super::Run;

/// Longest wait until a filled node has written its snapshot.
const WRITTEN: Duration = Duration::from_secs(20);
/// Longest time that each Java server has for warming up before the cost of a change.
const COST_WARM_UP: Duration = Duration::from_secs(12);

impl Run<'_> {
    pub(super) async fn cost(&mut self) -> anyhow::Result<()> {
        let section = self.findings.begin(cost::section());
        let plan = self.plan;
        let mut ours = Vec::new();
        for &size in self.sizes(&[1_000, 10_000], &[1_000, 10_000, 100_000]) {
            let server = plan.launcher.heureka(&setup::SHORT_DELTA)?;
            cost::fill(plan, &server, size).await?;
            ours.push((size, server));
        }
        for (_, server) in &ours {
            // Or the filling would still be written while "without changes" is measured.
            waiting::until_written(server, WRITTEN).await?;
            waiting::until_delta_is_settled(server, &cost::changing(plan)).await?;
        }
        let rounds = plan.count(2, 4);
        let (figure, line) =
            cost::of_changes(plan, &ours, rounds, &mut self.findings.sections[section]).await?;
        self.findings.figures.push(figure);
        drop(ours);
        let mut series = vec![line];
        if !plan.is_quick {
            match self.cost_of_java(section).await {
                Ok(line) => series.extend(line),
                Err(error) => self.note_java("cost", Err(error)),
            }
        }
        self.findings.plots.push(cost::plot(series));
        Ok(())
    }

    async fn cost_of_java(&mut self, section: usize) -> anyhow::Result<Option<Series>> {
        let plan = self.plan;
        let fleet = cost::changing(plan);
        let mut servers = Vec::new();
        for size in [1_000, 10_000] {
            let Some(server) = self.java(&setup::SHORT_DELTA) else { return Ok(None) };
            cost::fill(plan, &server, size).await?;
            let calls = [Operation::Register, Operation::Delta];
            let warmed = warm_up::with_operations(plan, &server, &fleet, &calls, COST_WARM_UP).await?;
            let size_shown = numbers::count(size as f64);
            let note = format!("Java with {size_shown} was warmed up before: {}.", warmed.describe());
            self.findings.sections[section].note(&note);
            servers.push((size, server));
        }
        for (_, server) in &servers {
            waiting::until_delta_is_settled(server, &fleet).await?;
        }
        let section = &mut self.findings.sections[section];
        Ok(Some(cost::of_changes(plan, &servers, 2, section).await?.1))
    }

    pub(super) async fn storm(&mut self) -> anyhow::Result<()> {
        let section = self.findings.begin(storm::section());
        let plan = self.plan;
        let mut storms = Vec::new();
        for _ in 0..plan.count(1, 3) {
            let server = plan.launcher.heureka(&[])?;
            storms.push(storm::after_restart(plan, &server).await?);
        }
        storm::row(plan, "Heureka", &storms, &mut self.findings.sections[section]);
        storms.clear();
        for _ in 0..plan.count(0, 1) {
            let Some(server) = self.java(&[]) else { break };
            match storm::after_restart(plan, &server).await {
                Ok(storm) => storms.push(storm),
                Err(error) => self.note_java("storm", Err(error)),
            }
        }
        if !storms.is_empty() {
            storm::row(plan, "Java", &storms, &mut self.findings.sections[section]);
        }
        Ok(())
    }

    pub(super) async fn fleet(&mut self) -> anyhow::Result<()> {
        let section = self.findings.begin(fleet::section());
        let plan = self.plan;
        let sizes = self.sizes(&[10_000], &[300_000, 500_000, 700_000, 1_000_000]);
        let ours = plan.launcher.heureka(&[&fleet::OPTIONS[..], &[fleet::EXACT]].concat())?;
        let carried = fleet::ramp(plan, &ours, sizes, &mut self.findings.sections[section]).await?;
        drop(ours);
        if plan.is_quick {
            return Ok(());
        }
        self.findings.figures.push(carried.figure(1_000_000));
        if let Some(java) = self.java(&fleet::OPTIONS) {
            let carried =
                fleet::ramp(plan, &java, &[100_000, 300_000], &mut self.findings.sections[section]).await;
            self.note_java("fleet", carried.map(drop));
        }
        Ok(())
    }

    /// All servers at the same time: the load is small, and most of the time everybody waits.
    pub(super) async fn deploy(&mut self) -> anyhow::Result<()> {
        let plan = self.plan;
        let section = self.findings.begin(deploy::section(plan));
        let fleet = Fleet::new(plan.seed, plan.instances);
        let options = if plan.is_quick { deploy::SHORT_DELTA } else { deploy::DELTA };
        let mut servers = Vec::new();
        for phase in deploy::phases(plan) {
            servers.extend(self.servers_if_time(&options)?.into_iter().map(|server| (server, phase)));
        }
        for (server, _) in &servers {
            setup::fill(server, &fleet).await?;
        }
        // Most of what was filled in is then out of the deltas before the first client asks.
        tokio::time::sleep(plan.duration(5_000, 45_000)).await;
        let mut deployments = JoinSet::new();
        for (server, phase) in &servers {
            let name = server.name.clone();
            let deployment = deploy::run(plan.clone(), server.address(), fleet.clone(), *phase);
            deployments.spawn_local(async move { (name, deployment.await) });
        }
        let mut went: BTreeMap<String, Vec<deploy::Deployment>> = BTreeMap::new();
        for (name, deployment) in deployments.join_all().await {
            match deployment {
                Ok(deployment) => went.entry(name).or_default().push(deployment),
                Err(error) => self.problem(format!("a deployment on {name}: {error:#}")),
            }
        }
        for (name, deployments) in &went {
            self.findings.sections[section].row(deploy::row(name, &fleet, deployments));
        }
        Ok(())
    }
}
