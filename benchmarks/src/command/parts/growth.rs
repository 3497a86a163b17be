//! Parts about many instances and many changes: what a change costs, how many one node carries, storms and deployments.

use heureka_bench::fleet::Fleet;
use heureka_bench::report::{Figure, numbers};
use heureka_bench::scenarios::{cost, deploy, fleet, setup, storm, waiting};

use super::Run;

impl Run<'_> {
    pub(super) async fn cost(&mut self) -> anyhow::Result<()> {
        let section = self.findings.begin(cost::section());
        let mut series = Vec::new();
        for server in self.servers_if_time(&setup::SHORT_DELTA)? {
            let sizes = match server.name.as_str() {
                "Java" => &[1_000, 10_000],
                _ => self.sizes(&[1_000, 10_000], &[1_000, 10_000, 100_000]),
            };
            let (figure, line) =
                cost::of_changes(self.plan, &server, sizes, &mut self.findings.sections[section]).await?;
            if server.name == "Heureka" {
                self.findings.figures.push(figure);
            }
            series.push(line);
        }
        self.findings.plots.push(cost::plot(series));
        Ok(())
    }

    pub(super) async fn storm(&mut self) -> anyhow::Result<()> {
        let section = self.findings.begin(storm::section());
        for server in self.servers_if_time(&[])? {
            storm::after_restart(self.plan, &server, &mut self.findings.sections[section]).await?;
        }
        Ok(())
    }

    pub(super) async fn fleet(&mut self) -> anyhow::Result<()> {
        let section = self.findings.begin(fleet::section());
        let mut carried = 0;
        for &size in self.sizes(&[10_000], &[10_000, 100_000, 300_000, 1_000_000]) {
            // One of its own for each: in the next step the instances of this one would fall silent and expire.
            let server = self.plan.launcher.heureka(&setup::SHORT_DELTA)?;
            if !fleet::carries(self.plan, &server, size, &mut self.findings.sections[section]).await? {
                break;
            }
            carried = size;
        }
        if self.plan.is_quick {
            return Ok(());
        }
        let shown = format!("{} instances", numbers::count(carried as f64));
        let name = "fleet at default intervals on one node";
        self.findings.figures.push(Figure::judged(name, shown, "1,000,000", carried >= 1_000_000));
        // What is beyond Java's reach takes a long time to find out.
        for size in [10_000, 30_000] {
            let Some(server) = self.java(&setup::SHORT_DELTA) else { break };
            if !fleet::carries(self.plan, &server, size, &mut self.findings.sections[section]).await? {
                break;
            }
        }
        Ok(())
    }

    /// Both servers at the same time: the load is small, and most of the time everybody waits.
    pub(super) async fn deploy(&mut self) -> anyhow::Result<()> {
        let plan = self.plan;
        let section = self.findings.begin(deploy::section(plan));
        let fleet = Fleet::new(plan.seed, plan.instances);
        let options = if plan.is_quick { deploy::SHORT_DELTA } else { deploy::DELTA };
        let servers = self.servers_if_time(&options)?;
        for server in &servers {
            setup::fill(server, &fleet).await?;
        }
        for server in &servers {
            waiting::until_delta_is_empty(server, plan.duration(7_000, 130_000)).await?;
        }
        let ours = deploy::run(plan, &servers[0], &fleet);
        let theirs = async {
            match servers.get(1) {
                Some(java) => deploy::run(plan, java, &fleet).await.map(Some),
                None => Ok(None),
            }
        };
        let (ours, theirs) = tokio::join!(ours, theirs);
        self.findings.sections[section].row(ours?);
        match theirs {
            Ok(row) => row.into_iter().for_each(|row| self.findings.sections[section].row(row)),
            Err(error) => self.note_java("deployment", Err(error)),
        }
        Ok(())
    }
}
