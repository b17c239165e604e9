//! Methods as data.
//!
//! A Galerkin method is a polynomial degree and a quadrature rule; [`Tableau`] turns the pair into numbers. The registry is
//! [`Method::named`] and [`Method::all`]: tests, listings and documentation run over it, so a new method is a new row.
//! [`Modal`] is what a method does to one oscillation, and [`Method::stable_windows`] for which steps that stays bounded.
//!
//! The low orders are those of five papers, cited in this crate by number:
//! - 000: Rojas-Quintero, Dubois & Jourdan, *Simpson variational integrator for nonlinear systems: a tutorial on the Lagrange
//!   top* (2025)
//! - 001: Rojas-Quintero, Dubois & Cabrera-Díaz, *Simpson's variational integrator for systems with quadratic Lagrangians*,
//!   Axioms 13, 255 (2024)
//! - 002: Dubois & Rojas-Quintero, *Simpson's quadrature for a nonlinear variational symplectic scheme*, FVCA 10, 83–92 (2023)
//! - 003: Dubois & Rojas-Quintero, *A variational symplectic scheme based on Simpson's quadrature*, LNCS 14072, 22–31 (2023)
//! - 004: Dubois & Rojas-Quintero, *A variational symplectic scheme based on Lobatto's quadrature*, LNCS 16034, 332–342 (2025)

mod modal;
mod quadrature;
mod splitting;
mod stability;
mod tableau;

pub use modal::Modal;
pub use quadrature::{Quadrature, gauss, lobatto};
pub use splitting::{Flows, Kind, Splitting};
pub use stability::{Window, stability_polynomial};
pub use tableau::{Partitioned, Tableau};

use crate::error::{Error, Result, nearest};
use crate::system::System;

/// A quadrature rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Gauss–Legendre: the highest degree of exactness.
    Gauss,
    /// Gauss–Lobatto: both ends of the step are points.
    Lobatto,
}

/// A Galerkin variational method: polynomials of a degree, the action integrated by a rule with so many points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Galerkin {
    /// Degree of the polynomial of a step.
    pub degree: usize,
    /// Quadrature rule.
    pub rule: Rule,
    /// Its number of points.
    pub points: usize,
}

/// The variables in which an explicit method works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Coordinates and momenta: Hamilton's equations.
    Momenta,
    /// Coordinates and velocities: Lagrange's equations.
    Velocities,
}

/// What a method does in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Derived from the discrete action.
    Galerkin(Galerkin),
    /// Kicks and drifts in turn, explicit.
    Splitting(Splitting),
    /// The classical explicit Runge–Kutta method of order 4, for comparison.
    RungeKutta4(Form),
}

/// A named method.
#[derive(Clone, Debug, PartialEq)]
pub struct Method {
    /// Its name.
    pub name: String,
    /// Its order, as declared; the tests measure it.
    pub order: usize,
    /// What it does.
    pub scheme: Scheme,
    /// Other names for the same method.
    pub aliases: Vec<String>,
    /// Where it comes from.
    pub reference: &'static str,
}

/// The highest order of the families.
pub const MAX_ORDER: usize = 40;
/// The families are listed up to this order.
const LISTED_ORDER: usize = 30;

/// The classical names and the member of a family each stands for.
const CLASSICAL: [(&str, &str); 4] =
    [("midpoint", "gauss2"), ("verlet", "lobatto2"), ("simpson", "lobatto4"), ("lobatto", "lobatto6")];

const FAMILIES: [(&str, Rule); 2] = [("lobatto", Rule::Lobatto), ("gauss", Rule::Gauss)];

/// The stages of `rk4`: k_i = f(y + c_i h k_{i−1}), y⁺ = y + h Σ b_i k_i. Each is (c_i, 6 b_i), which are exact.
pub const STAGES: [(f64, f64); 4] = [(0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0)];

