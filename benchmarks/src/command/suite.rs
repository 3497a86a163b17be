//! Everything: goals, tables, plots.

use std::path::Path;
use std::time::Instant;

use anyhow::Context;
use heureka_bench::fleet::Fleet;
use heureka_bench::report::{Figure, Findings, Section, numbers, svg};
use heureka_bench::scenarios::operations::Operation;
use heureka_bench::scenarios::{
    Plan, baseline, capacity, churn, cost, deploy, fleet, idle, memory, restart, setup, start, storm,
    visibility, warm_up,
};
use heureka_bench::servers::Server;

use super::arguments::Arguments;
use super::{plan, setting};

/// Measures, prints Markdown, writes JSON and plots.
pub async fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let plan = plan(arguments)?;
    let mut run = Run { plan: &plan, findings: Findings::default(), started: Instant::now() };
    run.findings.setting = setting::describe(&plan);
    if plan.launcher.java.is_none() {
        eprintln!("no Java server: Heureka is measured alone");
    }
    for (name, part) in PARTS {
        if arguments.wants(name) {
            eprintln!("[{:4.0} s] {name}", run.started.elapsed().as_secs_f64());
            run.part(part).await.with_context(|| format!("part {name}"))?;
            // After every part: what has been measured is not lost with what fails later.
            if let Some(folder) = arguments.text("out") {
                write(&run.findings, Path::new(folder))?;
            }
        }
    }
    let minutes = run.started.elapsed().as_secs_f64() / 60.0;
    run.findings.setting.push(("duration".to_owned(), format!("{minutes:.1} minutes")));
    println!("{}", run.findings.markdown());
    if let Some(folder) = arguments.text("out") {
        write(&run.findings, Path::new(folder))?;
    }
    Ok(())
}

fn write(findings: &Findings, folder: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("results.md"), findings.markdown())?;
    std::fs::write(folder.join("results.json"), serde_json::to_string_pretty(findings)?)?;
    for plot in &findings.plots {
        std::fs::write(folder.join(format!("{}.svg", plot.file)), svg(plot))?;
    }
    Ok(())
}

/// The parts that `--only` can name.
#[derive(Clone, Copy)]
enum Part {
    Start,
    Restart,
    Memory,
    Rates,
    Cost,
    Fleet,
    Storm,
    Deploy,
}

const PARTS: [(&str, Part); 8] = [
    ("start", Part::Start),
    ("restart", Part::Restart),
    ("memory", Part::Memory),
    ("rates", Part::Rates),
    ("cost", Part::Cost),
    ("fleet", Part::Fleet),
    ("storm", Part::Storm),
    ("deploy", Part::Deploy),
];

struct Run<'a> {
    plan: &'a Plan,
    findings: Findings,
    started: Instant,
}

