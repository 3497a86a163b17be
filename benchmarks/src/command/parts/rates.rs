//! Rates, capacity, visibility, churn and quiet: all on one pair of filled and warm servers.

use heureka_bench::fleet::Fleet;
use heureka_bench::report::{Figure, Section, numbers};
use heureka_bench::scenarios::operations::Operation;
use heureka_bench::scenarios::{baseline, capacity, churn, idle, setup, visibility, waiting, warm_up};
use heureka_bench::servers::Server;

use super::Run;

impl Run<'_> {
    pub(super) async fn rates(&mut self) -> anyhow::Result<()> {
        let plan = self.plan;
        let fleet = Fleet::new(plan.seed, plan.instances);
        let mut servers = self.servers(&setup::SHORT_DELTA)?;
        setup::fill(&servers[0], &fleet).await?;
        if let Some(java) = servers.get(1) {
            let warmed = self.warm_up(java, &fleet).await;
            let is_usable = warmed.is_ok();
            self.note_java("warm-up", warmed);
            servers.truncate(if is_usable { 2 } else { 1 });
        }
        waiting::until_delta_is_empty(&servers[0], plan.duration(4_000, 20_000)).await?;
        self.compare(&servers, &fleet).await?;
        self.capacity(&servers, &fleet).await?;
        self.findings.figures.extend(visibility::writes(plan, &servers[0], &fleet, 0.0).await?);
        self.findings.figures.extend(visibility::writes(plan, &servers[0], &fleet, 500.0).await?);
        // What is said about ours, and not about a comparison: a short run leaves Java out.
        let servers = if plan.is_quick { &servers[..1] } else { &servers[..] };
        self.churn(servers, &fleet).await?;
        for server in servers {
            self.findings.figures.extend(idle::quiet(plan, server, &fleet).await?);
        }
        Ok(())
    }

    async fn warm_up(&mut self, java: &Server, fleet: &Fleet) -> anyhow::Result<()> {
        let started = format!("{:.1} s", java.started_in.as_secs_f64());
        self.findings.setting.push(("Java start".to_owned(), started));
        setup::fill(java, fleet).await?;
        let warm_up = warm_up::until_steady(self.plan, java, fleet).await?;
        self.findings.setting.push(("Java warm-up".to_owned(), warm_up.describe()));
        Ok(())
    }

    async fn compare(&mut self, servers: &[Server], fleet: &Fleet) -> anyhow::Result<()> {
        let plan = self.plan;
        for operation in Operation::ALL {
            let figure = baseline::against_baseline(plan, &servers[0], fleet, operation).await?;
            self.findings.figures.push(figure);
            if let [ours, java] = servers
                && (!plan.is_quick || operation.goals().of_java.is_some())
            {
                match baseline::against_java(plan, ours, java, fleet, operation).await {
                    Ok(figure) => self.findings.figures.push(figure),
                    Err(error) => self.note_java(operation.name(), Err(error)),
                }
            }
        }
        Ok(())
    }

    async fn capacity(&mut self, servers: &[Server], fleet: &Fleet) -> anyhow::Result<()> {
        let both: Vec<&Server> = servers.iter().collect();
        let quick = [Operation::Heartbeat];
        let operations = if self.plan.is_quick { &quick[..] } else { &Operation::ALL[..] };
        let (section, plots) = capacity::section(self.plan, &both, fleet, operations).await?;
        self.findings.sections.push(section);
        self.findings.plots.extend(plots);
        Ok(())
    }

    async fn churn(&mut self, servers: &[Server], fleet: &Fleet) -> anyhow::Result<()> {
        let plan = self.plan;
        let rates = if plan.is_quick { &[500.0][..] } else { &[10.0, 100.0, 500.0, 1_000.0][..] };
        let index = self.findings.begin(Section::new(
            "Full fetches while instances register",
            "Closed loop of full fetches (gzip), quiet and while registrations come in on a schedule, in turn. Java at 500 \
             registrations/s only.",
            &["server", "registrations/s", "quiet", "under registrations", "kept"],
        ));
        for &rate in rates {
            let measured = if rate == JUDGED_RATE { servers } else { &servers[..1] };
            for server in measured {
                let figure = churn::full_fetches(plan, server, fleet, rate).await?;
                let kept = figure.ratio.map_or_else(String::new, |ratio| numbers::percent(ratio.median));
                let Figure { measured, compared, .. } = &figure;
                self.findings.sections[index].row([
                    server.name.clone(),
                    numbers::count(rate),
                    compared.clone(),
                    measured.clone(),
                    kept,
                ]);
                if rate == JUDGED_RATE {
                    self.findings.figures.push(figure);
                }
            }
        }
        Ok(())
    }
}

/// Registrations a second at which the goal for full fetches counts.
const JUDGED_RATE: f64 = 500.0;
