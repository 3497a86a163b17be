//! Style rules as tests: layers, sizes, words that have no place here.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

const FILE_LINES_MAX: usize = 500;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every Rust source of the workspace, tests included, with its path relative to the root.
fn sources() -> Vec<(String, String)> {
    let mut found = Vec::new();
    let folders = [
        "src",
        "protocol",
        "registry",
        "actors",
        "snapshots",
        "config",
        "client",
        "benchmarks",
        "tests",
        "fuzz",
    ];
    let mut open: Vec<PathBuf> = folders.iter().map(|folder| root().join(folder)).collect();
    while let Some(folder) = open.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            if path.is_dir() && path.file_name().is_some_and(|name| name != "target") {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(root()).unwrap_or(&path).display().to_string();
                found.push((name, fs::read_to_string(&path).expect("a readable source")));
            }
        }
    }
    assert!(found.len() > 50, "the sources were not found");
    found
}

fn manifest(package: &str) -> String {
    fs::read_to_string(root().join(package).join("Cargo.toml")).expect("a manifest")
}

/// The part of a manifest that says what the library itself needs.
fn dependencies(manifest: &str) -> &str {
    let start = manifest.find("\n[dependencies]").map_or(manifest.len(), |start| start + 1);
    let rest = &manifest[start..];
    rest.find("\n[").map_or(rest, |end| &rest[..end])
}

#[test]
fn dependencies_point_down_only() {
    let forbidden: [(&str, &[&str]); 5] = [
        ("protocol", &["heureka-", "actix", "tokio", "sled", "reqwest"]),
        ("config", &["heureka-", "actix", "tokio", "sled", "reqwest"]),
        (
            "registry",
            &["heureka-actors", "heureka-config", "heureka-snapshots", "actix", "tokio", "sled", "reqwest"],
        ),
        ("snapshots", &["heureka-actors", "heureka-config", "actix", "tokio", "reqwest"]),
        ("actors", &["heureka-config", "actix-web", "sled", "reqwest"]),
    ];
    for (package, words) in forbidden {
        if !root().join(package).join("Cargo.toml").exists() {
            continue;
        }
        let manifest = manifest(package);
        let dependencies = dependencies(&manifest);
        for word in words {
            let is_used = dependencies.lines().any(|line| line.starts_with(word));
            assert!(!is_used, "{package} must not depend on {word}");
        }
    }
}

#[test]
fn files_stay_readable() {
    let long: Vec<String> = sources()
        .iter()
        .filter(|(_, text)| text.lines().count() > FILE_LINES_MAX)
        .map(|(name, text)| format!("{name}: {} lines", text.lines().count()))
        .collect();
    assert!(long.is_empty(), "files over {FILE_LINES_MAX} lines: {long:#?}");
}

#[test]
fn every_module_says_what_it_is_for() {
    let silent: Vec<String> =
        sources().into_iter().filter(|(_, text)| !text.starts_with("//!")).map(|(name, _)| name).collect();
    assert!(silent.is_empty(), "files without a module doc: {silent:#?}");
}

#[test]
fn words_that_have_no_place_here() {
    // Written in two parts, so that this file does not find itself.
    let words =
        [concat!("todo", "!("), concat!("unimpl", "emented!("), concat!("dbg", "!("), concat!("FIX", "ME")];
    let production_only = [concat!("middleware::", "Compress"), concat!("mpsc::unbounded", "_channel")];
    for (name, text) in sources() {
        for word in words {
            assert!(!text.contains(word), "{name} contains {word}");
        }
        let is_production = !name.contains("tests/") && !name.starts_with("benchmarks");
        for word in production_only {
            assert!(!(is_production && text.contains(word)), "{name} contains {word}");
        }
    }
}

/// Messages stand alone: a cause that stands in one must not be its `source` too, or whoever prints the chain says it twice.
#[test]
fn no_error_says_its_cause_twice() {
    let mut twice = Vec::new();
    for (name, text) in sources().into_iter().filter(|(name, _)| name != "tests/tidy/mod.rs") {
        let mut message = String::new();
        for line in text.lines().map(str::trim) {
            if line.starts_with("#[error(") {
                message = line.to_owned();
            }
            let is_source = line.contains("#[from]")
                || line.contains("#[source]")
                || (line.starts_with("source: ") && line.ends_with(','));
            if is_source && message.contains('{') {
                twice.push(format!("{name}: {message}"));
            }
            if line == "}" {
                message.clear();
            }
        }
    }
    assert!(twice.is_empty(), "errors that say their cause twice: {twice:#?}");
}

