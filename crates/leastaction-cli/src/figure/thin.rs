//! Thinning: from pixel positions of any number to few points that look the same.
//!
//! A curve that runs from left to right keeps the first, lowest, highest and last point
//! of each half-pixel column, so no spike is lost. Any other path loses points that lie
//! within a fraction of a pixel of the line through their neighbours.

/// A position in pixels; `None` breaks the line.
pub(crate) type Pixel = Option<[f64; 2]>;

/// Width of the columns that a time series is reduced to, in pixels.
const COLUMN: f64 = 0.5;
/// First tolerance for a path, in pixels.
const TOLERANCE: f64 = 0.12;
/// Side of the cells in which a long path leaves ink, in pixels.
const INK_CELL: f64 = 0.5;
/// Largest tolerance that cannot be seen.
const UNSEEN: f64 = 0.5;
/// Largest tolerance for a path; beyond it points are taken evenly instead.
const COARSEST: f64 = 1.5;

/// The unbroken runs of a line, thinned to at most about `cap` points in total.
pub(crate) fn thin(pixels: impl Iterator<Item = Pixel>, cap: usize) -> Vec<Vec<[f64; 2]>> {
    let mut runs: Vec<Vec<[f64; 2]>> = Vec::new();
    let mut run = Vec::new();
    for pixel in pixels {
        match pixel {
            Some(point) => run.push(point),
            None => close(&mut runs, &mut run),
        }
    }
    close(&mut runs, &mut run);
    let total: usize = runs.iter().map(Vec::len).sum();
    let cap = cap.max(16);
    let mut kept: Vec<Vec<[f64; 2]>> = Vec::with_capacity(runs.len());
    for run in &runs {
        let share = (cap * run.len() / total.max(1)).max(2);
        if run.windows(2).all(|w| w[0][0] <= w[1][0]) {
            let thinned = evenly(columns(run), share.max(4));
            // a lone point on top of the previous lone point adds nothing
            let repeats =
                |last: &Vec<[f64; 2]>| last.len() == 1 && thinned.len() == 1 && near(last[0], thinned[0]);
            if !kept.last().is_some_and(repeats) {
                kept.push(thinned);
            }
        } else {
            kept.extend(path(run, share));
        }
    }
    // many short runs: take some of the runs
    let total: usize = kept.iter().map(Vec::len).sum();
    if total > 2 * cap {
        let most = 2 * cap * kept.len() / total;
        evenly(kept, most)
    } else {
        kept
    }
}

fn close(runs: &mut Vec<Vec<[f64; 2]>>, run: &mut Vec<[f64; 2]>) {
    if !run.is_empty() {
        runs.push(std::mem::take(run));
    }
}

fn near(a: [f64; 2], b: [f64; 2]) -> bool {
    (a[0] - b[0]).hypot(a[1] - b[1]) < 0.3
}

/// First, lowest, highest and last point of each column, in the order in which they come.
fn columns(run: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let column_of = |p: &[f64; 2]| (p[0] / COLUMN).floor() as i64;
    let mut kept = Vec::new();
    for group in run.chunk_by(|a, b| column_of(a) == column_of(b)) {
        let by_height = |&i: &usize, &j: &usize| group[i][1].total_cmp(&group[j][1]);
        let (lowest, highest) = ((0..group.len()).min_by(by_height), (0..group.len()).max_by(by_height));
        let mut indices = [0, lowest.unwrap_or(0), highest.unwrap_or(0), group.len() - 1];
        indices.sort_unstable();
        for (k, &i) in indices.iter().enumerate() {
            if k == 0 || indices[k - 1] != i {
                kept.push(group[i]);
            }
        }
    }
    kept
}

/// The path with points left out until at most `cap` remain: those close to a line, with
/// a tolerance that grows; before it can be seen, also those where ink is already.
fn path(run: &[[f64; 2]], cap: usize) -> Vec<Vec<[f64; 2]>> {
    let mut parts = vec![run.to_vec()];
    let mut tolerance = TOLERANCE;
    loop {
        let kept: Vec<Vec<[f64; 2]>> = parts.iter().map(|part| straightened(part, tolerance)).collect();
        let total: usize = kept.iter().map(Vec::len).sum();
        if total <= cap {
            return kept;
        }
        if tolerance >= COARSEST {
            let shares: Vec<usize> = kept.iter().map(|part| cap * part.len() / total).collect();
            return kept.into_iter().zip(shares).map(|(part, share)| evenly(part, share)).collect();
        }
        tolerance *= 1.6;
        if tolerance > UNSEEN && parts.len() == 1 {
            // worth its gaps only for a path that mostly repeats itself
            let fresh = where_no_ink_is(run);
            if 4 * fresh.iter().map(Vec::len).sum::<usize>() < run.len() {
                (parts, tolerance) = (fresh, TOLERANCE);
            }
        }
    }
}

