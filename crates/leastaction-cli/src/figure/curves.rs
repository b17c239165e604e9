//! Curves over time: coordinates or outputs in one panel, or in a few small ones with one time axis.

use super::run::{MOST_CURVES, colour_of, extent, over_time, selection};
use super::{Axis, Mark, Panel, Place, RunPicture, Series, with_unit};

/// A curve is readable if it spans at least this part of its axis.
const READABLE: f64 = 1.0 / 12.0;

/// How a block of curves is called.
pub(super) struct Words {
    /// One of them, in the title.
    one: &'static str,
    /// Several, at an axis.
    many: &'static str,
}

pub(super) const COORDINATES: Words = Words { one: "Coordinate", many: "q" };
pub(super) const OUTPUTS: Words = Words { one: "Output", many: "value" };

/// The curves over time: one panel, or up to three with one time axis if they
/// differ in unit or so much in size that some would look flat.
pub(super) fn curves_block(picture: &RunPicture, all: &[Series], words: &Words) -> Vec<Panel> {
    let chosen = selection(all.len(), MOST_CURVES);
    let groups = groups(all, &chosen);
    let title = match all.len() {
        n if n > MOST_CURVES => format!("{}s over time ({MOST_CURVES} of {n})", words.one),
        1 => format!("{} over time", words.one),
        _ => format!("{}s over time", words.one),
    };
    let count = groups.len();
    let mut panels = Vec::new();
    let mut top = 0.0;
    for (g, group) in groups.iter().enumerate() {
        let series = |&i: &usize| &all[i];
        let unit = group.first().map_or("", |i| all[*i].unit.as_str());
        let label = match group.as_slice() {
            [one] => with_unit(&series(one).name, unit),
            _ if group.iter().all(|i| series(i).unit == unit) => with_unit(words.many, unit),
            _ => words.many.to_owned(),
        };
        let last = g + 1 == count;
        let mut x = Axis::linear(if last { picture.time_label.clone() } else { String::new() });
        x.range = Some(extent(&picture.time));
        x.tick_labels = last;
        let mut panel =
            Panel::new(if g == 0 { title.clone() } else { String::new() }, x, Axis::linear(label));
        // the first panel also carries the title, the last one the time axis
        let mut height = if count > 1 { (1.0 - 0.12) / count as f64 } else { 1.0 };
        height += if last && count > 1 { 0.12 } else { 0.0 };
        panel.place = Place { x: 0.0, y: top, width: 1.0, height };
        top += height;
        for i in group {
            let points = over_time(&picture.time, &series(i).values);
            let width = if points.len() > 20_000 { 1.0 } else { 1.5 };
            // oscillations closer than the pixels become a band through which others can be seen
            let opacity = if sweeps(&series(i).values) > 400.0 { 0.5 } else { 1.0 };
            let mark = Mark::line(colour_of(i, &chosen), width, points).faint(opacity);
            panel.marks.push(if group.len() > 1 { mark.named(series(i).name.clone()) } else { mark });
        }
        panels.push(panel);
    }
    panels
}

/// Curves that can share an axis: of one unit and, if they are few, of similar size.
fn groups(all: &[Series], chosen: &[usize]) -> Vec<Vec<usize>> {
    let mut groups: Vec<(Vec<usize>, (f64, f64), f64)> = Vec::new();
    for &i in chosen {
        let series = &all[i];
        let own = extent(&series.values);
        // a constant is readable on any axis that contains it
        let spread =
            if own.1 - own.0 > 1e-9 * own.1.abs().max(own.0.abs()) { own.1 - own.0 } else { f64::INFINITY };
        let fits = |(members, whole, least): &(Vec<usize>, (f64, f64), f64)| {
            let union = whole.1.max(own.1) - whole.0.min(own.0);
            let readable = chosen.len() > 4 || spread.min(*least) >= READABLE * union;
            all[members[0]].unit == series.unit && readable
        };
        let index = groups.iter().position(fits).or_else(|| (groups.len() >= 3).then(|| groups.len() - 1));
        match index.and_then(|at| groups.get_mut(at)) {
            Some((members, whole, least)) => {
                members.push(i);
                *whole = (whole.0.min(own.0), whole.1.max(own.1));
                *least = least.min(spread);
            }
            None => groups.push((vec![i], own, spread)),
        }
    }
    if groups.is_empty() {
        return vec![Vec::new()];
    }
    groups.into_iter().map(|g| g.0).collect()
}

/// How often a curve runs through its whole range.
fn sweeps(values: &[f64]) -> f64 {
    let (low, high) = extent(values);
    let travelled: f64 = values.windows(2).map(|w| (w[1] - w[0]).abs()).filter(|d| d.is_finite()).sum();
    if high > low { travelled / (high - low) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_of_very_different_size_get_their_own_axis() {
        let series = |name: &str, top: f64| Series {
            name: name.into(),
            unit: "rad".into(),
            values: (0..50).map(|i| f64::from(i) / 49.0 * top).collect(),
        };
        let all = [series("a", 1.0), series("b", 2.0), series("c", 900.0)];
        assert_eq!(groups(&all, &[0, 1, 2]), [vec![0, 1], vec![2]]);
    }
}
