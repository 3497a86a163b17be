//! `heureka snapshot`: looks into the snapshot of a node that does not run, or carries it elsewhere.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use anyhow::bail;
use heureka_actors::Clock;
use heureka_config::Settings;
use heureka_registry::Rules;
use heureka_snapshots::sled_store::Sled;
use heureka_snapshots::tools::{self, ImportOptions, Verdict};

use crate::snapshots::restore_rules;

/// What to do with which folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SnapshotCommand {
    action: Action,
    folder: PathBuf,
    import: ImportOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Inspect,
    Verify,
    Export,
    Import,
}

const USAGE: &str = "usage: heureka snapshot inspect|verify|export|import FOLDER [--replace] [--fresh]";

/// Reads what follows the word `snapshot`. Everything that is no option of its own is left to the settings.
pub(super) fn parse(words: &[&str], options: Vec<String>) -> Result<(SnapshotCommand, Vec<String>), String> {
    let [action, folder] = words else { return Err(USAGE.into()) };
    let action = match *action {
        "inspect" => Action::Inspect,
        "verify" => Action::Verify,
        "export" => Action::Export,
        "import" => Action::Import,
        other => return Err(format!("unknown action {other:?}; {USAGE}")),
    };
    let mut import = ImportOptions::default();
    let mut settings = Vec::new();
    for option in options {
        match option.as_str() {
            "--replace" if action == Action::Import => import.replaces = true,
            "--fresh" if action == Action::Import => import.is_fresh = true,
            _ => settings.push(option),
        }
    }
    Ok((SnapshotCommand { action, folder: folder.into(), import }, settings))
}

/// Does it. `verify` fails if the next start would not be warm.
pub(super) fn run(command: &SnapshotCommand, settings: &Settings) -> anyhow::Result<()> {
    let now = Clock::system().now();
    let rules = restore_rules(&settings.snapshots, &Rules::default());
    let mut out = BufWriter::new(io::stdout().lock());
    match command.action {
        Action::Inspect => {
            let found = tools::inspect(&command.folder, &Sled, rules, now)?;
            serde_json::to_writer_pretty(&mut out, &found)?;
            writeln!(out)?;
        }
        Action::Verify => {
            let found = tools::inspect(&command.folder, &Sled, rules, now)?;
            writeln!(out, "{}", verified(&found.verdict, found.bad_records)?)?;
        }
        Action::Export => {
            tools::export(&command.folder, &Sled, &mut out, now)?;
        }
        Action::Import => {
            let done = tools::import(&command.folder, &Sled, &mut io::stdin().lock(), command.import, now)?;
            let tools::Imported { instances, overrides, tombstones, moved_aside } = done;
            writeln!(out, "imported {instances} instances, {overrides} overrides, {tombstones} tombstones")?;
            if let Some(path) = moved_aside {
                writeln!(out, "what was there before is now {}", path.display())?;
            }
        }
    }
    Ok(out.flush()?)
}

/// What a start would give back if that is everything.
fn verified(verdict: &Verdict, bad_records: u64) -> anyhow::Result<String> {
    match verdict {
        Verdict::Warm { .. } if bad_records > 0 => bail!("{bad_records} records cannot be read"),
        Verdict::Warm { instances, overrides, tombstones, too_old: 0, ended: 0 } => Ok(format!(
            "good: {instances} instances, {overrides} overrides, {tombstones} tombstones would come back"
        )),
        Verdict::Warm { instances, too_old, ended, .. } => bail!(
            "{too_old} instances are too old to come back and {ended} were cancelled or had ended, {instances} would come back"
        ),
        Verdict::TooOld { too_old, .. } => {
            bail!("the snapshot is too old; a start would be cold, {too_old} instances would not come back")
        }
        Verdict::Doubtful { why } => bail!("a node would move it aside: {why}"),
        Verdict::Incomplete => bail!("it never was complete; a start would be cold"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str], options: &[&str]) -> Result<(SnapshotCommand, Vec<String>), String> {
        parse(words, options.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn actions_take_a_folder_and_import_takes_options() {
        let (command, settings) = parsed(&["import", "data"], &["--fresh", "--a=b", "--replace"]).unwrap();
        assert_eq!((command.action, command.folder), (Action::Import, "data".into()));
        assert!(command.import.is_fresh && command.import.replaces && settings == ["--a=b"]);
        let (command, settings) = parsed(&["export", "data"], &["--fresh"]).unwrap();
        assert!(!command.import.is_fresh && settings == ["--fresh"]);
    }

    #[test]
    fn what_is_incomplete_or_unknown_is_refused_with_the_usage() {
        for words in [&["inspect"][..], &[], &["burn", "data"], &["export", "data", "more"]] {
            assert!(parsed(words, &[]).unwrap_err().contains(USAGE), "{words:?}");
        }
    }

    #[test]
    fn only_a_snapshot_that_gives_everything_back_is_good() {
        let warm =
            |too_old, ended| Verdict::Warm { instances: 2, overrides: 1, tombstones: 0, too_old, ended };
        let good = "good: 2 instances, 1 overrides, 0 tombstones would come back";
        assert_eq!(verified(&warm(0, 0), 0).unwrap(), good);
        let too_old = Verdict::TooOld { too_old: 0, overrides: 1, tombstones: 0 };
        let doubtful = Verdict::Doubtful { why: "it is damaged".into() };
        for bad in [warm(1, 0), warm(0, 1), too_old, doubtful, Verdict::Incomplete] {
            assert!(verified(&bad, 0).is_err(), "{bad:?}");
        }
        assert!(verified(&warm(0, 0), 1).is_err());
    }
}