/// The parts of a path that pass where it will not pass again. A periodic motion leaves
/// its last turn, which is all that can be seen of the many.
fn where_no_ink_is(run: &[[f64; 2]]) -> Vec<Vec<[f64; 2]>> {
    let mut inked = std::collections::HashSet::new();
    let mut parts: Vec<Vec<[f64; 2]>> = vec![Vec::new()];
    let mut before = (true, [0.0; 2]);
    for &point in run.iter().rev() {
        let cell = ((point[0] / INK_CELL).floor() as i32, (point[1] / INK_CELL).floor() as i32);
        let fresh = inked.insert(cell);
        if let Some(part) = parts.last_mut() {
            match (before.0, fresh) {
                (true, _) => part.push(point),
                // back on fresh paper: a new part that starts at the point before
                (false, true) => parts.push(vec![before.1, point]),
                (false, false) => {}
            }
        }
        before = (fresh, point);
    }
    parts.iter_mut().for_each(|part| part.reverse());
    parts.reverse();
    parts
}

/// Greedy cone method: a point is dropped while one ray from the last kept point passes
/// within `tolerance` of all points since. Linear in the number of points.
fn straightened(run: &[[f64; 2]], tolerance: f64) -> Vec<[f64; 2]> {
    let Some((&first, rest)) = run.split_first() else { return Vec::new() };
    let mut kept = vec![first];
    let (mut anchor, mut last) = (first, first);
    // the open cone: middle direction, allowed turns to either side, farthest reach
    let mut cone: Option<(f64, f64, f64, f64)> = None;
    for &point in rest {
        let reach = (point[0] - anchor[0]).hypot(point[1] - anchor[1]);
        let direction = (point[1] - anchor[1]).atan2(point[0] - anchor[0]);
        let half = if reach > tolerance { (tolerance / reach).asin() } else { std::f64::consts::PI };
        let fits = match cone {
            None => Some((direction, -half, half, reach)),
            Some((middle, low, high, far)) => {
                let turn = wrapped(direction - middle);
                let inside = reach <= tolerance && far <= tolerance
                    || turn >= low && turn <= high && reach >= far - tolerance;
                inside.then(|| (middle, low.max(turn - half), high.min(turn + half), far.max(reach)))
            }
        };
        if fits.is_some() {
            // the direction of points closer than the tolerance means nothing
            cone = if reach > tolerance || cone.is_some_and(|c| c.3 > tolerance) { fits } else { None };
        } else {
            kept.push(last);
            anchor = last;
            let reach = (point[0] - anchor[0]).hypot(point[1] - anchor[1]);
            let direction = (point[1] - anchor[1]).atan2(point[0] - anchor[0]);
            let half = (tolerance / reach.max(tolerance)).asin();
            cone = (reach > tolerance).then_some((direction, -half, half, reach));
        }
        last = point;
    }
    if run.len() > 1 {
        kept.push(last);
    }
    kept
}

fn wrapped(angle: f64) -> f64 {
    use std::f64::consts::{PI, TAU};
    if angle > PI {
        angle - TAU
    } else if angle < -PI {
        angle + TAU
    } else {
        angle
    }
}

