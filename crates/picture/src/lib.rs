//! Pictures of a terminal screen as PNG, SVG or HTML, rendered from tmux's `capture-pane` output.
//!
//! No browser and no display are needed. The fonts are part of the library, so a PNG is the same on
//! every machine.
//!
//! ```
//! use picture::{Picture, ScreenCapture, Theme};
//!
//! let capture = ScreenCapture {
//!     text: b"\x1b[32mok\x1b[0m 12 tests passed",
//!     columns: 20,
//!     rows: 1,
//!     cursor: None,
//!     tabs: "",
//!     wide_emoji: true,
//!     fg: "default",
//!     bg: "default",
//! };
//! let picture = Picture::new(&capture, Theme::Dark);
//! assert_eq!(picture.size(), (160, 16));
//! assert!(picture.png()?.starts_with(b"\x89PNG"));
//! assert!(picture.svg().contains("12 tests passed"));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Layout:
//!
//! - `cells`: parses a capture into styled cells. `palette`: themes, and the RGB colours of a cell.
//! - `shapes`: polygons for box-drawing and similar characters. `font`: glyphs for all others.
//! - `png`, `svg`, `html`: the three formats. `color_table`: the indexed colours of a PNG. `markup`:
//!   helpers of SVG and HTML.

mod cells;
mod color_table;
mod font;
mod html;
mod markup;
mod palette;
mod png;
mod shapes;
mod svg;
#[cfg(test)]
mod tests;

use std::io;
use std::ops::Range;

use cells::{Cell, Grid, Style};
use palette::{CellColors, Palette};

pub use palette::Theme;

/// Width of a cell in pixels.
const CELL_WIDTH: usize = 8;
/// Height of a cell in pixels.
const CELL_HEIGHT: usize = 16;
/// Pixel row of a cell on which letters stand.
const BASELINE: usize = 12;
/// Pixel row of a cell that holds an underline.
const UNDERLINE: usize = 14;
/// Pixel row of a cell that holds a strikethrough.
const STRIKETHROUGH: usize = 8;
/// CSS font size in pixels at which DejaVu Sans Mono letters are as wide as a cell.
const FONT_SIZE: &str = "13.29";

/// A captured terminal screen: its text and the properties that the text does not contain.
#[derive(Debug)]
pub struct ScreenCapture<'a> {
    /// Rows as tmux's `capture-pane` prints them with `-e` (colours) and `-N` (trailing spaces).
    pub text: &'a [u8],
    /// Number of columns.
    pub columns: u32,
    /// Number of rows.
    pub rows: u32,
    /// Position and shape of the cursor; `None` while it is hidden.
    pub cursor: Option<ScreenCursor>,
    /// Tab stops as tmux's `pane_tabs` lists them; if empty, every eighth column.
    pub tabs: &'a str,
    /// Whether U+FE0F (emoji style) makes the character before it two columns wide.
    pub wide_emoji: bool,
    /// Default text colour as tmux's `pane_fg` names it, such as `default` or `#102030`.
    pub fg: &'a str,
    /// Default background colour as tmux's `pane_bg` names it.
    pub bg: &'a str,
}

/// Position and shape of a visible cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScreenCursor {
    /// Column, from 0.
    pub x: u32,
    /// Row, from 0.
    pub y: u32,
    /// Shape.
    pub shape: CursorShape,
}

impl ScreenCursor {
    /// Whether this is a block cursor on the cell that starts at column `x` of row `y` and is `width`
    /// columns wide.
    fn covers(&self, x: usize, y: usize, width: u8) -> bool {
        let columns = x..x + usize::from(width);
        self.shape == CursorShape::Block && self.row() == y && columns.contains(&self.column())
    }

    fn column(&self) -> usize {
        self.x as usize
    }

    fn row(&self) -> usize {
        self.y as usize
    }
}

