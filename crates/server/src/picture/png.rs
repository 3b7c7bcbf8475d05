//! A picture as pixels.

use std::collections::HashMap;

use png::{BitDepth, ColorType, DeflateCompression, Encoder, EncodingError, Filter};

use super::cells::{Cell, Underline};
use super::font::{FULL, Fonts, Wanted};
use super::palette::{Inks, Rgb, mix};
use super::{CELL_HEIGHT, CELL_WIDTH, CursorShape, Picture};

/// Rows of a cell where lines are drawn.
const UNDERLINE: usize = 16;
const STRIKE: usize = 10;

/// The picture as a PNG file.
pub(super) fn png(picture: &Picture) -> Result<Vec<u8>, EncodingError> {
    let (width, height) = picture.pixels();
    let mut canvas = Canvas::new(width, height, picture.palette.bg);
    let mut fonts = Fonts::new();
    for (x, y, cell, inks) in picture.cells() {
        canvas.ground(x, y, cell, inks);
    }
    for (x, y, cell, inks) in picture.cells().filter(|(_, _, cell, _)| !cell.is_blank()) {
        canvas.write(x, y, cell, inks, &mut fonts);
    }
    if let Some(cursor) = &picture.cursor {
        canvas.cursor(cursor.column(), cursor.row(), cursor.shape, picture.palette.fg);
    }
    canvas.encode(picture.cells().flat_map(|(_, _, _, inks)| [inks.bg, inks.fg, inks.line]))
}

/// A colour by its number.
type Ink = u32;

/// Pixels with the numbers of their colours: there are many pixels and few colours.
struct Canvas {
    width: usize,
    height: usize,
    pixels: Vec<Ink>,
    colors: Vec<Rgb>,
    numbers: HashMap<Rgb, Ink>,
    /// What comes of two colours: from the first in steps to the second.
    steps: HashMap<(Ink, Ink), [Ink; FULL as usize + 1]>,
}

impl Canvas {
    fn new(width: usize, height: usize, ground: Rgb) -> Self {
        let (colors, numbers) = (vec![ground], HashMap::from([(ground, 0)]));
        let pixels = vec![0; width * height];
        Self { width, height, pixels, colors, numbers, steps: HashMap::new() }
    }

    fn number(&mut self, color: Rgb) -> Ink {
        *self.numbers.entry(color).or_insert_with(|| {
            self.colors.push(color);
            u32::try_from(self.colors.len() - 1).unwrap_or(0)
        })
    }

    fn color(&self, ink: Ink) -> Rgb {
        self.colors.get(ink as usize).copied().unwrap_or_default()
    }

    /// Fills a part of the picture; what is outside is left out.
    fn fill(&mut self, left: usize, top: usize, width: usize, height: usize, color: Rgb) {
        let ink = self.number(color);
        let right = (left + width).min(self.width);
        for row in self.pixels.chunks_mut(self.width.max(1)).skip(top).take(height) {
            if let Some(part) = row.get_mut(left.min(right)..right) {
                part.fill(ink);
            }
        }
    }

    /// Covers a part of a pixel, in steps up to [`FULL`].
    fn blend(&mut self, x: usize, y: usize, ink: Ink, cover: u8) {
        let at = y * self.width + x;
        let Some(under) = self.pixels.get(at).copied().filter(|_| x < self.width) else { return };
        let steps = match self.steps.get(&(under, ink)) {
            Some(steps) => *steps,
            None => self.mixed(under, ink),
        };
        if let (Some(pixel), Some(step)) = (self.pixels.get_mut(at), steps.get(usize::from(cover)))
        {
            *pixel = *step;
        }
    }

    fn mixed(&mut self, under: Ink, ink: Ink) -> [Ink; FULL as usize + 1] {
        let (from, to) = (self.color(under), self.color(ink));
        let mut cover = 0_u8;
        let steps = [(); FULL as usize + 1].map(|()| {
            let share = f32::from(cover) / f32::from(FULL);
            cover += 1;
            self.number(mix(from, to, share))
        });
        self.steps.insert((under, ink), steps);
        steps
    }

    fn ground(&mut self, x: usize, y: usize, cell: &Cell, inks: Inks) {
        let width = CELL_WIDTH * usize::from(cell.width);
        self.fill(x * CELL_WIDTH, y * CELL_HEIGHT, width, CELL_HEIGHT, inks.bg);
    }

