//! Figures as a Markdown table.

use std::fmt::Write as _;

use super::numbers::share_or_multiple;
use super::{Figure, Verdict};

/// The table, with remarks as numbered notes below it.
#[must_use]
pub fn table(figures: &[Figure]) -> String {
    let mut text = String::from(
        "| figure | measured | compared with | rate | CPU | goal | met |\n|---|---|---|---|---|---|---|\n",
    );
    let mut notes = Vec::new();
    for figure in figures {
        let mut name = figure.name.clone();
        for remark in &figure.remarks {
            notes.push(remark);
            // Writing to a string cannot fail.
            let _ = write!(name, " [{}]", notes.len());
        }
        let share = |ratio: Option<crate::stats::Spread>| {
            ratio.map_or(String::new(), |ratio| share_or_multiple(ratio.median))
        };
        let verdict = match figure.verdict {
            Verdict::Met => "yes",
            Verdict::Missed => "**no**",
            Verdict::Open if figure.goal.is_empty() => "",
            Verdict::Open => "open",
        };
        let Figure { measured, compared, goal, .. } = figure;
        let (rate, cpu) = (share(figure.ratio), share(figure.cpu_ratio));
        let _ = writeln!(text, "| {name} | {measured} | {compared} | {rate} | {cpu} | {goal} | {verdict} |");
    }
    for (index, note) in notes.iter().enumerate() {
        let _ = write!(text, "\n[{}] {note}", index + 1);
    }
    if !notes.is_empty() {
        text.push('\n');
    }
    text
}
