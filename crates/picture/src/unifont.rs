//! GNU Unifont: a bitmap of 16 rows for every character that the other fonts lack. The format is
//! described in `assets/fonts/make-unifont.py`.

use std::collections::HashMap;
use std::io::Read;

use flate2::read::DeflateDecoder;

const TABLE: &[u8] = include_bytes!("../assets/fonts/unifont.bin");

/// The rows of a character; the leftmost pixel is the highest bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bitmap {
    pub(super) rows: [u16; 16],
    /// 8 or 16 pixels.
    pub(super) width: usize,
}

/// The font, with the pages that were used.
#[derive(Default)]
pub(super) struct Unifont {
    pages: HashMap<u32, Option<Page>>,
}

/// 256 characters.
struct Page {
    there: [u8; 32],
    wide: [u8; 32],
    bitmaps: Vec<u8>,
}

impl Unifont {
    /// A character's bitmap, if there is one.
    pub(super) fn bitmap(&mut self, c: char) -> Option<Bitmap> {
        let code = u32::from(c);
        let page = self.pages.entry(code >> 8).or_insert_with(|| Page::load(code >> 8));
        page.as_ref()?.bitmap(code as u8)
    }
}

impl Page {
    fn load(number: u32) -> Option<Self> {
        let after_license = TABLE.iter().position(|byte| *byte == 0)? + 1;
        let mut table = TABLE.get(after_license..)?;
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
                let (there, wide) = (take(&mut raw)?, take(&mut raw)?);
                return Some(Self { there, wide, bitmaps: raw.to_vec() });
            }
            start += length;
        }
        None
    }

    fn bitmap(&self, code: u8) -> Option<Bitmap> {
        if !is_set(&self.there, code) {
            return None;
        }
        let size = |code: u8| if is_set(&self.wide, code) { 32 } else { 16 };
        let before = (0..code).filter(|code| is_set(&self.there, *code));
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

/// The first bytes, which are taken off.
fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_common_script_is_there() {
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
    fn what_is_elsewhere_or_nowhere_is_missing() {
        let mut font = Unifont::default();
        for c in ['A', '─', '⠿', '\u{e000}', '\u{20000}', '\u{10ffff}'] {
            assert_eq!(font.bitmap(c), None, "{c:?}");
        }
    }

    #[test]
    fn the_license_comes_with_the_font() {
        let text = String::from_utf8_lossy(&TABLE[..5000]);
        assert!(text.contains("Roman Czyborra") && text.contains("SIL OPEN FONT LICENSE"));
    }
}
