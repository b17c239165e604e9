//! Scales: from the data of an axis to its range, ticks, tick labels and pixels.
//!
//! Every function takes any floating-point input, also empty, constant, infinite and
//! huge, and gives back an axis that can be drawn.

use super::text;

/// How numbers are laid along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Scale {
    /// Equal steps.
    #[default]
    Linear,
    /// Equal ratios, base ten; only positive numbers have a place.
    Log,
}

/// Larger numbers are drawn here, so that differences of two of them stay finite.
const HUGE: f64 = 1e300;
/// Smaller positive numbers have no place on a logarithmic axis.
const TINY: f64 = 1e-300;

/// Ticks of an axis.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Ticks {
    /// Labelled positions.
    pub(crate) major: Vec<f64>,
    /// One label per major tick.
    pub(crate) labels: Vec<String>,
    /// Unlabelled positions.
    pub(crate) minor: Vec<f64>,
    /// What all labels are to be multiplied with, as text; empty for one.
    pub(crate) factor: String,
}

/// The ends of an axis that shows `values` with a small margin.
pub(crate) fn range_of(values: impl Iterator<Item = f64>, scale: Scale, margin: f64) -> (f64, f64) {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for value in values.filter(|v| v.is_finite() && (scale == Scale::Linear || *v > TINY)) {
        low = low.min(value.clamp(-HUGE, HUGE));
        high = high.max(value.clamp(-HUGE, HUGE));
    }
    let (low, high) = widened(low, high, scale);
    match scale {
        Scale::Linear => {
            let pad = (high - low) * margin;
            (low - pad, high + pad)
        }
        Scale::Log => {
            let pad = (high / low).powf(margin);
            (low / pad, high * pad)
        }
    }
}

/// A range of positive length around a range that may be empty, reversed or a point.
pub(crate) fn widened(low: f64, high: f64, scale: Scale) -> (f64, f64) {
    if !(low.is_finite() && high.is_finite()) {
        return if scale == Scale::Log { (0.1, 10.0) } else { (-1.0, 1.0) };
    }
    let (low, high) = (low.min(high).clamp(-HUGE, HUGE), low.max(high).clamp(-HUGE, HUGE));
    match scale {
        // a spread below a millionth is round-off around a constant, not something to magnify
        Scale::Linear => {
            let size = low.abs().max(high.abs());
            if high - low > 1e-6 * size && high - low > TINY {
                (low, high)
            } else if size < TINY {
                (-1.0, 1.0)
            } else {
                let middle = low + (high - low) / 2.0;
                (middle - 0.2 * size, middle + 0.2 * size)
            }
        }
        Scale::Log => {
            let (low, high) = (low.max(TINY), high.max(TINY));
            if high > low * 1.5 { (low, high) } else { (low / 3.2, high * 3.2) }
        }
    }
}

/// About `target` ticks in a range.
pub(crate) fn ticks((low, high): (f64, f64), scale: Scale, target: usize) -> Ticks {
    match scale {
        // a single tick tells nothing about the scale
        Scale::Linear => (0..4)
            .map(|more| linear_ticks(low, high, target.max(2) + more))
            .find(|ticks| ticks.major.len() > 1)
            .unwrap_or_default(),
        Scale::Log => log_ticks(low, high, target.max(2)),
    }
}

fn linear_ticks(low: f64, high: f64, target: usize) -> Ticks {
    let span = high - low;
    if !(span.is_finite() && span > 0.0) {
        return Ticks::default();
    }
    // step: the one of 1, 2, 5 times a power of ten that gives the count nearest to the target
    let rough = span / target as f64;
    let exponent = rough.log10().floor() as i32;
    let unit = 10f64.powi(exponent);
    let digit = match rough / unit {
        r if r < 1.4 => 1.0,
        r if r < 3.2 => 2.0,
        r if r < 7.1 => 5.0,
        _ => 10.0,
    };
    let step = digit * unit;
    let (first, last) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
    if !(step > 0.0 && first.is_finite() && last - first < 1000.0) {
        return Ticks::default();
    }
    let count = (last - first).max(-1.0) as i64 + 1;
    let major: Vec<f64> = (0..count).map(|i| (first + i as f64) * step).collect();
    let step_exponent = if digit == 10.0 { exponent + 1 } else { exponent };
    let (labels, factor) = linear_labels(&major, step_exponent);
    Ticks { major, labels, minor: Vec::new(), factor }
}

