//! From plain numbers to a picture: SVG, and a PNG of the same SVG.
//!
//! ```text
//! RunPicture ─ run, motion, phase ─► Figure ─ layout, panel, marks ─► SVG ─ glyphs, png ─► PNG
//! ```
//!
//! A [`Figure`] is data: panels with two axes and marks on them, in the units of the
//! data. Everything about pixels (margins, ticks, thinning, text widths) happens in
//! [`to_svg`]. Nothing here computes mechanics, and nothing reads a clock, a system font
//! or an environment variable, so equal data give equal bytes.

mod colour;
mod curves;
mod glyphs;
mod heat;
mod layout;
mod marks;
mod motion;
mod panel;
mod phase;
mod png;
mod project;
mod run;
mod scale;
mod svg;
#[cfg(test)]
mod tests;
mod text;
mod thin;

pub(crate) use colour::{AXIS, Colour, LABEL, PAPER, palette};
pub(crate) use motion::motion_panel;
pub(crate) use panel::to_svg;
pub(crate) use png::to_png;
pub(crate) use run::{error_range, picture_of_run};
pub(crate) use scale::Scale;

/// Everything a picture of one run needs, as plain numbers.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunPicture {
    /// What moves: "Double pendulum".
    pub(crate) title: String,
    /// That it did not come to its end, and when: "failed at t = 3.2 s"; empty if it did.
    pub(crate) alert: String,
    /// How it was computed: "simpson, h = 0.01 s, 1000 steps, order 4".
    pub(crate) subtitle: String,
    /// Label of every time axis: "t \[s\]".
    pub(crate) time_label: String,
    /// Recorded times.
    pub(crate) time: Vec<f64>,
    /// q_i at the recorded times.
    pub(crate) coordinates: Vec<Series>,
    /// p_i at the recorded times, in the order of the coordinates.
    pub(crate) momenta: Vec<Series>,
    /// Further quantities at the recorded times.
    pub(crate) outputs: Vec<Series>,
    /// Signed relative error of the energy at the recorded times; empty if no energy is conserved.
    pub(crate) energy_error: Vec<f64>,
    /// The largest error of all steps, recorded or not, if it is known.
    pub(crate) energy_largest: Option<f64>,
    /// What that error is called: "relative energy error".
    pub(crate) energy_label: String,
    /// How bodies move in space, for systems that have bodies.
    pub(crate) motion: Option<Motion>,
}

/// A named quantity over the recorded times.
#[derive(Debug, Clone, Default)]
pub(crate) struct Series {
    /// Symbol or word: "θ₁".
    pub(crate) name: String,
    /// Unit, empty for a pure number.
    pub(crate) unit: String,
    /// One value per recorded time.
    pub(crate) values: Vec<f64>,
}

/// How bodies move in space.
#[derive(Debug, Clone, Default)]
pub(crate) struct Motion {
    /// 2: (x, y) is drawn with y upward. 3: seen from an oblique direction with z upward.
    pub(crate) dimension: usize,
    /// One path per body.
    pub(crate) paths: Vec<Path>,
    /// Rods, from the origin (`None`) or from a body, to a body.
    pub(crate) links: Vec<(Option<usize>, usize)>,
    /// Radius of the sphere about the origin that a 3-d motion stays on.
    pub(crate) sphere: Option<f64>,
    /// Unit of length, empty for a pure number.
    pub(crate) unit: String,
}

/// Where one body was, evenly in time; it may be finer than the recorded times.
#[derive(Debug, Clone, Default)]
pub(crate) struct Path {
    /// Name in the legend.
    pub(crate) name: String,
    /// Positions; the third number is ignored in two dimensions.
    pub(crate) points: Vec<[f64; 3]>,
}

/// A page of panels under one title.
#[derive(Debug, Clone)]
pub(crate) struct Figure {
    /// Large, top left.
    pub(crate) title: String,
    /// In red under the title: that something failed or is not finished; may be empty.
    pub(crate) alert: String,
    /// Small, under the title.
    pub(crate) subtitle: String,
    /// Width of the page in pixels.
    pub(crate) width: f64,
    /// Height of the page in pixels.
    pub(crate) height: f64,
    /// The panels, each with its own place.
    pub(crate) panels: Vec<Panel>,
}

/// A rectangle in fractions (0 to 1) of the page below the header, y downward.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Place {
    /// Left edge.
    pub(crate) x: f64,
    /// Top edge.
    pub(crate) y: f64,
    /// Width.
    pub(crate) width: f64,
    /// Height.
    pub(crate) height: f64,
}

/// One pair of axes with marks.
#[derive(Debug, Clone)]
pub(crate) struct Panel {
    /// Where on the page.
    pub(crate) place: Place,
    /// Left-aligned above the panel; may be empty.
    pub(crate) title: String,
    /// Horizontal axis.
    pub(crate) x: Axis,
    /// Vertical axis.
    pub(crate) y: Axis,
    /// One data unit is equally long on both axes (linear axes only).
    pub(crate) equal_aspect: bool,
    /// Axes with ticks, or nothing around the marks.
    pub(crate) frame: Frame,
    /// Where the names of the marks are listed.
    pub(crate) legend: Legend,
    /// Drawn in this order.
    pub(crate) marks: Vec<Mark>,
}

/// What surrounds the marks of a panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Frame {
    /// Axes, ticks, grid and labels.
    Axes,
    /// Nothing; for projections, where the axes of the page mean nothing.
    Bare,
}

/// Where a legend goes; never over the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Legend {
    /// In lines above the plot.
    Above,
    /// In a column at its right.
    Right,
}

