//! Curves over time: coordinates or outputs in one panel, or in a few small ones with one time axis.

use super::run::{MOST_CURVES, colour_of, extent, over_time, selection};
use super::{Axis, Mark, Panel, Place, RunPicture, Series, with_unit};

/// A curve is readable if it spans at least this part of its axis.
const READABLE: f64 = 1.0 / 12.0;
/// More panels than this are too low to be read.
const MOST_PANELS: usize = 5;
/// More curves than this of the same kind are compared on one axis, whatever their sizes.
const MANY_ALIKE: usize = 4;

/// How a block of curves is called.
pub(super) struct Words {
    /// One of them, in the title.
    one: &'static str,
    /// Several, at an axis.
    many: &'static str,
    /// Whether they are of one kind.
    alike: bool,
}

pub(super) const COORDINATES: Words = Words { one: "Coordinate", many: "q", alike: true };
pub(super) const OUTPUTS: Words = Words { one: "Output", many: "value", alike: false };

/// The curves over time: one panel, or up to five with one time axis if they
/// differ in unit or so much in size that some would look flat.
pub(super) fn curves_block(picture: &RunPicture, all: &[Series], words: &Words) -> Vec<Panel> {
    let chosen = selection(all.len(), MOST_CURVES);
    let groups = groups(all, &chosen, words.alike && chosen.len() > MANY_ALIKE);
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
        let (head, foot) = if count > 1 { (0.05, 0.09) } else { (0.0, 0.0) };
        let mut height = (1.0 - head - foot) / count as f64;
        height += if g == 0 { head } else { 0.0 } + if last { foot } else { 0.0 };
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

/// Curves on one axis: which, from where to where they go, and how far the least of them goes.
#[derive(Clone)]
struct Group {
    members: Vec<usize>,
    whole: (f64, f64),
    least: f64,
}

impl Group {
    fn with(&self, other: &Self) -> Self {
        let mut members = [self.members.as_slice(), &other.members].concat();
        members.sort_unstable();
        let whole = (self.whole.0.min(other.whole.0), self.whole.1.max(other.whole.1));
        Self { members, whole, least: self.least.min(other.least) }
    }

    /// The part of the axis that the flattest curve spans.
    fn flattest(&self) -> f64 {
        self.least / (self.whole.1 - self.whole.0)
    }
}

/// Curves that can share an axis: of one unit and, unless size does not matter, such that none of them looks flat. Where that takes
/// too many axes, those are joined with which curves look least flat.
fn groups(all: &[Series], chosen: &[usize], any_size: bool) -> Vec<Vec<usize>> {
    let unit = |group: &Group| all[group.members[0]].unit.as_str();
    let mut groups: Vec<Group> = Vec::new();
    for &i in chosen {
        let whole = extent(&all[i].values);
        let spread = whole.1 - whole.0;
        // a constant is readable on any axis that contains it
        let least = if spread > 1e-9 * whole.1.abs().max(whole.0.abs()) { spread } else { f64::INFINITY };
        let own = Group { members: vec![i], whole, least };
        let fits = |group: &Group| {
            let readable = any_size || group.with(&own).flattest() >= READABLE;
            unit(group) == unit(&own) && readable
        };
        match groups.iter().position(fits) {
            Some(at) => groups[at] = groups[at].with(&own),
            None => groups.push(own),
        }
    }
    while groups.len() > MOST_PANELS {
        let pairs = (0..groups.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
        // of one unit first
        let rank = |&(a, b): &(usize, usize)| {
            (unit(&groups[a]) == unit(&groups[b]), groups[a].with(&groups[b]).flattest())
        };
        let best = pairs.max_by(|x, y| {
            let (x, y) = (rank(x), rank(y));
            x.0.cmp(&y.0).then(x.1.total_cmp(&y.1))
        });
        let Some((a, b)) = best else { break };
        let other = groups.remove(b);
        groups[a] = groups[a].with(&other);
    }
    if groups.is_empty() {
        return vec![Vec::new()];
    }
    groups.into_iter().map(|group| group.members).collect()
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
        assert_eq!(groups(&all, &[0, 1, 2], false), [vec![0, 1], vec![2]]);
        assert_eq!(groups(&all, &[0, 1, 2], true), [vec![0, 1, 2]]);
        // seven sizes on five axes: the nearest share
        let all = [1.0, 1e3, 1e6, 2e7, 1e10, 1.4e11, 1e14].map(|top| series("x", top));
        let found = groups(&all, &[0, 1, 2, 3, 4, 5, 6], false);
        assert_eq!(found, [vec![0], vec![1], vec![2, 3], vec![4, 5], vec![6]]);
    }
}
