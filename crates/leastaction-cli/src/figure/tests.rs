//! Tests of the whole way from numbers to SVG and PNG.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;
use resvg::{tiny_skia, usvg};

fn series(name: &str, unit: &str, values: Vec<f64>) -> Series {
    Series { name: name.into(), unit: unit.into(), values }
}

/// `count` coordinates with momenta, `points` recorded times.
fn run(count: usize, points: usize) -> RunPicture {
    let time: Vec<f64> = (0..points).map(|i| i as f64 * 0.01).collect();
    let wave = |k: usize, shift: f64| time.iter().map(|t| (t * (1.0 + k as f64) + shift).sin()).collect();
    RunPicture {
        title: "Test".into(),
        alert: String::new(),
        subtitle: "midpoint".into(),
        time_label: "t [s]".into(),
        coordinates: (0..count).map(|k| series(&format!("q{k}"), "m", wave(k, 0.0))).collect(),
        momenta: (0..count).map(|k| series(&format!("p{k}"), "kg·m/s", wave(k, 1.5))).collect(),
        energy_largest: None,
        outputs: Vec::new(),
        energy_error: time.iter().map(|t| 1e-6 * t.sin()).collect(),
        energy_label: "relative energy error".into(),
        motion: None,
        time,
    }
}

fn moving(dimension: usize, sphere: Option<f64>, points: Vec<[f64; 3]>) -> Option<Motion> {
    let path = Path { name: "bob".into(), points };
    Some(Motion {
        dimension,
        paths: vec![path.clone(), path],
        links: vec![(None, 0), (Some(0), 1)],
        sphere,
        unit: "m".into(),
    })
}

/// Checks that a parser accepts the SVG and that it has no number that is not finite.
fn svg_of(picture: &RunPicture) -> String {
    let svg = to_svg(&picture_of_run(picture));
    usvg::Tree::from_str(&svg, &usvg::Options::default()).expect("well-formed SVG");
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "a number that is not finite");
    svg
}

#[test]
fn every_composition_is_well_formed() {
    for count in [1, 2, 3, 5, 8, 9, 40] {
        assert!(svg_of(&run(count, 300)).contains("Energy"));
    }
    let circle: Vec<[f64; 3]> =
        (0..300).map(|i| f64::from(i) * 0.02).map(|a| [a.cos(), a.sin(), 0.3 * a]).collect();
    for motion in
        [moving(2, None, circle.clone()), moving(3, None, circle.clone()), moving(3, Some(1.0), circle)]
    {
        assert!(svg_of(&RunPicture { motion, ..run(2, 300) }).contains("Motion"));
    }
}

#[test]
fn panels_follow_the_number_of_coordinates() {
    let titles = |count| {
        let figure = picture_of_run(&run(count, 50));
        figure.panels.iter().map(|p| p.title.clone()).filter(|t| !t.is_empty()).collect::<Vec<_>>()
    };
    assert_eq!(titles(1)[..2], ["Coordinate over time", "Phase portrait"]);
    assert_eq!(titles(2)[..3], ["Configuration", "Coordinates over time", "Phase portraits"]);
    assert_eq!(
        titles(30)[..3],
        ["All coordinates", "Coordinates over time (8 of 30)", "Phase portraits (4 of 30 coordinates)"]
    );
    let without_energy = RunPicture { energy_error: Vec::new(), ..run(2, 50) };
    assert!(picture_of_run(&without_energy).panels.iter().all(|p| !p.title.starts_with("Energy")));
}

#[test]
fn degenerate_input_gives_a_picture() {
    svg_of(&RunPicture::default());
    let specials = [f64::NAN, f64::INFINITY, -f64::INFINITY, 1e308, -1e308, 0.0, 5e-324, 1.0];
    for points in [0, 1, 8] {
        for count in [0, 2, 12] {
            for special in specials {
                let mut picture = run(count, points);
                for s in picture.coordinates.iter_mut().chain(&mut picture.momenta) {
                    s.values.iter_mut().step_by(2).for_each(|v| *v = special);
                }
                picture.energy_error.iter_mut().for_each(|e| *e = special);
                let places = vec![[special, 1.0, special]; points];
                for motion in [
                    None,
                    moving(2, None, places.clone()),
                    moving(3, Some(special), places.clone()),
                    moving(3, None, places.clone()),
                ] {
                    svg_of(&RunPicture { motion, ..picture.clone() });
                }
            }
        }
    }
}