/// Shape of a cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CursorShape {
    /// The whole cell, with inverted colours.
    Block,
    /// A line at the bottom of the cell.
    Underline,
    /// A line at the left edge of the cell.
    Bar,
}

/// A picture of a screen, parsed and coloured but not yet rendered in a format.
#[derive(Debug)]
pub struct Picture {
    grid: Grid,
    /// The colours of each cell of `grid`.
    colors: Vec<CellColors>,
    palette: Palette,
    cursor: Option<ScreenCursor>,
    rows: usize,
}

/// The cells of one row, each with its column and colours. The second half of a wide cell is left
/// out.
type CellRow<'a> = Vec<(usize, &'a Cell, CellColors)>;

impl Picture {
    /// Parses a capture and assigns each cell its colours in a theme.
    pub fn new(capture: &ScreenCapture<'_>, theme: Theme) -> Self {
        let (columns, rows) = (capture.columns as usize, capture.rows as usize);
        let grid = Grid::parse(capture);
        let palette = Palette::new(theme, capture.fg, capture.bg);
        let mut colors = Vec::with_capacity(columns * rows);
        let mut last = (Style::default(), palette.cell_colors(&Style::default()));
        for (x, y, cell) in grid.cells() {
            if cell.style != last.0 {
                last = (cell.style, palette.cell_colors(&cell.style));
            }
            let covered = capture.cursor.is_some_and(|cursor| cursor.covers(x, y, cell.width));
            colors.push(if covered { palette.under_cursor(last.1) } else { last.1 });
        }
        Self { grid, colors, palette, cursor: capture.cursor, rows }
    }

    /// Covers parts of the text, such as passwords, before it is rendered. `find` gets the text of the
    /// rows above the screen and of the screen, and returns the byte ranges to cover. Returns the number
    /// of ranges on the screen.
    ///
    /// `find` is called twice: with each row as a line, and with the rows joined that are filled to the
    /// last column, since a long line may go on in the next row.
    pub fn cover(&mut self, above: &str, find: impl Fn(&str) -> Vec<Range<usize>>) -> usize {
        self.grid.cover(above, false, &find) + self.grid.cover(above, true, &find)
    }

    /// Width and height in pixels: 8 by 16 for each cell.
    pub fn size(&self) -> (u32, u32) {
        let (width, height) = self.pixels();
        (u32::try_from(width).unwrap_or(u32::MAX), u32::try_from(height).unwrap_or(u32::MAX))
    }

    fn pixels(&self) -> (usize, usize) {
        (self.grid.columns * CELL_WIDTH, self.rows * CELL_HEIGHT)
    }

    /// Renders a PNG file. Crowded screens get fewer colours, so that the file takes at most 20 bytes
    /// per cell (or 20 kB, if that is more).
    ///
    /// # Errors
    ///
    /// Fails if the screen has no columns or no rows.
    pub fn png(&self) -> io::Result<Vec<u8>> {
        Ok(png::encode(self)?)
    }

    /// Renders an SVG document. Its fonts are those of the viewer.
    pub fn svg(&self) -> String {
        svg::document(self)
    }

    /// Renders an HTML document without scripts and external resources. Its text can be selected.
    pub fn html(&self) -> String {
        html::document(self)
    }

    /// The cells with their column, row and colours, without the second halves of wide ones.
    fn cells(&self) -> impl Iterator<Item = (usize, usize, &Cell, CellColors)> {
        let all = self.grid.cells().zip(&self.colors);
        all.map(|((x, y, cell), colors)| (x, y, cell, *colors))
            .filter(|(_, _, cell, _)| cell.width > 0)
    }

    /// The same cells, row by row.
    fn cell_rows(&self) -> impl Iterator<Item = CellRow<'_>> {
        let mut cells = self.cells().peekable();
        (0..self.rows).map(move |y| {
            let mut row = Vec::new();
            while let Some((x, _, cell, colors)) = cells.next_if(|(_, at, ..)| *at == y) {
                row.push((x, cell, colors));
            }
            row
        })
    }
}