/// The degree of the polynomial through coordinates, velocities and accelerations at both ends of a step.
pub(crate) const HERMITE_DEGREE: usize = 5;

const EXPLICIT: [(&str, Form); 2] = [("rk4", Form::Momenta), ("rk4-velocity", Form::Velocities)];

impl Method {
    /// The method with this name.
    pub fn named(name: &str) -> Result<Self> {
        if let Some((_, form)) = EXPLICIT.iter().find(|(known, _)| *known == name) {
            return Ok(Self {
                name: name.to_owned(),
                order: 4,
                scheme: Scheme::RungeKutta4(*form),
                aliases: Vec::new(),
                reference: "Kutta (1901); not variational, for comparison",
            });
        }
        if let Some(row) = splitting::ROWS.iter().find(|row| row.name == name) {
            return Ok(Self {
                name: name.to_owned(),
                order: row.splitting.order,
                scheme: Scheme::Splitting(row.splitting),
                aliases: Vec::new(),
                reference: row.reference,
            });
        }
        let classical = CLASSICAL.iter().find(|(known, _)| *known == name);
        let member = classical.map_or(name, |(_, member)| *member);
        family_member(member).map_or_else(
            || Err(unknown(name)),
            |(prefix, rule, order)| Ok(galerkin(name, prefix, rule, order)),
        )
    }

    /// The method with this name, if it fits a system.
    pub fn for_system(name: &str, system: &System) -> Result<Self> {
        let method = Self::named(name)?;
        method.fits(system)?;
        Ok(method)
    }

    /// All methods of the registry: the classical names, the families up to order 30, then the explicit ones.
    pub fn all() -> Vec<Self> {
        let family =
            |prefix: &'static str| (2..=LISTED_ORDER).step_by(2).map(move |n| format!("{prefix}{n}"));
        let names = CLASSICAL
            .iter()
            .map(|(name, _)| (*name).to_owned())
            .chain(family("lobatto"))
            .chain(family("gauss"))
            .filter(|name| !CLASSICAL.iter().any(|(_, member)| member == name))
            .chain(splitting::ROWS.iter().map(|row| row.name.to_owned()))
            .chain(EXPLICIT.iter().map(|(name, _)| (*name).to_owned()));
        names.filter_map(|name| Self::named(&name).ok()).collect()
    }

    /// Whether the method is derived from the action, and so conserves what the action does.
    pub fn is_variational(&self) -> bool {
        !matches!(self.scheme, Scheme::RungeKutta4(_))
    }

    /// Whether a step is computed without solving equations.
    pub fn is_explicit(&self) -> bool {
        !matches!(self.scheme, Scheme::Galerkin(_))
    }

    /// An error that names what in the Lagrangian prevents it, if the method cannot simulate a system.
    pub fn fits(&self, system: &System) -> Result<()> {
        let Scheme::Splitting(Splitting { order, .. }) = self.scheme else { return Ok(()) };
        match system.inseparable() {
            None => Ok(()),
            Some(reason) => Err(Error::DoesNotFit {
                method: self.name.clone(),
                system: system.name.clone(),
                reason,
                instead: format!("`lobatto{order}` or `gauss{order}`"),
            }),
        }
    }

    /// The polynomial degree of a step, if the step has a polynomial.
    pub fn degree(&self) -> Option<usize> {
        match self.scheme {
            Scheme::Galerkin(galerkin) => Some(galerkin.degree),
            Scheme::Splitting(_) => Some(HERMITE_DEGREE),
            Scheme::RungeKutta4(_) => None,
        }
    }

