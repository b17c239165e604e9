//! Heat maps: from values on a grid to coloured cells and a colour bar.
//!
//! Diverging colours start from zero if the values have both signs and from the middle of
//! their range otherwise; sequential ones go from the least value to the largest. Cells are few enough for vector graphics, so the picture stays
//! one SVG without an embedded bitmap.

use super::colour::{AXIS, Colour, LABEL as LABEL_INK, diverging, sequential};
use super::layout::{COLOUR_BAR, LABEL, Layout, TICK};
use super::scale::{self, Scale, Transform};
use super::svg::{Anchor, Pen, Svg};
use super::{Colours, HeatMap, text};

/// Shades of the colour map.
const SHADES: usize = 65;
/// One of so many values at each end is an outlier.
const OUTLIERS: usize = 200;

/// Value of the palest colour and distance to the strongest.
fn centre_and_reach(map: &HeatMap) -> (f64, f64) {
    let finite = || map.values.iter().copied().filter(|v| v.is_finite()).map(|v| v.clamp(-1e300, 1e300));
    let low = finite().fold(f64::INFINITY, f64::min);
    let high = finite().fold(f64::NEG_INFINITY, f64::max);
    if low > high {
        (0.0, 1.0)
    } else if low < 0.0 && high > 0.0 {
        (0.0, high.max(-low))
    } else if high > low {
        (low / 2.0 + high / 2.0, (high - low) / 2.0)
    } else {
        (low, if low == 0.0 { 1.0 } else { low.abs() })
    }
}

/// The values of the first and the last colour.
fn range(map: &HeatMap) -> (f64, f64) {
    match map.colours {
        Colours::Diverging => {
            let (centre, reach) = centre_and_reach(map);
            (centre - reach, centre + reach)
        }
        Colours::Sequential => scale::range_of(without_outliers(map), map.scale, 0.0),
    }
}

/// The values without the least and the largest of them, which take the end colours: one alone must not use up the colours.
fn without_outliers(map: &HeatMap) -> impl Iterator<Item = f64> {
    let has_place = |value: &f64| value.is_finite() && (map.scale == Scale::Linear || *value > 0.0);
    let mut values: Vec<f64> = map.values.iter().copied().filter(has_place).collect();
    values.sort_unstable_by(f64::total_cmp);
    let beyond = values.len() / OUTLIERS;
    let kept = values.len() - 2 * beyond;
    values.into_iter().skip(beyond).take(kept)
}

fn shades(map: &HeatMap) -> Vec<Colour> {
    let shade = |share: f64| match map.colours {
        Colours::Diverging => diverging(2.0 * share - 1.0),
        Colours::Sequential => sequential(share),
    };
    (0..SHADES).map(|i| shade(i as f64 / (SHADES - 1) as f64)).collect()
}

/// Draws the cells.
pub(crate) fn draw(svg: &mut Svg, map: &HeatMap, layout: &Layout) {
    let columns = map.columns.max(1);
    let rows = map.values.len() / columns;
    // from values to shades
    let along = Transform::new(range(map), map.scale, 0.0, (SHADES - 1) as f64);
    let corners = (
        layout.map[0].pixel(map.x.0),
        layout.map[1].pixel(map.y.1),
        layout.map[0].pixel(map.x.1),
        layout.map[1].pixel(map.y.0),
    );
    let (Some(left), Some(top), Some(right), Some(bottom)) = corners else { return };
    let (shown_rows, shown_columns) = (rows.min(map.most.1), columns.min(map.most.0));
    let level = |r: usize, c: usize| {
        // the cell at the middle of the shown one; row 0 of the data is at the bottom
        let row = rows - 1 - (2 * r + 1) * rows / (2 * shown_rows);
        let column = (2 * c + 1) * columns / (2 * shown_columns);
        let value = map.values.get(row * columns + column)?;
        let shade = if value.is_finite() { along.pixel(*value)? } else { return None };
        Some(shade.clamp(0.0, (SHADES - 1) as f64).round() as usize)
    };
    let levels: Vec<Vec<Option<usize>>> =
        (0..shown_rows).map(|r| (0..shown_columns).map(|c| level(r, c)).collect()).collect();
    svg.cells([left, top, right - left, bottom - top], &levels, &shades(map));
}

/// Draws the colour bar at the right of the plot.
pub(crate) fn colour_bar(svg: &mut Svg, map: &HeatMap, layout: &Layout) {
    let plot = layout.plot;
    let (x, width) = (plot.right() + 16.0, 12.0);
    let levels: Vec<Vec<Option<usize>>> = (0..SHADES).rev().map(|level| vec![Some(level)]).collect();
    svg.cells([x, plot.y, width, plot.height], &levels, &shades(map));
    let range = range(map);
    let ticks = scale::ticks(range, map.scale, ((plot.height / 50.0) as usize).clamp(2, 6));
    let along = Transform::new(range, map.scale, plot.bottom(), plot.y);
    for y in ticks.minor.iter().filter_map(|value| along.pixel(*value)) {
        svg.line([x + width, y], [x + width + 2.5, y], Pen::new(AXIS, 1.0));
    }
    for (value, name) in ticks.major.iter().zip(&ticks.labels) {
        if let Some(y) = along.pixel(*value) {
            svg.line([x + width, y], [x + width + 4.0, y], Pen::new(AXIS, 1.0));
            let name = text::fit(name, TICK, COLOUR_BAR - width - 18.0);
            svg.text(x + width + 7.0, y + 4.3, TICK, LABEL_INK, Anchor::Start, &name);
        }
    }
    let label = format!("{}  {}", map.label, ticks.factor);
    let label = text::fit(label.trim(), LABEL, plot.width / 2.0);
    svg.text(layout.outer.right() - 10.0, plot.y - 12.0, LABEL, LABEL_INK, Anchor::End, &label);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(values: Vec<f64>) -> HeatMap {
        HeatMap {
            x: (0.0, 1.0),
            y: (0.0, 1.0),
            columns: 2,
            values,
            label: String::new(),
            colours: Colours::Diverging,
            scale: Scale::Linear,
            most: (420, 220),
        }
    }

    #[test]
    fn colours_diverge_from_zero_only_if_both_signs_occur() {
        assert_eq!(centre_and_reach(&map(vec![-1.0, 3.0])), (0.0, 3.0));
        assert_eq!(centre_and_reach(&map(vec![2.0, 4.0])), (3.0, 1.0));
        assert_eq!(centre_and_reach(&map(vec![5.0, 5.0])), (5.0, 5.0));
        assert_eq!(centre_and_reach(&map(vec![0.0, f64::NAN])), (0.0, 1.0));
        assert_eq!(centre_and_reach(&map(vec![])), (0.0, 1.0));
    }
}