/// Labels with the decimals the step needs; very large and very small ones share a power of ten.
fn linear_labels(major: &[f64], step_exponent: i32) -> (Vec<String>, String) {
    let size = major.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let magnitude = if size > 0.0 { (size * (1.0 + 1e-12)).log10().floor() as i32 } else { 0 };
    let shift = if magnitude >= 5 || magnitude <= -3 { magnitude } else { 0 };
    let decimals = (shift - step_exponent).clamp(0, 12) as usize;
    let unit = 10f64.powi(shift);
    let labels = major.iter().map(|v| text::fixed(v / unit, decimals)).collect();
    let factor = if shift == 0 { String::new() } else { format!("×{}", text::power_of_ten(shift)) };
    (labels, factor)
}

fn log_ticks(low: f64, high: f64, target: usize) -> Ticks {
    if !(low > 0.0 && high > low && high.is_finite()) {
        return Ticks::default();
    }
    let inside = |v: f64| v >= low * (1.0 - 1e-9) && v <= high * (1.0 + 1e-9);
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let decades: Vec<i32> = (first..=last).filter(|&e| inside(10f64.powi(e))).collect();
    // fewer than two decades: the digits 1, 2, 5 carry labels too
    if decades.len() < 2 {
        let (mut major, mut labels, mut minor) = (Vec::new(), Vec::new(), Vec::new());
        for e in first..=last {
            for digit in 1..10 {
                let value = f64::from(digit) * 10f64.powi(e);
                if !inside(value) {
                } else if matches!(digit, 1 | 2 | 5) {
                    major.push(value);
                    labels.push(match digit {
                        1 => text::power_of_ten(e),
                        _ => format!("{digit}·{}", text::power_of_ten(e)),
                    });
                } else {
                    minor.push(value);
                }
            }
        }
        return Ticks { major, labels, minor, factor: String::new() };
    }
    // every, every second, third, … decade is labelled; the others are minor ticks
    let stride = decades.len().div_ceil(target).max(1) as i32;
    let (major, skipped): (Vec<i32>, Vec<i32>) = decades.iter().partition(|&&e| e.rem_euclid(stride) == 0);
    let mut minor: Vec<f64> = skipped.iter().map(|&e| 10f64.powi(e)).collect();
    if decades.len() <= 9 {
        for e in first..=last {
            minor.extend((2..10).map(|d| f64::from(d) * 10f64.powi(e)).filter(|&v| inside(v)));
        }
    }
    Ticks {
        labels: major.iter().map(|&e| text::power_of_ten(e)).collect(),
        major: major.iter().map(|&e| 10f64.powi(e)).collect(),
        minor,
        factor: String::new(),
    }
}

/// From data to pixels along one axis.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Transform {
    scale: Scale,
    low: f64,
    /// Pixels per unit (or per natural logarithm).
    slope: f64,
    start: f64,
}

impl Transform {
    /// Maps the ends of `range` to the pixels `start` and `end`.
    pub(crate) fn new(range: (f64, f64), scale: Scale, start: f64, end: f64) -> Self {
        let (low, high) = match scale {
            Scale::Linear => range,
            Scale::Log => (range.0.max(TINY).ln(), range.1.max(TINY).ln()),
        };
        let length = high - low;
        let slope = if length.is_finite() && length > 0.0 { (end - start) / length } else { 0.0 };
        Self { scale, low, slope, start }
    }

