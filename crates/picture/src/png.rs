//! A picture as pixels.

use png::{BitDepth, ColorType, DeflateCompression, Encoder, EncodingError, Filter};

use super::cells::{Cell, Underline};
use super::colors::{Asked, Colors, Ink};
use super::font::{FULL, Fonts};
use super::palette::Inks;
use super::{CELL_HEIGHT, CELL_WIDTH, CursorShape, Picture, STRIKE, UNDERLINE};

/// How well a picture is painted.
#[derive(Clone, Copy)]
struct Quality {
    /// The most colours; two are the theme's own.
    colors: usize,
    /// How many steps there are at the edges of letters.
    steps: u8,
    filter: Filter,
    /// How large files mostly are, in percent of the best.
    size: usize,
    /// How many bytes a cell may take: 15 are 150 kB for 200x50. The worse it looks the more.
    most: usize,
}

/// What is tried, best first. Few screens need more than the first. The last fits always: it takes
/// a bit for a pixel.
const QUALITIES: [Quality; 5] = [
    Quality { colors: 256, steps: FULL, filter: Filter::NoFilter, size: 100, most: 15 },
    Quality { colors: 256, steps: 2, filter: Filter::NoFilter, size: 80, most: 15 },
    Quality { colors: 256, steps: 1, filter: Filter::NoFilter, size: 60, most: 19 },
    Quality { colors: 16, steps: 1, filter: Filter::Up, size: 40, most: 19 },
    Quality { colors: 2, steps: 1, filter: Filter::NoFilter, size: 0, most: 20 },
];

/// What a file may take however small the screen is.
const FREE_BYTES: usize = 20_000;

/// The cells of a row, with their columns and colours.
type Line<'a> = Vec<(usize, &'a Cell, Inks)>;

/// How many rows of a screen tell how large its file becomes.
const SAMPLE: usize = 5;

/// The picture as a PNG file, as good as it can be without being too large.
pub(super) fn png(picture: &Picture) -> Result<Vec<u8>, EncodingError> {
    let lines: Vec<Line<'_>> = picture.lines().collect();
    let all: Vec<usize> = (0..picture.rows).collect();
    let some = sample(&lines);
    let (asked, mut fonts) = (Asked::by(picture), Fonts::new());
    let mut file = Vec::new();
    let mut best = 0;
    for quality in QUALITIES {
        let most = (picture.grid.columns * picture.rows * quality.most).max(FREE_BYTES);
        if best * quality.size > most * 100 {
            continue;
        }
        let mut colors = match quality.colors {
            2 => Colors::two(picture),
            most => Colors::new(&asked, most, quality.steps),
        };
        let mut paint = |rows: &[usize]| {
            let rows: Vec<(usize, &Line<'_>)> =
                rows.iter().filter_map(|row| Some((*row, lines.get(*row)?))).collect();
            Canvas::paint(picture, &rows, &mut colors, &mut fonts).encode(quality.filter)
        };
        if quality.colors > 2 {
            let size = paint(&some)?.len() * all.len() / some.len().max(1);
            if size > most {
                best = best.max(size);
                continue;
            }
        }
        file = paint(&all)?;
        if file.len() <= most {
            break;
        }
        best = best.max(file.len());
    }
    Ok(file)
}

/// Some rows that stand for all: empty ones for empty ones, crowded ones for crowded ones.
fn sample(lines: &[Line<'_>]) -> Vec<usize> {
    let crowd = |line: &Line<'_>| {
        let colors = line.chunk_by(|(.., a), (.., b)| a == b).count();
        colors + line.iter().filter(|(_, cell, _)| !cell.is_blank()).count()
    };
    let mut rows: Vec<(usize, usize)> = lines.iter().map(crowd).zip(0..).collect();
    rows.sort_unstable();
    let apart = (rows.len() / SAMPLE).max(1);
    rows.iter().skip(apart / 2).step_by(apart).map(|(_, row)| *row).collect()
}

/// Paints what is behind a row of cells: its first row of pixels, of which the others are copies.
fn grounds(block: &mut [Ink], width: usize, line: &Line<'_>, colors: &Colors) {
    let (first, others) = block.split_at_mut(width.min(block.len()));
    for run in line.chunk_by(|(.., a), (.., b)| a.bg == b.bg) {
        let [Some((left, _, inks)), Some((right, last, _))] = [run.first(), run.last()] else {
            continue;
        };
        let end = ((right + usize::from(last.width)) * CELL_WIDTH).min(width);
        if let Some(part) = first.get_mut(left * CELL_WIDTH..end) {
            part.fill(colors.ground(*inks));
        }
    }
    others.chunks_exact_mut(width.max(1)).for_each(|row| row.copy_from_slice(first));
}

/// Pixels with the places of their colours.
struct Canvas<'a> {
    width: usize,
    height: usize,
    pixels: Vec<Ink>,
    colors: &'a mut Colors,
}

