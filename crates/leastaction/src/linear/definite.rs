//! Whether a symmetric band matrix is positive definite, and if not, a direction in which it is not.

/// Pivots that are more negative than this part of their diagonal entry are not rounding.
const ROUNDING: f64 = 1e-10;

/// A direction x with xᵀ A x ≤ 0, and that number; `None` if A is positive definite. Entries (i, j, value) fill one triangle;
/// diagonal entries that are zero count as directions without weight.
///
/// By A = L D Lᵀ: the first pivot that is not positive belongs to the x with Lᵀ x = e_k.
pub fn not_positive(
    size: usize,
    bandwidth: usize,
    entries: impl IntoIterator<Item = (usize, usize, f64)>,
) -> Option<(Vec<f64>, f64)> {
    let width = bandwidth + 1;
    // row i holds columns i − bandwidth … i
    let place = |i: usize, j: usize| i * width + (j + bandwidth - i);
    let mut a = vec![0.0; size * width];
    for (i, j, value) in entries {
        a[place(i.max(j), i.min(j))] += value;
    }
    let mut pivots = vec![0.0; size];
    for i in 0..size {
        let first = i.saturating_sub(bandwidth);
        let diagonal: f64 = a[place(i, i)];
        for j in first..i {
            // l_ij = (a_ij − Σ_k l_ik d_k l_jk)/d_j
            let mut sum = a[place(i, j)];
            for k in first.max(j.saturating_sub(bandwidth))..j {
                sum -= a[place(i, k)] * pivots[k] * a[place(j, k)];
            }
            a[place(i, j)] = sum / pivots[j];
        }
        let pivot = (first..i).fold(diagonal, |d, k| d - a[place(i, k)].powi(2) * pivots[k]);
        if pivot.is_nan() {
            return None;
        }
        if diagonal <= 0.0 || pivot < -ROUNDING * diagonal {
            let mut x = vec![0.0; size];
            x[i] = 1.0;
            for j in (0..i).rev() {
                let below = (j + 1)..=i.min(j + bandwidth);
                x[j] = -below.map(|k| a[place(k, j)] * x[k]).sum::<f64>();
            }
            return Some((x, pivot.min(diagonal)));
        }
        // a pivot lost in rounding counts as a tiny positive one
        pivots[i] = pivot.max(f64::EPSILON * diagonal);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_have_negative_energy() {
        // ½(x+y)² − y²/10: the direction (1, −1) has the energy −1/5
        let entries = [(0, 0, 1.0), (1, 0, 1.0), (1, 1, 0.8)];
        let (x, value) = not_positive(2, 1, entries).unwrap();
        assert!((x[0] + 1.0).abs() < 1e-15 && x[1] == 1.0 && (value + 0.2).abs() < 1e-15);
        assert!(not_positive(2, 1, [(0, 0, 1.0), (1, 0, 1.0), (1, 1, 1.1)]).is_none());
        assert_eq!(not_positive(3, 0, [(0, 0, 1.0), (2, 2, 1.0)]).unwrap().0, [0.0, 1.0, 0.0]);
        assert!(not_positive(1, 0, [(0, 0, -2.0)]).is_some());
    }
}
