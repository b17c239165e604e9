//! One step of a linear system as a matrix: (q⁺, p⁺) = Φ (q, p) for L = ½ vᵀMv − ½ qᵀKq.
//!
//! From the pencils of a variational method ([`Modal`]) with M and K in place of their numbers, solved once for all amplitudes
//! within the step; or from the kicks and drifts of a splitting method; or from the stability polynomial of a Runge–Kutta method. Kept and applied are increments, Φ − I, so that nothing
//! is lost to cancellation for small steps. Every variational method has the form (001, eq. 34)
//!
//! ```text
//! p + p⁺ = X (q⁺ − q)        p⁺ − p = −Y (q + q⁺)        X = (1/h) M f(h²M⁻¹K),  Y = (1/h) M g(h²M⁻¹K)
//! ```
//!
//! and therefore q⁺ − q = 2ξp − 2ξYq, p⁺ − p = −2Yξp − 2ζq with ξ = (X + Y)⁻¹, ζ = XξY, which stay finite where X or Y does not.
//! What the papers print is in `closed_forms`.

use super::{State, compensated_add};
use crate::error::{Error, Result};
use crate::linear::{Matrix, Square};
use crate::method::{Flows, Galerkin, Method, Modal, Scheme, Splitting, stability_polynomial};
use crate::scalar::Real;
use crate::system::Problem;

/// Steps a linear system by one multiplication.
#[derive(Clone, Debug)]
pub struct Propagator<R> {
    method: Method,
    mass: Square<R>,
    increments: Increments<R>,
    /// q⁺ − q and p⁺ − p of the present step.
    change: [Vec<R>; 2],
}

/// The blocks of Φ − I.
#[derive(Clone, Debug)]
struct Increments<R> {
    /// q⁺ − q from q and from p.
    q: [Square<R>; 2],
    /// p⁺ − p from q and from p.
    p: [Square<R>; 2],
}

/// ½ pᵀ momenta p + ½ qᵀ coordinates q
#[derive(Clone, Debug)]
pub struct QuadraticForm<R> {
    /// The matrix between momenta.
    pub momenta: Square<R>,
    /// The matrix between coordinates.
    pub coordinates: Square<R>,
}

impl<R: Real> QuadraticForm<R> {
    /// Its value at a state.
    pub fn at(&self, q: &[R], p: &[R]) -> R {
        self.momenta.half_form(p) + self.coordinates.half_form(q)
    }
}

impl<R: Real> Propagator<R> {
    /// The propagator of a linear system.
    pub fn new(problem: &Problem<R>, method: &Method, step_size: &R) -> Result<Self> {
        let quadratic = problem.quadratic()?;
        Self::from_matrices(&quadratic.mass(), &quadratic.stiffness(), method, step_size)
    }

    /// The propagator for symmetric M and K of the same size.
    pub fn from_matrices(
        mass: &Square<R>,
        stiffness: &Square<R>,
        method: &Method,
        step_size: &R,
    ) -> Result<Self> {
        if mass.size() == 0 {
            let message = "M and K have no rows".to_owned();
            return Err(Error::BadSystem { system: "M, K".to_owned(), message });
        }
        if mass.size() != stiffness.size() {
            let message = format!("M has {} rows, but K has {}", mass.size(), stiffness.size());
            return Err(Error::BadSystem { system: "M, K".to_owned(), message });
        }
        let increments = match method.scheme {
            Scheme::Galerkin(galerkin) => variational(mass, stiffness, &galerkin, step_size)?,
            Scheme::Splitting(splitting) => splitted(mass, stiffness, &splitting, step_size)?,
            Scheme::RungeKutta4(_) => runge_kutta(mass, stiffness, step_size)?,
        };
        let zeros = vec![R::zero(); mass.size()];
        Ok(Self { method: method.clone(), mass: mass.clone(), increments, change: [zeros.clone(), zeros] })
    }