    /// The pixel of a value, far off the page at most; nothing for what has no place on the axis.
    pub(crate) fn pixel(&self, value: f64) -> Option<f64> {
        let along = match self.scale {
            Scale::Linear => value,
            Scale::Log if value > 0.0 => value.max(TINY).ln(),
            Scale::Log => return None,
        };
        let pixel = self.start + (along.clamp(-1e301, 1e301) - self.low) * self.slope;
        (value.is_finite() && pixel.is_finite()).then(|| pixel.clamp(-2e4, 2e4))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(range: (f64, f64), scale: Scale, target: usize) -> Vec<String> {
        ticks(range, scale, target).labels
    }

    #[test]
    fn linear_ticks_are_round() {
        assert_eq!(labels((-1.05, 1.05), Scale::Linear, 5), ["−1.0", "−0.5", "0.0", "0.5", "1.0"]);
        assert_eq!(labels((0.0, 1000.0), Scale::Linear, 5), ["0", "200", "400", "600", "800", "1000"]);
        assert_eq!(labels((0.0, 0.3), Scale::Linear, 3), ["0.0", "0.1", "0.2", "0.3"]);
    }

    #[test]
    fn extreme_linear_ticks_share_a_power_of_ten() {
        let ticks = ticks((0.0, 3e-5), Scale::Linear, 3);
        assert_eq!((ticks.factor.as_str(), ticks.labels[1].as_str()), ("×10⁻⁵", "1"));
        let ticks = super::ticks((-4e7, 4e7), Scale::Linear, 4);
        assert_eq!((ticks.factor.as_str(), ticks.labels[0].as_str()), ("×10⁷", "−4"));
    }

    #[test]
    fn log_ticks_label_decades() {
        assert_eq!(labels((1e-3, 1.0), Scale::Log, 6), ["10⁻³", "10⁻²", "10⁻¹", "10⁰"]);
        let wide = ticks((1e-17, 1e3), Scale::Log, 7);
        assert_eq!(wide.labels.first().map(String::as_str), Some("10⁻¹⁵"));
        assert_eq!(wide.labels.last().map(String::as_str), Some("10³"));
        assert!(wide.labels.len() <= 7 && wide.minor.len() == 14, "{wide:?}");
        let short = ticks((0.9, 6.0), Scale::Log, 6);
        assert_eq!(short.labels, ["10⁰", "2·10⁰", "5·10⁰"]);
        assert_eq!(ticks((1e-3, 1.0), Scale::Log, 6).minor.len(), 24);
    }

    #[test]
    fn degenerate_ranges_give_drawable_axes() {
        for scale in [Scale::Linear, Scale::Log] {
            for values in [
                vec![],
                vec![0.0],
                vec![3.0; 4],
                vec![f64::NAN, f64::INFINITY],
                vec![-1e308, 1e308],
                vec![5e-324],
                vec![1.0, 1.0 + 1e-15],
                vec![-2.0, -1.0],
            ] {
                let range = range_of(values.iter().copied(), scale, 0.05);
                assert!(range.0.is_finite() && range.1 > range.0, "{values:?} {range:?}");
                assert!(ticks(range, scale, 5).major.len() < 30, "{values:?}");
                let map = Transform::new(range, scale, 0.0, 100.0);
                for value in values {
                    assert!(map.pixel(value).is_none_or(|p| (-2e4..=2e4).contains(&p)));
                }
            }
        }
        assert_eq!(ticks((1.0, 1.0), Scale::Linear, 5), Ticks::default());
        assert_eq!(ticks((-1.0, 1.0), Scale::Log, 5), Ticks::default());
    }

    #[test]
    fn transform_maps_the_ends_and_refuses_what_has_no_place() {
        let map = Transform::new((1e-4, 1e4), Scale::Log, 300.0, 100.0);
        assert!((map.pixel(1e-4).unwrap_or(0.0) - 300.0).abs() < 1e-9);
        assert!((map.pixel(1.0).unwrap_or(0.0) - 200.0).abs() < 1e-9);
        assert_eq!(map.pixel(0.0), None);
        assert_eq!(map.pixel(f64::NAN), None);
        assert_eq!(Transform::new((0.0, 1.0), Scale::Linear, 0.0, 9.0).pixel(f64::INFINITY), None);
    }
}
