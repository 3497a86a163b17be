//! Everything: goals, tables, plots. A part that fails costs its own results only.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::bail;
use heureka_bench::report::{Findings, svg};

use super::arguments::Arguments;
use super::parts::{PARTS, Part, Run};
use super::{plan, setting};

/// Minutes after which no part begins any more and the one that runs is broken off: in short, and in full.
const MINUTES: (f64, f64) = (2.9, 38.5);

/// Measures, prints Markdown, writes JSON and plots.
pub async fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let plan = plan(arguments)?;
    let minutes = arguments.number("minutes", if plan.is_quick { MINUTES.0 } else { MINUTES.1 })?;
    let folder = arguments.text("out").map(Path::new);
    let parts = wanted(arguments)?;
    let mut run = Run { plan: &plan, findings: Findings::default(), started: Instant::now() };
    run.findings.setting = setting::describe(&plan);
    if plan.launcher.java.is_none() {
        eprintln!("no Java server: Heureka is measured alone");
    }
    let end = run.started + Duration::from_secs_f64(minutes * 60.0);
    let mut times = Vec::new();
    for (name, part, budget) in parts {
        let started = Instant::now();
        measure(&mut run, name, part, end).await;
        times.push(took(name, started.elapsed(), budget, plan.is_quick));
        // After every part: what has been measured is not lost with what fails later.
        if let Some(folder) = folder {
            write(&run.findings, folder)?;
        }
    }
    let minutes = run.started.elapsed().as_secs_f64() / 60.0;
    let duration = format!("{minutes:.1} minutes: {}", times.join(", "));
    run.findings.setting.push(("duration".to_owned(), duration));
    println!("{}", run.findings.markdown());
    if let Some(folder) = folder {
        write(&run.findings, folder)?;
    }
    match run.findings.problems.len() {
        0 => Ok(()),
        count => bail!("{count} things could not be measured; the results name them"),
    }
}

/// The parts that `--only` names, or all.
fn wanted(arguments: &Arguments) -> anyhow::Result<Vec<(&'static str, Part, u64)>> {
    for name in arguments.text("only").unwrap_or_default().split(',').filter(|name| !name.is_empty()) {
        if PARTS.iter().all(|(part, _, _)| *part != name) {
            let names: Vec<&str> = PARTS.iter().map(|(part, _, _)| *part).collect();
            bail!("--only {name}: expected some of {}", names.join(","));
        }
    }
    Ok(PARTS.into_iter().filter(|(name, _, _)| arguments.wants(name)).collect())
}

/// How long a part took, and whether that was more than planned.
fn took(name: &str, time: Duration, budget: u64, is_quick: bool) -> String {
    let seconds = time.as_secs();
    match seconds > budget && !is_quick {
        true => format!("{name} {seconds} s (planned: {budget})"),
        false => format!("{name} {seconds} s"),
    }
}

/// Runs one part, if there is time for it.
async fn measure(run: &mut Run<'_>, name: &str, part: Part, end: Instant) {
    eprintln!("[{:4.0} s] {name}", run.started.elapsed().as_secs_f64());
    let left = end.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return run.problem(format!("part {name} was left out: the time was over"));
    }
    let problem = match tokio::time::timeout(left, run.part(part)).await {
        Ok(Ok(())) => return,
        Ok(Err(error)) => format!("part {name} failed: {error:#}"),
        Err(_) => format!("part {name} was broken off: the time was over"),
    };
    run.problem(problem);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn only(names: &str) -> anyhow::Result<Vec<&'static str>> {
        let arguments = Arguments::parse(["--only".to_owned(), names.to_owned()].into_iter())?;
        Ok(wanted(&arguments)?.into_iter().map(|(name, _, _)| name).collect())
    }

    #[test]
    fn parts_are_named_by_only_in_their_own_order_and_a_wrong_name_is_an_error() {
        assert_eq!(only("cost,restart").unwrap(), ["restart", "cost"]);
        assert!(only("restarts").unwrap_err().to_string().contains("propagation"));
    }
}
