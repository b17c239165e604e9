//! What a computed number says about a printed one, and why they differ.
//!
//! Nothing is excused by a list. A misprint is recognised by what the numbers of its table show: a row that repeats another,
//! a wrong exponent, a supremum that would shrink with time, an order that belongs to other values.

use super::printed::Printed;
use crate::analysis::order::fitted_order;
use crate::scalar::elementary;
use serde::Serialize;

/// What a computed number says about a printed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Verdict {
    /// Within one unit of the last printed digit.
    #[serde(rename = "agrees to the last digit")]
    LastDigit,
    /// Within two per cent.
    #[serde(rename = "within 2 %")]
    Close,
    /// The computed number, cut after some decimals.
    #[serde(rename = "printed truncated")]
    Truncated,
    /// Both are rounding errors of zero.
    #[serde(rename = "rounding level")]
    Rounding,
    /// The printed number is wrong.
    #[serde(rename = "erratum")]
    Erratum,
    /// The run failed or was not made.
    #[serde(rename = "not computed")]
    Missing,
}

impl Verdict {
    /// All of them, in the order of decreasing agreement.
    pub const ALL: [Self; 6] =
        [Self::LastDigit, Self::Close, Self::Truncated, Self::Rounding, Self::Erratum, Self::Missing];

    /// The verdict in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::LastDigit => "agrees to the last digit",
            Self::Close => "within 2 %",
            Self::Truncated => "printed truncated",
            Self::Rounding => "rounding level",
            Self::Erratum => "erratum",
            Self::Missing => "not computed",
        }
    }
}

/// A number that lost more than this part was not cut, but is wrong.
const CUT: f64 = 0.1;
/// Errors below so many units of rounding are rounding errors.
const ROUNDING: f64 = 2000.0;

/// A computed number with the unit of rounding it was computed with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Computed {
    pub(super) value: f64,
    pub(super) unit: f64,
    /// The number type's distance from 1 to the next number.
    pub(super) epsilon: f64,
}

impl Computed {
    /// Whether it is zero but for rounding.
    pub(super) fn is_rounding(&self) -> bool {
        self.value <= ROUNDING * self.unit
    }
    /// Whether a printed number, computed with 16 digits, would be.
    fn is_rounding_for(&self, printed: f64) -> bool {
        printed <= ROUNDING * self.unit / self.epsilon * f64::EPSILON
    }
}

/// Judges an entry of a row; `zeros` says that all errors computed for the row are rounding errors.
pub(super) fn judge(printed: &Printed, computed: Computed, zeros: bool) -> Verdict {
    let relative = (computed.value / printed.value - 1.0).abs();
    if zeros && computed.is_rounding_for(printed.value) {
        Verdict::Rounding
    } else if printed.agrees(computed.value) {
        Verdict::LastDigit
    } else if relative <= 0.02 {
        Verdict::Close
    } else if relative <= CUT && printed.cut_from(computed.value).is_some() {
        Verdict::Truncated
    } else {
        Verdict::Erratum
    }
}

/// The rows of a table as they are needed to explain one entry.
pub(super) struct Evidence<'a> {
    /// The row in question.
    pub(super) row: usize,
    pub(super) column: usize,
    /// Printed values by row.
    pub(super) printed: Vec<&'a [Printed]>,
    /// Computed values by row; NaN where there is none.
    pub(super) computed: Vec<Vec<f64>>,
    /// What distinguishes the rows: method and measure.
    pub(super) kinds: Vec<(&'a str, &'a str)>,
    pub(super) until: Vec<f64>,
    /// Whether the row holds suprema.
    pub(super) suprema: bool,
    /// Names of the rows.
    pub(super) names: Vec<String>,
    /// The printed order of the row.
    pub(super) order: &'a str,
    pub(super) steps: &'a [f64],
}

/// A sentence about an entry.
pub(super) fn sentence(verdict: Verdict, evidence: &Evidence<'_>) -> String {
    let printed = &evidence.printed[evidence.row][evidence.column];
    let computed = evidence.computed[evidence.row][evidence.column];
    match verdict {
        Verdict::LastDigit if printed.rounds_from(computed) => "the computed value rounds to it".to_owned(),
        Verdict::LastDigit => "one unit of the last digit off, as if cut instead of rounded".to_owned(),
        Verdict::Close => match printed.cut_from(computed) {
            Some(decimals) => format!("cut to {decimals} decimals"),
            None => format!("off by {:.1} %", 100.0 * (printed.value / computed - 1.0).abs()),
        },
        Verdict::Truncated => {
            let decimals = printed.cut_from(computed).unwrap_or(0);
            format!("cut to {decimals} decimals; the computed value is {}", short(computed))
        }
        Verdict::Rounding => "zero in exact arithmetic; both values are rounding errors".to_owned(),
        Verdict::Erratum => reasons(evidence).join("; "),
        Verdict::Missing => String::new(),
    }
}