    /// Takes one step.
    pub fn step(&mut self, state: &mut State<R>) {
        let [dq, dp] = &mut self.change;
        for (change, blocks) in [(&mut *dq, &self.increments.q), (&mut *dp, &self.increments.p)] {
            change.fill(R::zero());
            blocks[0].apply(&state.q, change);
            blocks[1].apply(&state.p, change);
        }
        for i in 0..dq.len() {
            compensated_add(&mut state.q[i], &mut state.q_low[i], dq[i].clone());
            compensated_add(&mut state.p[i], &mut state.p_low[i], dp[i].clone());
        }
        state.steps += 1;
    }

    /// Φ, coordinates before momenta.
    pub fn matrix(&self) -> Square<R> {
        let n = self.mass.size();
        Square::from_fn(2 * n, |i, j| {
            let blocks = if i < n { &self.increments.q } else { &self.increments.p };
            let entry = blocks[j / n][(i % n, j % n)].clone();
            if i == j { R::one() + entry } else { entry }
        })
    }

    /// X and Y. One of them is infinite where ωh of a mode is at the end of a stable window.
    pub fn blocks(&self) -> Result<[Square<R>; 2]> {
        self.needs_action("the pair X, Y")?;
        let xi = self.increments.q[1].times(&R::from_f64(0.5));
        // Yξ = η, so ξY = ηᵀ, and ξX = 1 − ξY
        let eta = self.increments.p[1].times(&R::from_f64(-0.5)).transposed();
        let rest = Square::identity(eta.size()).plus(&R::from_f64(-1.0), &eta);
        let singular = |_| Error::SingularMatrix { what: "the matrix ξ of the step".to_owned() };
        let x = xi.solve(&rest).map_err(singular)?;
        Ok([x.symmetrised(), xi.solve(&eta).map_err(singular)?.symmetrised()])
    }

    /// φ = ½ pᵀξp + ½ qᵀζq, which every step conserves (001, Prop. 7; 004, eq. 18 is twice this).
    pub fn quadratic_form(&self) -> Result<QuadraticForm<R>> {
        self.needs_action("a conserved quadratic form")?;
        let half = R::from_f64(0.5);
        let momenta = self.increments.q[1].times(&half).symmetrised();
        let coordinates = self.increments.p[0].times(&-half).symmetrised();
        Ok(QuadraticForm { momenta, coordinates })
    }

    /// E_d = ½ pᵀM⁻¹p + ½ qᵀXM⁻¹Yq, which every step conserves: the energy as the method sees it (003, eq. 28).
    pub fn discrete_energy(&self) -> Result<QuadraticForm<R>> {
        let QuadraticForm { momenta: xi, coordinates: zeta } = self.quadratic_form()?;
        let singular = |what: &'static str| move |_| Error::SingularMatrix { what: what.to_owned() };
        let one = Square::identity(xi.size());
        // XM⁻¹Y = ξ⁻¹M⁻¹ζ
        let scaled = self.mass.solve(&zeta).map_err(singular("the mass matrix"))?;
        let coordinates = xi.solve(&scaled).map_err(singular("the matrix ξ of the step"))?;
        let momenta = self.mass.solve(&one).map_err(singular("the mass matrix"))?;
        Ok(QuadraticForm { momenta: momenta.symmetrised(), coordinates: coordinates.symmetrised() })
    }

    /// The largest entry of ΦᵀJΦ − J: zero but for rounding if the step is symplectic.
    pub fn symplecticity_defect(&self) -> f64 {
        let n = self.mass.size();
        let j = Square::from_fn(2 * n, |row, column| {
            let entry = if column == row + n { 1.0 } else { 0.0 };
            R::from_f64(if row == column + n { -1.0 } else { entry })
        });
        let phi = self.matrix();
        phi.transposed().product(&j).product(&phi).plus(&R::from_f64(-1.0), &j).largest()
    }

    fn needs_action(&self, what: &str) -> Result<()> {
        if self.method.is_variational() {
            return Ok(());
        }
        Err(Error::NotVariational { method: self.method.name.clone(), what: what.to_owned() })
    }
}

