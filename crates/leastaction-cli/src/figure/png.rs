//! PNG: from a figure to the bytes of a PNG of the same picture as its SVG.
//!
//! The SVG is drawn once more with letters as outlines and rasterised, so the result does
//! not depend on the fonts of the machine.

use super::{Figure, glyphs, panel};
use resvg::{tiny_skia, usvg};

/// Side beyond which a PNG is refused instead of exhausting the memory.
const LARGEST_SIDE: f32 = 20_000.0;

/// Rasterises a figure; `pixel_ratio` 2 gives twice the pixels in each direction.
pub(crate) fn to_png(figure: &Figure, pixel_ratio: f32) -> Result<Vec<u8>, String> {
    rasterised(&panel::to_svg_with_outlines(figure, glyphs::font()?), pixel_ratio)
}

/// The PNG of an SVG without text.
pub(super) fn rasterised(svg: &str, pixel_ratio: f32) -> Result<Vec<u8>, String> {
    let tree = usvg::Tree::from_str(svg, &usvg::Options::default())
        .map_err(|e| format!("the SVG cannot be read: {e}"))?;
    let side = |length: f32| (length * pixel_ratio).round();
    let (width, height) = (side(tree.size().width()), side(tree.size().height()));
    if !(1.0..=LARGEST_SIDE).contains(&width) || !(1.0..=LARGEST_SIDE).contains(&height) {
        return Err(format!(
            "a PNG of {width}×{height} pixels cannot be made; try a pixel ratio between 0.5 and 4"
        ));
    }
    let mut image = tiny_skia::Pixmap::new(width as u32, height as u32).ok_or_else(|| {
        format!("no memory for a PNG of {width}×{height} pixels; try a smaller pixel ratio")
    })?;
    let scale = tiny_skia::Transform::from_scale(pixel_ratio, pixel_ratio);
    resvg::render(&tree, scale, &mut image.as_mut());
    image.encode_png().map_err(|e| format!("the PNG cannot be written: {e}"))
}
