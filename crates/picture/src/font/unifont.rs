//! GNU Unifont: bitmaps of 16 rows for the characters that DejaVu Sans Mono lacks.
//!
//! `assets/fonts/make-unifont.py` makes the file and documents its format.

use std::collections::HashMap;
use std::io::Read;

use flate2::read::DeflateDecoder;

const FONT: &[u8] = include_bytes!("../../assets/fonts/unifont.bin");

/// The bitmap of a character. The leftmost pixel is the highest bit of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bitmap {
    pub(super) rows: [u16; 16],
    /// Width in pixels: 8 or 16.
    pub(super) width: usize,
}

/// The font, with a cache of the pages used so far.
#[derive(Default)]
pub(super) struct Unifont {
    pages: HashMap<u32, Option<FontPage>>,
}

/// The bitmaps of 256 successive code points.
struct FontPage {
    /// A bit for each code point that has a bitmap.
    present: [u8; 32],
    /// A bit for each bitmap that is 16 pixels wide.
    wide: [u8; 32],
    bitmaps: Vec<u8>,
}

impl Unifont {
    /// The bitmap of a character, if the font has it.
    pub(super) fn bitmap(&mut self, c: char) -> Option<Bitmap> {
        let code = u32::from(c);
        let page = self.pages.entry(code >> 8).or_insert_with(|| FontPage::load(code >> 8));
        page.as_ref()?.bitmap(code as u8)
    }
}

impl FontPage {
    fn load(number: u32) -> Option<Self> {
        let after_license = FONT.iter().position(|byte| *byte == 0)? + 1;
        let mut table = FONT.get(after_license..)?;
        let count = u16::from_le_bytes(take(&mut table)?);
        let mut start = 6 * usize::from(count);
        let mut index = table;
        for _ in 0..count {
            let page = u16::from_le_bytes(take(&mut index)?);
            let length = u32::from_le_bytes(take(&mut index)?) as usize;
            if u32::from(page) == number {
                let mut raw = Vec::new();
                let packed = table.get(start..start + length)?;
                DeflateDecoder::new(packed).read_to_end(&mut raw).ok()?;
                let mut raw = raw.as_slice();
                let (present, wide) = (take(&mut raw)?, take(&mut raw)?);
                return Some(Self { present, wide, bitmaps: raw.to_vec() });
            }
            start += length;
        }
        None
    }

    fn bitmap(&self, code: u8) -> Option<Bitmap> {
        if !is_set(&self.present, code) {
            return None;
        }
        let size = |code: u8| if is_set(&self.wide, code) { 32 } else { 16 };
        let before = (0..code).filter(|code| is_set(&self.present, *code));
        let start: usize = before.map(size).sum();
        let bytes = self.bitmaps.get(start..start + size(code))?;
        let mut rows = [0; 16];
        let width = bytes.len() / 2;
        for (row, bytes) in rows.iter_mut().zip(bytes.chunks(width / 8)) {
            *row = match *bytes {
                [one] => u16::from(one) << 8,
                [first, second] => u16::from_be_bytes([first, second]),
                _ => 0,
            };
        }
        Some(Bitmap { rows, width })
    }
}

fn is_set(bits: &[u8; 32], at: u8) -> bool {
    bits.get(usize::from(at / 8)).is_some_and(|byte| byte >> (at % 8) & 1 == 1)
}

/// Removes and returns the first bytes.
fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_scripts_have_bitmaps() {
        let mut font = Unifont::default();
        for c in "漢字かなカナ한글עבריתไทยहिन्दी中文，。「」Ａ🙂🚀𝒜".chars()
        {
            let bitmap = font.bitmap(c).unwrap_or_else(|| panic!("{c} is missing"));
            let marks = "िन्ी".contains(c);
            assert!(marks || bitmap.rows.iter().any(|row| *row != 0), "{c} is empty");
        }
        assert_eq!(font.bitmap('一').unwrap().width, 16);
        assert_eq!(font.bitmap('一').unwrap().rows.iter().filter(|row| **row != 0).count(), 1);
        assert_eq!(font.bitmap('א').unwrap().width, 8);
    }

    #[test]
    fn characters_of_other_fonts_have_no_bitmap() {
        let mut font = Unifont::default();
        for c in ['A', '─', '⠿', '\u{e000}', '\u{20000}', '\u{10ffff}'] {
            assert_eq!(font.bitmap(c), None, "{c:?}");
        }
    }

    #[test]
    fn font_file_starts_with_its_license() {
        let text = String::from_utf8_lossy(&FONT[..5000]);
        assert!(text.contains("Roman Czyborra") && text.contains("SIL OPEN FONT LICENSE"));
    }
}
