//! Where and with what was measured: without it no figure means anything.

use std::process::Command;

use heureka_bench::scenarios::Plan;

/// Names and values, in the order in which they are shown.
pub fn describe(plan: &Plan) -> Vec<(String, String)> {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let version = output(Command::new(&plan.launcher.heureka).arg("--version"));
    let mut setting = vec![
        ("machine", format!("{cores} cores, {}, {} of memory, Linux {}", cpu(), memory(), kernel())),
        ("load before the run", load()),
        ("Heureka", version.unwrap_or_else(|| plan.launcher.heureka.display().to_string())),
    ];
    if plan.launcher.java.is_some() {
        let java = output(Command::new("java").arg("-version")).unwrap_or_default();
        setting.push(("Java", format!("{java}, {}", plan.launcher.java_options.join(" "))));
    }
    let rhythm = plan.rhythm;
    setting.push(("registry", format!("{} instances, seed {}", plan.instances, plan.seed)));
    setting.push((
        "comparisons",
        format!("{} rounds of {:?} each, after one to warm up", rhythm.rounds, rhythm.slice),
    ));
    setting.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The first line that a command prints.
fn output(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    let text = if output.stdout.is_empty() { output.stderr } else { output.stdout };
    Some(String::from_utf8_lossy(&text).lines().next()?.to_owned())
}

fn line_of(path: &str, start: &str) -> String {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(start));
    line.map_or_else(
        || "unknown".to_owned(),
        |value| value.trim_start_matches([' ', '\t', ':']).trim().to_owned(),
    )
}

fn cpu() -> String {
    line_of("/proc/cpuinfo", "model name")
}

fn memory() -> String {
    line_of("/proc/meminfo", "MemTotal")
}

fn kernel() -> String {
    line_of("/proc/sys/kernel/osrelease", "")
}

/// Processes that wanted to run in the last minute: above the number of cores, others disturb.
fn load() -> String {
    let text = line_of("/proc/loadavg", "");
    text.split(' ').next().unwrap_or_default().to_owned()
}
