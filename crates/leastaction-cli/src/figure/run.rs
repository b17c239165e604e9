//! The picture of a run: from its recorded numbers to a figure of up to five blocks:
//! the motion in space (or what stands for it), the coordinates over time, the outputs over time,
//! the phase portraits, and the error of the energy. A block is one panel or a few small ones.

use super::colour::LABEL;
use super::curves::{COORDINATES, OUTPUTS, curves_block};
use super::motion::motion_panel;
use super::phase::phase_block;
use super::{
    Axis, Colours, Figure, HeatMap, Mark, Panel, Place, RunPicture, Scale, Series, Shape, palette, text,
    with_unit,
};

/// Curves that can be told apart in one panel.
pub(super) const MOST_CURVES: usize = 8;
/// Pixels of a row of blocks.
const ROW: f64 = 380.0;
/// Errors below this are rounding of zero; the axis of the error ends here.
const ERROR_FLOOR: f64 = 1e-17;
/// Pieces of time in each of which the largest error is looked up.
const WINDOWS: usize = 100;

/// Composes the figure of a run.
pub(crate) fn picture_of_run(picture: &RunPicture) -> Figure {
    let mut blocks: Vec<Vec<Panel>> = Vec::new();
    blocks.extend(space_panel(picture).map(|panel| vec![panel]));
    // a page needs at least one panel, even if there is nothing to show
    if !picture.coordinates.is_empty() || blocks.is_empty() {
        blocks.push(curves_block(picture, &picture.coordinates, &COORDINATES));
    }
    if !picture.outputs.is_empty() {
        blocks.push(curves_block(picture, &picture.outputs, &OUTPUTS));
    }
    let phases = phase_block(picture);
    if !phases.is_empty() {
        blocks.push(phases);
    }
    if !picture.energy_error.is_empty() {
        blocks.push(vec![energy_panel(picture)]);
    }
    let (title, subtitle) = (picture.title.clone(), picture.subtitle.clone());
    let alert = picture.alert.clone();
    let height = 180.0 + row_heights(&blocks).iter().sum::<f64>();
    Figure { title, alert, subtitle, width: 1200.0, height, panels: placed(blocks) }
}

/// The row in which a block stands; of an odd number the first takes a row of its own.
fn row_of(block: usize, count: usize) -> usize {
    if count % 2 == 1 { block.div_ceil(2) } else { block / 2 }
}

/// Pixels of each row: more where many panels stand above each other.
fn row_heights(blocks: &[Vec<Panel>]) -> Vec<f64> {
    let mut heights = vec![ROW; blocks.len().div_ceil(2)];
    for (i, block) in blocks.iter().enumerate() {
        let stacked = block.iter().filter(|panel| panel.place.width == 1.0).count();
        let height = &mut heights[row_of(i, blocks.len())];
        *height = height.max(ROW / 3.0 * stacked as f64);
    }
    heights
}

/// Blocks from left to right and top to bottom; of three the first takes the whole width.
fn placed(blocks: Vec<Vec<Panel>>) -> Vec<Panel> {
    let count = blocks.len();
    let wide = count % 2 == 1;
    let heights = row_heights(&blocks);
    let total: f64 = heights.iter().sum();
    let mut panels = Vec::new();
    for (i, block) in blocks.into_iter().enumerate() {
        let row = row_of(i, count);
        let (y, height) = (heights[..row].iter().sum::<f64>() / total, heights[row] / total);
        let cell = if wide && i == 0 {
            Place { x: 0.0, y, width: 1.0, height }
        } else {
            let slot = if wide { i + 1 } else { i };
            Place { x: 0.5 * (slot % 2) as f64, y, width: 0.5, height }
        };
        for mut panel in block {
            let inner = panel.place;
            panel.place = Place {
                x: cell.x + inner.x * cell.width,
                y: cell.y + inner.y * cell.height,
                width: inner.width * cell.width,
                height: inner.height * cell.height,
            };
            panels.push(panel);
        }
    }
    panels
}

/// Bodies in space; without them the plane of two coordinates, or many coordinates as colours.
fn space_panel(picture: &RunPicture) -> Option<Panel> {
    if let Some(motion) = &picture.motion {
        return Some(motion_panel(motion));
    }
    match picture.coordinates.as_slice() {
        [first, second] => Some(plane_panel(first, second)),
        many if many.len() > MOST_CURVES => Some(space_time_panel(picture)),
        _ => None,
    }
}

