//! Pictures of a screen: PNG, SVG and HTML, made here, with fonts of our own.
//!
//! - `cells`: what tmux prints of a screen → styled cells. `palette`: their colours.
//! - `shapes`: characters that are drawn. `font`, `unifont`: those that are written.
//! - `png`, `svg`, `html`: the three kinds of picture. `colors`: the few of a PNG.

mod cells;
mod colors;
mod font;
mod html;
mod markup;
mod palette;
mod png;
mod shapes;
mod svg;
#[cfg(test)]
mod tests;
mod unifont;

use cells::{Cell, Grid, Style};
use palette::{Inks, Palette};

pub use palette::Theme;

/// A cell's width in pixels.
const CELL_WIDTH: usize = 8;
/// A cell's height in pixels.
const CELL_HEIGHT: usize = 16;
/// The rows of a cell that letters stand on, and where lines under and through them are.
const BASELINE: usize = 12;
const UNDERLINE: usize = 14;
const STRIKE: usize = 8;
/// The size of a font whose letters are as wide as a cell.
const FONT_SIZE: &str = "13.29";

/// What is known of a screen.
#[derive(Debug)]
pub struct Screen<'a> {
    /// Its rows as tmux prints them, with colours and all blanks.
    pub text: &'a [u8],
    /// How many columns it has.
    pub columns: u32,
    /// How many rows it has.
    pub rows: u32,
    /// Where its cursor is, if it shows one.
    pub cursor: Option<Cursor>,
    /// Its tab stops, as tmux lists them; every eighth column if there are none.
    pub tabs: &'a str,
    /// Whether a character that is to be shown as emoji takes two columns.
    pub wide_emoji: bool,
    /// The colour of text in it as tmux names it, such as `default`.
    pub fg: &'a str,
    /// The colour behind it.
    pub bg: &'a str,
}

/// A cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// Its column.
    pub x: u32,
    /// Its row.
    pub y: u32,
    /// What it looks like.
    pub shape: CursorShape,
}

impl Cursor {
    /// Whether it is a block on a cell of so many columns.
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

/// What a cursor looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CursorShape {
    /// A whole cell.
    Block,
    /// A line below.
    Underline,
    /// A line on the left.
    Bar,
}

/// A picture, not painted yet.
#[derive(Debug)]
pub struct Picture {
    grid: Grid,
    /// The colours of each cell.
    inks: Vec<Inks>,
    palette: Palette,
    cursor: Option<Cursor>,
    rows: usize,
}

impl Picture {
    /// A picture of a screen.
    pub fn new(screen: &Screen<'_>, theme: Theme) -> Self {
        let (columns, rows) = (screen.columns as usize, screen.rows as usize);
        let grid = Grid::read(screen);
        let palette = Palette::new(theme, screen.fg, screen.bg);
        let mut inks = Vec::with_capacity(columns * rows);
        let mut last = (Style::default(), palette.inks(&Style::default()));
        for (x, y, cell) in grid.cells() {
            if cell.style != last.0 {
                last = (cell.style, palette.inks(&cell.style));
            }
            let covered = screen.cursor.is_some_and(|cursor| cursor.covers(x, y, cell.width));
            inks.push(if covered { palette.cursor(last.1) } else { last.1 });
        }
        Self { grid, inks, palette, cursor: screen.cursor, rows }
    }

    /// Its width and height in pixels.
    pub fn size(&self) -> (u32, u32) {
        let (width, height) = self.pixels();
        (u32::try_from(width).unwrap_or(u32::MAX), u32::try_from(height).unwrap_or(u32::MAX))
    }

    fn pixels(&self) -> (usize, usize) {
        (self.grid.columns * CELL_WIDTH, self.rows * CELL_HEIGHT)
    }

    /// The picture as a PNG file.
    pub fn png(&self) -> Result<Vec<u8>, ::png::EncodingError> {
        png::png(self)
    }

    /// The picture as an SVG document.
    pub fn svg(&self) -> String {
        svg::svg(self)
    }

    /// The picture as an HTML document that needs nothing else.
    pub fn html(&self) -> String {
        html::html(self)
    }

    /// The cells that are not the second half of another: column, row, cell, colours.
    fn cells(&self) -> impl Iterator<Item = (usize, usize, &Cell, Inks)> {
        let all = self.grid.cells().zip(&self.inks);
        all.map(|((x, y, cell), inks)| (x, y, cell, *inks)).filter(|(_, _, cell, _)| cell.width > 0)
    }

    /// The same, row by row.
    fn lines(&self) -> impl Iterator<Item = Vec<(usize, &Cell, Inks)>> {
        let mut cells = self.cells().peekable();
        (0..self.rows).map(move |row| {
            let mut line = Vec::new();
            while let Some((x, _, cell, inks)) = cells.next_if(|(_, y, ..)| *y == row) {
                line.push((x, cell, inks));
            }
            line
        })
    }
}
