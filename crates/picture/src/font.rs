//! Characters as pixels: drawn, from an outline, from a bitmap, or as their number.

use std::collections::HashMap;
use std::io::Read;
use std::rc::Rc;
use std::sync::LazyLock;

use ab_glyph_rasterizer::{Point, Rasterizer, point};
use flate2::read::GzDecoder;
use ttf_parser::{Face, GlyphId, OutlineBuilder, Rect};

use super::cells::Cell;
use super::shapes::{Shape, shapes};
use super::unifont::{Bitmap, Unifont};
use super::{BASELINE, CELL_HEIGHT, CELL_WIDTH};

static REGULAR: LazyLock<Vec<u8>> =
    LazyLock::new(|| unpacked(include_bytes!("../assets/fonts/DejaVuSansMono.ttf.gz")));
static BOLD: LazyLock<Vec<u8>> =
    LazyLock::new(|| unpacked(include_bytes!("../assets/fonts/DejaVuSansMono-Bold.ttf.gz")));

/// A font that is packed in the program; nothing if it were damaged.
fn unpacked(packed: &[u8]) -> Vec<u8> {
    let mut font = Vec::new();
    match GzDecoder::new(packed).read_to_end(&mut font) {
        Ok(_) => font,
        Err(_) => Vec::new(),
    }
}

/// How many steps there are between none of a pixel and all of it. Few, so that there are few
/// colours and pictures are small.
pub(super) const FULL: u8 = 4;

/// What a character may reach over the edges of its cell.
const MARGIN: usize = 3;

/// The width of a letter in the font's units.
const ADVANCE: f32 = 1233.0;

/// Heights in the font's units that are put on whole pixels, for sharp edges: of small letters and
/// of capitals.
const SMALL: (f32, f32) = (1120.0, 7.0);
const CAPITAL: (f32, f32) = (1493.0, 10.0);

/// How dark marks are written: a dot that falls between pixels would hardly be seen.
const MARK_COVER: f32 = 1.8;

/// The bottom of a cell in the font's units.
const LOWEST: i16 = -((CELL_HEIGHT - BASELINE) as i16 * ADVANCE as i16 / CELL_WIDTH as i16);

/// How far slanted letters lean, and the height at which they stay in place.
const SLANT: f32 = 0.2;
const SLANT_FROM: f32 = 5.0;

/// Which character, and how.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Wanted {
    c: char,
    marks: String,
    width: u8,
    bold: bool,
    italic: bool,
}

/// The place of a cell's character in [`Fonts::ascii`], if it has one.
fn ascii_index(cell: &Cell) -> Option<usize> {
    let style = &cell.style;
    let is_plain = cell.c.is_ascii() && cell.width == 1 && cell.marks.is_empty();
    let weight = usize::from(style.bold) << 7 | usize::from(style.italic) << 8;
    is_plain.then_some(cell.c as usize | weight)
}

/// How much of each pixel of a cell, and of a margin around it, a character covers: 0 to [`FULL`].
struct Mask {
    drawn: bool,
    width: usize,
    cover: Vec<u8>,
}

impl Mask {
    fn new(columns: usize) -> Self {
        let width = columns * CELL_WIDTH + 2 * MARGIN;
        Self { drawn: false, width, cover: vec![0; width * (CELL_HEIGHT + 2 * MARGIN)] }
    }

    /// The pixels that are covered at all.
    fn glyph(&self) -> Glyph {
        let margin = MARGIN as i8;
        let rows = (-margin..).zip(self.cover.chunks(self.width));
        let pixels = rows.flat_map(|(y, row)| {
            let covered = (-margin..).zip(row).filter(|(_, cover)| **cover > 0);
            covered.map(move |(x, cover)| (x, y, *cover))
        });
        Glyph { drawn: self.drawn, pixels: pixels.collect() }
    }

    /// Covers a pixel of the cell, if it is in the mask.
    fn set(&mut self, x: usize, y: usize, cover: u8) {
        let (x, y) = (x + MARGIN, y + MARGIN);
        if x < self.width
            && let Some(pixel) = self.cover.get_mut(y * self.width + x)
        {
            *pixel = cover.max(*pixel);
        }
    }

    /// Adds what a rasterizer of the same size holds.
    fn add(&mut self, raster: &Rasterizer, cover: f32) {
        raster.for_each_pixel(|at, part| {
            if let Some(pixel) = self.cover.get_mut(at) {
                let part = ((part * cover).clamp(0.0, 1.0) * f32::from(FULL)).round() as u8;
                *pixel = part.max(*pixel);
            }
        });
    }

    fn raster(&self) -> Rasterizer {
        Rasterizer::new(self.width, CELL_HEIGHT + 2 * MARGIN)
    }
}

/// The pixels that a character covers.
#[derive(Debug)]
pub(super) struct Glyph {
    /// Whether it is a part of a drawing, and no letter.
    pub(super) drawn: bool,
    /// Column and row from the cell's corner, and how much is covered: 1 to [`FULL`].
    pub(super) pixels: Vec<(i8, i8, u8)>,
}

