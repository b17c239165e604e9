//! The systems that come with the program, one file each.
//!
//! An [`Entry`] is a row of [`ENTRIES`]; listings, tests and documentation follow from the row. The defaults of the
//! systems studied by Rojas-Quintero, Dubois and co-authors (papers 000 to 004, listed in the docs of `method`) are the ones
//! that reproduce their tables.

mod cart_pole;
mod charged_particle;
mod double_pendulum;
mod fput;
mod harmonic_oscillator;
mod henon_heiles;
mod kepler;
mod lagrange_top;
mod lagrange_top_cusps;
mod lagrange_top_reduced;
mod linear_double_pendulum;
mod n_pendulum;
mod outer_solar_system;
mod pendulum;
mod spherical_pendulum;

use super::{Quantity, System};
use crate::error::{Error, Result, nearest};
use std::collections::BTreeMap;

/// A whole number that shapes a system.
#[derive(Clone, Copy, Debug)]
pub struct SizeRange {
    /// Its name.
    pub name: &'static str,
    /// Its value if not given.
    pub default: usize,
    /// Its largest value.
    pub largest: usize,
}

/// A system of the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// The whole numbers that shape it.
    pub sizes: &'static [SizeRange],
    define: fn(&[usize]) -> Result<System>,
    /// It as a text file.
    text: &'static str,
}

const fn entry(
    name: &'static str,
    sizes: &'static [SizeRange],
    define: fn(&[usize]) -> Result<System>,
    text: &'static str,
) -> Entry {
    Entry { name, sizes, define, text }
}

/// All systems, from the simplest to the largest.
pub const ENTRIES: &[Entry] = &[
    entry(
        "harmonic-oscillator",
        &[],
        harmonic_oscillator::define,
        include_str!("text/harmonic-oscillator.toml"),
    ),
    entry("pendulum", &[], pendulum::define, include_str!("text/pendulum.toml")),
    entry(
        "linear-double-pendulum",
        &[],
        linear_double_pendulum::define,
        include_str!("text/linear-double-pendulum.toml"),
    ),
    entry("double-pendulum", &[], double_pendulum::define, include_str!("text/double-pendulum.toml")),
    entry(
        "n-pendulum",
        &[SizeRange { name: "n", default: 5, largest: 500 }],
        n_pendulum::define,
        include_str!("text/n-pendulum.toml"),
    ),
    entry("lagrange-top", &[], lagrange_top::define, include_str!("text/lagrange-top.toml")),
    entry(
        "lagrange-top-cusps",
        &[],
        lagrange_top_cusps::define,
        include_str!("text/lagrange-top-cusps.toml"),
    ),
    entry(
        "lagrange-top-reduced",
        &[],
        lagrange_top_reduced::define,
        include_str!("text/lagrange-top-reduced.toml"),
    ),
    entry(
        "spherical-pendulum",
        &[],
        spherical_pendulum::define,
        include_str!("text/spherical-pendulum.toml"),
    ),
    entry("kepler", &[], kepler::define, include_str!("text/kepler.toml")),
    entry("henon-heiles", &[], henon_heiles::define, include_str!("text/henon-heiles.toml")),
    entry(
        "fput",
        &[SizeRange { name: "n", default: 32, largest: 1_000_000 }],
        fput::define,
        include_str!("text/fput.toml"),
    ),
    entry(
        "outer-solar-system",
        &[],
        outer_solar_system::define,
        include_str!("text/outer-solar-system.toml"),
    ),
    entry("cart-pole", &[], cart_pole::define, include_str!("text/cart-pole.toml")),
    entry("charged-particle", &[], charged_particle::define, include_str!("text/charged-particle.toml")),
];

/// The text file of a system, which describes the same motion; for [`System::from_text`].
pub fn text(name: &str) -> Option<&'static str> {
    ENTRIES.iter().find(|entry| entry.name == name).map(|entry| entry.text)
}

/// The system with this name, in its default size.
pub fn system(name: &str) -> Result<System> {
    sized_system(name, &mut BTreeMap::new())
}

/// The system with this name; sizes are taken out of the parameters.
pub fn sized_system(name: &str, parameters: &mut BTreeMap<String, Quantity>) -> Result<System> {
    let Some(entry) = ENTRIES.iter().find(|entry| entry.name == name) else {
        let hint = nearest(name, ENTRIES.iter().map(|entry| entry.name));
        return Err(Error::UnknownSystem { name: name.to_owned(), hint });
    };
    let mut sizes = Vec::new();
    for size in entry.sizes {
        sizes.push(match parameters.remove(size.name) {
            None => size.default,
            Some(quantity) => whole_number(entry.name, size, &quantity)?,
        });
    }
    Ok(System { catalogued: true, definite: true, ..(entry.define)(&sizes)? })
}

fn whole_number(system: &str, size: &SizeRange, quantity: &Quantity) -> Result<usize> {
    // 1e4 is a whole number too
    let value = quantity.to_string().parse::<f64>().ok().filter(|x| x.fract() == 0.0);
    value.map(|x| x as usize).filter(|x| (1..=size.largest).contains(x)).ok_or_else(|| Error::BadParameter {
        system: system.to_owned(),
        name: size.name.to_owned(),
        expected: format!("a whole number from 1 to {}", size.largest),
        found: format!("`{quantity}`"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_builds_under_its_own_name_and_documents_its_parameters() {
        for entry in ENTRIES {
            let system = system(entry.name).expect(entry.name);
            assert_eq!(system.name, entry.name);
            assert!(!system.summary.is_empty());
            for p in &system.parameters {
                assert!(!p.meaning.is_empty(), "{}: {}", entry.name, p.name);
            }
            assert_eq!(system.sizes.len(), entry.sizes.len());
        }
    }

    #[test]
    fn sizes_are_checked() {
        for bad in ["0", "-3", "2.5", "many", "501"] {
            let mut parameters = BTreeMap::from([("n".to_owned(), Quantity::from(bad))]);
            let error = sized_system("n-pendulum", &mut parameters).expect_err(bad);
            assert!(error.to_string().contains("whole number from 1 to 500"), "{error}");
        }
    }
}
