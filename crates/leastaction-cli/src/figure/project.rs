//! Projection: from points in space to points on the page and their depth.
//!
//! Parallel projection with z upward, so that equal lengths along an axis stay equal.

use std::f64::consts::PI;

/// Where the viewer is, far away.
#[derive(Debug, Clone, Copy)]
pub(super) struct Camera {
    right: [f64; 3],
    up: [f64; 3],
    toward: [f64; 3],
}

impl Camera {
    /// A viewer at an azimuth from the x axis and an elevation above the horizontal, in degrees.
    pub(super) fn new(azimuth: f64, elevation: f64) -> Self {
        let ((sa, ca), (se, ce)) = (azimuth.to_radians().sin_cos(), elevation.to_radians().sin_cos());
        Self { right: [-sa, ca, 0.0], up: [-se * ca, -se * sa, ce], toward: [ce * ca, ce * sa, se] }
    }

    /// The place on the page.
    pub(super) fn page(&self, point: [f64; 3]) -> [f64; 2] {
        [dot(self.right, point), dot(self.up, point)]
    }

    /// How far toward the viewer a point is; positive in front of the origin.
    pub(super) fn depth(&self, point: [f64; 3]) -> f64 {
        dot(self.toward, point)
    }

    /// A path in two parts with breaks: in front of the plane through the origin, and behind.
    pub(super) fn front_and_back(&self, path: &[[f64; 3]]) -> [Vec<[f64; 2]>; 2] {
        let mut parts = [Vec::with_capacity(path.len()), Vec::with_capacity(path.len())];
        let mut before = usize::MAX;
        for &point in path {
            let part = usize::from(self.depth(point) < 0.0);
            let page = self.page(point);
            // where the path crosses the edge both parts reach to the same point
            if before != part && before != usize::MAX {
                parts[before].push(page);
                parts[before].push([f64::NAN; 2]);
            }
            parts[part].push(page);
            before = part;
        }
        parts
    }
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Meridians and parallels of a sphere, every 30 degrees.
pub(super) fn graticule(radius: f64) -> Vec<Vec<[f64; 3]>> {
    let at = |polar: f64, azimuth: f64| {
        let ((sp, cp), (sa, ca)) = (polar.sin_cos(), azimuth.sin_cos());
        [radius * sp * ca, radius * sp * sa, radius * cp]
    };
    let fine = |i: usize| i as f64 * PI / 60.0;
    let meridians = (0..12).map(|m| (0..=60).map(|i| at(fine(i), f64::from(m) * PI / 6.0)).collect());
    let parallels = (1..6).map(|p| (0..=120).map(|i| at(f64::from(p) * PI / 6.0, fine(i))).collect());
    meridians.chain(parallels).collect()
}

/// The outline of a sphere on the page.
pub(super) fn outline(radius: f64) -> Vec<[f64; 2]> {
    (0..=180).map(|i| f64::from(i) * PI / 90.0).map(|a| [radius * a.cos(), radius * a.sin()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_camera_is_a_rotation_with_z_upward() {
        let camera = Camera::new(-60.0, 28.0);
        for (a, b, product) in [
            (camera.right, camera.right, 1.0),
            (camera.up, camera.up, 1.0),
            (camera.right, camera.up, 0.0),
            (camera.up, camera.toward, 0.0),
        ] {
            assert!((dot(a, b) - product).abs() < 1e-12);
        }
        let [x, y] = camera.page([0.0, 0.0, 1.0]);
        assert!(x.abs() < 1e-12 && y > 0.8);
        assert!(camera.depth([0.0, 0.0, 1.0]) > 0.0, "seen from above");
    }

    #[test]
    fn a_circle_is_half_in_front() {
        let camera = Camera::new(0.0, 0.0);
        let circle: Vec<[f64; 3]> =
            (0..360).map(|i| f64::from(i).to_radians()).map(|a| [a.cos(), a.sin(), 0.0]).collect();
        let [front, back] = camera.front_and_back(&circle);
        let count = |part: &[[f64; 2]]| part.iter().filter(|p| p[0].is_finite()).count();
        assert!(count(&front).abs_diff(count(&back)) < 5, "{} {}", count(&front), count(&back));
    }
}
