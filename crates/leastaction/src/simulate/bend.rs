//! Whether a formula bends so much between two of its values that zeros may hide there.
//!
//! Second differences of equidistant values are what a parabola has. A formula that bends a few times as much at most has no more
//! zeros between two values than their signs tell, unless these functions say that it may.

/// Between two values a formula may bend so many times as much as at them. Larger finds closer pairs of zeros and looks at more points.
const SAFETY: f64 = 4.0;

/// Whether two zeros may hide between two values, or two more where the signs differ. The bends are second differences at both.
pub(super) fn may_hide(left: f64, right: f64, bends: [f64; 2]) -> bool {
    let change = right - left;
    if left < 0.0 && right > 0.0 || left > 0.0 && right < 0.0 {
        // monotone if the parabola has no extremum between them
        return bends.iter().any(|bend| SAFETY * bend.abs() > 2.0 * change.abs());
    }
    // a parabola touches zero if its second difference is 2 (√left + √right)²; one that bends the other way may have a dent
    let far = left.abs() + right.abs();
    let bends = || bends.iter().map(|bend| SAFETY * bend.abs());
    let bends_much = bends().any(|bend| bend > 2.0 * far);
    bends_much && bends().any(|bend| bend >= 2.0 * (far + 2.0 * (left * right).abs().sqrt()))
}

/// The second difference at the middle one of three values.
pub(super) fn bend(left: f64, middle: f64, right: f64) -> f64 {
    left - 2.0 * middle + right
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a parabola with zeros at two places between 0 and 1 is said to hide them.
    fn hides(first: f64, second: f64, sign: f64) -> bool {
        let value = |x: f64| sign * (x - first) * (x - second);
        let around = |x: f64| bend(value(x - 1.0), value(x), value(x + 1.0));
        may_hide(value(0.0), value(1.0), [around(0.0), around(1.0)])
    }

    #[test]
    fn hidden_pairs_are_suspected_and_distant_ones_are_not() {
        for sign in [1.0, -1.0] {
            for k in 1..100 {
                let first = f64::from(k) / 100.0;
                assert!(hides(first, first + 1e-9, sign), "{first}");
                assert!(hides(first, 0.5 * (first + 1.0), sign), "{first}");
            }
            assert!(!hides(1.7, 3.0, sign) && !hides(-4.0, -1.5, sign));
        }
        // a straight line, one that hardly bends, a dent in what bends away from zero, and a pair beside a zero
        assert!(!may_hide(1.0, 2.0, [0.0, 0.0]) && !may_hide(-1.0, 2.0, [0.1, 0.1]));
        assert!(!may_hide(1.0, 1.0, [-1.5, 1.5]) && may_hide(-1.0, -1.0, [9.0, 9.0]));
        assert!(may_hide(-1.0, 1.0, [3.0, -3.0]));
        assert!(!may_hide(f64::INFINITY, 1.0, [f64::NAN, 0.0]));
    }
}
