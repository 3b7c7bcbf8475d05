//! Rasterization: fills a mask with the shapes, outline, bitmap or code point of a character.

use ab_glyph_rasterizer::{Point, Rasterizer, point};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

use super::GlyphKey;
use super::unifont::Bitmap;
use crate::shapes::Shape;
use crate::{BASELINE, CELL_HEIGHT, CELL_WIDTH};

/// Coverage of a completely covered pixel. There are only few steps, because fewer colours make
/// smaller files.
pub(crate) const FULL_COVERAGE: u8 = 4;

/// Pixels by which a glyph may exceed its cell on each side.
const MARGIN: usize = 3;

/// Width of a letter in font units.
pub(super) const ADVANCE: f32 = 1233.0;

/// Height of lower-case letters in font units and in pixels: whole pixels give sharp edges.
pub(super) const X_HEIGHT: (f32, f32) = (1120.0, 7.0);
/// Height of capitals in font units and in pixels.
const CAP_HEIGHT: (f32, f32) = (1493.0, 10.0);

/// Pixels by which italic letters lean to the right per pixel of height.
const SLANT: f32 = 0.2;
/// Height in pixels at which leaning moves nothing.
const SLANT_ORIGIN: f32 = 5.0;

/// The pixels that a character covers.
#[derive(Debug)]
pub(crate) struct Glyph {
    /// Whether the character consists of shapes, such as a line, and is not a letter.
    pub(crate) is_shape: bool,
    /// Column and row from the cell's corner, and coverage from 1 to [`FULL_COVERAGE`].
    pub(crate) pixels: Vec<(i8, i8, u8)>,
}

/// Coverage of each pixel of a cell and of a margin around it, from 0 to [`FULL_COVERAGE`].
pub(super) struct Mask {
    pub(super) is_shape: bool,
    width: usize,
    coverage: Vec<u8>,
}

impl Mask {
    pub(super) fn new(columns: usize) -> Self {
        let width = columns * CELL_WIDTH + 2 * MARGIN;
        Self { is_shape: false, width, coverage: vec![0; width * (CELL_HEIGHT + 2 * MARGIN)] }
    }

    /// The glyph of the covered pixels.
    pub(super) fn to_glyph(&self) -> Glyph {
        let margin = MARGIN as i8;
        let rows = (-margin..).zip(self.coverage.chunks(self.width));
        let pixels = rows.flat_map(|(y, row)| {
            let covered = (-margin..).zip(row).filter(|(_, coverage)| **coverage > 0);
            covered.map(move |(x, coverage)| (x, y, *coverage))
        });
        Glyph { is_shape: self.is_shape, pixels: pixels.collect() }
    }

    /// Raises the coverage of a pixel, given from the cell's corner, if it is in the mask.
    fn cover(&mut self, x: usize, y: usize, coverage: u8) {
        let (x, y) = (x + MARGIN, y + MARGIN);
        if x < self.width
            && let Some(pixel) = self.coverage.get_mut(y * self.width + x)
        {
            *pixel = coverage.max(*pixel);
        }
    }

    /// Adds the pixels of a rasterizer of the same size, multiplied by `darkness`.
    fn add(&mut self, raster: &Rasterizer, darkness: f32) {
        raster.for_each_pixel(|at, share| {
            if let Some(pixel) = self.coverage.get_mut(at) {
                let share = (share * darkness).clamp(0.0, 1.0);
                let coverage = (share * f32::from(FULL_COVERAGE)).round() as u8;
                *pixel = coverage.max(*pixel);
            }
        });
    }

    fn rasterizer(&self) -> Rasterizer {
        Rasterizer::new(self.width, CELL_HEIGHT + 2 * MARGIN)
    }
}

/// Position and style of an outline.
#[derive(Clone, Copy)]
pub(super) struct GlyphPlacement {
    /// Offset in font units.
    pub(super) x: f32,
    pub(super) y: f32,
    pub(super) italic: bool,
    /// Factor for the coverage.
    pub(super) darkness: f32,
}

/// Fills a TrueType outline.
pub(super) fn fill_outline(
    mask: &mut Mask,
    face: &Face<'_>,
    glyph: GlyphId,
    placement: GlyphPlacement,
) {
    let mut pen = Pen {
        raster: mask.rasterizer(),
        right: mask.width as f32,
        placement,
        start: point(0.0, 0.0),
        at: point(0.0, 0.0),
    };
    face.outline_glyph(glyph, &mut pen);
    mask.add(&pen.raster, placement.darkness);
}

/// Passes the lines and curves of an outline to a rasterizer.
struct Pen {
    raster: Rasterizer,
    /// Width of the mask.
    right: f32,
    placement: GlyphPlacement,
    start: Point,
    at: Point,
}