    /// Basis and quadrature in words.
    pub fn description(&self) -> String {
        match self.scheme {
            Scheme::Galerkin(Galerkin { degree, rule, points }) => {
                let plural = if points == 1 { "" } else { "s" };
                format!("polynomials of degree {degree}, {rule:?} quadrature with {points} point{plural}")
            }
            Scheme::Splitting(Splitting { stages, kind: Kind::Nystrom, .. }) => {
                format!("explicit, kicks and drifts with {stages} forces a step, for constant mass matrices")
            }
            Scheme::Splitting(Splitting { stages, kind: Kind::Composition, .. }) => {
                format!("explicit, {stages} steps of Verlet in one, for constant mass matrices")
            }
            Scheme::RungeKutta4(Form::Momenta) => "explicit, in coordinates and momenta".to_owned(),
            Scheme::RungeKutta4(Form::Velocities) => "explicit, in coordinates and velocities".to_owned(),
        }
    }
}

/// Splits `lobatto8` into rule and order.
fn family_member(name: &str) -> Option<(&'static str, Rule, usize)> {
    let (prefix, rule) = FAMILIES.iter().find(|(prefix, _)| name.starts_with(prefix))?;
    let digits = &name[prefix.len()..];
    let order: usize = digits.parse().ok()?;
    let canonical = order.to_string() == digits;
    (canonical && (2..=MAX_ORDER).contains(&order) && order.is_multiple_of(2))
        .then_some((*prefix, *rule, order))
}

fn galerkin(name: &str, prefix: &str, rule: Rule, order: usize) -> Method {
    let degree = order / 2;
    let points = match rule {
        Rule::Gauss => degree,
        Rule::Lobatto => degree + 1,
    };
    let member = format!("{prefix}{order}");
    let classical = CLASSICAL.iter().filter(|(_, m)| *m == member).map(|(known, _)| (*known).to_owned());
    let aliases = classical.chain([member.clone()]).filter(|alias| alias != name).collect();
    let reference = match (rule, order) {
        (Rule::Gauss, 2) => "Newmark (1959) with β = 1/4, γ = 1/2 when linear",
        (Rule::Lobatto, 2) => "Verlet (1967), Störmer (1907)",
        (Rule::Lobatto, 4) => "Dubois & Rojas-Quintero (2023); Rojas-Quintero, Dubois & Jourdan (2025)",
        (Rule::Lobatto, 6) => "Dubois & Rojas-Quintero (2025), there for one coordinate",
        (Rule::Lobatto, _) => "Lobatto IIIA–IIIB pair; Marsden & West (2001), Ober-Blöbaum & Saake (2015)",
        (Rule::Gauss, _) => "Gauss collocation; Marsden & West (2001), Leok & Shingel (2012)",
    };
    Method {
        name: name.to_owned(),
        order,
        scheme: Scheme::Galerkin(Galerkin { degree, rule, points }),
        aliases,
        reference,
    }
}

/// The error for a name that does not exist, with the near ones.
fn unknown(name: &str) -> Error {
    let family = FAMILIES.iter().find_map(|(prefix, _)| {
        let order: usize = name.strip_prefix(prefix)?.parse().ok()?;
        Some(if (2..=MAX_ORDER).contains(&order) && order % 2 == 1 {
            format!("; the order must be even: `{prefix}{}` or `{prefix}{}`", order - 1, order + 1)
        } else {
            format!("; the order must be even, from 2 to {MAX_ORDER}")
        })
    });
    let hint = family.unwrap_or_else(|| {
        let names: Vec<String> =
            Method::all().into_iter().flat_map(|m| [vec![m.name], m.aliases].concat()).collect();
        nearest(name, names.iter().map(String::as_str))
    });
    Error::UnknownMethod { name: name.to_owned(), hint }
}

#[cfg(test)]
#[allow(clippy::excessive_precision)] // digits as published
mod tests {
    use super::*;

    #[test]
    fn classical_names_are_members_of_families() {
        let simpson = Method::named("simpson").expect("known");
        assert_eq!(simpson.scheme, Method::named("lobatto4").expect("known").scheme);
        assert_eq!((simpson.order, simpson.aliases), (4, vec!["lobatto4".to_owned()]));
    }

