//! Colours: from an index to a palette entry, from a value to a colour of a map.
//!
//! The palette is that of Okabe and Ito, which people with the common colour
//! deficiencies can tell apart; its yellow is darkened because the page is white.

/// Red, green, blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Colour(pub(crate) u8, pub(crate) u8, pub(crate) u8);

/// The page.
pub(crate) const PAPER: Colour = Colour(255, 255, 255);
/// Titles.
pub(crate) const INK: Colour = Colour(28, 30, 33);
/// Labels.
pub(crate) const LABEL: Colour = Colour(74, 78, 84);
/// What must not be overlooked.
pub(crate) const ALERT: Colour = Colour(186, 24, 36);
/// Axes and ticks.
pub(crate) const AXIS: Colour = Colour(138, 143, 150);
/// Grid lines.
pub(crate) const GRID: Colour = Colour(233, 235, 238);

const PALETTE: [Colour; 8] = [
    Colour(0, 104, 170),
    Colour(213, 94, 0),
    Colour(0, 148, 110),
    Colour(190, 95, 150),
    Colour(226, 154, 0),
    Colour(76, 170, 224),
    Colour(84, 84, 92),
    Colour(158, 142, 0),
];

/// The `i`-th colour for curves; repeats after eight.
pub(crate) fn palette(i: usize) -> Colour {
    PALETTE[i % PALETTE.len()]
}

/// Anchors of the diverging map, evenly from −1 to 1: blue, white, red, of equal lightness at equal distance.
const DIVERGING: [Colour; 9] = [
    Colour(8, 48, 107),
    Colour(33, 102, 172),
    Colour(67, 147, 195),
    Colour(158, 202, 225),
    Colour(247, 247, 247),
    Colour(253, 190, 155),
    Colour(224, 110, 80),
    Colour(186, 40, 52),
    Colour(103, 0, 31),
];

/// The colour of `value` in −1..1; values outside take the end colours.
pub(crate) fn diverging(value: f64) -> Colour {
    along(&DIVERGING, (value + 1.0) / 2.0)
}

/// Anchors of the sequential map, evenly from 0 to 1, lightness rising evenly: night, plum, fire, gold.
const SEQUENTIAL: [Colour; 8] = [
    Colour(22, 20, 64),
    Colour(66, 28, 110),
    Colour(116, 36, 122),
    Colour(168, 50, 110),
    Colour(212, 76, 82),
    Colour(239, 119, 56),
    Colour(250, 170, 48),
    Colour(248, 222, 96),
];

/// The colour of `value` in 0..1; values outside take the end colours.
pub(crate) fn sequential(value: f64) -> Colour {
    along(&SEQUENTIAL, value)
}

/// The colour between anchors at a place in 0..1.
fn along(anchors: &[Colour], place: f64) -> Colour {
    let last = anchors.len() - 1;
    let place = place.clamp(0.0, 1.0) * last as f64;
    let below = (place.floor() as usize).min(last - 1);
    anchors[below].mix(anchors[below + 1], place - below as f64)
}

impl Colour {
    /// From `self` (share 0) to `other` (share 1).
    pub(crate) fn mix(self, other: Self, share: f64) -> Self {
        let channel = |a: u8, b: u8| {
            (f64::from(a) + (f64::from(b) - f64::from(a)) * share.clamp(0.0, 1.0)).round() as u8
        };
        Self(channel(self.0, other.0), channel(self.1, other.1), channel(self.2, other.2))
    }
}

impl std::fmt::Display for Colour {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diverging_map_is_pale_in_the_middle_and_clamped_at_the_ends() {
        assert_eq!(diverging(0.0), Colour(247, 247, 247));
        assert_eq!(diverging(-1.0), diverging(-7.0));
        assert_eq!(diverging(1.0), Colour(103, 0, 31));
        assert_eq!(diverging(f64::NAN), diverging(f64::NAN));
    }

    #[test]
    fn mixing_reaches_both_ends() {
        assert_eq!(INK.mix(PAPER, 0.0), INK);
        assert_eq!(INK.mix(PAPER, 1.0).to_string(), "#ffffff");
    }
}
