//! Glyphs: the pixels of a character, rendered from shapes, DejaVu Sans Mono or GNU Unifont.
//!
//! A character that no font has is shown as its code point in hexadecimal. `mask`: rasterization.
//! `unifont`: the bitmap font.

mod mask;
mod unifont;

use std::collections::HashMap;
use std::io::Read;
use std::rc::Rc;
use std::sync::LazyLock;

use flate2::read::GzDecoder;
use ttf_parser::{Face, GlyphId, Rect};

use crate::cells::Cell;
use crate::shapes::shapes;
use crate::{BASELINE, CELL_HEIGHT, CELL_WIDTH};
use mask::{
    ADVANCE, GlyphPlacement, Mask, X_HEIGHT, fill_bitmap, fill_code_point, fill_outline,
    fill_shapes,
};
use unifont::Unifont;

pub(super) use mask::{FULL_COVERAGE, Glyph};

static REGULAR: LazyLock<Vec<u8>> =
    LazyLock::new(|| decompress(include_bytes!("../../assets/fonts/DejaVuSansMono.ttf.gz")));
static BOLD: LazyLock<Vec<u8>> =
    LazyLock::new(|| decompress(include_bytes!("../../assets/fonts/DejaVuSansMono-Bold.ttf.gz")));

/// Decompresses a built-in font; empty if it were damaged.
fn decompress(packed: &[u8]) -> Vec<u8> {
    let mut font = Vec::new();
    match GzDecoder::new(packed).read_to_end(&mut font) {
        Ok(_) => font,
        Err(_) => Vec::new(),
    }
}

/// Factor for the coverage of combining marks: a dot between two pixels would hardly be visible.
const MARK_DARKNESS: f32 = 1.8;

/// Bottom of a cell in font units.
const CELL_BOTTOM: i16 = -((CELL_HEIGHT - BASELINE) as i16 * ADVANCE as i16 / CELL_WIDTH as i16);

/// Identity of a glyph in the cache.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct GlyphKey {
    c: char,
    marks: String,
    width: u8,
    bold: bool,
    italic: bool,
}

/// The index in [`Fonts::ascii`] of a cell's character, if it is an ASCII character without marks.
fn ascii_index(cell: &Cell) -> Option<usize> {
    let style = &cell.style;
    let is_plain = cell.c.is_ascii() && cell.width == 1 && cell.marks.is_empty();
    let weight = usize::from(style.bold) << 7 | usize::from(style.italic) << 8;
    is_plain.then_some(cell.c as usize | weight)
}

/// The built-in fonts, and a cache of the glyphs used so far.
pub(super) struct Fonts {
    regular: Option<Face<'static>>,
    bold: Option<Face<'static>>,
    unifont: Unifont,
    /// Glyphs by [`ascii_index`], without hashing: most cells are ASCII.
    ascii: Vec<Option<Rc<Glyph>>>,
    others: HashMap<GlyphKey, Rc<Glyph>>,
}

impl Fonts {
    pub(super) fn new() -> Self {
        Self {
            regular: Face::parse(&REGULAR, 0).ok(),
            bold: Face::parse(&BOLD, 0).ok(),
            unifont: Unifont::default(),
            ascii: vec![None; 4 * 128],
            others: HashMap::new(),
        }
    }

    /// The glyph of a cell's character.
    pub(super) fn glyph(&mut self, cell: &Cell) -> Rc<Glyph> {
        let ascii = ascii_index(cell);
        if let Some(glyph) = ascii.and_then(|at| self.ascii.get(at)?.as_ref()) {
            return Rc::clone(glyph);
        }
        let key = GlyphKey {
            c: cell.c,
            marks: cell.marks.clone(),
            width: cell.width,
            bold: cell.style.bold,
            italic: cell.style.italic,
        };
        if let Some(glyph) = self.others.get(&key) {
            return Rc::clone(glyph);
        }
        let glyph = Rc::new(self.render(&key).to_glyph());
        match ascii.and_then(|at| self.ascii.get_mut(at)) {
            Some(slot) => *slot = Some(Rc::clone(&glyph)),
            None => drop(self.others.insert(key, Rc::clone(&glyph))),
        }
        glyph
    }

