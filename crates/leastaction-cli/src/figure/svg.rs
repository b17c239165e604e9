//! The SVG writer: from shapes in pixels to the text of an SVG file.
//!
//! Positions are written to a tenth of a pixel and lines with relative steps, which
//! keeps a dense picture small. Strings are escaped here and nowhere else.

use super::colour::{Colour, PAPER};
use super::{glyphs, text};
use std::fmt::Write as _;

/// Fonts that have the Greek letters and signs we use, the embedded one first.
const FONTS: &str = "DejaVu Sans, Verdana, Helvetica, Arial, sans-serif";

/// Which end of a text is at its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    /// The text starts there.
    Start,
    /// The text is centred there.
    Middle,
    /// The text ends there.
    End,
}

/// How a line is drawn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pen {
    /// Colour.
    pub(crate) colour: Colour,
    /// Width in pixels.
    pub(crate) width: f64,
    /// 0 to 1.
    pub(crate) opacity: f64,
    /// Broken instead of solid.
    pub(crate) dashed: bool,
}

impl Pen {
    /// A solid opaque pen.
    pub(crate) fn new(colour: Colour, width: f64) -> Self {
        Self { colour, width, opacity: 1.0, dashed: false }
    }
}

/// An SVG file under construction.
pub(crate) struct Svg {
    body: String,
    clips: usize,
    /// With a font, letters are drawn as outlines instead of written as text.
    outlines: Option<ttf_parser::Face<'static>>,
}

/// A number to a tenth, without superfluous zeros.
fn tenths(value: i64) -> String {
    let (sign, size) = (if value < 0 { "-" } else { "" }, value.unsigned_abs());
    match (size / 10, size % 10) {
        (whole, 0) => format!("{sign}{whole}"),
        (0, part) => format!("{sign}.{part}"),
        (whole, part) => format!("{sign}{whole}.{part}"),
    }
}

fn to_tenths(value: f64) -> i64 {
    (value.clamp(-1e6, 1e6) * 10.0).round() as i64
}

fn number(value: f64) -> String {
    tenths(to_tenths(value))
}

impl Svg {
    /// An empty page.
    pub(crate) fn new(width: f64, height: f64) -> Self {
        let mut body = String::new();
        let (w, h) = (number(width), number(height));
        let _ = writeln!(
            body,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
             font-family=\"{FONTS}\">\n<rect width=\"{w}\" height=\"{h}\" fill=\"{PAPER}\"/>"
        );
        Self { body, clips: 0, outlines: None }
    }

    /// The same page with letters drawn as outlines of a font.
    pub(crate) fn with_outlines(self, face: ttf_parser::Face<'static>) -> Self {
        Self { outlines: Some(face), ..self }
    }

    /// The finished file.
    pub(crate) fn finish(mut self) -> String {
        self.body.push_str("</svg>\n");
        self.body
    }

    /// A text on its baseline.
    pub(crate) fn text(&mut self, x: f64, y: f64, size: f64, colour: Colour, anchor: Anchor, words: &str) {
        let pieces = text::subscripts(words);
        if let Some(face) = &self.outlines {
            let (path, width) = glyphs::outline(face, &pieces);
            let scale = size / f64::from(face.units_per_em());
            let start = match anchor {
                Anchor::Start => x,
                Anchor::Middle => x - width * scale / 2.0,
                Anchor::End => x - width * scale,
            };
            let _ = writeln!(
                self.body,
                "<path transform=\"translate({start:.2} {y:.2}) scale({scale:.6} -{scale:.6})\" fill=\"{colour}\" \
                 d=\"{path}\"/>"
            );
            return;
        }
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let (x, y, size) = (number(x), number(y), number(size));
        let _ =
            write!(self.body, "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" fill=\"{colour}\"{anchor}>");
        for (piece, lowered) in pieces {
            let piece = text::escape(&piece);
            // the step down is undone by the piece that follows
            let _ = match lowered {
                true => write!(self.body, "<tspan dy=\"3\" font-size=\"78%\">{piece}</tspan>"),
                false if self.body.ends_with("</tspan>") => {
                    write!(self.body, "<tspan dy=\"-3\">{piece}</tspan>")
                }
                false => write!(self.body, "{piece}"),
            };
        }
        self.body.push_str("</text>\n");
    }

    /// A straight line; one-pixel lines along the axes should be given half-pixel positions.
    pub(crate) fn line(&mut self, from: [f64; 2], to: [f64; 2], pen: Pen) {
        self.polyline(&[vec![from, to]], pen);
    }

    /// Unbroken runs of points, as one path.
    pub(crate) fn polyline(&mut self, runs: &[Vec<[f64; 2]>], pen: Pen) {
        if runs.is_empty() {
            return;
        }
        self.body.push_str("<path d=\"");
        for run in runs {
            self.steps(run);
        }
        let Pen { colour, width, .. } = pen;
        let _ = write!(
            self.body,
            "\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width:.2}\" stroke-linejoin=\"round\" \
             stroke-linecap=\"round\""
        );
        if pen.dashed {
            self.body.push_str(" stroke-dasharray=\"5 4\"");
        }
        if pen.opacity < 1.0 {
            let _ = write!(self.body, " stroke-opacity=\"{:.2}\"", pen.opacity);
        }
        self.body.push_str("/>\n");
    }

    /// One move and relative steps, each measured from the rounded position before it.
    fn steps(&mut self, run: &[[f64; 2]]) {
        let mut before: Option<(i64, i64)> = None;
        for point in run {
            let here = (to_tenths(point[0]), to_tenths(point[1]));
            match before {
                None => {
                    let _ = write!(self.body, "M{} {}", tenths(here.0), tenths(here.1));
                }
                Some(old) if old == here => continue,
                Some(old) => {
                    let (dx, dy) = (here.0 - old.0, here.1 - old.1);
                    let gap = if dy < 0 { "" } else { " " };
                    let _ = write!(self.body, "l{}{gap}{}", tenths(dx), tenths(dy));
                }
            }
            before = Some(here);
        }
    }