/// All fonts, and the characters that were needed.
pub(super) struct Fonts {
    regular: Option<Face<'static>>,
    bold: Option<Face<'static>>,
    unifont: Unifont,
    /// ASCII characters of one column by [`ascii_index`]: most cells, and no hashing.
    ascii: Vec<Option<Rc<Glyph>>>,
    known: HashMap<Wanted, Rc<Glyph>>,
}

impl Fonts {
    pub(super) fn new() -> Self {
        Self {
            regular: Face::parse(&REGULAR, 0).ok(),
            bold: Face::parse(&BOLD, 0).ok(),
            unifont: Unifont::default(),
            ascii: vec![None; 4 * 128],
            known: HashMap::new(),
        }
    }

    /// The character of a cell as pixels.
    pub(super) fn glyph(&mut self, cell: &Cell) -> Rc<Glyph> {
        let ascii = ascii_index(cell);
        if let Some(glyph) = ascii.and_then(|at| self.ascii.get(at)?.as_ref()) {
            return Rc::clone(glyph);
        }
        let wanted = Wanted {
            c: cell.c,
            marks: cell.marks.clone(),
            width: cell.width,
            bold: cell.style.bold,
            italic: cell.style.italic,
        };
        let Some(at) = ascii else {
            if let Some(glyph) = self.known.get(&wanted) {
                return Rc::clone(glyph);
            }
            let glyph = Rc::new(self.make(&wanted).glyph());
            self.known.insert(wanted, Rc::clone(&glyph));
            return glyph;
        };
        let glyph = Rc::new(self.make(&wanted).glyph());
        if let Some(slot) = self.ascii.get_mut(at) {
            *slot = Some(Rc::clone(&glyph));
        }
        glyph
    }

    fn make(&mut self, wanted: &Wanted) -> Mask {
        let mut mask = Mask::new(wanted.width.into());
        if let Some(shapes) = shapes(wanted.c) {
            draw(&mut mask, &shapes);
            mask.drawn = true;
        } else if let Some((face, glyph)) = self.outline(wanted.c, wanted.bold) {
            let room = f32::from(wanted.width) * ADVANCE;
            let advance = face.glyph_hor_advance(glyph).map_or(room, f32::from);
            let place = Place {
                x: ((room - advance) / 2.0).max(0.0),
                y: 0.0,
                italic: wanted.italic,
                cover: 1.0,
            };
            write(&mut mask, face, glyph, place);
        } else if let Some(bitmap) = self.unifont.bitmap(wanted.c) {
            stamp(&mut mask, &bitmap, wanted);
        } else if !wanted.c.is_whitespace() {
            number(&mut mask, wanted.c);
        }
        self.add_marks(&mut mask, wanted);
        mask
    }

    fn outline(&self, c: char, bold: bool) -> Option<(&Face<'static>, GlyphId)> {
        let faces = if bold { [&self.bold, &self.regular] } else { [&self.regular, &self.regular] };
        faces.into_iter().flatten().find_map(|face| Some((face, face.glyph_index(c)?)))
    }

    /// Puts marks on a character: over it, or under it, each clear of what is there.
    fn add_marks(&mut self, mask: &mut Mask, wanted: &Wanted) {
        let base = self.outline(wanted.c, wanted.bold);
        let mut taken = base.and_then(|(face, glyph)| face.glyph_bounding_box(glyph));
        for mark in wanted.marks.chars().filter(|mark| is_mark(*mark)) {
            let Some((face, glyph)) = self.outline(mark, wanted.bold) else {
                if let Some(bitmap) = self.unifont.bitmap(mark) {
                    stamp(mask, &bitmap, wanted);
                }
                continue;
            };
            let Some(bounds) = face.glyph_bounding_box(glyph) else { continue };
            let (x, y) = taken.map_or((0.0, 0.0), |taken| beside(taken, bounds));
            write(mask, face, glyph, Place { x, y, italic: wanted.italic, cover: MARK_COVER });
            if let Some(taken) = &mut taken {
                taken.y_max = taken.y_max.max(bounds.y_max.saturating_add(y as i16));
                taken.y_min = taken.y_min.min(bounds.y_min.saturating_add(y as i16));
            }
        }
    }
}

/// Whether a character without a width is something to draw.
fn is_mark(c: char) -> bool {
    !matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{1f3fb}'..='\u{1f3ff}' | '\u{e0000}'..)
        && unicode_width::UnicodeWidthChar::width(c) == Some(0)
}