#[test]
fn unequal_lengths_and_missing_bodies_do_no_harm() {
    let mut picture = run(3, 100);
    picture.time.truncate(60);
    picture.coordinates[1].values.truncate(7);
    picture.momenta.truncate(2);
    picture.energy_error.truncate(3);
    let bob = Path { name: "bob".into(), points: vec![[1.0, 0.5, 0.0]; 3] };
    for paths in [vec![], vec![Path::default()], vec![bob.clone()], vec![bob, Path::default()]] {
        let links = vec![(Some(9), 5), (Some(0), 1), (None, 0)];
        let motion = Some(Motion { dimension: 2, paths, links, ..Motion::default() });
        svg_of(&RunPicture { motion, ..picture.clone() });
    }
    let mut many = run(20, 100);
    many.coordinates[4].values.clear();
    svg_of(&many);
}

#[test]
fn markup_in_names_is_escaped_and_long_names_are_cut() {
    let mut picture = run(2, 50);
    picture.title = "<b>&\"title\"</b>".into();
    picture.coordinates[0].name = "a<b>&c".into();
    picture.coordinates[1].name = "long ".repeat(2000);
    let svg = svg_of(&picture);
    assert!(svg.contains("&lt;b&gt;&amp;&quot;title&quot;&lt;/b&gt;") && svg.contains("a&lt;b&gt;&amp;c"));
    assert!(svg.len() < 60_000, "{}", svg.len());
}

#[test]
fn a_million_points_stay_small() {
    let points = 1_000_000;
    let mut picture = run(2, points);
    let tumbling = |k: usize| -> Vec<[f64; 3]> {
        (0..points)
            .map(|i| i as f64)
            .map(|i| [(i * 0.37).sin(), (i * (0.11 + k as f64)).cos(), (i * 0.7).sin()])
            .collect()
    };
    let paths = (0..2).map(|k| Path { name: "body".into(), points: tumbling(k) }).collect();
    picture.motion = Some(Motion { dimension: 2, paths, ..Motion::default() });
    let svg = svg_of(&picture);
    assert!(svg.len() < 1_500_000 && svg.len() > 50_000, "{}", svg.len());
}

#[test]
fn a_point_that_is_not_finite_breaks_the_line() {
    let line = |middle: f64| {
        let mut panel = Panel::new("", Axis::linear("x"), Axis::linear("y"));
        let points = vec![[0.0, 0.0], [1.0, 1.0], [2.0, middle], [3.0, 1.0], [4.0, 0.0]];
        panel.marks.push(Mark::line(Colour(1, 2, 3), 1.0, points));
        let svg = to_svg(&Figure {
            title: String::new(),
            alert: String::new(),
            subtitle: String::new(),
            width: 400.0,
            height: 300.0,
            panels: vec![panel],
        });
        let path = svg.lines().find(|l| l.contains("stroke=\"#010203\"")).expect("the line").to_owned();
        path.matches('M').count()
    };
    assert_eq!(line(0.5), 1);
    assert_eq!(line(f64::NAN), 2);
    assert_eq!(line(f64::INFINITY), 2);
}

#[test]
fn png_has_the_size_of_the_page_and_shows_the_colours_of_the_curves() {
    let png = to_png(&picture_of_run(&run(2, 400)), 1.5).unwrap();
    let image = tiny_skia::Pixmap::decode_png(&png).unwrap();
    assert_eq!((image.width(), image.height()), (1800, 1410));
    let count = |c: Colour| {
        image
            .pixels()
            .iter()
            .filter(|p| (p.red(), p.green(), p.blue(), p.alpha()) == (c.0, c.1, c.2, 255))
            .count()
    };
    assert!(count(palette(0)) > 500 && count(palette(1)) > 500);
    assert!(count(colour::PAPER) > 1_000_000);
}

