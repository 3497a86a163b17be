//! Rates, capacity, visibility, churn and quiet: all on one pair of filled and warm servers.

use heureka_bench::fleet::Fleet;
use heureka_bench::report::{Figure, Section, numbers};
use heureka_bench::scenarios::operations::Operation;
use heureka_bench::scenarios::{
    baseline, capacity, churn, idle, newcomers, setup, visibility, waiting, warm_up,
};
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
        self.idle(servers, &fleet).await
    }

    /// Both at the same time: nobody has much to do.
    async fn idle(&mut self, servers: &[Server], fleet: &Fleet) -> anyhow::Result<()> {
        let plan = self.plan;
        if let Some(java) = servers.get(1) {
            // Made anew within 30 s, before anybody reads deltas.
            waiting::renew_delta(java, fleet).await?;
        }
        let theirs = async {
            match servers.get(1) {
                Some(java) => idle::quiet(plan, java, fleet).await.map(Some),
                None => Ok(None),
            }
        };
        let (ours, theirs) = tokio::join!(idle::quiet(plan, &servers[0], fleet), theirs);
        let ours = ours?;
        self.findings.figures.extend(ours.figures);
        match theirs {
            Ok(Some(java)) => {
                let name = format!(
                    "memory after the highest rates, with {} quiet instances",
                    numbers::count(fleet.len() as f64)
                );
                self.findings.figures.extend(java.figures);
                // Not judged: after the highest rates a JVM has taken all the heap that it may take.
                let mut figure = Figure::plain(&name, numbers::bytes(ours.resident));
                figure.compared = format!("Java: {}", numbers::bytes(java.resident));
                self.findings.figures.push(figure);
            }
            Ok(None) => {}
            Err(error) => self.note_java("idle", Err(error)),
        }
        Ok(())
    }

    async fn warm_up(&mut self, java: &Server, fleet: &Fleet) -> anyhow::Result<()> {
        let started = format!("{:.1} s", java.started_in.as_secs_f64());
        self.findings.setting.push(("Java start".to_owned(), started));
        setup::fill(java, fleet).await?;
        let patience = self.plan.duration(7_000, 100_000);
        let warm_up = warm_up::with_operations(self.plan, java, fleet, &Operation::ALL, patience).await?;
        self.findings.setting.push(("Java warm-up before its rates".to_owned(), warm_up.describe()));
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
            if operation == Operation::Register {
                self.newcomers(servers, fleet).await?;
            }
        }
        Ok(())
    }

    /// Registrations again, of instances that nobody knows.
    async fn newcomers(&mut self, servers: &[Server], fleet: &Fleet) -> anyhow::Result<()> {
        self.findings.figures.push(newcomers::against_baseline(self.plan, &servers[0]).await?);
        if let [ours, java] = servers {
            match newcomers::against_java(self.plan, ours, java).await {
                Ok(figure) => self.findings.figures.push(figure),
                Err(error) => self.note_java("new instances", Err(error)),
            }
            // While the next calls are measured its delta is made anew, so that nobody waits for it before its own turn.
            let renewed = waiting::renew_delta(java, fleet).await;
            self.note_java("a new delta", renewed);
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
             registrations/s only, in turn with ours.",
            &["server", "registrations/s", "quiet", "under registrations", "kept", "faults"],
        ));
        for &rate in rates {
            let is_judged = rate == JUDGED_RATE;
            let (measured, rounds) =
                if is_judged { (servers, plan.rhythm.rounds) } else { (&servers[..1], plan.count(2, 3)) };
            let courses = churn::full_fetches(plan, measured, fleet, rate, rounds).await?;
            for (course, server) in courses.iter().zip(measured) {
                let figure = course.figure(rate);
                let kept = figure.ratio.map_or_else(String::new, |ratio| numbers::percent(ratio.median));
                self.findings.sections[index].row([
                    server.name.clone(),
                    numbers::count(rate),
                    figure.compared.clone(),
                    figure.measured.clone(),
                    kept,
                    course.faults().unwrap_or_else(|| "none".to_owned()),
                ]);
                self.findings.figures.extend(is_judged.then_some(figure));
            }
            if let ([ours, java], true) = (courses.as_slice(), is_judged) {
                self.findings.figures.push(ours.against_java(java, rate));
            }
        }
        Ok(())
    }
}

/// Registrations a second at which the goal for full fetches counts.
const JUDGED_RATE: f64 = 500.0;