    /// A filled polygon.
    pub(crate) fn polygon(&mut self, run: &[[f64; 2]], fill: Colour, opacity: f64) {
        if run.len() < 3 {
            return;
        }
        self.body.push_str("<path d=\"");
        self.steps(run);
        let _ = writeln!(self.body, "z\" fill=\"{fill}\" fill-opacity=\"{opacity:.2}\"/>");
    }

    /// Small dots as one path: strokes of no length with round ends.
    pub(crate) fn dots(&mut self, centres: &[[f64; 2]], pen: Pen) {
        if centres.is_empty() {
            return;
        }
        self.body.push_str("<path d=\"");
        for centre in centres {
            let _ = write!(self.body, "M{} {}h0", number(centre[0]), number(centre[1]));
        }
        let _ = write!(
            self.body,
            "\" fill=\"none\" stroke=\"{}\" stroke-width=\"{:.2}\" stroke-linecap=\"round\"",
            pen.colour, pen.width
        );
        if pen.opacity < 1.0 {
            let _ = write!(self.body, " stroke-opacity=\"{:.2}\"", pen.opacity);
        }
        self.body.push_str("/>\n");
    }

    /// Round markers of one look.
    pub(crate) fn circles(&mut self, centres: &[[f64; 2]], radius: f64, fill: Colour, pen: Pen) {
        if centres.is_empty() {
            return;
        }
        let (colour, width, opacity) = (pen.colour, pen.width, pen.opacity);
        let _ = writeln!(
            self.body,
            "<g fill=\"{fill}\" stroke=\"{colour}\" stroke-width=\"{width:.2}\" opacity=\"{opacity:.2}\">"
        );
        for centre in centres {
            let (x, y, r) = (number(centre[0]), number(centre[1]), number(radius));
            let _ = writeln!(self.body, "<circle cx=\"{x}\" cy=\"{y}\" r=\"{r}\"/>");
        }
        self.body.push_str("</g>\n");
    }

    /// Starts a group that shows only what is inside a rectangle.
    pub(crate) fn open_clip(&mut self, x: f64, y: f64, width: f64, height: f64) {
        let id = self.clips;
        self.clips += 1;
        let (x, y, w, h) = (number(x), number(y), number(width.max(0.0)), number(height.max(0.0)));
        let _ = writeln!(
            self.body,
            "<clipPath id=\"c{id}\"><rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\"/></clipPath>\n\
             <g clip-path=\"url(#c{id})\">"
        );
    }

    /// Ends the innermost group.
    pub(crate) fn close(&mut self) {
        self.body.push_str("</g>\n");
    }

    /// A grid of coloured cells over a rectangle; `levels[row][column]` indexes `colours`,
    /// rows from the top. One path per colour, neighbouring equal cells joined.
    pub(crate) fn cells(&mut self, at: [f64; 4], levels: &[Vec<Option<usize>>], colours: &[Colour]) {
        let (rows, columns) = (levels.len(), levels.first().map_or(0, Vec::len));
        if rows == 0 || columns == 0 {
            return;
        }
        let mut paths = vec![String::new(); colours.len()];
        for (r, row) in levels.iter().enumerate() {
            let mut c = 0;
            for group in row.chunk_by(|a, b| a == b) {
                if let Some(path) = group[0].and_then(|level| paths.get_mut(level)) {
                    let n = group.len();
                    let _ = write!(path, "M{c} {r}h{n}v1h-{n}z");
                }
                c += group.len();
            }
        }
        let (x, y) = (number(at[0]), number(at[1]));
        let (sx, sy) = (at[2] / columns as f64, at[3] / rows as f64);
        // crisp edges: neighbouring cells share an edge exactly, blending would show seams
        let _ = writeln!(
            self.body,
            "<g transform=\"translate({x} {y}) scale({sx:.6} {sy:.6})\" shape-rendering=\"crispEdges\">"
        );
        for (path, colour) in paths.iter().zip(colours).filter(|(path, _)| !path.is_empty()) {
            let _ = writeln!(self.body, "<path d=\"{path}\" fill=\"{colour}\"/>");
        }
        self.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(number(-0.04), "0");
        assert_eq!(number(0.5), ".5");
        assert_eq!(number(-12.34), "-12.3");
        assert_eq!(number(7.0), "7");
    }

    #[test]
    fn steps_do_not_accumulate_rounding() {
        let mut svg = Svg::new(10.0, 10.0);
        let run: Vec<[f64; 2]> = (0..=100).map(|i| [f64::from(i) * 0.04, 0.0]).collect();
        svg.polyline(&[run], Pen::new(Colour(0, 0, 0), 1.0));
        let path = svg.body.split("d=\"M0 0").nth(1).and_then(|s| s.split('"').next()).unwrap_or_default();
        let sum: f64 = path.split('l').filter_map(|s| s.split(' ').next()?.parse::<f64>().ok()).sum();
        assert!((sum - 4.0).abs() < 1e-9, "{path}");
    }

    #[test]
    fn equal_cells_are_joined() {
        let mut svg = Svg::new(10.0, 10.0);
        let levels = vec![vec![Some(0), Some(0), Some(1)], vec![None, Some(1), Some(1)]];
        svg.cells([0.0, 0.0, 9.0, 9.0], &levels, &[Colour(1, 1, 1), Colour(2, 2, 2)]);
        assert!(svg.body.contains("\"M0 0h2v1h-2z\"") && svg.body.contains("M2 0h1v1h-1zM1 1h2v1h-2z"));
    }
}
