//! M and K of a linear system, L = ½ vᵀMv − ½ qᵀKq, read off its second derivatives.
//!
//! What is needed of the graph is in [`Structure::nonlinearity`](super::Structure::nonlinearity). The entries stay a list, so that a
//! long chain costs what its springs do; [`Quadratic::mass`] and [`Quadratic::stiffness`] make full matrices of them.

use super::{Entry, Gradient, Hessian, Problem};
use crate::error::{Error, Result};
use crate::expr::Evaluator;
use crate::linear::{BandPencil, Ordering, Square};
use crate::scalar::Real;
use crate::scalar::elementary;

/// Second derivatives that differ by less, relative to their own size, are the same.
const SAME: f64 = 1e-13;
/// First derivatives along a line that are farther from linear, relative to the largest, are not linear.
const CURVED: f64 = 1e-6;
/// Derivatives are compared so far away,
const PLACES: [f64; 2] = [0.37, -0.81];
/// and so many powers of ten further away or closer: coordinates may be in any unit.
const FAR: [i32; 10] = [3, 6, 10, 15, 20, -3, -6, -10, -15, -20];

/// M and K as entries (row, column, value) of their lower triangles.
#[derive(Clone, Debug)]
pub struct Quadratic<R> {
    /// How many coordinates there are.
    pub n: usize,
    /// Entries of M.
    pub mass_entries: Vec<(usize, usize, R)>,
    /// Entries of K.
    pub stiffness_entries: Vec<(usize, usize, R)>,
}

impl<R: Real> Problem<R> {
    /// M and K, if the system is L = ½ vᵀMv − ½ qᵀKq with constant matrices; otherwise why it is not.
    pub fn quadratic(&self) -> Result<Quadratic<R>> {
        let quadratic = self.second_derivatives()?;
        let zeros = vec![R::zero(); quadratic.n];
        let mut gradient = Gradient::new(&self.system.model, &self.parameters);
        let (l_q, l_v) = gradient.at(&zeros, &zeros, &self.t0);
        let name = |i: usize| self.system.coordinates[i].name.as_str();
        let zero = |x: &R| x.magnitude() == 0.0;
        if let Some(i) = l_q.iter().position(|x| !zero(x)) {
            return Err(self.not_linear(&format!("`{}` feels a constant force", name(i))));
        }
        if let Some(i) = l_v.iter().position(|x| !zero(x)) {
            return Err(self.not_linear(&format!("`{}` has momentum at rest", name(i))));
        }
        Ok(quadratic)
    }

    /// M = L_vv and K = −L_qq of a system whose equations of motion are linear. Constant forces do not matter.
    pub fn second_derivatives(&self) -> Result<Quadratic<R>> {
        let model = &self.system.model;
        if let Some(reason) = model.structure.nonlinearity()
            && !(self.has_constant_derivatives() && self.is_uncoupled())
        {
            return Err(self.not_linear(reason));
        }
        let mut hessian = Hessian::new(model, &self.parameters);
        let d = hessian.at(&self.q0, &self.v0, &self.t0);
        let list = |entries: &[Entry], values: &[R], sign: f64| {
            let entry = |(e, x): (&Entry, &R)| (e.row, e.column, R::from_f64(sign) * x.clone());
            entries.iter().zip(values).map(entry).collect()
        };
        Ok(Quadratic {
            n: model.n,
            mass_entries: list(&model.l_vv, d.l_vv, 1.0),
            stiffness_entries: list(model.l_qq(), d.l_qq, -1.0),
        })
    }