impl Run<'_> {
    async fn part(&mut self, part: Part) -> anyhow::Result<()> {
        match part {
            Part::Start => self.start(),
            Part::Restart => self.restart().await,
            Part::Memory => self.memory().await,
            Part::Rates => self.rates().await,
            Part::Cost => self.cost().await,
            Part::Fleet => self.fleet().await,
            Part::Storm => self.storm().await,
            Part::Deploy => self.deploy().await,
        }
    }

    /// The same, but of ours only if it must be quick: a JVM takes longer to start than the part itself.
    fn servers_if_time(&self, options: &[&str]) -> anyhow::Result<Vec<Server>> {
        if self.plan.is_quick {
            Ok(vec![self.plan.launcher.heureka(options)?])
        } else {
            self.servers(options)
        }
    }

    /// Fresh servers of both kinds with these options: ours first.
    fn servers(&self, options: &[&str]) -> anyhow::Result<Vec<Server>> {
        let ours = self.plan.launcher.heureka(options)?;
        Ok(std::iter::once(ours).chain(self.plan.launcher.java(options)?).collect())
    }

    fn start(&mut self) -> anyhow::Result<()> {
        let mut figure = start::cold(self.plan, 50.0)?;
        if let Some(java) = self.plan.launcher.java(&[])? {
            figure.compared += &format!("; Java: {:.1} s", java.started_in.as_secs_f64());
        }
        self.findings.figures.push(figure);
        Ok(())
    }

    async fn restart(&mut self) -> anyhow::Result<()> {
        let instances = self.plan.count(10_000, 100_000);
        self.findings.figures.push(restart::warm(self.plan, instances, 500.0).await?);
        Ok(())
    }

    async fn memory(&mut self) -> anyhow::Result<()> {
        let mut section = memory::section();
        let (mut ours, mut java) = (Vec::new(), Vec::new());
        for &size in self.sizes(&[10_000], &[1_000, 10_000, 100_000, 1_000_000]) {
            let server = self.plan.launcher.heureka(&[])?;
            ours.push(memory::filled(self.plan, &server, size, &mut section).await?);
            drop(server);
            // Beyond that its garbage collector is measured, not its records.
            if size <= 100_000
                && let Some(server) = self.plan.launcher.java(&[])?
            {
                java.push(memory::filled(self.plan, &server, size, &mut section).await?);
            }
        }
        for filled in &ours {
            let goal = if filled.instances >= 100_000 { 2048.0 } else { 4096.0 };
            let [empty, each] = filled.figures(goal);
            if filled.instances == 10_000 {
                self.findings.figures.push(empty);
            }
            if filled.instances >= 10_000 {
                self.findings.figures.push(each);
            }
        }
        self.findings.plots.push(memory::plot(&[("Heureka".to_owned(), ours), ("Java".to_owned(), java)]));
        self.findings.sections.push(section);
        Ok(())
    }

    /// Sizes by how much time there is.
    fn sizes<'s>(&self, quick: &'s [usize], full: &'s [usize]) -> &'s [usize] {
        if self.plan.is_quick { quick } else { full }
    }

    /// Highest rates, capacity, visibility, churn, idle: all on one pair of filled and warm servers.
    async fn rates(&mut self) -> anyhow::Result<()> {
        let plan = self.plan;
        let fleet = Fleet::new(plan.seed, plan.instances);
        let servers = self.servers(&setup::SHORT_DELTA)?;
        for server in &servers {
            setup::fill(server, &fleet).await?;
        }
        if let [_, java] = servers.as_slice() {
            let (time, is_steady) = warm_up::until_steady(plan, java, &fleet).await?;
            let how = if is_steady {
                "until its figures stood still"
            } else {
                "without its figures standing still"
            };
            self.findings
                .setting
                .push(("Java warm-up".to_owned(), format!("{:.0} s, {how}", time.as_secs_f64())));
        }
        setup::until_delta_is_empty(&servers[0], plan.duration(5_000, 20_000)).await?;
        for operation in Operation::ALL {
            self.findings
                .figures
                .push(baseline::against_baseline(plan, &servers[0], &fleet, operation).await?);
            if let [ours, java] = servers.as_slice() {
                self.findings
                    .figures
                    .push(baseline::against_java(plan, ours, java, &fleet, operation).await?);
            }
        }
        let both: Vec<&Server> = servers.iter().collect();
        let quick = [Operation::Heartbeat, Operation::Register, Operation::Full];
        let operations = if plan.is_quick { &quick[..] } else { &Operation::ALL[..] };
        let (section, plots) = capacity::section(plan, &both, &fleet, operations).await?;
        self.findings.sections.push(section);
        self.findings.plots.extend(plots);
        self.findings.figures.extend(visibility::writes(plan, &servers[0], &fleet, 0.0).await?);
        self.findings.figures.extend(visibility::writes(plan, &servers[0], &fleet, 500.0).await?);
        self.churn(&servers, &fleet).await?;
        for server in &servers {
            self.findings.figures.extend(idle::quiet(plan, server, &fleet).await?);
        }
        Ok(())
    }

    async fn churn(&mut self, servers: &[Server], fleet: &Fleet) -> anyhow::Result<()> {
        let plan = self.plan;
        let rates = if plan.is_quick { &[500.0][..] } else { &[10.0, 100.0, 500.0, 1_000.0][..] };
        let mut section = Section::new(
            "Full fetches while instances register",
            "Closed loop of full fetches (gzip), quiet and while registrations come in on a schedule, in turn.",
            &["server", "registrations/s", "quiet", "under registrations", "kept"],
        );
        for &rate in rates {
            for server in servers {
                let figure = churn::full_fetches(plan, server, fleet, rate).await?;
                let kept = figure.ratio.map_or_else(String::new, |ratio| numbers::percent(ratio.median));
                let Figure { measured, compared, .. } = &figure;
                section.row([
                    server.name.clone(),
                    numbers::count(rate),
                    compared.clone(),
                    measured.clone(),
                    kept,
                ]);
                if rate == 500.0 {
                    self.findings.figures.push(figure);
                }
            }
        }
        self.findings.sections.push(section);
        Ok(())
    }

    async fn cost(&mut self) -> anyhow::Result<()> {
        let mut section = cost::section();
        let mut series = Vec::new();
        for server in self.servers_if_time(&setup::SHORT_DELTA)? {
            let sizes = match server.name.as_str() {
                "Java" => &[1_000, 10_000],
                _ => self.sizes(&[1_000, 10_000], &[1_000, 10_000, 100_000]),
            };
            let (figure, line) = cost::of_changes(self.plan, &server, sizes, &mut section).await?;
            if server.name == "Heureka" {
                self.findings.figures.push(figure);
            }
            series.push(line);
        }
        self.findings.plots.push(cost::plot(series));
        self.findings.sections.push(section);
        Ok(())
    }

    async fn fleet(&mut self) -> anyhow::Result<()> {
        let mut section = fleet::section();
        for server in self.servers_if_time(&setup::SHORT_DELTA)? {
            let sizes = self.sizes(&[10_000], &[10_000, 30_000, 100_000, 300_000, 1_000_000]);
            let carried = fleet::ramp(self.plan, &server, sizes, &mut section).await?;
            if server.name == "Heureka" && !self.plan.is_quick {
                let shown = format!("{} instances", numbers::count(carried as f64));
                let name = "fleet at default intervals on one node";
                self.findings.figures.push(Figure::judged(name, shown, "1,000,000", carried >= 1_000_000));
            }
        }
        self.findings.sections.push(section);
        Ok(())
    }

    async fn storm(&mut self) -> anyhow::Result<()> {
        let mut section = storm::section();
        for server in self.servers(&[])? {
            storm::after_restart(self.plan, &server, &mut section).await?;
        }
        self.findings.sections.push(section);
        Ok(())
    }

    async fn deploy(&mut self) -> anyhow::Result<()> {
        let mut section = deploy::section(self.plan);
        let fleet = Fleet::new(self.plan.seed, self.plan.instances);
        let options = if self.plan.is_quick { &deploy::SHORT_DELTA[..] } else { &[][..] };
        for server in self.servers_if_time(options)? {
            setup::fill(&server, &fleet).await?;
            setup::until_delta_is_empty(&server, self.plan.duration(12_000, 215_000)).await?;
            deploy::run(self.plan, &server, &fleet, &mut section).await?;
        }
        self.findings.sections.push(section);
        Ok(())
    }
}
