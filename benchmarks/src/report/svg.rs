//! Plots as SVG, written by hand: axes with powers of ten, lines, a legend.

use std::fmt::Write as _;

use super::Plot;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 80.0;
const RIGHT: f64 = 30.0;
const TOP: f64 = 46.0;
const BOTTOM: f64 = 56.0;
/// Told apart also without colours: the lines carry different dashes.
const STYLES: [(&str, &str); 6] = [
    ("#1f6f8b", ""),
    ("#c8553d", "7 4"),
    ("#588157", "2 3"),
    ("#6d597a", "9 3 2 3"),
    ("#b08968", "4 2"),
    ("#333333", "1 4"),
];

/// A logarithmic axis.
struct Axis {
    low: f64,
    high: f64,
}

impl Axis {
    /// From the power of ten below the smallest value to the one above the largest.
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(|value| *value > 0.0) {
            low = low.min(value.log10());
            high = high.max(value.log10());
        }
        if low > high {
            return Self { low: 0.0, high: 1.0 };
        }
        let (low, high) = (low.floor(), high.ceil());
        Self { low, high: if high > low { high } else { low + 1.0 } }
    }

    /// Where a value lies, from 0 to 1.
    fn place(&self, value: f64) -> f64 {
        (value.max(f64::MIN_POSITIVE).log10().max(self.low) - self.low) / (self.high - self.low)
    }

    fn ticks(&self) -> impl Iterator<Item = f64> {
        let (low, high) = (self.low as i32, self.high as i32);
        (low..=high).map(|power| 10_f64.powi(power))
    }
}

fn label(value: f64) -> String {
    match value {
        v if v >= 1e6 => format!("{}M", v / 1e6),
        v if v >= 1e3 => format!("{}k", v / 1e3),
        v => format!("{v}"),
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The plot as a whole SVG document.
#[must_use]
pub fn svg(plot: &Plot) -> String {
    let points = || plot.series.iter().flat_map(|series| series.points.iter());
    let (x, y) = (Axis::of(points().map(|point| point.0)), Axis::of(points().map(|point| point.1)));
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        out,
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="#fff"/>"##
    );
    let _ = write!(
        out,
        r#"<text x="{LEFT}" y="22" font-size="15" font-weight="bold">{}</text>"#,
        escape(&plot.title)
    );
    grid(&mut out, &x, &y);
    let middle = LEFT + (WIDTH - LEFT - RIGHT) / 2.0;
    let _ = write!(
        out,
        r#"<text x="{middle}" y="{}" text-anchor="middle">{}</text>"#,
        HEIGHT - 14.0,
        escape(&plot.x)
    );
    let _ = write!(
        out,
        r#"<text transform="translate(18 {}) rotate(-90)" text-anchor="middle">{}</text>"#,
        HEIGHT / 2.0,
        escape(&plot.y)
    );
    for (index, series) in plot.series.iter().enumerate() {
        let (color, dash) = STYLES[index % STYLES.len()];
        let path: Vec<String> =
            series.points.iter().map(|(a, b)| format!("{:.1},{:.1}", across(&x, *a), up(&y, *b))).collect();
        let line = path.join(" ");
        let _ = write!(
            out,
            r#"<polyline points="{line}" fill="none" stroke="{color}" stroke-width="2" stroke-dasharray="{dash}"/>"#
        );
        let (left, top) = (LEFT + 12.0, TOP + 16.0 + 17.0 * index as f64);
        let _ = write!(
            out,
            r#"<line x1="{left}" x2="{}" y1="{}" y2="{}" stroke="{color}" stroke-width="2" stroke-dasharray="{dash}"/><text x="{}" y="{top}">{}</text>"#,
            left + 26.0,
            top - 4.0,
            top - 4.0,
            left + 32.0,
            escape(&series.name)
        );
    }
    out.push_str("</svg>\n");
    out
}

fn across(x: &Axis, value: f64) -> f64 {
    LEFT + x.place(value) * (WIDTH - LEFT - RIGHT)
}

fn up(y: &Axis, value: f64) -> f64 {
    HEIGHT - BOTTOM - y.place(value) * (HEIGHT - TOP - BOTTOM)
}

fn grid(out: &mut String, x: &Axis, y: &Axis) {
    let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
    for tick in x.ticks() {
        let at = across(x, tick);
        let _ = write!(out, r##"<line x1="{at:.1}" x2="{at:.1}" y1="{TOP}" y2="{bottom}" stroke="#ddd"/>"##);
        let _ = write!(
            out,
            r#"<text x="{at:.1}" y="{}" text-anchor="middle">{}</text>"#,
            bottom + 18.0,
            label(tick)
        );
    }
    for tick in y.ticks() {
        let at = up(y, tick);
        let _ = write!(out, r##"<line x1="{LEFT}" x2="{right}" y1="{at:.1}" y2="{at:.1}" stroke="#ddd"/>"##);
        let _ = write!(
            out,
            r#"<text x="{}" y="{:.1}" text-anchor="end">{}</text>"#,
            LEFT - 8.0,
            at + 4.0,
            label(tick)
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::Series;
    use super::*;

    #[test]
    fn points_lie_inside_and_texts_are_escaped() {
        let plot = Plot {
            file: "x".into(),
            title: "a < b".into(),
            x: "size".into(),
            y: "ms".into(),
            series: vec![Series { name: "A".into(), points: vec![(1000.0, 0.2), (100_000.0, 30.0)] }],
        };
        let text = svg(&plot);
        assert!(text.contains("a &lt; b") && text.contains(">100k<") && text.contains(">0.1<"));
        assert!(text.contains(r#"points="80.0,"#) && text.contains(" 690.0,"), "{text}");
    }
}
