//! Window layouts: the names tmux knows, and the strings that `window_layout` prints. Pure.
//!
//! No tmux version validates a layout before it applies it: the servers of 3.3 and 3.3a crash on
//! any unknown name, those of newer versions on a layout that is cut off. So a layout is validated
//! here before it is sent.

use std::fmt;

use crate::version::Version;

/// The layout names of every version.
const LAYOUT_NAMES: &[&str] =
    &["even-horizontal", "even-vertical", "main-horizontal", "main-vertical", "tiled"];

/// The layout names added in 3.5.
const MIRRORED_LAYOUT_NAMES: &[&str] = &["main-horizontal-mirrored", "main-vertical-mirrored"];

/// tmux's limit for the width and height of a window.
const MAX_WINDOW_SIDE: u32 = 10_000;

/// How deep cells may be nested; far more than people split windows.
const MAX_CELL_DEPTH: usize = 64;

/// The reason why a layout is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LayoutError {
    /// The text is neither a layout name nor a layout string.
    Unknown,
    /// The name exists from 3.5 on.
    TooNew,
    /// The layout string was changed or cut after tmux printed it.
    Damaged,
    /// The layout string has another number of panes than the window.
    Panes {
        /// The number of panes in the layout string.
        cells: usize,
    },
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("is not a layout"),
            Self::TooNew => f.write_str("needs tmux 3.5"),
            Self::Damaged => f.write_str("was changed or cut after tmux printed it"),
            Self::Panes { cells: 1 } => f.write_str("is for one pane"),
            Self::Panes { cells } => write!(f, "is for {cells} panes"),
        }
    }
}

/// The layout names of this version.
pub fn names(version: Version) -> Vec<&'static str> {
    let mirrored = if version.has_mirrored_layouts() { MIRRORED_LAYOUT_NAMES } else { &[] };
    [LAYOUT_NAMES, mirrored].concat()
}

/// Accepts a layout name, or a layout string that tmux printed for a window with `panes` panes.
pub fn check(layout: &str, version: Version, panes: usize) -> Result<(), LayoutError> {
    if names(version).contains(&layout) {
        return Ok(());
    }
    if MIRRORED_LAYOUT_NAMES.contains(&layout) {
        return Err(LayoutError::TooNew);
    }
    let (sum, text) = layout.split_once(',').ok_or(LayoutError::Unknown)?;
    if sum.len() != 4 || !sum.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(LayoutError::Unknown);
    }
    if u16::from_str_radix(sum, 16) != Ok(checksum(text)) {
        return Err(LayoutError::Damaged);
    }
    let mut parser = LayoutParser { rest: text, cells: 0 };
    if parser.cell(0).is_none() || !parser.rest.is_empty() {
        return Err(LayoutError::Damaged);
    }
    match parser.cells {
        cells if cells == panes => Ok(()),
        cells => Err(LayoutError::Panes { cells }),
    }
}

fn checksum(text: &str) -> u16 {
    text.bytes().fold(0, |sum: u16, byte| sum.rotate_right(1).wrapping_add(u16::from(byte)))
}

struct LayoutParser<'a> {
    rest: &'a str,
    /// The number of panes read so far.
    cells: usize,
}

impl LayoutParser<'_> {
    /// Reads a cell: `WxH,X,Y`, then the number of a pane or the nested cells. Returns the size.
    fn cell(&mut self, depth: usize) -> Option<(u32, u32)> {
        let width = self.number()?;
        self.expect('x')?;
        let height = self.number()?;
        for _ in 0..2 {
            self.expect(',')?;
            self.number()?;
        }
        let allowed = 1..=MAX_WINDOW_SIDE;
        if !allowed.contains(&width) || !allowed.contains(&height) || depth > MAX_CELL_DEPTH {
            return None;
        }
        match self.rest.chars().next()? {
            '{' => self.nested_cells('}', depth, |(w, h)| (w, h), (width, height))?,
            '[' => self.nested_cells(']', depth, |(w, h)| (h, w), (width, height))?,
            _ => {
                self.expect(',')?;
                self.number()?;
                self.cells += 1;
            }
        }
        Some((width, height))
    }

    /// Reads the cells within a cell of `size`. Along one side they fill it, with a border of one
    /// between neighbours; across it each has its full breadth. `sides` orders a size as (along,
    /// across).
    fn nested_cells(
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

    fn with_checksum(text: &str) -> String {
        format!("{:04x},{text}", checksum(text))
    }

    fn check_33(layout: &str, panes: usize) -> Result<(), LayoutError> {
        check(layout, Version::parse("3.3a"), panes)
    }

    #[test]
    fn names_are_exact_and_depend_on_version() {
        assert_eq!(check_33("tiled", 3), Ok(()));
        for wrong in ["", "even-h", "main", "TILED", "tiled ", "-x", "#(touch x)", "é,"] {
            assert_eq!(check_33(wrong, 3), Err(LayoutError::Unknown), "{wrong:?}");
        }
        let mirrored = "main-vertical-mirrored";
        assert_eq!(check_33(mirrored, 3), Err(LayoutError::TooNew));
        assert_eq!(check(mirrored, Version::parse("3.5"), 3), Ok(()));
    }

    #[test]
    fn layouts_printed_by_tmux_are_accepted() {
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
    fn damaged_layouts_are_refused() {
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
            assert_eq!(check_33(&with_checksum(text), 2), Err(LayoutError::Damaged), "{text:.60}");
        }
        assert_eq!(check_33("0000,100x40,0,0,0", 1), Err(LayoutError::Damaged));
    }
}
