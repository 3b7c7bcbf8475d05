//! The PNG format: paints the pixels of a picture and encodes them with indexed colours.
//!
//! The file size is limited: a picture that would exceed the limit is painted with fewer colours.

use png::{BitDepth, ColorType, DeflateCompression, Encoder, EncodingError, Filter};

use super::cells::{Cell, Underline};
use super::color_table::{ColorCounts, ColorIndex, ColorTable};
use super::font::{FULL_COVERAGE, Fonts};
use super::palette::CellColors;
use super::{CELL_HEIGHT, CELL_WIDTH, CellRow, CursorShape, Picture, STRIKETHROUGH, UNDERLINE};

/// A trade-off between colours and file size.
#[derive(Clone, Copy)]
struct Quality {
    /// Limit of colours; 2 are the theme's background and text colour.
    max_colors: usize,
    /// Number of steps between background and text colour at the edges of letters.
    steps: u8,
    filter: Filter,
    /// Typical file size in percent of the best quality.
    size_percent: usize,
    /// Limit of bytes per cell: 15 are 150 kB for 200x50. Worse qualities may take more.
    max_cell_bytes: usize,
}

/// Qualities in the order in which they are tried. Few screens need more than the first. The last
/// always fits: it takes one bit per pixel.
const QUALITIES: [Quality; 5] = [
    Quality {
        max_colors: 256,
        steps: FULL_COVERAGE,
        filter: Filter::NoFilter,
        size_percent: 100,
        max_cell_bytes: 15,
    },
    Quality {
        max_colors: 256,
        steps: 2,
        filter: Filter::NoFilter,
        size_percent: 80,
        max_cell_bytes: 15,
    },
    Quality {
        max_colors: 256,
        steps: 1,
        filter: Filter::NoFilter,
        size_percent: 60,
        max_cell_bytes: 19,
    },
    Quality { max_colors: 16, steps: 1, filter: Filter::Up, size_percent: 40, max_cell_bytes: 19 },
    Quality {
        max_colors: 2,
        steps: 1,
        filter: Filter::NoFilter,
        size_percent: 0,
        max_cell_bytes: 20,
    },
];

/// File size that is always allowed, however small the screen is.
const MIN_SIZE_LIMIT: usize = 20_000;

/// Number of rows that are painted to estimate the size of the whole file.
const SAMPLE_ROWS: usize = 5;

/// Encodes a picture as a PNG file with the best quality whose file is not too large.
pub(super) fn encode(picture: &Picture) -> Result<Vec<u8>, EncodingError> {
    let cell_rows: Vec<CellRow<'_>> = picture.cell_rows().collect();
    let all: Vec<usize> = (0..picture.rows).collect();
    let sample = sample_rows(&cell_rows);
    let (counts, mut fonts) = (ColorCounts::new(picture), Fonts::new());
    let mut file = Vec::new();
    // Largest size seen: an estimate for the best quality.
    let mut best_size = 0;
    for quality in QUALITIES {
        let cells = picture.grid.columns * picture.rows;
        let max_size = (cells * quality.max_cell_bytes).max(MIN_SIZE_LIMIT);
        if best_size * quality.size_percent > max_size * 100 {
            continue;
        }
        let mut table = match quality.max_colors {
            2 => ColorTable::two(picture),
            max => ColorTable::new(&counts, max, quality.steps),
        };
        let mut paint = |rows: &[usize]| {
            let rows: Vec<(usize, &CellRow<'_>)> =
                rows.iter().filter_map(|row| Some((*row, cell_rows.get(*row)?))).collect();
            Canvas::paint(picture, &rows, &mut table, &mut fonts).encode(quality.filter)
        };
        if quality.max_colors > 2 {
            let size = paint(&sample)?.len() * all.len() / sample.len().max(1);
            if size > max_size {
                best_size = best_size.max(size);
                continue;
            }
        }
        file = paint(&all)?;
        if file.len() <= max_size {
            break;
        }
        best_size = best_size.max(file.len());
    }
    Ok(file)
}

/// Rows that represent the screen: taken at equal distances from all rows, sorted by the number of
/// characters and colour changes.
fn sample_rows(cell_rows: &[CellRow<'_>]) -> Vec<usize> {
    let density = |row: &CellRow<'_>| {
        let colors = row.chunk_by(|(.., a), (.., b)| a == b).count();
        colors + row.iter().filter(|(_, cell, _)| !cell.is_blank()).count()
    };
    let mut rows: Vec<(usize, usize)> = cell_rows.iter().map(density).zip(0..).collect();
    rows.sort_unstable();
    let step = (rows.len() / SAMPLE_ROWS).max(1);
    rows.iter().skip(step / 2).step_by(step).map(|(_, row)| *row).collect()
}

/// Paints the backgrounds of a row of cells: one row of pixels, copied to the others.
fn paint_backgrounds(
    pixels: &mut [ColorIndex],
    width: usize,
    row: &CellRow<'_>,
    table: &ColorTable,
) {
    let (first, others) = pixels.split_at_mut(width.min(pixels.len()));
    for run in row.chunk_by(|(.., a), (.., b)| a.bg == b.bg) {
        let [Some((left, _, colors)), Some((right, last, _))] = [run.first(), run.last()] else {
            continue;
        };
        let end = ((right + usize::from(last.width)) * CELL_WIDTH).min(width);
        if let Some(part) = first.get_mut(left * CELL_WIDTH..end) {
            part.fill(table.index(colors.bg));
        }
    }
    others.chunks_exact_mut(width.max(1)).for_each(|row| row.copy_from_slice(first));
}

/// The pixels of a picture as indices of a colour table.
struct Canvas<'a> {
    width: usize,
    height: usize,
    pixels: Vec<ColorIndex>,
    table: &'a mut ColorTable,
}