/// How a mark has to be moved to be over, or under, what is there.
fn beside(taken: Rect, mark: Rect) -> (f32, f32) {
    const GAP: i16 = 80;
    let middle = |rect: Rect| (f32::from(rect.x_min) + f32::from(rect.x_max)) / 2.0;
    let x = middle(taken) - middle(mark);
    let y = if f32::from(mark.y_min) >= SMALL.0 {
        (taken.y_max.saturating_add(GAP).saturating_sub(mark.y_min)).max(0)
    } else if mark.y_max <= 0 {
        let down = taken.y_min.saturating_sub(GAP).saturating_sub(mark.y_max);
        // Not out of the cell: beside what hangs down, where there is no room below it.
        down.max(LOWEST.saturating_sub(mark.y_min)).min(0)
    } else {
        0
    };
    (x, f32::from(y))
}

/// Where an outline goes, in the font's units, and whether it leans.
#[derive(Clone, Copy)]
struct Place {
    x: f32,
    y: f32,
    italic: bool,
    /// How dark it is written.
    cover: f32,
}

/// Writes an outline into a mask.
fn write(mask: &mut Mask, face: &Face<'_>, glyph: GlyphId, place: Place) {
    let mut pen = Pen {
        raster: mask.raster(),
        right: mask.width as f32,
        place,
        start: point(0.0, 0.0),
        at: point(0.0, 0.0),
    };
    face.outline_glyph(glyph, &mut pen);
    mask.add(&pen.raster, place.cover);
}

struct Pen {
    raster: Rasterizer,
    right: f32,
    place: Place,
    start: Point,
    at: Point,
}

impl Pen {
    /// A place in the font's units as one in the mask. What is outside is moved to its edge.
    fn point(&self, x: f32, y: f32) -> Point {
        let y = height(y + self.place.y);
        let lean = if self.place.italic { (y - SLANT_FROM) * SLANT } else { 0.0 };
        let x = (x + self.place.x) * CELL_WIDTH as f32 / ADVANCE + lean;
        let margin = MARGIN as f32;
        let bottom = CELL_HEIGHT as f32 + 2.0 * margin;
        point(
            (x + margin).clamp(0.0, self.right),
            (BASELINE as f32 - y + margin).clamp(0.0, bottom),
        )
    }
}

/// A height above the baseline in pixels.
fn height(y: f32) -> f32 {
    let scale = CELL_WIDTH as f32 / ADVANCE;
    let ((small, small_pixels), (capital, capital_pixels)) = (SMALL, CAPITAL);
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

/// Fills shapes.
fn draw(mask: &mut Mask, shapes: &[Shape]) {
    let margin = MARGIN as f32;
    for shape in shapes {
        let mut raster = mask.raster();
        let corner = |(x, y): &(f32, f32)| point(x + margin, y + margin);
        let next = shape.points.iter().cycle().skip(1);
        for (from, to) in shape.points.iter().zip(next) {
            raster.draw_line(corner(from), corner(to));
        }
        mask.add(&raster, shape.cover);
    }
}

/// Puts a bitmap into the middle of the cell; one that is too wide is squeezed.
fn stamp(mask: &mut Mask, bitmap: &Bitmap, wanted: &Wanted) {
    let room = usize::from(wanted.width) * CELL_WIDTH;
    let squeeze = if bitmap.width > room { 2 } else { 1 };
    let left = room.saturating_sub(bitmap.width / squeeze) / 2;
    for (y, row) in bitmap.rows.iter().enumerate() {
        let lean = if wanted.italic { (16 - y) / 5 } else { 1 };
        for column in 0..bitmap.width / squeeze {
            let bits = row << (column * squeeze) >> (16 - squeeze);
            let cover = FULL * bits.count_ones() as u8 / squeeze as u8;
            let x = (left + column + lean).saturating_sub(1);
            mask.set(x, y, cover);
            if wanted.bold {
                mask.set(x + 1, y, cover);
            }
        }
    }
}

/// A filled box with the character's number in it, two digits in a row.
fn number(mask: &mut Mask, c: char) {
    // Of each hexadecimal digit five rows of three pixels.
    const DIGITS: [u16; 16] = [
        0o75557, 0o26227, 0o71747, 0o71717, 0o55711, 0o74717, 0o74757, 0o71122, 0o75757, 0o75717,
        0o25755, 0o65656, 0o34443, 0o65556, 0o74647, 0o74644,
    ];
    let columns = (mask.width - 2 * MARGIN) / CELL_WIDTH;
    let left = (columns - 1) * CELL_WIDTH / 2;
    for y in 0..CELL_HEIGHT {
        (0..CELL_WIDTH).for_each(|x| mask.set(left + x, y, FULL));
    }
    let digits = format!("{:06X}", u32::from(c));
    for (at, digit) in digits.chars().filter_map(|digit| digit.to_digit(16)).enumerate() {
        let rows = DIGITS.get(digit as usize).copied().unwrap_or(0);
        for bit in (0..15).filter(|bit| rows >> (14 - bit) & 1 == 1) {
            let x = MARGIN + left + 1 + at % 2 * 4 + bit % 3;
            let y = MARGIN + 1 + at / 2 * 6 + bit / 3;
            if let Some(pixel) = mask.cover.get_mut(y * mask.width + x) {
                *pixel = 0;
            }
        }
    }
}