/// A setting that nobody reads is a key that pretends to act.
#[test]
fn every_setting_is_read() {
    // Worked into another field when the settings are resolved.
    const RESOLVED: [&str; 1] = ["prefer_ip_address"];
    let sources = sources();
    let is_settings = |name: &str| name.starts_with("config/src/settings/");
    let readers: Vec<&String> = sources
        .iter()
        .filter(|(name, _)| name.starts_with("src/") || is_settings(name))
        .map(|(_, text)| text)
        .collect();
    let fields = sources.iter().filter(|(name, _)| is_settings(name)).flat_map(|(_, text)| text.lines());
    let is_name = |text: &&str| text.chars().all(|c| c.is_alphanumeric() || c == '_');
    let fields = fields
        .filter_map(|line| line.strip_prefix("    pub ")?.split_once(':').map(|(field, _)| field))
        .filter(is_name);
    let is_read = |field: &str| {
        let reads = |text: &&String| {
            text.match_indices(&format!(".{field}")).any(|(at, found)| {
                !text[at + found.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_')
            })
        };
        readers.iter().any(reads)
    };
    let unread: Vec<&str> = fields.filter(|field| !RESOLVED.contains(field) && !is_read(field)).collect();
    assert!(unread.is_empty(), "settings that nothing reads: {unread:#?}");
}

#[test]
fn every_crate_takes_the_lints_of_the_workspace() {
    for package in [".", "protocol", "registry", "actors", "config", "snapshots", "client", "benchmarks"] {
        if root().join(package).join("Cargo.toml").exists() {
            let manifest = manifest(package);
            assert!(manifest.contains("[lints]\nworkspace = true"), "{package} has lints of its own");
        }
    }
}

/// A dependency without a reason in the docs is one that nobody has decided on.
#[test]
fn every_dependency_has_a_reason() {
    let manifest = manifest(".");
    let start = manifest.find("[workspace.dependencies]").expect("a table of versions");
    let table = manifest[start..].split("\n[").next().unwrap_or("");
    let docs = fs::read_to_string(root().join("docs/dependencies.md")).expect("the page about dependencies");
    let names = table.lines().filter_map(|line| line.split_once(" = ")).map(|(name, _)| name.trim());
    let unexplained: Vec<&str> =
        names.filter(|name| !name.starts_with("heureka-") && !docs.contains(&format!("`{name}`"))).collect();
    assert!(unexplained.is_empty(), "docs/dependencies.md does not say why these are there: {unexplained:?}");
}

/// The last scenario of `spec/replication.md`, section 10.
const SCENARIOS: u32 = 91;

/// The scenarios that the name of a test begins with, as in `s1_s3_d2_what_happens`.
fn scenarios_of(test: &str) -> impl Iterator<Item = &str> {
    let number =
        |part: &str| part.get(1..).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    test.split('_').take_while(move |part| number(part)).filter_map(|part| part.strip_prefix('s'))
}

/// Each scenario has a row with tests that exist, or with the reason why it has none.
#[test]
fn every_scenario_of_the_cluster_is_accounted_for() {
    let sources = sources();
    let functions = |text: &str| -> Vec<String> {
        let names = text.split("fn ").skip(1).filter_map(|rest| rest.split_once('('));
        names.map(|(name, _)| name.to_owned()).collect()
    };
    let tests: BTreeSet<String> = sources.iter().flat_map(|(_, text)| functions(text)).collect();
    let page = fs::read_to_string(root().join("docs/cluster.md")).expect("the page about clusters");
    let (_, table) = page.split_once("\n|---|---|---|\n").expect("a table of scenarios");
    let mut rows: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in table.lines() {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [scenario, listed, reason] = cells[..] else { panic!("no row of three cells: {line}") };
        let listed: Vec<&str> =
            listed.split(", ").filter_map(|name| name.strip_prefix('`')?.strip_suffix('`')).collect();
        assert!(
            !listed.is_empty() || !reason.is_empty(),
            "scenario {scenario} has neither a test nor a reason"
        );
        for test in &listed {
            assert!(tests.contains(*test), "scenario {scenario}: there is no test {test}");
        }
        assert!(rows.insert(scenario, listed).is_none(), "scenario {scenario} has two rows");
    }
    for number in 1..=SCENARIOS {
        assert!(
            rows.contains_key(number.to_string().as_str()),
            "scenario {number} has no row in docs/cluster.md"
        );
    }
    for test in &tests {
        for scenario in scenarios_of(test) {
            let is_listed = rows.get(scenario).is_some_and(|listed| listed.contains(&test.as_str()));
            assert!(is_listed, "docs/cluster.md does not list {test} for scenario {scenario}");
        }
    }
}
