//! Numbers as printed: their value and what their last digit stands for.

use crate::error::{Error, Result};
use crate::scalar::elementary;
use serde::{Deserialize, Serialize};

/// A number as printed, such as `7.61e-4`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Printed {
    text: String,
    /// Its value.
    pub value: f64,
    /// One unit of its last digit, as a power of ten.
    exponent: i32,
    /// Its digits without point and exponent.
    digits: i64,
}

impl Printed {
    /// Reads a number.
    pub fn new(text: &str) -> Result<Self> {
        let bad = || Error::BadStudy { message: format!("`{text}` is not a number as printed in a table") };
        let value: f64 = text.parse().map_err(|_| bad())?;
        let (mantissa, power) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let power: i32 = power.parse().map_err(|_| bad())?;
        let decimals = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len()) as i32;
        let digits = mantissa.replace('.', "").parse().map_err(|_| bad())?;
        Ok(Self { text: text.to_owned(), value, exponent: power - decimals, digits })
    }

    /// One unit of the last digit.
    pub fn unit(&self) -> f64 {
        elementary::powi(10.0, self.exponent)
    }

    /// Whether a number is the printed one to within a unit of the last digit.
    pub fn agrees(&self, x: f64) -> bool {
        // the difference of two decimals carries a rounding error
        (x - self.value).abs() <= self.unit() * (1.0 + 1e-9)
    }

    /// Whether a number rounds to the printed one.
    pub fn rounds_from(&self, x: f64) -> bool {
        (x - self.value).abs() <= self.unit() * (0.5 + 1e-9)
    }

    /// The decimals left if a number, cut after them, is the printed one, whose further digits are zeros.
    pub fn cut_from(&self, x: f64) -> Option<i32> {
        let mut digits = self.digits;
        let mut exponent = self.exponent;
        while digits != 0 && digits % 10 == 0 {
            digits /= 10;
            exponent += 1;
            let cut = (x / elementary::powi(10.0, exponent)).floor();
            if cut == digits as f64 {
                return Some(-exponent);
            }
        }
        None
    }
}

impl TryFrom<String> for Printed {
    type Error = Error;
    fn try_from(text: String) -> Result<Self> {
        Self::new(&text)
    }
}

impl From<Printed> for String {
    fn from(printed: Printed) -> Self {
        printed.text
    }
}

impl std::fmt::Display for Printed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(text: &str) -> Printed {
        Printed::new(text).expect(text)
    }

    #[test]
    fn agreement_is_to_a_unit_of_the_last_digit() {
        assert!(printed("7.61e-4").agrees(7.608_818e-4) && printed("7.61e-4").rounds_from(7.608_818e-4));
        assert!(printed("2.30e-2").agrees(2.309_586e-2) && !printed("2.30e-2").rounds_from(2.309_586e-2));
        assert!(printed("2.10e1").agrees(21.0474) && !printed("2.10e1").agrees(21.11));
        assert!(!printed("2.650e-1").agrees(2.6515e-1) && printed("1.02").agrees(1.024));
    }

    #[test]
    fn cut_numbers_are_recognised_by_their_zeros() {
        assert_eq!(printed("8.00e-4").cut_from(8.771_994e-4), Some(4));
        assert_eq!(printed("3.40e-3").cut_from(3.488_959e-3), Some(4));
        assert_eq!(printed("2.00e-4").cut_from(2.146e-4), Some(4));
        assert_eq!(printed("1.37e-2").cut_from(1.379e-2), None);
        assert_eq!(printed("8.00e-4").cut_from(6.1e-4), None);
        assert!(Printed::new("7,61").is_err() && Printed::new("").is_err());
    }
}