/// Solves for q⁺ − q and the amplitudes within the step, for each q and each p of length 1.
fn variational<R: Real>(
    mass: &Square<R>,
    stiffness: &Square<R>,
    galerkin: &Galerkin,
    h: &R,
) -> Result<Increments<R>> {
    let n = mass.size();
    let zero = || Square::zero(n);
    let mut increments = Increments { q: [zero(), zero()], p: [zero(), zero()] };
    let mut blocks = Blocks::new(mass, stiffness, Modal::new(galerkin)?, h);
    let singular = |_| Error::SingularMatrix { what: "the matrix of the step".to_owned() };
    blocks.matrix.factor().map_err(singular)?;
    for column in 0..2 * n {
        let (from_p, j) = (column / n, column % n);
        let mut x = if from_p == 1 { blocks.side_of_momentum(j) } else { blocks.side_of_coordinate(j) };
        blocks.matrix.solve(&mut x);
        let impulse = blocks.impulse(&x, (from_p == 0).then_some(j));
        for i in 0..n {
            increments.q[from_p][(i, j)] = x[i].clone();
            increments.p[from_p][(i, j)] = impulse[i].clone();
        }
    }
    Ok(increments)
}

/// The equations of a step, in blocks aM − h²bK. Unknowns: q⁺ − q, then the odd amplitudes, then the even ones.
///
/// The amplitudes of the ends are q⁺ − q (odd) and q⁺ + q = 2q + (q⁺ − q) (even). Their equations have (h/2)(p⁺ + p) and
/// (h/2)(p⁺ − p) on the right; the difference of the two is h p.
struct Blocks<'a, R> {
    n: usize,
    mass: &'a Square<R>,
    stiffness: &'a Square<R>,
    modal: Modal<R>,
    h: &'a R,
    matrix: Matrix<R>,
}

impl<'a, R: Real> Blocks<'a, R> {
    fn new(mass: &'a Square<R>, stiffness: &'a Square<R>, modal: Modal<R>, h: &'a R) -> Self {
        let n = mass.size();
        let (even, odd) = (modal.even.clone(), modal.odd.clone());
        let size = n * (odd.size() + even.size() - 1);
        let mut blocks = Self { n, mass, stiffness, modal, h, matrix: Matrix::new(size, size) };
        blocks.add(0, 0, &odd.a[0], &(odd.b[0].clone() - even.b[0].clone()));
        for (pencil, start, sign) in [(&odd, 0, 1.0), (&even, odd.size() - 1, -1.0)] {
            for k in 1..pencil.size() {
                let (own, c) = (start + k, &pencil.c[k - 1]);
                blocks.add(own, own, &pencil.a[k], &pencil.b[k]);
                let (before, sign) = if k == 1 { (0, sign) } else { (own - 1, 1.0) };
                blocks.add(own, before, &R::zero(), c);
                blocks.add(before, own, &R::zero(), &(R::from_f64(sign) * c.clone()));
            }
        }
        blocks
    }

    /// Adds aM − h²bK.
    fn add(&mut self, row: usize, column: usize, a: &R, b: &R) {
        let factor = self.h.clone() * self.h.clone() * b.clone();
        for i in 0..self.n {
            for j in 0..self.n {
                let entry = self.matrix.entry(row * self.n + i, column * self.n + j);
                entry.add_mul(a, &self.mass[(i, j)]);
                entry.sub_mul(&factor, &self.stiffness[(i, j)]);
            }
        }
    }

    fn zeros(&self) -> Vec<R> {
        vec![R::zero(); self.n * (self.modal.odd.size() + self.modal.even.size() - 1)]
    }

    /// The place and the coupling of the first even amplitude, if there is one.
    fn first_even(&self) -> Option<(usize, &R)> {
        Some((self.modal.odd.size() * self.n, self.modal.even.c.first()?))
    }

    /// The right-hand side for p = e_j, q = 0: h p
    fn side_of_momentum(&self, j: usize) -> Vec<R> {
        let mut side = self.zeros();
        side[j] = self.h.clone();
        side
    }

    /// The right-hand side for q = e_j, p = 0: what 2q gives in the equations of the even amplitudes.
    fn side_of_coordinate(&self, j: usize) -> Vec<R> {
        let mut side = self.zeros();
        let twice = R::from_f64(2.0) * self.h.clone() * self.h.clone();
        for i in 0..self.n {
            let known = twice.clone() * self.stiffness[(i, j)].clone();
            side[i] = -(self.modal.even.b[0].clone() * known.clone());
            if let Some((place, c)) = self.first_even() {
                side[place + i] = c.clone() * known;
            }
        }
        side
    }