impl Pen {
    /// Converts font units to pixels of the mask. A point outside is moved to the edge.
    fn point(&self, x: f32, y: f32) -> Point {
        let y = height(y + self.placement.y);
        let lean = if self.placement.italic { (y - SLANT_ORIGIN) * SLANT } else { 0.0 };
        let x = (x + self.placement.x) * CELL_WIDTH as f32 / ADVANCE + lean;
        let margin = MARGIN as f32;
        let bottom = CELL_HEIGHT as f32 + 2.0 * margin;
        point(
            (x + margin).clamp(0.0, self.right),
            (BASELINE as f32 - y + margin).clamp(0.0, bottom),
        )
    }
}

/// Converts a height above the baseline from font units to pixels.
fn height(y: f32) -> f32 {
    let scale = CELL_WIDTH as f32 / ADVANCE;
    let ((small, small_pixels), (capital, capital_pixels)) = (X_HEIGHT, CAP_HEIGHT);
    if y <= 0.0 {
        y * scale
    } else if y <= small {
        y * small_pixels / small
    } else if y <= capital {
        small_pixels + (y - small) * (capital_pixels - small_pixels) / (capital - small)
    } else {
        capital_pixels + (y - capital) * scale
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.at = self.point(x, y);
        self.start = self.at;
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let to = self.point(x, y);
        self.raster.draw_line(self.at, to);
        self.at = to;
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let (by, to) = (self.point(x1, y1), self.point(x, y));
        self.raster.draw_quad(self.at, by, to);
        self.at = to;
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let (first, second, to) = (self.point(x1, y1), self.point(x2, y2), self.point(x, y));
        self.raster.draw_cubic(self.at, first, second, to);
        self.at = to;
    }

    fn close(&mut self) {
        self.raster.draw_line(self.at, self.start);
        self.at = self.start;
    }
}

/// Fills the shapes of a character.
pub(super) fn fill_shapes(mask: &mut Mask, shapes: &[Shape]) {
    let margin = MARGIN as f32;
    for shape in shapes {
        let mut raster = mask.rasterizer();
        let corner = |(x, y): &(f32, f32)| point(x + margin, y + margin);
        let next = shape.points.iter().cycle().skip(1);
        for (from, to) in shape.points.iter().zip(next) {
            raster.draw_line(corner(from), corner(to));
        }
        mask.add(&raster, shape.opacity);
    }
}

/// Fills a bitmap, centred in the cell; one that is too wide is squeezed to half its width.
pub(super) fn fill_bitmap(mask: &mut Mask, bitmap: &Bitmap, key: &GlyphKey) {
    let room = usize::from(key.width) * CELL_WIDTH;
    let squeeze = if bitmap.width > room { 2 } else { 1 };
    let left = room.saturating_sub(bitmap.width / squeeze) / 2;
    for (y, row) in bitmap.rows.iter().enumerate() {
        let lean = if key.italic { (16 - y) / 5 } else { 1 };
        for column in 0..bitmap.width / squeeze {
            let bits = row << (column * squeeze) >> (16 - squeeze);
            let coverage = FULL_COVERAGE * bits.count_ones() as u8 / squeeze as u8;
            let x = (left + column + lean).saturating_sub(1);
            mask.cover(x, y, coverage);
            if key.bold {
                mask.cover(x + 1, y, coverage);
            }
        }
    }
}

/// Fills a box with the character's code point in hexadecimal cut out, two digits in a row.
pub(super) fn fill_code_point(mask: &mut Mask, c: char) {
    // Five rows of three pixels for each hexadecimal digit.
    const DIGITS: [u16; 16] = [
        0o75557, 0o26227, 0o71747, 0o71717, 0o55711, 0o74717, 0o74757, 0o71122, 0o75757, 0o75717,
        0o25755, 0o65656, 0o34443, 0o65556, 0o74647, 0o74644,
    ];
    let columns = (mask.width - 2 * MARGIN) / CELL_WIDTH;
    let left = (columns - 1) * CELL_WIDTH / 2;
    for y in 0..CELL_HEIGHT {
        (0..CELL_WIDTH).for_each(|x| mask.cover(left + x, y, FULL_COVERAGE));
    }
    let digits = format!("{:06X}", u32::from(c));
    for (at, digit) in digits.chars().filter_map(|digit| digit.to_digit(16)).enumerate() {
        let rows = DIGITS.get(digit as usize).copied().unwrap_or(0);
        for bit in (0..15).filter(|bit| rows >> (14 - bit) & 1 == 1) {
            let x = MARGIN + left + 1 + at % 2 * 4 + bit % 3;
            let y = MARGIN + 1 + at / 2 * 6 + bit / 3;
            if let Some(pixel) = mask.coverage.get_mut(y * mask.width + x) {
                *pixel = 0;
            }
        }
    }
}
