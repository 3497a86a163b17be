//! What one scenario found, beyond the goals.

use std::fmt::Write as _;

use serde::Serialize;

use super::Figure;

/// A titled table.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Section {
    /// Title.
    pub title: String,
    /// What was done, in a sentence or two.
    pub text: String,
    /// Heads of the columns.
    pub columns: Vec<String>,
    /// Cells.
    pub rows: Vec<Vec<String>>,
}

impl Section {
    /// A table without rows.
    #[must_use]
    pub fn new(title: &str, text: &str, columns: &[&str]) -> Self {
        let columns = columns.iter().map(|&column| column.to_owned()).collect();
        Self { title: title.to_owned(), text: text.to_owned(), columns, rows: Vec::new() }
    }

    /// Adds a sentence to the text.
    pub fn note(&mut self, sentence: &str) {
        self.text.push(' ');
        self.text.push_str(sentence);
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// As Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = format!("### {}\n\n{}\n\n", self.title, self.text);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {} |", self.columns.join(" | "));
        let _ = writeln!(text, "|{}", "---|".repeat(self.columns.len()));
        for row in &self.rows {
            let _ = writeln!(text, "| {} |", row.join(" | "));
        }
        text
    }
}

/// A line in a plot.
#[derive(Clone, Debug, Serialize)]
pub struct Series {
    /// What it stands for.
    pub name: String,
    /// Points, from left to right.
    pub points: Vec<(f64, f64)>,
}

/// A plot; both axes are logarithmic, because rates, sizes and latencies all span orders of magnitude.
#[derive(Clone, Debug, Serialize)]
pub struct Plot {
    /// Name of its file, without ending.
    pub file: String,
    /// Title.
    pub title: String,
    /// What the horizontal axis shows.
    pub x: String,
    /// What the vertical axis shows.
    pub y: String,
    /// Lines.
    pub series: Vec<Series>,
}

/// Everything that a run has found.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Findings {
    /// Machine, versions, settings.
    pub setting: Vec<(String, String)>,
    /// Parts that failed or were left out, and why.
    pub problems: Vec<String>,
    /// Figures that have goals, and others of their kind.
    pub figures: Vec<Figure>,
    /// Tables.
    pub sections: Vec<Section>,
    /// Plots.
    pub plots: Vec<Plot>,
}

impl Findings {
    /// Takes in a table whose rows come later, so that those that are known are kept whatever fails; returns its position.
    pub fn begin(&mut self, section: Section) -> usize {
        self.sections.push(section);
        self.sections.len() - 1
    }

    /// As Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        for (name, value) in &self.setting {
            let _ = writeln!(text, "- {name}: {value}");
        }
        for problem in &self.problems {
            let _ = writeln!(text, "- **{problem}**");
        }
        let _ = write!(text, "\n{}\n", super::table(&self.figures));
        // A table without rows belongs to a part that failed: it is named above.
        for section in self.sections.iter().filter(|section| !section.rows.is_empty()) {
            let _ = writeln!(text, "{}", section.markdown());
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_failed_is_said_first_and_what_was_found_before_is_shown() {
        let mut findings =
            Findings { problems: vec!["part cost: no answer".to_owned()], ..Findings::default() };
        findings.begin(Section::new("Cost", "Text.", &["server"]));
        let memory = findings.begin(Section::new("Memory", "Text.", &["server"]));
        findings.sections[memory].row(["Heureka".to_owned()]);
        let text = findings.markdown();
        assert!(text.starts_with("- **part cost: no answer**\n"), "{text}");
        assert!(text.contains("### Memory") && text.contains("| Heureka |"), "{text}");
        assert!(!text.contains("### Cost"), "{text}");
    }
}