/// One axis: what it shows and how.
#[derive(Debug, Clone)]
pub(crate) struct Axis {
    /// Quantity and unit: "θ \[rad\]".
    pub(crate) label: String,
    /// Linear or logarithmic.
    pub(crate) scale: Scale,
    /// Ends of the axis; `None` fits the data with a margin.
    pub(crate) range: Option<(f64, f64)>,
    /// Numbers at the ticks; without them the panel below is expected to have the same axis.
    pub(crate) tick_labels: bool,
}

/// Something drawn in the coordinates of a panel.
#[derive(Debug, Clone)]
pub(crate) struct Mark {
    /// Entry in the legend; empty for none.
    pub(crate) name: String,
    /// Colour of the ink (a heat map has its own).
    pub(crate) colour: Colour,
    /// 0 invisible to 1 opaque.
    pub(crate) opacity: f64,
    /// What is drawn.
    pub(crate) shape: Shape,
}

/// The kinds of marks. A point that is not finite is skipped and breaks a line.
#[derive(Debug, Clone)]
pub(crate) enum Shape {
    /// A polygonal line through points.
    Line {
        /// Points (x, y).
        points: Vec<[f64; 2]>,
        /// Stroke width in pixels.
        width: f64,
        /// Solid or broken stroke.
        dashed: bool,
        /// Early parts paler than late ones, to show the direction of time.
        fade: bool,
    },
    /// Round markers.
    Points {
        /// Points (x, y).
        points: Vec<[f64; 2]>,
        /// Radius in pixels.
        radius: f64,
        /// Discs, or rings with a white inside.
        filled: bool,
    },
    /// Many small dots.
    Dots {
        /// Points (x, y).
        points: Vec<[f64; 2]>,
        /// Diameter in pixels.
        size: f64,
    },
    /// A filled polygon.
    Area {
        /// Corners (x, y).
        points: Vec<[f64; 2]>,
    },
    /// A value on a grid, as colours, with a colour bar.
    Heat(HeatMap),
    /// A straight line across the panel at one value of y, with a word at its end.
    Level {
        /// Where on the vertical axis.
        y: f64,
        /// Written above its right end.
        text: String,
    },
    /// The right triangle with slope `order` in a doubly logarithmic panel.
    Slope {
        /// Lower left corner of the triangle.
        from: [f64; 2],
        /// Ratio of the abscissae of its two ends.
        ratio: f64,
        /// Slope, also written beside the triangle.
        order: f64,
    },
    /// A word at a point.
    Text {
        /// Where.
        at: [f64; 2],
        /// What.
        text: String,
    },
}

/// Values on a grid that covers the ranges `x` and `y` evenly.
#[derive(Debug, Clone)]
pub(crate) struct HeatMap {
    /// Ends of the grid on the horizontal axis.
    pub(crate) x: (f64, f64),
    /// Ends of the grid on the vertical axis.
    pub(crate) y: (f64, f64),
    /// Number of cells along x.
    pub(crate) columns: usize,
    /// Row by row from the smallest y; its length is a multiple of `columns`.
    pub(crate) values: Vec<f64>,
    /// Label of the colour bar.
    pub(crate) label: String,
    /// Which colours.
    pub(crate) colours: Colours,
    /// How values are laid along the colours.
    pub(crate) scale: Scale,
    /// The most cells along x and y; where there are more, some are left out.
    pub(crate) most: (usize, usize),
}

/// The colours of a heat map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colours {
    /// Two colours from a pale middle, which is zero if values have both signs.
    Diverging,
    /// From dark to light, from the least value to the largest.
    Sequential,
}

impl Panel {
    /// An empty panel with axes at a place.
    pub(crate) fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        let place = Place { x: 0.0, y: 0.0, width: 1.0, height: 1.0 };
        let (frame, legend) = (Frame::Axes, Legend::Above);
        Self { place, title: title.into(), x, y, equal_aspect: false, frame, legend, marks: Vec::new() }
    }
}

impl Axis {
    /// A linear axis that fits its data.
    pub(crate) fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), scale: Scale::Linear, range: None, tick_labels: true }
    }

    /// A logarithmic axis that fits its data.
    pub(crate) fn log(label: impl Into<String>) -> Self {
        Self { label: label.into(), scale: Scale::Log, range: None, tick_labels: true }
    }
}

impl Mark {
    /// A mark without a name, opaque.
    pub(crate) fn new(colour: Colour, shape: Shape) -> Self {
        Self { name: String::new(), colour, opacity: 1.0, shape }
    }

    /// A solid line.
    pub(crate) fn line(colour: Colour, width: f64, points: Vec<[f64; 2]>) -> Self {
        Self::new(colour, Shape::Line { points, width, dashed: false, fade: false })
    }

    /// The same mark with an entry in the legend.
    pub(crate) fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The same mark, more transparent.
    pub(crate) fn faint(mut self, opacity: f64) -> Self {
        self.opacity = opacity;
        self
    }
}

impl Shape {
    /// Number of points it is made of.
    fn size(&self) -> usize {
        match self {
            Self::Line { points, .. } | Self::Area { points } => points.len(),
            // a marker takes as many bytes as five points of a line
            Self::Points { points, .. } => 5 * points.len(),
            Self::Dots { points, .. } => 2 * points.len(),
            _ => 0,
        }
    }
}

/// "name \[unit\]", or the name alone for a pure number.
pub(crate) fn with_unit(name: &str, unit: &str) -> String {
    if unit.is_empty() { name.to_owned() } else { format!("{name} [{unit}]") }
}
