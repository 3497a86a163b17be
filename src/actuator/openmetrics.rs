//! Reads the text that the metrics library writes: to print it in the older form, and to answer for single metrics.

use std::borrow::Cow;

/// One line with a value.
#[derive(Debug, PartialEq)]
pub struct Sample<'a> {
    /// Name behind that of its metric: `_total`, `_sum`, `_count`, `_bucket` or nothing.
    pub suffix: &'a str,
    /// Labels, values unescaped.
    pub labels: Vec<(&'a str, Cow<'a, str>)>,
    /// The value.
    pub value: f64,
}

/// One metric: its description and its lines.
#[derive(Debug, PartialEq)]
pub struct Metric<'a> {
    /// Name without suffix.
    pub name: &'a str,
    /// `counter`, `gauge`, `histogram` ...
    pub kind: &'a str,
    /// What it counts.
    pub help: &'a str,
    /// Unit, or nothing.
    pub unit: &'a str,
    /// Values.
    pub samples: Vec<Sample<'a>>,
}

/// The metrics of a text, in order. Lines of an unknown form are left out.
pub fn parse(text: &str) -> Vec<Metric<'_>> {
    let mut metrics: Vec<Metric<'_>> = Vec::new();
    for line in text.lines() {
        if let Some((name, help)) = description(line, "# HELP ") {
            metrics.push(Metric { name, kind: "", help, unit: "", samples: Vec::new() });
        } else if let Some((_, kind)) = description(line, "# TYPE ") {
            metrics.last_mut().into_iter().for_each(|metric| metric.kind = kind);
        } else if let Some((_, unit)) = description(line, "# UNIT ") {
            metrics.last_mut().into_iter().for_each(|metric| metric.unit = unit);
        } else if let Some(metric) = metrics.last_mut()
            && let Some(sample) = sample(line, metric.name)
        {
            metric.samples.push(sample);
        }
    }
    metrics
}

fn description<'a>(line: &'a str, mark: &str) -> Option<(&'a str, &'a str)> {
    line.strip_prefix(mark)?.split_once(' ')
}

fn sample<'a>(line: &'a str, metric: &str) -> Option<Sample<'a>> {
    let rest = line.strip_prefix(metric)?;
    let name_end = rest.find(['{', ' '])?;
    let (suffix, rest) = rest.split_at(name_end);
    let mut labels = Vec::new();
    let mut rest = rest;
    if let Some(mut inside) = rest.strip_prefix('{') {
        while let Some((name, behind)) = inside.split_once("=\"") {
            let end = value_end(behind)?;
            labels.push((name, unescape(&behind[..end])));
            inside = behind[end + 1..].trim_start_matches(',');
            if inside.starts_with('}') {
                break;
            }
        }
        rest = inside.strip_prefix('}')?;
    }
    let value = rest.split_whitespace().next()?.parse().ok()?;
    Some(Sample { suffix, labels, value })
}

/// Position of the quotation mark that ends a label's value.
fn value_end(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'\\' if !is_escaped => is_escaped = true,
            b'"' if !is_escaped => return Some(index),
            _ => is_escaped = false,
        }
    }
    None
}

fn unescape(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match (character, character == '\\') {
            (_, true) => match characters.next() {
                Some('n') => plain.push('\n'),
                Some(other) => plain.push(other),
                None => plain.push('\\'),
            },
            (other, false) => plain.push(other),
        }
    }
    Cow::Owned(plain)
}

/// The same in Prometheus' older text form (0.0.4): there the name of a counter ends in `_total` in its description too,
/// and units and end are not marked.
pub fn to_plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut help: Option<(&str, &str)> = None;
    for line in text.lines() {
        if let Some(described) = description(line, "# HELP ") {
            help = Some(described);
        } else if let Some((name, kind)) = description(line, "# TYPE ") {
            let suffix = if kind == "counter" { "_total" } else { "" };
            let kind = if kind == "unknown" { "untyped" } else { kind };
            if let Some((_, help)) = help.take() {
                plain.push_str(&format!("# HELP {name}{suffix} {help}\n"));
            }
            plain.push_str(&format!("# TYPE {name}{suffix} {kind}\n"));
        } else if !line.starts_with('#') {
            plain.push_str(line);
            plain.push('\n');
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# HELP a Things.\n# TYPE a counter\na_total 3\n# HELP b Time.\n# TYPE b histogram\n\
                        # UNIT b seconds\nb_sum{x=\"1\"} 0.5\nb_count{x=\"1\"} 2\nb_bucket{le=\"+Inf\",x=\"1\"} 2\n\
                        # HELP c State.\n# TYPE c gauge\nc{app=\"A,\\\"}=\\\\\",status=\"UP\"} 7\n# EOF\n";

    #[test]
    fn every_line_is_read() {
        let metrics = parse(TEXT);
        let shapes: Vec<_> = metrics.iter().map(|m| (m.name, m.kind, m.unit, m.samples.len())).collect();
        assert_eq!(
            shapes,
            [("a", "counter", "", 1), ("b", "histogram", "seconds", 3), ("c", "gauge", "", 1)]
        );
        let labels = vec![("app", Cow::from("A,\"}=\\")), ("status", Cow::from("UP"))];
        assert_eq!(metrics[2].samples[0], Sample { suffix: "", labels, value: 7.0 });
        assert_eq!(metrics[1].samples[2].suffix, "_bucket");
        assert_eq!(metrics[0].help, "Things.");
    }

    #[test]
    fn the_older_form_names_counters_with_their_suffix() {
        let plain = to_plain(TEXT);
        assert!(plain.starts_with("# HELP a_total Things.\n# TYPE a_total counter\na_total 3\n"), "{plain}");
        assert!(plain.contains("# HELP b Time.\n# TYPE b histogram\nb_sum{x=\"1\"} 0.5\n"), "{plain}");
        assert!(!plain.contains("EOF") && !plain.contains("UNIT"), "{plain}");
    }
}