    fn write(&mut self, x: usize, y: usize, cell: &Cell, inks: Inks, fonts: &mut Fonts) {
        let (left, top) = (x * CELL_WIDTH, y * CELL_HEIGHT);
        let style = &cell.style;
        let wanted = Wanted {
            c: cell.c,
            marks: cell.marks.clone(),
            width: cell.width,
            bold: style.bold,
            italic: style.italic,
        };
        let ink = self.number(inks.fg);
        for (dx, dy, cover) in fonts.mask(wanted).pixels() {
            if let (Some(x), Some(y)) = (left.checked_add_signed(dx), top.checked_add_signed(dy)) {
                self.blend(x, y, ink, cover);
            }
        }
        let width = CELL_WIDTH * usize::from(cell.width);
        self.underline(left, top, width, style.underline, inks.line);
        if style.strike {
            self.fill(left, top + STRIKE, width, 1, inks.fg);
        }
        if style.overline {
            self.fill(left, top, width, 1, inks.fg);
        }
    }

    fn underline(&mut self, left: usize, top: usize, width: usize, kind: Underline, ink: Rgb) {
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
                for x in (left..left + width).filter(|x| x % CELL_WIDTH < 6) {
                    self.fill(x, line, 1, 1, ink);
                }
            }
            Underline::Curly => {
                let ink = self.number(ink);
                for x in left..left + width {
                    let turn = (x % CELL_WIDTH) as f32 / CELL_WIDTH as f32 * std::f32::consts::TAU;
                    let middle = 15.5 + 1.3 * turn.sin();
                    for row in 13..CELL_HEIGHT {
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
    fn cursor(&mut self, x: usize, y: usize, shape: CursorShape, color: Rgb) {
        let (left, top) = (x * CELL_WIDTH, y * CELL_HEIGHT);
        match shape {
            CursorShape::Block => {}
            CursorShape::Underline => {
                self.fill(left, top + CELL_HEIGHT - 2, CELL_WIDTH, 2, color);
            }
            CursorShape::Bar => self.fill(left, top, 2, CELL_HEIGHT, color),
        }
    }

    /// The picture as a file, given the colours that must be exact: those of text and grounds, not
    /// those at the edges of letters.
    fn encode(&self, exact: impl Iterator<Item = Rgb>) -> Result<Vec<u8>, EncodingError> {
        let mut file = Vec::new();
        let size = |pixels: usize| u32::try_from(pixels).unwrap_or(u32::MAX);
        let mut encoder = Encoder::new(&mut file, size(self.width), size(self.height));
        encoder.set_depth(BitDepth::Eight);
        encoder.set_filter(Filter::NoFilter);
        encoder.set_deflate_compression(DeflateCompression::Level(5));
        let bytes = match self.indexed(exact) {
            Some((colors, pixels)) => {
                encoder.set_color(ColorType::Indexed);
                encoder.set_palette(colors.concat());
                pixels
            }
            None => {
                encoder.set_color(ColorType::Rgb);
                self.pixels.iter().flat_map(|ink| self.color(*ink)).collect()
            }
        };
        encoder.write_header()?.write_image_data(&bytes)?;
        Ok(file)
    }

    /// The pixels as places in a list of as many colours as a file allows, if there is room for
    /// those that must be exact. The rarest of the others become the nearest that is there.
    fn indexed(&self, exact: impl Iterator<Item = Rgb>) -> Option<(Vec<Rgb>, Vec<u8>)> {
        const MOST: usize = 256;
        let mut counts = vec![0_usize; self.colors.len()];
        for run in self.pixels.chunk_by(|a, b| a == b) {
            *counts.get_mut(*run.first()? as usize)? += run.len();
        }
        let mut is_exact = vec![false; self.colors.len()];
        for color in exact {
            if let Some(ink) = self.numbers.get(&color) {
                *is_exact.get_mut(*ink as usize)? = true;
            }
        }
        let mut used: Vec<(bool, usize, Rgb, usize)> = is_exact
            .iter()
            .zip(&counts)
            .zip(&self.colors)
            .enumerate()
            .map(|(ink, ((exact, count), color))| (*exact, *count, *color, ink))
            .filter(|(_, count, ..)| *count > 0)
            .collect();
        used.sort_unstable_by(|a, b| b.cmp(a));
        if used.get(MOST).is_some_and(|(exact, ..)| *exact) {
            return None;
        }
        let rest = used.split_off(used.len().min(MOST));
        let colors: Vec<Rgb> = used.iter().map(|(_, _, color, _)| *color).collect();
        let mut places = vec![0_u8; self.colors.len()];
        for (at, (.., ink)) in used.iter().enumerate() {
            *places.get_mut(*ink)? = u8::try_from(at).ok()?;
        }
        for (_, _, color, ink) in rest {
            let nearest = colors.iter().enumerate().min_by_key(|(_, near)| distance(**near, color));
            *places.get_mut(ink)? = u8::try_from(nearest?.0).ok()?;
        }
        let place = |ink: &Ink| places.get(*ink as usize).copied().unwrap_or(0);
        Some((colors, self.pixels.iter().map(place).collect()))
    }
}

/// How different two colours are.
fn distance(a: Rgb, b: Rgb) -> u32 {
    a.iter().zip(b).map(|(a, b)| u32::from(a.abs_diff(b)).pow(2)).sum()
}