    /// Renders a character with its marks.
    fn render(&mut self, key: &GlyphKey) -> Mask {
        let mut mask = Mask::new(key.width.into());
        if let Some(shapes) = shapes(key.c) {
            fill_shapes(&mut mask, &shapes);
            mask.is_shape = true;
        } else if let Some((face, glyph)) = self.outline(key.c, key.bold) {
            let room = f32::from(key.width) * ADVANCE;
            let advance = face.glyph_hor_advance(glyph).map_or(room, f32::from);
            let placement = GlyphPlacement {
                x: ((room - advance) / 2.0).max(0.0),
                y: 0.0,
                italic: key.italic,
                darkness: 1.0,
            };
            fill_outline(&mut mask, face, glyph, placement);
        } else if let Some(bitmap) = self.unifont.bitmap(key.c) {
            fill_bitmap(&mut mask, &bitmap, key);
        } else if !key.c.is_whitespace() {
            fill_code_point(&mut mask, key.c);
        }
        self.add_marks(&mut mask, key);
        mask
    }

    /// The face and glyph of a character, in bold if wanted and there is one.
    fn outline(&self, c: char, bold: bool) -> Option<(&Face<'static>, GlyphId)> {
        let faces = if bold { [&self.bold, &self.regular] } else { [&self.regular, &self.regular] };
        faces.into_iter().flatten().find_map(|face| Some((face, face.glyph_index(c)?)))
    }

    /// Puts combining marks above or below a character, clear of it and of each other.
    fn add_marks(&mut self, mask: &mut Mask, key: &GlyphKey) {
        let base = self.outline(key.c, key.bold);
        let mut occupied = base.and_then(|(face, glyph)| face.glyph_bounding_box(glyph));
        for mark in key.marks.chars().filter(|mark| is_visible_mark(*mark)) {
            let Some((face, glyph)) = self.outline(mark, key.bold) else {
                if let Some(bitmap) = self.unifont.bitmap(mark) {
                    fill_bitmap(mask, &bitmap, key);
                }
                continue;
            };
            let Some(bounds) = face.glyph_bounding_box(glyph) else { continue };
            let (x, y) = occupied.map_or((0.0, 0.0), |occupied| mark_offset(occupied, bounds));
            let placement = GlyphPlacement { x, y, italic: key.italic, darkness: MARK_DARKNESS };
            fill_outline(mask, face, glyph, placement);
            if let Some(occupied) = &mut occupied {
                occupied.y_max = occupied.y_max.max(bounds.y_max.saturating_add(y as i16));
                occupied.y_min = occupied.y_min.min(bounds.y_min.saturating_add(y as i16));
            }
        }
    }
}

/// Whether a character is a combining mark that has a glyph.
fn is_visible_mark(c: char) -> bool {
    !matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{1f3fb}'..='\u{1f3ff}' | '\u{e0000}'..)
        && unicode_width::UnicodeWidthChar::width(c) == Some(0)
}

/// The offset that moves a mark above or below the area that is occupied already.
fn mark_offset(occupied: Rect, mark: Rect) -> (f32, f32) {
    const GAP: i16 = 80;
    let middle = |rect: Rect| (f32::from(rect.x_min) + f32::from(rect.x_max)) / 2.0;
    let x = middle(occupied) - middle(mark);
    let y = if f32::from(mark.y_min) >= X_HEIGHT.0 {
        (occupied.y_max.saturating_add(GAP).saturating_sub(mark.y_min)).max(0)
    } else if mark.y_max <= 0 {
        let down = occupied.y_min.saturating_sub(GAP).saturating_sub(mark.y_max);
        // A mark stays in the cell: without room below a descender it is beside it.
        down.max(CELL_BOTTOM.saturating_sub(mark.y_min)).min(0)
    } else {
        0
    };
    (x, f32::from(y))
}
