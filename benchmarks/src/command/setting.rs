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
        ("revision", revision()),
    ];
    if let Some(jar) = &plan.launcher.java {
        let java = output(Command::new("java").arg("-version")).unwrap_or_default();
        setting.push(("Java", format!("{java}, {}", plan.launcher.java_options.join(" "))));
        setting.push(("Java server", libraries(&std::fs::read(jar).unwrap_or_default())));
    }
    let rhythm = plan.rhythm;
    setting.push(("registry", format!("{} instances, seed {}", plan.instances, plan.seed)));
    setting.push((
        "comparisons",
        format!("{} rounds of {:?} each, after one to warm up", rhythm.rounds, rhythm.slice),
    ));
    setting.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The commit of the working directory, and whether anything differs from it. The command `benchmarks/run` builds what it measures
/// from there.
fn revision() -> String {
    let git = |arguments: &[&str]| Command::new("git").args(arguments).output().ok();
    let commit = output(Command::new("git").args(["rev-parse", "--short", "HEAD"]));
    let Some(commit) = commit else { return "unknown: not in a git repository".to_owned() };
    let changes = git(&["status", "--porcelain"]).filter(|output| output.status.success());
    let is_dirty = changes.is_none_or(|output| !output.stdout.is_empty());
    if is_dirty { format!("{commit}+dirty") } else { commit }
}

/// What a Java server consists of, by the names of the libraries in its jar.
fn libraries(jar: &[u8]) -> String {
    let libraries = [
        ("Spring Boot", "spring-boot-"),
        ("Spring Cloud Netflix", "spring-cloud-netflix-eureka-server-"),
        ("Eureka", "eureka-core-"),
        ("Tomcat", "tomcat-embed-core-"),
    ];
    let named = |(name, file): &(&str, &str)| Some(format!("{name} {}", version_in(jar, file)?));
    libraries.iter().filter_map(named).collect::<Vec<_>>().join(", ")
}

/// The version of a library, from the first file name in a jar that begins so and goes on with a digit.
fn version_in(jar: &[u8], library: &str) -> Option<String> {
    let path = format!("BOOT-INF/lib/{library}");
    let starts = memchr::memmem::find_iter(jar, path.as_bytes());
    let names = starts
        .map(|start| &jar[start + path.len()..])
        .filter(|name| name[..].first().is_some_and(u8::is_ascii_digit));
    let version = names.map(|name| memchr::memmem::find(name, b".jar").map(|end| &name[..end])).next()??;
    Some(String::from_utf8_lossy(version).into_owned())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_those_of_the_libraries_in_the_jar() {
        let jar = b"PK BOOT-INF/lib/spring-boot-actuator-9.9.jar PK BOOT-INF/lib/spring-boot-4.0.7.jar\
            PK BOOT-INF/lib/eureka-core-jersey3-1.1.jar PK BOOT-INF/lib/eureka-core-2.0.6.jar";
        assert_eq!(libraries(jar), "Spring Boot 4.0.7, Eureka 2.0.6");
    }
}
