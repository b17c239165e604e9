//! Letters as outlines: from words to a path in units of the embedded font.
//!
//! A PNG has to look the same on every machine, so its letters are drawn from DejaVu
//! Sans, which has the Greek letters and signs we use. Reading outlines takes a small
//! parser; a text layout engine would triple the time to build the command.

use std::fmt::Write as _;
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// Size and drop of a subscript relative to the font size.
const SUBSCRIPT: (f32, f32) = (0.78, 0.24);

/// The embedded font. Only this face is referenced and thereby linked (757 kB).
pub(crate) fn font() -> Result<Face<'static>, String> {
    Face::parse(dejavu::sans::regular(), 0).map_err(|e| format!("the embedded font cannot be read: {e}"))
}

/// Path data of a line of words from (0, 0) with y upward, and its width, in font units.
pub(crate) fn outline(face: &Face<'_>, pieces: &[(String, bool)]) -> (String, f64) {
    let em = f32::from(face.units_per_em());
    let mut pen = Pen { path: String::new(), scale: 1.0, x: 0.0, y: 0.0 };
    for (words, lowered) in pieces {
        (pen.scale, pen.y) = if *lowered { (SUBSCRIPT.0, -SUBSCRIPT.1 * em) } else { (1.0, 0.0) };
        for c in words.chars().filter(|c| !c.is_control()) {
            // glyph 0 is the box for a character that the font does not have
            let glyph = face.glyph_index(c).unwrap_or(GlyphId(0));
            face.outline_glyph(glyph, &mut pen);
            pen.x += pen.scale * f32::from(face.glyph_hor_advance(glyph).unwrap_or(0));
        }
    }
    (pen.path, f64::from(pen.x))
}

/// Writes the segments of a glyph, scaled and moved to where it stands.
struct Pen {
    path: String,
    scale: f32,
    x: f32,
    y: f32,
}

impl Pen {
    fn segment(&mut self, command: char, points: &[(f32, f32)]) {
        self.path.push(command);
        for (x, y) in points {
            let _ = write!(self.path, "{:.0} {:.0} ", self.x + self.scale * x, self.y + self.scale * y);
        }
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.segment('M', &[(x, y)]);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.segment('L', &[(x, y)]);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.segment('Q', &[(x1, y1), (x, y)]);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.segment('C', &[(x1, y1), (x2, y2), (x, y)]);
    }

    fn close(&mut self) {
        self.path.push('Z');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::text;

    #[test]
    fn the_font_has_the_letters_and_signs_we_use() {
        let face = font().unwrap_or_else(|e| unreachable!("{e}"));
        for c in "aZ09 θφψωαβγλμπεΔΩ·×−±²³⁻⁰¹⁹₀₁₂₉…–°√∂≤→|[]".chars()
        {
            assert!(face.glyph_index(c).is_some(), "{c}");
        }
    }

    #[test]
    fn the_widths_used_for_layout_are_those_of_the_font() {
        let face = font().unwrap_or_else(|e| unreachable!("{e}"));
        let em = f64::from(face.units_per_em());
        for words in ["relative energy error", "Double pendulum, h = 0.01", "10⁻¹² ×10⁵", "θ φ ψ ω [kg·m²/s]"]
        {
            let (_, exact) = outline(&face, &[(words.to_owned(), false)]);
            assert!((text::width(words, em) / exact - 1.0).abs() < 0.02, "{words}");
        }
    }
}
