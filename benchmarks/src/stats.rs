//! Medians and spreads: what is said about figures that were measured several times.

use serde::Serialize;

/// The middle of several measurements, and how far they lie apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spread {
    /// Half of the measurements are smaller.
    pub median: f64,
    /// The smallest.
    pub low: f64,
    /// The largest.
    pub high: f64,
    /// How many there were.
    pub count: usize,
}

impl Spread {
    /// Of measurements in any order; all zero if there are none.
    #[must_use]
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        let (Some(&low), Some(&high)) = (values.first(), values.last()) else { return Self::default() };
        let middle = values.len() / 2;
        let median = if values.len() % 2 == 1 {
            values[middle]
        } else {
            f64::midpoint(values[middle - 1], values[middle])
        };
        Self { median, low, high, count: values.len() }
    }

    /// Half of the distance between the extremes, in percent of the median.
    #[must_use]
    pub fn percent(&self) -> f64 {
        if self.median == 0.0 { 0.0 } else { (self.high - self.low) / self.median * 50.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_of_odd_and_even_counts() {
        assert_eq!(Spread::of([3.0, 1.0, 2.0]).median, 2.0);
        assert_eq!(Spread::of([4.0, 1.0, 2.0, 3.0]).median, 2.5);
        assert_eq!(Spread::of([]), Spread::default());
        let spread = Spread::of([90.0, 100.0, 110.0]);
        assert_eq!((spread.low, spread.high, spread.percent()), (90.0, 110.0, 10.0));
    }
}