impl<'a> Canvas<'a> {
    /// Paints some rows of a screen, one below the other. Each comes with its number.
    fn paint(
        picture: &Picture,
        rows: &[(usize, &CellRow<'_>)],
        table: &'a mut ColorTable,
        fonts: &mut Fonts,
    ) -> Self {
        let (width, height) = (picture.pixels().0, rows.len() * CELL_HEIGHT);
        let background = table.index(picture.palette.bg);
        let mut canvas = Self { width, height, pixels: vec![background; width * height], table };
        let pixel_rows = canvas.pixels.chunks_mut((width * CELL_HEIGHT).max(1));
        for (pixels, (_, row)) in pixel_rows.zip(rows) {
            paint_backgrounds(pixels, width, row, canvas.table);
        }
        for (y, (_, row)) in rows.iter().enumerate() {
            for (x, cell, colors) in row.iter().filter(|(_, cell, _)| !cell.is_blank()) {
                canvas.paint_cell(*x, y, cell, *colors, fonts);
            }
        }
        if let Some(cursor) = &picture.cursor
            && let Some(y) = rows.iter().position(|(row, _)| *row == cursor.row())
        {
            let color = canvas.table.index(picture.palette.fg);
            canvas.paint_cursor(cursor.column(), y, cursor.shape, color);
        }
        canvas
    }

    /// Fills the part of a rectangle that is inside the canvas.
    fn fill(&mut self, left: usize, top: usize, width: usize, height: usize, color: ColorIndex) {
        let right = (left + width).min(self.width);
        for row in self.pixels.chunks_mut(self.width.max(1)).skip(top).take(height) {
            if let Some(part) = row.get_mut(left.min(right)..right) {
                part.fill(color);
            }
        }
    }

    /// Covers a pixel partly, up to [`FULL_COVERAGE`], if it is inside the canvas.
    #[inline]
    fn blend(&mut self, x: usize, y: usize, color: ColorIndex, coverage: u8) {
        let at = y.wrapping_mul(self.width).wrapping_add(x);
        if x < self.width
            && let Some(pixel) = self.pixels.get_mut(at)
        {
            *pixel = self.table.blend(*pixel, color, coverage);
        }
    }

    /// Paints the character of a cell and the lines under, through and over it.
    fn paint_cell(
        &mut self,
        x: usize,
        y: usize,
        cell: &Cell,
        colors: CellColors,
        fonts: &mut Fonts,
    ) {
        let (left, top) = (x * CELL_WIDTH, y * CELL_HEIGHT);
        let style = &cell.style;
        let glyph = fonts.glyph(cell);
        let [fg, underline] = self.table.text_indices(colors, !glyph.is_shape);
        for &(dx, dy, coverage) in &glyph.pixels {
            // Negative coordinates wrap around to huge ones, which are outside as well.
            let x = left.wrapping_add_signed(dx.into());
            let y = top.wrapping_add_signed(dy.into());
            self.blend(x, y, fg, coverage);
        }
        let width = CELL_WIDTH * usize::from(cell.width);
        self.paint_underline(left, top, width, style.underline, underline);
        if style.strikethrough {
            self.fill(left, top + STRIKETHROUGH, width, 1, fg);
        }
        if style.overline {
            self.fill(left, top, width, 1, fg);
        }
    }

    fn paint_underline(
        &mut self,
        left: usize,
        top: usize,
        width: usize,
        underline: Underline,
        color: ColorIndex,
    ) {
        let line = top + UNDERLINE;
        match underline {
            Underline::None => {}
            Underline::Single => self.fill(left, line, width, 1, color),
            Underline::Double => {
                self.fill(left, line - 1, width, 1, color);
                self.fill(left, line + 1, width, 1, color);
            }
            Underline::Dotted => {
                for x in (left..left + width).filter(|x| x % 3 == 0) {
                    self.fill(x, line, 1, 1, color);
                }
            }
            Underline::Dashed => {
                for x in (left..left + width).filter(|x| x % CELL_WIDTH < 5) {
                    self.fill(x, line, 1, 1, color);
                }
            }
            Underline::Curly => {
                for x in left..left + width {
                    let angle = (x % CELL_WIDTH) as f32 / CELL_WIDTH as f32 * std::f32::consts::TAU;
                    let middle = 13.5 + 1.3 * angle.sin();
                    for row in 11..CELL_HEIGHT {
                        let share = 1.3 - (row as f32 - middle).abs();
                        if share > 0.0 {
                            let coverage = share.min(1.0) * f32::from(FULL_COVERAGE);
                            self.blend(x, top + row, color, coverage.round() as u8);
                        }
                    }
                }
            }
        }
    }

    /// Paints an underline or bar cursor; a block cursor is in the colours of its cell.
    fn paint_cursor(&mut self, x: usize, y: usize, shape: CursorShape, color: ColorIndex) {
        let (left, top) = (x * CELL_WIDTH, y * CELL_HEIGHT);
        match shape {
            CursorShape::Block => {}
            CursorShape::Underline => {
                self.fill(left, top + CELL_HEIGHT - 2, CELL_WIDTH, 2, color);
            }
            CursorShape::Bar => self.fill(left, top, 2, CELL_HEIGHT, color),
        }
    }

    /// Encodes the canvas with as few bits per pixel as the colour table needs.
    fn encode(&self, filter: Filter) -> Result<Vec<u8>, EncodingError> {
        let mut file = Vec::new();
        let size = |pixels: usize| u32::try_from(pixels).unwrap_or(u32::MAX);
        let mut encoder = Encoder::new(&mut file, size(self.width), size(self.height));
        encoder.set_color(ColorType::Indexed);
        encoder.set_palette(self.table.colors().concat());
        encoder.set_filter(filter);
        encoder.set_deflate_compression(DeflateCompression::Level(3));
        let depth = match self.table.colors().len() {
            ..=2 => BitDepth::One,
            3..=16 => BitDepth::Four,
            _ => BitDepth::Eight,
        };
        encoder.set_depth(depth);
        let mut writer = encoder.write_header()?;
        match depth {
            BitDepth::Eight => writer.write_image_data(&self.pixels)?,
            _ => writer.write_image_data(&self.packed(depth as usize))?,
        }
        writer.finish()?;
        Ok(file)
    }

    /// The pixels packed with `bits` bits each. Rows are whole bytes, because cells are.
    fn packed(&self, bits: usize) -> Vec<u8> {
        let bytes = self.pixels.chunks(8 / bits);
        bytes.map(|indices| indices.iter().fold(0, |byte, index| (byte << bits) | index)).collect()
    }
}