#[test]
fn words_are_rendered_with_the_embedded_font() {
    let page = |words: &str| {
        let mut svg = svg::Svg::new(200.0, 80.0).with_outlines(glyphs::font().unwrap());
        svg.text(10.0, 60.0, 48.0, Colour(0, 0, 0), svg::Anchor::Start, words);
        let image = tiny_skia::Pixmap::decode_png(&png::rasterised(&svg.finish(), 1.0).unwrap()).unwrap();
        image.pixels().iter().filter(|p| p.red() < 100).count()
    };
    assert_eq!(page(""), 0);
    // a missing glyph would be drawn as a box, the same for all of them
    let mut inks: Vec<usize> =
        ["θ", "φ", "ψ", "ω", "×", "−", "₁", "²", "⁻"].iter().map(|w| page(w)).collect();
    assert!(inks.iter().all(|&ink| ink > 0), "{inks:?}");
    inks.sort_unstable();
    inks.dedup();
    assert!(inks.len() > 4, "{inks:?}");
}

#[test]
fn a_png_that_cannot_be_made_is_an_error() {
    assert!(png::rasterised("<svg", 1.0).is_err());
    let figure = picture_of_run(&run(1, 5));
    for ratio in [0.0, -1.0, f32::NAN, 1e9] {
        assert!(to_png(&figure, ratio).unwrap_err().contains("pixel ratio"));
    }
}

#[test]
fn equal_data_give_equal_bytes() {
    assert_eq!(svg_of(&run(12, 500)), svg_of(&run(12, 500)));
}

#[test]
fn legends_do_not_cover_the_plot_and_axes_line_up() {
    const LABEL_HEIGHT: f64 = 12.0;
    let mut picture = run(40, 200);
    picture.coordinates.iter_mut().for_each(|s| s.name.push_str(" of the chain"));
    let figure = picture_of_run(&picture);
    let layouts = layout::layout(&figure);
    assert!(layouts.iter().any(|l| l.legend.len() > 1));
    for (panel, l) in figure.panels.iter().zip(&layouts) {
        // on the line of the label of the axis, or on a line above it
        let label = l.plot.y - 12.0;
        assert!(l.legend.iter().all(|e| e.y == label || e.y < label - LABEL_HEIGHT), "{}", panel.title);
        assert!(l.plot.x >= l.outer.x && l.plot.bottom() <= l.outer.bottom());
    }
    let same_column = |i: usize, j: usize| figure.panels[i].place.x == figure.panels[j].place.x;
    for (i, j) in
        (0..layouts.len()).flat_map(|i| (0..i).map(move |j| (i, j))).filter(|&(i, j)| same_column(i, j))
    {
        assert_eq!(layouts[i].plot.x, layouts[j].plot.x);
    }
}

#[test]
fn convergence_panels_have_slopes_and_a_legend_at_the_side() {
    let mut panel = Panel::new("Error", Axis::log("h"), Axis::log("error"));
    panel.legend = Legend::Right;
    let points: Vec<[f64; 2]> = (1..9).map(|k| 0.5f64.powi(k)).map(|h| [h, h.powi(4)]).collect();
    panel.marks.push(Mark::line(palette(0), 1.5, points.clone()).named("simpson"));
    panel
        .marks
        .push(Mark::new(palette(0), Shape::Points { points, radius: 4.0, filled: true }).named("simpson"));
    panel.marks.push(Mark::new(palette(1), Shape::Slope { from: [0.01, 1e-9], ratio: 3.0, order: 4.0 }));
    let figure = Figure {
        title: "C".into(),
        alert: String::new(),
        subtitle: String::new(),
        width: 700.0,
        height: 500.0,
        panels: vec![panel],
    };
    let l = &layout::layout(&figure)[0];
    assert!(l.legend.len() == 1 && l.legend[0].x > l.plot.right());
    // the triangle: from (0.01, 1e-9) a factor 3 to the right and 81 up
    let rise = l.map[1].pixel(1e-9).unwrap() - l.map[1].pixel(81e-9).unwrap();
    assert!(rise > 5.0);
    let svg = to_svg(&figure);
    assert!(svg.contains(">10⁻²</text>") && svg.contains(">4</text>") && svg.matches("simpson").count() == 1);
}