fn plane_panel(first: &Series, second: &Series) -> Panel {
    let points = first.values.iter().zip(&second.values).map(|(&x, &y)| [x, y]).collect();
    let axis = |s: &Series| Axis::linear(with_unit(&s.name, &s.unit));
    let mut panel = Panel::new("Configuration", axis(first), axis(second));
    let (a, b) = (extent(&first.values), extent(&second.values));
    let ratio = (a.1 - a.0) / (b.1 - b.0);
    panel.equal_aspect = first.unit == second.unit && (0.05..20.0).contains(&ratio);
    let shape = Shape::Line { points, width: 1.3, dashed: false, fade: true };
    panel.marks.push(Mark::new(palette(0), shape));
    panel
}

/// Every coordinate over time as a row of colours.
fn space_time_panel(picture: &RunPicture) -> Panel {
    let coordinates = &picture.coordinates;
    let recorded = coordinates.iter().map(|s| s.values.len()).min().unwrap_or(0).min(picture.time.len());
    // more cells than pixels would only cost memory
    let (columns, rows) = (recorded.min(600), coordinates.len().min(400));
    let mut values = Vec::with_capacity(columns * rows);
    for r in 0..rows {
        let series = &coordinates[(2 * r + 1) * coordinates.len() / (2 * rows)];
        values.extend((0..columns).map(|c| series.values[(2 * c + 1) * recorded / (2 * columns)]));
    }
    let first = coordinates.first().map_or("", |s| s.unit.as_str());
    let label = with_unit("q", if coordinates.iter().all(|s| s.unit == first) { first } else { "" });
    let y = (0.5, coordinates.len() as f64 + 0.5);
    let map = HeatMap {
        x: extent(&picture.time),
        y,
        columns: columns.max(1),
        values,
        label,
        colours: Colours::Diverging,
        scale: Scale::Linear,
        most: (420, 220),
    };
    let y_axis = Axis::linear("index of the coordinate");
    let mut panel = Panel::new("All coordinates", Axis::linear(picture.time_label.clone()), y_axis);
    panel.marks.push(Mark::new(palette(0), Shape::Heat(map)));
    panel
}

/// The colour of a coordinate, the same in all panels.
pub(super) fn colour_of(coordinate: &usize, chosen: &[usize]) -> super::Colour {
    palette(chosen.iter().position(|c| c == coordinate).unwrap_or(0))
}

/// The coordinates that are drawn as curves, evenly among all.
pub(super) fn chosen_curves(total: usize) -> Vec<usize> {
    selection(total, MOST_CURVES)
}

/// At most `most` of the numbers below `total`, evenly, with the first and the last.
pub(super) fn selection(total: usize, most: usize) -> Vec<usize> {
    super::thin::evenly((0..total).collect(), most)
}

pub(super) fn over_time(time: &[f64], values: &[f64]) -> Vec<[f64; 2]> {
    time.iter().zip(values).map(|(&t, &v)| [t, v]).collect()
}

/// Least and largest finite value; NaN if there is none.
pub(super) fn extent(values: &[f64]) -> (f64, f64) {
    values.iter().filter(|v| v.is_finite()).fold((f64::NAN, f64::NAN), |(a, b), &v| (a.min(v), b.max(v)))
}

/// The size of the energy error on a logarithmic axis.
fn energy_panel(picture: &RunPicture) -> Panel {
    let sizes: Vec<f64> = picture.energy_error.iter().map(|e| e.abs()).collect();
    let range = error_range(&sizes);
    let clipped: Vec<f64> = sizes.iter().map(|e| if e.is_nan() { *e } else { e.max(range.0) }).collect();
    let mut points = over_time(&picture.time, &clipped);
    // the error of the first point is zero by definition and would draw a line up from the floor
    if points.len() > 1 && sizes.first() == Some(&0.0) {
        points.remove(0);
    }
    let mut x = Axis::linear(picture.time_label.clone());
    x.range = Some(extent(&picture.time));
    let mut y = Axis::log(format!("|{}|", picture.energy_label));
    y.range = Some(range);
    let mut panel = Panel::new("Energy", x, y);
    let round_off = Shape::Level { y: f64::EPSILON, text: "round-off 2.2·10⁻¹⁶".into() };
    let colour = palette(0);
    if peaks(&points) > 2 * WINDOWS {
        let envelope = envelope(&points, points.len().div_ceil(WINDOWS));
        panel.marks.push(Mark::line(colour, 0.8, points).faint(0.3));
        panel.marks.push(Mark::line(colour, 1.8, envelope).named("upper envelope"));
    } else {
        panel.marks.push(Mark::line(colour, 1.5, points));
    }
    panel.marks.push(Mark::new(LABEL, round_off));
    // a bound only if every error is a number
    if sizes.iter().all(|e| e.is_finite()) {
        let recorded = sizes.iter().copied().fold(0.0, f64::max);
        let worst = picture.energy_largest.unwrap_or(recorded);
        panel.title = format!("Energy, error at most {}", text::short(worst));
    }
    panel
}