    /// p⁺ − p = −2hK [b (q + q⁺) + c w], w the first even amplitude, for q = e_j or zero.
    fn impulse(&self, x: &[R], j: Option<usize>) -> Vec<R> {
        let two = R::from_f64(2.0);
        let factor = -(two.clone() * self.h.clone());
        let bracket = |i: usize| {
            let twice = if j == Some(i) { two.clone() } else { R::zero() };
            let mut sum = self.modal.even.b[0].clone() * (twice + x[i].clone());
            if let Some((place, c)) = self.first_even() {
                sum.add_mul(c, &x[place + i]);
            }
            factor.clone() * sum
        };
        let bracket: Vec<R> = (0..self.n).map(bracket).collect();
        let mut impulse = vec![R::zero(); self.n];
        self.stiffness.apply(&bracket, &mut impulse);
        impulse
    }
}

/// Kicks p −= b h Kq and drifts q += a h M⁻¹p in turn, for the changes of q and p from each q and each p of length 1.
fn splitted<R: Real>(
    mass: &Square<R>,
    stiffness: &Square<R>,
    splitting: &Splitting,
    h: &R,
) -> Result<Increments<R>> {
    let n = mass.size();
    let singular = |_| Error::SingularMatrix { what: "the mass matrix".to_owned() };
    let inverse = mass.solve(&Square::identity(n)).map_err(singular)?;
    let flows: Flows<R> = Flows::new(splitting);
    let zero = || Square::zero(n);
    let mut increments = Increments { q: [zero(), zero()], p: [zero(), zero()] };
    let one = Square::identity(n);
    for (i, kick) in flows.kicks.iter().enumerate() {
        let kick = -(kick.clone() * h.clone());
        increments.p[0] =
            increments.p[0].plus(&kick, &stiffness.product(&one.plus(&R::one(), &increments.q[0])));
        increments.p[1] = increments.p[1].plus(&kick, &stiffness.product(&increments.q[1]));
        if let Some(drift) = flows.drifts.get(i) {
            let drift = drift.clone() * h.clone();
            increments.q[0] = increments.q[0].plus(&drift, &inverse.product(&increments.p[0]));
            increments.q[1] =
                increments.q[1].plus(&drift, &inverse.product(&one.plus(&R::one(), &increments.p[1])));
        }
    }
    Ok(increments)
}

/// R(hL) − 1 for q' = M⁻¹p, p' = −Kq, R the stability polynomial. Both forms of `rk4` are the same here.
fn runge_kutta<R: Real>(mass: &Square<R>, stiffness: &Square<R>, h: &R) -> Result<Increments<R>> {
    let n = mass.size();
    let singular = |_| Error::SingularMatrix { what: "the mass matrix".to_owned() };
    let inverse = mass.solve(&Square::identity(n)).map_err(singular)?;
    let [a, b] = [inverse.times(h), stiffness.times(&-h.clone())];
    // (hL)² is block diagonal: −h²M⁻¹K and −h²KM⁻¹
    let [qq, pp] = [a.product(&b), b.product(&a)];
    let zero = || Square::zero(n);
    let mut increments = Increments { q: [zero(), zero()], p: [zero(), zero()] };
    let (mut even_q, mut even_p) = (Square::identity(n), Square::identity(n));
    for pair in stability_polynomial::<R>()[1..].chunks(2) {
        increments.q[1] = increments.q[1].plus(&pair[0], &even_q.product(&a));
        increments.p[0] = increments.p[0].plus(&pair[0], &even_p.product(&b));
        (even_q, even_p) = (even_q.product(&qq), even_p.product(&pp));
        if let Some(coefficient) = pair.get(1) {
            increments.q[0] = increments.q[0].plus(coefficient, &even_q);
            increments.p[1] = increments.p[1].plus(coefficient, &even_p);
        }
    }
    Ok(increments)
}