/// Everything the table itself says about why a printed value is wrong.
fn reasons(evidence: &Evidence<'_>) -> Vec<String> {
    let computed = evidence.computed[evidence.row][evidence.column];
    let mut found = vec![format!("computed {}", short(computed))];
    found.extend(repeats(evidence));
    found.extend(exponent(evidence));
    found.extend(shrinks(evidence));
    if found.len() == 1 {
        found.extend(falls(evidence));
    }
    found.extend(order(evidence));
    found
}

/// Another row with the same printed values, which are right there.
fn repeats(evidence: &Evidence<'_>) -> Option<String> {
    let mine = evidence.printed[evidence.row];
    let same = |&other: &usize| {
        let right = evidence.printed[other].iter().zip(&evidence.computed[other]);
        other != evidence.row
            && evidence.printed[other] == mine
            && right.into_iter().all(|(p, c)| p.agrees(*c))
    };
    let other = (0..evidence.printed.len()).find(same)?;
    Some(format!("the printed row repeats that of `{}`", evidence.names[other]))
}

/// A wrong power of ten.
fn exponent(evidence: &Evidence<'_>) -> Option<String> {
    let printed = &evidence.printed[evidence.row][evidence.column];
    let computed = evidence.computed[evidence.row][evidence.column];
    let power = (elementary::ln(printed.value / computed) / std::f64::consts::LN_10).round();
    let moved = computed * elementary::powi(10.0, power as i32);
    (power != 0.0 && power.is_finite() && printed.agrees(moved))
        .then(|| format!("the digits are right, the power of ten is off by {power:+}"))
}

/// A supremum over a longer time that is printed smaller.
fn shrinks(evidence: &Evidence<'_>) -> Option<String> {
    let Evidence { row, column, suprema, .. } = *evidence;
    if !suprema {
        return None;
    }
    let mine = evidence.printed[row][column].value;
    let longer = (0..evidence.printed.len()).find(|&other| {
        let printed = &evidence.printed[other][column];
        evidence.kinds[other] == evidence.kinds[row]
            && evidence.until[other] > evidence.until[row]
            && printed.value < mine
            && (printed.value / evidence.computed[other][column] - 1.0).abs() < 0.02
    })?;
    Some(format!(
        "a supremum cannot shrink with time, but `{}` has {}",
        evidence.names[longer], evidence.printed[longer][column]
    ))
}

/// How the errors fall towards this column.
fn falls(evidence: &Evidence<'_>) -> Option<String> {
    let before = evidence.column.checked_sub(1)?;
    let printed = evidence.printed[evidence.row];
    let computed = &evidence.computed[evidence.row];
    let change = |a: f64, b: f64| {
        if a > b { format!("falls {:.1}-fold", a / b) } else { format!("grows {:.1}-fold", b / a) }
    };
    Some(format!(
        "from the column before, the printed error {}, the computed one {}",
        change(printed[before].value, printed[evidence.column].value),
        change(computed[before], computed[evidence.column])
    ))
}

/// Whose order the printed order is.
fn order(evidence: &Evidence<'_>) -> Option<String> {
    let stated: f64 = evidence.order.parse().ok()?;
    let slope = |values: Vec<f64>| {
        let points: Vec<(f64, f64)> = evidence.steps.iter().copied().zip(values).collect();
        fitted_order(&points, 0.0)
    };
    let of_printed = slope(evidence.printed[evidence.row].iter().map(|p| p.value).collect())?;
    let of_computed = slope(evidence.computed[evidence.row].clone())?;
    let near = |order: f64| (order.abs() - stated).abs() < 0.015;
    match (near(of_printed), near(of_computed)) {
        (false, true) => Some(format!(
            "the printed order {} is that of the computed values, while the printed ones have {of_printed:.2}",
            evidence.order
        )),
        (true, false) => Some(format!(
            "the printed order {} follows from the wrong value; the computed ones have {of_computed:.2}",
            evidence.order
        )),
        _ => None,
    }
}

/// Four digits.
pub(super) fn short(x: f64) -> String {
    format!("{x:.3e}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(text: &str, value: f64) -> Verdict {
        let unit = f64::EPSILON;
        let computed = Computed { value, unit, epsilon: unit };
        judge(&Printed::new(text).expect(text), computed, computed.is_rounding())
    }

    #[test]
    fn verdicts_go_from_the_best_to_the_worst() {
        assert_eq!(verdict("7.61e-4", 7.608_818e-4), Verdict::LastDigit);
        assert_eq!(verdict("9.90e-3", 9.956e-3), Verdict::Close);
        assert_eq!(verdict("8.00e-4", 8.772e-4), Verdict::Truncated);
        assert_eq!(verdict("2.00e-5", 2.687e-5), Verdict::Erratum);
        assert_eq!(verdict("1.70e-13", 3e-15), Verdict::Rounding);
        // rounding errors that look alike are still rounding errors
        assert_eq!(verdict("2.13e-14", 2.13e-14), Verdict::Rounding);
        assert_eq!(verdict("7.82e-1", 7.82e-2), Verdict::Erratum);
        // a printed rounding error does not excuse a computed error
        assert_eq!(verdict("1.70e-13", 3e-9), Verdict::Erratum);
    }
}
