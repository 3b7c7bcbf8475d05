//! How the panes of a window are arranged, in tmux's own words. Pure.
//!
//! No version looks closely at a layout before it uses it: 3.3 and 3.3a die of any word that is
//! none, and newer ones of a layout whose end is missing. So nothing reaches tmux that is not right.

use std::fmt;

use crate::version::Version;

/// The names of layouts.
const NAMES: &[&str] =
    &["even-horizontal", "even-vertical", "main-horizontal", "main-vertical", "tiled"];
const MIRRORED: &[&str] = &["main-horizontal-mirrored", "main-vertical-mirrored"];

/// The largest window.
const LARGEST: u32 = 10_000;

/// Deeper than anybody splits.
const DEEPEST: usize = 64;

/// What is wrong with a layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LayoutError {
    /// It is neither a name nor what `window_layout` prints.
    Unknown,
    /// The name means something from 3.5 on only.
    TooNew,
    /// It was printed, but has been changed or cut since.
    Damaged,
    /// It is for another number of panes.
    Panes {
        /// For how many.
        cells: usize,
    },
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("is no layout"),
            Self::TooNew => f.write_str("needs tmux 3.5"),
            Self::Damaged => f.write_str("is not as tmux printed it"),
            Self::Panes { cells: 1 } => f.write_str("is for one pane"),
            Self::Panes { cells } => write!(f, "is for {cells} panes"),
        }
    }
}

/// The names that this version knows.
pub fn names(version: Version) -> Vec<&'static str> {
    let mirrored = if version.has_mirrored_layouts() { MIRRORED } else { &[] };
    [NAMES, mirrored].concat()
}

/// Whether this is the name of a layout, or one that tmux printed for a window with so many panes.
pub fn check(layout: &str, version: Version, panes: usize) -> Result<(), LayoutError> {
    if names(version).contains(&layout) {
        return Ok(());
    }
    if MIRRORED.contains(&layout) {
        return Err(LayoutError::TooNew);
    }
    let (sum, text) = layout.split_once(',').ok_or(LayoutError::Unknown)?;
    if sum.len() != 4 || !sum.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(LayoutError::Unknown);
    }
    if u16::from_str_radix(sum, 16) != Ok(checksum(text)) {
        return Err(LayoutError::Damaged);
    }
    let mut reader = Reader { rest: text, cells: 0 };
    if reader.cell(0).is_none() || !reader.rest.is_empty() {
        return Err(LayoutError::Damaged);
    }
    match reader.cells {
        cells if cells == panes => Ok(()),
        cells => Err(LayoutError::Panes { cells }),
    }
}

fn checksum(text: &str) -> u16 {
    text.bytes().fold(0, |sum: u16, byte| sum.rotate_right(1).wrapping_add(u16::from(byte)))
}

struct Reader<'a> {
    rest: &'a str,
    cells: usize,
}

impl Reader<'_> {
    /// `WxH,X,Y`, then the number of a pane or the cells inside. Returns the size.
    fn cell(&mut self, depth: usize) -> Option<(u32, u32)> {
        let width = self.number()?;
        self.expect('x')?;
        let height = self.number()?;
        for _ in 0..2 {
            self.expect(',')?;
            self.number()?;
        }
        let sized = (1..=LARGEST).contains(&width) && (1..=LARGEST).contains(&height);
        if !sized || depth > DEEPEST {
            return None;
        }
        match self.rest.chars().next()? {
            '{' => self.inside('}', depth, |(w, h)| (w, h), (width, height))?,
            '[' => self.inside(']', depth, |(w, h)| (h, w), (width, height))?,
            _ => {
                self.expect(',')?;
                self.number()?;
                self.cells += 1;
            }
        }
        Some((width, height))
    }

    /// The cells of another one: with a line between any two they fill it along one side, and on the
    /// other they are as long as it is.
    fn inside(
        &mut self,
        close: char,
        depth: usize,
        sides: fn((u32, u32)) -> (u32, u32),
        size: (u32, u32),
    ) -> Option<()> {
        let (along, across) = sides(size);
        let (mut sum, mut count) = (0, 0);
        loop {
            self.rest = self.rest.get(1..)?;
            let (length, breadth) = sides(self.cell(depth + 1)?);
            if breadth != across {
                return None;
            }
            sum += length;
            count += 1;
            if !self.rest.starts_with(',') {
                break;
            }
        }
        self.expect(close)?;
        (count > 1 && sum + count - 1 == along).then_some(())
    }

    fn expect(&mut self, c: char) -> Option<()> {
        self.rest = self.rest.strip_prefix(c)?;
        Some(())
    }

    fn number(&mut self) -> Option<u32> {
        let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = self.rest.split_at_checked(digits)?;
        self.rest = rest;
        number.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(text: &str) -> String {
        format!("{:04x},{text}", checksum(text))
    }

    fn check_33(layout: &str, panes: usize) -> Result<(), LayoutError> {
        check(layout, Version::parse("3.3a"), panes)
    }

    #[test]
    fn names_are_taken_whole_and_by_version() {
        assert_eq!(check_33("tiled", 3), Ok(()));
        for wrong in ["", "even-h", "main", "TILED", "tiled ", "-x", "#(touch x)", "é,"] {
            assert_eq!(check_33(wrong, 3), Err(LayoutError::Unknown), "{wrong:?}");
        }
        let mirrored = "main-vertical-mirrored";
        assert_eq!(check_33(mirrored, 3), Err(LayoutError::TooNew));
        assert_eq!(check(mirrored, Version::parse("3.5"), 3), Ok(()));
    }

    #[test]
    fn what_tmux_printed_is_right() {
        for (layout, panes) in [
            ("aa7d,100x40,0,0,0", 1),
            ("78c4,100x40,0,0{32x40,0,0,0,32x40,33,0,2,34x40,66,0,1}", 3),
            ("cc96,100x40,0,0[100x19,0,0{49x19,0,0,0,50x19,50,0,2},100x20,0,20,1]", 3),
            ("986a,3x3,0,0{1x3,0,0,0,1x3,2,0[1x1,2,0,2,1x1,2,2,1]}", 3),
        ] {
            assert_eq!(check_33(layout, panes), Ok(()), "{layout}");
            assert_eq!(check_33(layout, 9), Err(LayoutError::Panes { cells: panes }));
        }
    }

    #[test]
    fn what_was_changed_since_is_not() {
        let deep = "9x9,0,0{".repeat(100_000);
        for text in [
            "zz",
            "",
            "100x40,0,0",
            "100x40,0,0{",
            "100x40,0,0{50x40,0,0,0}",
            "100x40,0,0{50x40,0,0,0,49x40,51,0,1",
            "100x40,0,0{50x40,0,0,0,49x40,51,0,1]",
            "100x40,0,0{50x40,0,0,0,49x40,51,0,1}x",
            "100x40,0,0{50x40,0,0,0,50x40,51,0,1}",
            "100x40,0,0{50x40,0,0,0,49x39,51,0,1}",
            "0x0,0,0,0",
            "4000000000x40,0,0,0",
            "99999999999x40,0,0,0",
            "100x40,0,0,é",
            &deep,
        ] {
            assert_eq!(check_33(&printed(text), 2), Err(LayoutError::Damaged), "{text:.60}");
        }
        assert_eq!(check_33("0000,100x40,0,0,0", 1), Err(LayoutError::Damaged));
    }
}