    #[test]
    fn every_listed_method_is_found_by_its_names() {
        let all = Method::all();
        assert_eq!(all.len(), FAMILIES.len() * LISTED_ORDER / 2 + splitting::ROWS.len() + EXPLICIT.len());
        for method in all {
            for name in method.aliases.iter().chain([&method.name]) {
                assert_eq!(Method::named(name).expect(name).scheme, method.scheme);
            }
        }
    }

    #[test]
    fn wrong_names_get_near_ones() {
        for (name, part) in [
            ("simson", "`simpson`"),
            ("lobatto7", "`lobatto6` or `lobatto8`"),
            ("gauss0", "from 2 to 40"),
            ("gauss100", "from 2 to 40"),
            ("rk5", "`rk4`"),
        ] {
            let message = Method::named(name).expect_err(name).to_string();
            assert!(message.contains(part), "{message}");
        }
        assert!(Method::named("lobatto08").is_err());
    }

    #[test]
    fn tableau_identities_hold_at_every_order() {
        for method in Method::all() {
            let Scheme::Galerkin(galerkin) = method.scheme else { continue };
            let t = Tableau::<f64>::new(&galerkin);
            let s = t.degree as f64;
            let sum: f64 = t.b.iter().sum();
            assert!((sum - 1.0).abs() < 4e-16, "{}: Σb − 1 = {:e}", method.name, sum - 1.0);
            assert_eq!((t.c[0], t.c[t.degree]), (0.0, 1.0));
            for (i, d) in t.d.iter().enumerate() {
                let size: f64 = t.slope[i].iter().map(|x| x.abs()).sum();
                let partition: f64 = t.phi[i].iter().sum();
                let constant: f64 = t.slope[i].iter().sum();
                let identity: f64 = t.phi[i].iter().zip(&t.c).map(|(phi, c)| phi * c).sum();
                let unit: f64 = t.slope[i].iter().zip(&t.c).map(|(slope, c)| slope * c).sum();
                assert!((partition - 1.0).abs() < 1e-15 * s.max(4.0), "{}: Σφ", method.name);
                assert!((identity - d).abs() < 1e-15 * s.max(4.0), "{}: Σφc", method.name);
                assert!(constant.abs() < 4e-16 * size, "{}: Σφ' = {constant:e}", method.name);
                assert!((unit - 1.0).abs() < 4e-16 * size, "{}: Σφ'c", method.name);
            }
            // quadrature exactness in f64
            for k in 0..method.order {
                let integral: f64 = t.b.iter().zip(&t.d).map(|(b, d)| b * d.powi(k as i32)).sum();
                assert!((integral * (k as f64 + 1.0) - 1.0).abs() < 3e-15, "{} degree {k}", method.name);
            }
        }
    }

    #[test]
    fn nodes_and_weights_are_right_to_the_last_bit() {
        // 20 digits of the 10-point Gauss rule from Abramowitz & Stegun, Table 25.4, moved to [0, 1]
        let published = [
            (0.013_046_735_741_414_139_96, 0.033_335_672_154_344_068_80),
            (0.067_468_316_655_507_744_64, 0.074_725_674_575_290_296_58),
            (0.160_295_215_850_487_796_89, 0.109_543_181_257_991_022_00),
            (0.283_302_302_935_376_404_60, 0.134_633_359_654_998_177_55),
            (0.425_562_830_509_184_394_56, 0.147_762_112_357_376_435_09),
        ];
        let t = Tableau::<f64>::new(&Galerkin { degree: 10, rule: Rule::Gauss, points: 10 });
        for (i, (point, weight)) in published.into_iter().enumerate() {
            assert!((t.d[i] - point).abs() <= f64::EPSILON * point, "{} {point}", t.d[i]);
            assert!((t.b[i] - weight).abs() <= f64::EPSILON * weight, "{} {weight}", t.b[i]);
            assert_eq!(t.b[i], t.b[9 - i]);
        }
    }
}