impl<'a> Canvas<'a> {
    /// Paints some rows of a screen, one below the other.
    fn paint(
        picture: &Picture,
        rows: &[(usize, &Line<'_>)],
        colors: &'a mut Colors,
        fonts: &mut Fonts,
    ) -> Self {
        let (width, height) = (picture.pixels().0, rows.len() * CELL_HEIGHT);
        let ground = colors.ink(picture.palette.bg);
        let mut canvas = Self { width, height, pixels: vec![ground; width * height], colors };
        let blocks = canvas.pixels.chunks_mut((width * CELL_HEIGHT).max(1));
        for (block, (_, line)) in blocks.zip(rows) {
            grounds(block, width, line, canvas.colors);
        }
        for (y, (_, line)) in rows.iter().enumerate() {
            for (x, cell, inks) in line.iter().filter(|(_, cell, _)| !cell.is_blank()) {
                canvas.write(*x, y, cell, *inks, fonts);
            }
        }
        if let Some(cursor) = &picture.cursor
            && let Some(y) = rows.iter().position(|(row, _)| *row == cursor.row())
        {
            let ink = canvas.colors.ink(picture.palette.fg);
            canvas.cursor(cursor.column(), y, cursor.shape, ink);
        }
        canvas
    }

    /// Fills a part of the picture; what is outside is left out.
    fn fill(&mut self, left: usize, top: usize, width: usize, height: usize, ink: Ink) {
        let right = (left + width).min(self.width);
        for row in self.pixels.chunks_mut(self.width.max(1)).skip(top).take(height) {
            if let Some(part) = row.get_mut(left.min(right)..right) {
                part.fill(ink);
            }
        }
    }

    /// Covers a part of a pixel, in steps up to [`FULL`].
    #[inline]
    fn blend(&mut self, x: usize, y: usize, ink: Ink, cover: u8) {
        let at = y.wrapping_mul(self.width).wrapping_add(x);
        if x < self.width
            && let Some(pixel) = self.pixels.get_mut(at)
        {
            *pixel = self.colors.edge(*pixel, ink, cover);
        }
    }

    fn write(&mut self, x: usize, y: usize, cell: &Cell, inks: Inks, fonts: &mut Fonts) {
        let (left, top) = (x * CELL_WIDTH, y * CELL_HEIGHT);
        let style = &cell.style;
        let glyph = fonts.glyph(cell);
        let [_, fg, under] = self.colors.of(inks, !glyph.drawn);
        for &(dx, dy, cover) in &glyph.pixels {
            // Before the first column or row is far behind the last.
            let x = left.wrapping_add_signed(dx.into());
            let y = top.wrapping_add_signed(dy.into());
            self.blend(x, y, fg, cover);
        }
        let width = CELL_WIDTH * usize::from(cell.width);
        self.underline(left, top, width, style.underline, under);
        if style.strike {
            self.fill(left, top + STRIKE, width, 1, fg);
        }
        if style.overline {
            self.fill(left, top, width, 1, fg);
        }
    }

    fn underline(&mut self, left: usize, top: usize, width: usize, kind: Underline, ink: Ink) {
        let line = top + UNDERLINE;
        match kind {
            Underline::None => {}
            Underline::Single => self.fill(left, line, width, 1, ink),
            Underline::Double => {
                self.fill(left, line - 1, width, 1, ink);
                self.fill(left, line + 1, width, 1, ink);
            }
            Underline::Dotted => {
                for x in (left..left + width).filter(|x| x % 3 == 0) {
                    self.fill(x, line, 1, 1, ink);
                }
            }
            Underline::Dashed => {
                for x in (left..left + width).filter(|x| x % CELL_WIDTH < 5) {
                    self.fill(x, line, 1, 1, ink);
                }
            }
            Underline::Curly => {
                for x in left..left + width {
                    let turn = (x % CELL_WIDTH) as f32 / CELL_WIDTH as f32 * std::f32::consts::TAU;
                    let middle = 13.5 + 1.3 * turn.sin();
                    for row in 11..CELL_HEIGHT {
                        let share = 1.3 - (row as f32 - middle).abs();
                        if share > 0.0 {
                            let cover = (share.min(1.0) * f32::from(FULL)).round() as u8;
                            self.blend(x, top + row, ink, cover);
                        }
                    }
                }
            }
        }
    }

    /// A cursor that is a line; a block is painted with its cell.
    fn cursor(&mut self, x: usize, y: usize, shape: CursorShape, ink: Ink) {
        let (left, top) = (x * CELL_WIDTH, y * CELL_HEIGHT);
        match shape {
            CursorShape::Block => {}
            CursorShape::Underline => {
                self.fill(left, top + CELL_HEIGHT - 2, CELL_WIDTH, 2, ink);
            }
            CursorShape::Bar => self.fill(left, top, 2, CELL_HEIGHT, ink),
        }
    }

    /// The pixels as a file, with as few bits for each as its colours need.
    fn encode(&self, filter: Filter) -> Result<Vec<u8>, EncodingError> {
        let mut file = Vec::new();
        let size = |pixels: usize| u32::try_from(pixels).unwrap_or(u32::MAX);
        let mut encoder = Encoder::new(&mut file, size(self.width), size(self.height));
        encoder.set_color(ColorType::Indexed);
        encoder.set_palette(self.colors.list().concat());
        encoder.set_filter(filter);
        encoder.set_deflate_compression(DeflateCompression::Level(3));
        let depth = match self.colors.list().len() {
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

    /// The pixels with so few bits for each. A row is whole bytes, as a cell is.
    fn packed(&self, bits: usize) -> Vec<u8> {
        let bytes = self.pixels.chunks(8 / bits);
        bytes.map(|inks| inks.iter().fold(0, |byte, ink| (byte << bits) | ink)).collect()
    }
}
