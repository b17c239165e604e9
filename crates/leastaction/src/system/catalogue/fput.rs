//! The Fermi–Pasta–Ulam–Tsingou chain (1955): n particles between fixed walls, joined by springs that are not linear.

use crate::error::Result;
use crate::scalar::Scalar;
use crate::system::{Parameters, Quantity, System};

pub(super) fn define(sizes: &[usize]) -> Result<System> {
    let n = sizes[0];
    // the lowest mode of the linear chain
    let shape = (1..=n).map(|i| Quantity::Formula(format!("a*sin(pi*{i}/{})", n + 1)));
    System::build("fput", "Fermi–Pasta–Ulam–Tsingou chain")
        .summary("n particles between fixed walls, joined by springs d + alpha d² + beta d³; starts in its lowest mode.")
        .time_unit("")
        .size("n", n, "number of particles")
        .coordinates((1..=n).map(|i| format!("x{i}")), "")
        .parameter("alpha", "0.25", "", "quadratic part of the spring force")
        .parameter("beta", "0", "", "cubic part of the spring force")
        .parameter("a", "1", "", "amplitude of the initial mode")
        .start_at_rest(shape)
        .run("simpson", "0.2", "1000")
        .lagrangian(lagrangian)
}

fn lagrangian<S: Scalar>(q: &[S], v: &[S], _t: S, p: &Parameters<S>) -> S {
    let n = q.len();
    let wall = S::from(0.0);
    let (alpha, beta) = (p["alpha"] / 3.0, p["beta"] / 4.0);
    let kinetic: S = v.iter().map(|v| v.squared() * 0.5).sum();
    let potential: S = (0..=n)
        .map(|i| {
            let left = if i == 0 { wall } else { q[i - 1] };
            let right = if i == n { wall } else { q[i] };
            let d = right - left;
            d.squared() * 0.5 + alpha * d.powi(3) + beta * d.powi(4)
        })
        .sum();
    kinetic - potential
}