    /// Whether the second derivatives of L are the same wherever one looks: the equations of motion are linear. The values of
    /// parameters can bring that about.
    pub fn has_constant_derivatives(&self) -> bool {
        let model = &self.system.model;
        if !model.structure.autonomous || self.is_curved() {
            return false;
        }
        let mut hessian = Hessian::new(model, &self.parameters);
        let mut at = |place: f64| {
            let [q, v] = self.moved(place);
            let d = hessian.at(&q, &v, &self.t0);
            [d.l_qq, d.l_qv, d.l_vv].concat()
        };
        let here = at(0.0);
        let same = |place: f64| {
            let pairs = here.iter().zip(at(place));
            // each entry has a unit of its own
            let close =
                |a: &R, b: R| (a.clone() - b.clone()).magnitude() <= SAME * (a.magnitude() + b.magnitude());
            // numbers that are too large far away say nothing
            pairs.into_iter().all(|(a, b)| !b.is_finite() && place.abs() > 1.0 || close(a, b))
        };
        let far = FAR.into_iter().flat_map(|power| PLACES.map(|x| x * elementary::powi(10.0, power)));
        here.iter().all(R::is_finite) && PLACES.into_iter().chain(far).all(same)
    }

    /// Whether first derivatives along a line show that the second ones change. It spares these where there are many.
    fn is_curved(&self) -> bool {
        let model = &self.system.model;
        let tapes = [model.force_tape(), model.momentum_tape()];
        let mut kernels = tapes.map(|tape| Evaluator::new(tape, &self.parameters));
        let mut at = |place: f64| {
            let [q, v] = self.moved(place);
            let mut out = vec![R::zero(); 2 * model.n];
            for (kernel, part) in kernels.iter_mut().zip(out.chunks_mut(model.n)) {
                kernel.evaluate(&q, &v, &self.t0, part);
            }
            out
        };
        let [here, near, far] = [at(0.0), at(PLACES[0]), at(PLACES[1])];
        let [a, b] = PLACES.map(R::from_f64);
        let size = [&here, &near, &far].into_iter().flatten().map(R::magnitude).fold(0.0, f64::max);
        // linear: (g(a) − g(0)) b = (g(b) − g(0)) a; what is no number is left to the second derivatives
        here.iter().zip(&near).zip(&far).any(|((here, near), far)| {
            let (near, far) = (near.clone() - here.clone(), far.clone() - here.clone());
            (near * b.clone() - far * a.clone()).magnitude() > CURVED * size
        })
    }

    /// The initial state moved in all coordinates and velocities, by about so much.
    fn moved(&self, place: f64) -> [Vec<R>; 2] {
        let step = |i: usize| R::from_f64(place * (1.0 + elementary::sin(0.7 * i as f64) / 2.0));
        [&self.q0, &self.v0].map(|x| x.iter().enumerate().map(|(i, x)| x.clone() + step(i)).collect())
    }

    /// Whether no force depends on velocities, at the initial state.
    fn is_uncoupled(&self) -> bool {
        let mut hessian = Hessian::new(&self.system.model, &self.parameters);
        hessian.at(&self.q0, &self.v0, &self.t0).l_qv.iter().all(|x| x.magnitude() == 0.0)
    }

    fn not_linear(&self, reason: &str) -> Error {
        Error::NotLinear { system: self.system.name.clone(), reason: reason.to_owned() }
    }
}

impl<R: Real> Quadratic<R> {
    /// M.
    pub fn mass(&self) -> Square<R> {
        full(self.n, &self.mass_entries)
    }

    /// K.
    pub fn stiffness(&self) -> Square<R> {
        full(self.n, &self.stiffness_entries)
    }

    /// M and K rounded to `f64`, as a band in an order of the coordinates.
    pub fn band(&self, ordering: &Ordering) -> BandPencil {
        let mut pencil = BandPencil::new(self.n, ordering.bandwidth);
        let position = &ordering.position;
        for (i, j, value) in &self.mass_entries {
            pencil.add_mass(position[*i], position[*j], value.to_f64());
        }
        for (i, j, value) in &self.stiffness_entries {
            pencil.add_stiffness(position[*i], position[*j], value.to_f64());
        }
        pencil
    }
}

fn full<R: Real>(n: usize, entries: &[(usize, usize, R)]) -> Square<R> {
    let mut matrix = Square::zero(n);
    for (i, j, value) in entries {
        matrix[(*i, *j)] = value.clone();
        matrix[(*j, *i)] = value.clone();
    }
    matrix
}
