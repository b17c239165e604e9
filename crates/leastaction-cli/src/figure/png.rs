//! PNG: from an SVG made here to the bytes of a PNG of the same picture.
//!
//! The font is embedded, so the result does not depend on the machine. Only the regular
//! face is referenced and thereby linked (740 kB).

use super::svg::FONTS;
use resvg::{tiny_skia, usvg};

/// Side beyond which a PNG is refused instead of exhausting the memory.
const LARGEST_SIDE: f32 = 20_000.0;

/// Rasterises an SVG; `pixel_ratio` 2 gives twice the pixels in each direction.
pub(crate) fn to_png(svg: &str, pixel_ratio: f32) -> Result<Vec<u8>, String> {
    let mut fonts = usvg::fontdb::Database::new();
    fonts.load_font_data(dejavu::sans::regular().to_vec());
    let family = FONTS.split(',').next().unwrap_or(FONTS);
    fonts.set_sans_serif_family(family);
    let options = usvg::Options {
        font_family: family.to_owned(),
        fontdb: std::sync::Arc::new(fonts),
        ..usvg::Options::default()
    };
    let tree = usvg::Tree::from_str(svg, &options).map_err(|e| format!("the SVG cannot be read: {e}"))?;
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