/// How often a curve rises and then falls.
fn peaks(points: &[[f64; 2]]) -> usize {
    points.windows(3).filter(|w| w[0][1] < w[1][1] && w[1][1] > w[2][1]).count()
}

/// Whole decades around the largest errors of all pieces of time: dips at changes of sign
/// leave the axis, and so does the growth from zero in the first few steps.
pub(crate) fn error_range(sizes: &[f64]) -> (f64, f64) {
    let pieces = sizes.chunks(sizes.len().div_ceil(WINDOWS).max(1));
    let mut sorted: Vec<f64> = pieces
        .map(|piece| piece.iter().copied().filter(|e| e.is_finite()).fold(0.0, f64::max))
        .filter(|e| *e > ERROR_FLOOR)
        .collect();
    sorted.sort_by(f64::total_cmp);
    let (Some(&least), Some(&most)) = (sorted.get(sorted.len() / 25), sorted.last()) else {
        return (ERROR_FLOOR, 1e-14);
    };
    let top = most.log10().ceil().min(300.0);
    let bottom = least.log10().floor().clamp(-17.0, (top - 2.0).max(-17.0));
    let top = if bottom < -16.0 { top.max(-14.0) } else { top.max(bottom + 2.0) };
    (10f64.powf(bottom), 10f64.powf(top))
}

/// The largest value in each window, drawn as steps at the times where it occurs.
fn envelope(points: &[[f64; 2]], window: usize) -> Vec<[f64; 2]> {
    let largest = |group: &[[f64; 2]]| {
        group.iter().copied().filter(|p| p[1].is_finite()).max_by(|a, b| a[1].total_cmp(&b[1]))
    };
    points.chunks(window.max(1)).map(|group| largest(group).unwrap_or([f64::NAN; 2])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_axis_is_sane_at_round_off_and_without_errors() {
        assert_eq!(error_range(&[]), (1e-17, 1e-14));
        assert_eq!(error_range(&[0.0; 5]), (1e-17, 1e-14));
        let (low, high) = error_range(&[0.0, 1.1e-16, 2.2e-16, 4.4e-16]);
        assert!(low <= 1e-16 && low > 0.9e-17 && (1e-15..1.1e-13).contains(&high), "{low} {high}");
        let (low, high) = error_range(&[1.5e-17, 2e-17, 3e-17]);
        assert!(low == 1e-17 && high > 9e-15, "{low} {high}");
        let (low, high) = error_range(&[1e-20, 3e-7, 5e-6, 2e-5, 2e-6]);
        assert!((low / 1e-7 - 1.0).abs() < 1e-9 && (high / 1e-4 - 1.0).abs() < 1e-9, "{low} {high}");
    }

    #[test]
    fn the_title_claims_a_bound_only_if_every_error_is_a_number() {
        let title = |errors: Vec<f64>| {
            energy_panel(&RunPicture { time: vec![0.0, 1.0], energy_error: errors, ..RunPicture::default() })
                .title
        };
        assert_eq!(title(vec![0.0, -2e-9]), "Energy, error at most 2×10⁻⁹");
        assert_eq!(title(vec![1e-9, f64::NAN]), "Energy");
    }

    #[test]
    fn selections_are_even_and_keep_the_ends() {
        assert_eq!(selection(3, 8), [0, 1, 2]);
        assert_eq!(selection(1000, 4), [0, 333, 666, 999]);
        assert!(selection(0, 8).is_empty());
    }
}