/// At most `cap` items, evenly, with the first and the last.
pub(crate) fn evenly<T>(items: Vec<T>, cap: usize) -> Vec<T> {
    let (count, cap) = (items.len(), cap.max(2));
    if count <= cap {
        return items;
    }
    let mut next = 0;
    let chosen = |k: usize| k * (count - 1) / (cap - 1);
    let mut kept = Vec::with_capacity(cap);
    for (i, item) in items.into_iter().enumerate() {
        if i == chosen(next) {
            kept.push(item);
            next += 1;
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(points: &[[f64; 2]]) -> impl Iterator<Item = Pixel> {
        points.iter().map(|&p| Some(p))
    }

    #[test]
    fn time_series_keep_their_extremes() {
        let mut points: Vec<[f64; 2]> =
            (0..1_000_000).map(|i| [f64::from(i) * 5e-4, 50.0 + (f64::from(i) * 0.37).sin()]).collect();
        points[123_456][1] = 400.0;
        points[654_321][1] = -300.0;
        let runs = thin(some(&points), 20_000);
        assert_eq!(runs.len(), 1);
        assert!(runs[0].len() <= 4 * 1001, "{}", runs[0].len());
        assert!(runs[0].contains(&points[123_456]) && runs[0].contains(&points[654_321]));
        assert_eq!((runs[0].first(), runs[0].last()), (points.first(), points.last()));
    }

    #[test]
    fn paths_stay_close_and_bounded() {
        let circle: Vec<[f64; 2]> = (0..=100_000)
            .map(|i| f64::from(i) * std::f64::consts::TAU / 100_000.0)
            .map(|a| [200.0 + 150.0 * a.cos(), 200.0 + 150.0 * a.sin()])
            .collect();
        let kept = &thin(some(&circle), 5_000)[0];
        assert!(kept.len() > 40 && kept.len() < 400, "{}", kept.len());
        // the middle of every chord is on the circle to a fraction of a pixel
        for w in kept.windows(2) {
            let radius = ((w[0][0] + w[1][0]) / 2.0 - 200.0).hypot((w[0][1] + w[1][1]) / 2.0 - 200.0);
            assert!((radius - 150.0).abs() < 0.4, "{radius}");
        }
        let noise: Vec<[f64; 2]> =
            (0..300_000u64).map(|i| [(i * 7919 % 500) as f64, (i * 104_729 % 499) as f64]).collect();
        assert!(thin(some(&noise), 5_000)[0].len() <= 5_000);
    }

    #[test]
    fn a_path_that_repeats_itself_keeps_one_sharp_turn() {
        let turns = (0..300_000).map(|i| f64::from(i) * 0.0123);
        let circle: Vec<[f64; 2]> =
            turns.map(|a| [200.0 + 150.0 * a.cos(), 200.0 + 150.0 * a.sin()]).collect();
        let runs = thin(some(&circle), 3_000);
        let points: Vec<[f64; 2]> = runs.concat();
        assert!(points.len() <= 6_000, "{}", points.len());
        // every direction is there, and no chord cuts the corner by more than half a pixel
        let directions: std::collections::HashSet<i64> = points
            .iter()
            .map(|p| (p[1] - 200.0).atan2(p[0] - 200.0).to_degrees().div_euclid(10.0) as i64)
            .collect();
        assert_eq!(directions.len(), 36);
        for w in runs.iter().flat_map(|run| run.windows(2)) {
            let middle = [(w[0][0] + w[1][0]) / 2.0 - 200.0, (w[0][1] + w[1][1]) / 2.0 - 200.0];
            assert!(middle[0].hypot(middle[1]) > 149.4, "{middle:?}");
        }
    }

    #[test]
    fn a_path_that_turns_back_keeps_its_turning_point() {
        let mut there_and_back: Vec<[f64; 2]> = (0..1000).map(|i| [f64::from(i) * 0.1, 5.0]).collect();
        there_and_back.extend((0..1000).rev().map(|i| [f64::from(i) * 0.1, 5.0]));
        let kept = &thin(some(&there_and_back), 500)[0];
        assert!(kept.iter().any(|p| p[0] > 99.5), "{kept:?}");
        assert!(kept.len() < 10);
    }

    #[test]
    fn missing_points_break_the_line_and_many_breaks_stay_bounded() {
        let runs = thin([Some([0.0, 0.0]), Some([1.0, 1.0]), None, None, Some([2.0, 0.0])].into_iter(), 100);
        assert_eq!(runs.iter().map(Vec::len).collect::<Vec<_>>(), [2, 1]);
        assert!(thin(std::iter::empty(), 100).is_empty());
        let dotted = (0..400_000).map(|i| (i % 2 == 0).then_some([f64::from(i % 777), f64::from(i % 555)]));
        let total: usize = thin(dotted, 1000).iter().map(Vec::len).sum();
        assert!(total <= 4000, "{total}");
    }
}
