//! A grid of styled cells, parsed from the text and SGR sequences that `capture-pane -e` prints.

use std::ops::Range;

use unicode_width::UnicodeWidthChar;
use vte::{Params, ParamsIter, Parser, Perform};

use super::ScreenCapture;
use terminal::screen::special_graphic;

/// Limit of combining marks per cell; no script needs so many.
const MAX_CELL_MARKS: usize = 8;

/// Character in place of covered ones.
const COVER: char = '*';

/// Variation selector 16: the character before it has emoji style.
const EMOJI_STYLE: char = '\u{fe0f}';

/// A colour as SGR sequences select it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) enum Color {
    /// The terminal's default colour.
    #[default]
    Default,
    /// An entry of the 256-colour palette.
    Index(u8),
    /// Red, green and blue.
    Rgb([u8; 3]),
}

/// Style of an underline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) enum Underline {
    #[default]
    None,
    Single,
    Double,
    Curly,
    Dotted,
    Dashed,
}

/// SGR attributes of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct Style {
    pub(super) fg: Color,
    pub(super) bg: Color,
    /// Colour of the underline; `Default` means the text's.
    pub(super) underline_color: Color,
    pub(super) underline: Underline,
    pub(super) bold: bool,
    pub(super) dim: bool,
    pub(super) italic: bool,
    pub(super) reverse: bool,
    pub(super) hidden: bool,
    pub(super) strikethrough: bool,
    pub(super) overline: bool,
}

/// One cell of a screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) c: char,
    /// Combining marks, such as accents.
    pub(super) marks: String,
    pub(super) style: Style,
    /// Number of columns; 0 for the second half of a wide cell.
    pub(super) width: u8,
}

impl Cell {
    const fn blank(style: Style) -> Self {
        Self { c: ' ', marks: String::new(), style, width: 1 }
    }

    /// Whether only the background of the cell is visible.
    pub(super) fn is_blank(&self) -> bool {
        let Style { underline, strikethrough, overline, hidden, .. } = self.style;
        let has_lines = underline != Underline::None || strikethrough || overline;
        hidden || (self.c == ' ' && self.marks.is_empty() && !has_lines)
    }

    /// The character with its marks; spaces if the cell is hidden.
    pub(super) fn text(&self) -> String {
        if self.style.hidden {
            return " ".repeat(self.width.into());
        }
        let mut text = String::from(self.c);
        text.push_str(&self.marks);
        text
    }
}

/// The cells of a screen, row by row.
#[derive(Debug)]
pub(super) struct Grid {
    pub(super) columns: usize,
    cells: Vec<Cell>,
}

impl Grid {
    /// Parses the text of a capture: rows with SGR sequences, and SO and SI for line drawing.
    pub(super) fn parse(capture: &ScreenCapture<'_>) -> Self {
        let (columns, rows) = (capture.columns as usize, capture.rows as usize);
        let cells = vec![Cell::blank(Style::default()); columns * rows];
        let stops: Vec<usize> = capture.tabs.split(',').flat_map(str::parse).collect();
        let mut parser = GridParser {
            grid: Self { columns, cells },
            style: Style::default(),
            row: 0,
            column: 0,
            line_drawing: false,
            tab_stops: if stops.is_empty() { (0..columns).step_by(8).collect() } else { stops },
            wide_emoji: capture.wide_emoji,
        };
        Parser::new().advance(&mut parser, capture.text);
        parser.grid
    }

    /// All cells, row by row, with their column and row.
    pub(super) fn cells(&self) -> impl Iterator<Item = (usize, usize, &Cell)> {
        let columns = self.columns.max(1);
        self.cells.iter().enumerate().map(move |(at, cell)| (at % columns, at / columns, cell))
    }

    /// Covers the ranges that `find` returns for the text `above` and that of all rows, and returns the
    /// number of those on the screen. With `join`, a row that is filled to its last column and the next
    /// one are one line.
    pub(super) fn cover(
        &mut self,
        above: &str,
        join: bool,
        find: impl Fn(&str) -> Vec<Range<usize>>,
    ) -> usize {
        let mut text = String::new();
        for row in above.lines() {
            text.push_str(row);
            if !(join && row.chars().count() >= self.columns) {
                text.push('\n');
            }
        }
        let screen = text.len();
        // Byte offset in `text` at which each cell begins.
        let mut starts = Vec::with_capacity(self.cells.len());
        for row in self.cells.chunks(self.columns.max(1)) {
            for cell in row {
                starts.push(text.len());
                if cell.width > 0 {
                    text.push(cell.c);
                    text.push_str(&cell.marks);
                }
            }
            if !(join && row.last().is_some_and(|last| last.c != ' ' || last.width == 0)) {
                text.push('\n');
            }
        }
        let mut ranges = find(&text);
        ranges.retain(|range| range.end > screen);
        for range in &ranges {
            let first = starts.partition_point(|start| *start < range.start);
            let end = starts.partition_point(|start| *start < range.end);
            for cell in self.cells.get_mut(first..end).unwrap_or_default() {
                if cell.c != ' ' {
                    cell.c = COVER;
                    cell.marks.clear();
                }
            }
        }
        ranges.len()
    }

    fn cell_mut(&mut self, row: usize, column: usize) -> Option<&mut Cell> {
        let inside = column < self.columns;
        self.cells.get_mut(row * self.columns + column).filter(|_| inside)
    }
}

/// Writes the characters that `vte` parses into a grid.
struct GridParser {
    grid: Grid,
    style: Style,
    row: usize,
    column: usize,
    /// Whether letters stand for DEC line-drawing characters, after SO.
    line_drawing: bool,
    tab_stops: Vec<usize>,
    wide_emoji: bool,
}

impl GridParser {
    fn put(&mut self, c: char, width: u8) {
        let style = self.style;
        if let Some(cell) = self.grid.cell_mut(self.row, self.column) {
            *cell = Cell { c, marks: String::new(), style, width };
        }
        if width == 2
            && let Some(cell) = self.grid.cell_mut(self.row, self.column + 1)
        {
            *cell = Cell { width: 0, ..Cell::blank(style) };
        }
        self.column += usize::from(width);
    }

    /// Adds a combining mark to the cell before the cursor.
    fn add_mark(&mut self, mark: char) {
        if mark == EMOJI_STYLE && self.wide_emoji {
            self.widen();
        }
        let before = (1..=2).filter_map(|back| self.column.checked_sub(back));
        for column in before {
            match self.grid.cell_mut(self.row, column) {
                Some(cell) if cell.width == 0 => {}
                Some(cell) => {
                    if cell.marks.chars().count() < MAX_CELL_MARKS {
                        cell.marks.push(mark);
                    }
                    return;
                }
                None => return,
            }
        }
    }

    /// Makes the cell before the cursor two columns wide.
    fn widen(&mut self) {
        let Some(before) = self.column.checked_sub(1) else { return };
        let Some(cell) = self.grid.cell_mut(self.row, before).filter(|cell| cell.width == 1) else {
            return;
        };
        cell.width = 2;
        let second_half = Cell { width: 0, ..Cell::blank(cell.style) };
        if let Some(cell) = self.grid.cell_mut(self.row, self.column) {
            *cell = second_half;
        }
        self.column += 1;
    }

    /// Applies the parameters of an SGR sequence.
    fn set_attributes(&mut self, params: &Params) {
        let mut params = params.iter();
        while let Some(param) = params.next() {
            let style = &mut self.style;
            match *param {
                [0] => *style = Style::default(),
                [1] => style.bold = true,
                [2] => style.dim = true,
                [3] => style.italic = true,
                [4 | 24, ref kind @ ..] => style.underline = underline(param, kind),
                [21] => style.underline = Underline::Double,
                [7] => style.reverse = true,
                [8] => style.hidden = true,
                [9] => style.strikethrough = true,
                // tmux prints overline as `5:3`.
                [53] | [5, 3] => style.overline = true,
                [22] => (style.bold, style.dim) = (false, false),
                [23] => style.italic = false,
                [27] => style.reverse = false,
                [28] => style.hidden = false,
                [29] => style.strikethrough = false,
                [55] => style.overline = false,
                [n @ 30..=37] => style.fg = index(n - 30),
                [n @ 40..=47] => style.bg = index(n - 40),
                [n @ 90..=97] => style.fg = index(n - 82),
                [n @ 100..=107] => style.bg = index(n - 92),
                [38, ref rest @ ..] => style.fg = color(rest, &mut params),
                [48, ref rest @ ..] => style.bg = color(rest, &mut params),
                [58, ref rest @ ..] => style.underline_color = color(rest, &mut params),
                [39] => style.fg = Color::Default,
                [49] => style.bg = Color::Default,
                [59] => style.underline_color = Color::Default,
                _ => {}
            }
        }
    }
}

impl Perform for GridParser {
    fn print(&mut self, c: char) {
        let c = if self.line_drawing { special_graphic(c) } else { c };
        match c.width().unwrap_or(0) {
            0 => self.add_mark(c),
            1 => self.put(c, 1),
            _ => self.put(c, 2),
        }
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\n' => (self.row, self.column) = (self.row + 1, 0),
            b'\t' => {
                let next = self.tab_stops.iter().find(|stop| **stop > self.column);
                let stop = next.copied().unwrap_or(usize::MAX).min(self.grid.columns);
                (self.column..stop).for_each(|_| self.put(' ', 1));
            }
            0x0e => self.line_drawing = true,
            0x0f => self.line_drawing = false,
            _ => {}
        }
    }

    fn csi_dispatch(&mut self, params: &Params, intermediates: &[u8], _: bool, action: char) {
        if action == 'm' && intermediates.is_empty() {
            self.set_attributes(params);
        }
    }
}

fn underline(param: &[u16], kind: &[u16]) -> Underline {
    match (param.first(), kind) {
        (Some(24), _) | (_, [0]) => Underline::None,
        (_, [2]) => Underline::Double,
        (_, [3]) => Underline::Curly,
        (_, [4]) => Underline::Dotted,
        (_, [5]) => Underline::Dashed,
        _ => Underline::Single,
    }
}

/// The colour that follows 38, 48 or 58: in the same parameter (`38:5:1`) or in the next (`38;5;1`).
fn color(same: &[u16], following: &mut ParamsIter<'_>) -> Color {
    let mut next = || following.next().and_then(|param| param.first().copied());
    match *same {
        [5, n] => index(n),
        [2, r, g, b] | [2, _, r, g, b, ..] => rgb(Some(r), Some(g), Some(b)),
        [] => match next() {
            Some(5) => next().map_or(Color::Default, index),
            Some(2) => rgb(next(), next(), next()),
            _ => Color::Default,
        },
        _ => Color::Default,
    }
}

fn index(n: u16) -> Color {
    u8::try_from(n).map_or(Color::Default, Color::Index)
}

fn rgb(r: Option<u16>, g: Option<u16>, b: Option<u16>) -> Color {
    let part = |part: Option<u16>| part.and_then(|part| u8::try_from(part).ok());
    match (part(r), part(g), part(b)) {
        (Some(r), Some(g), Some(b)) => Color::Rgb([r, g, b]),
        _ => Color::Default,
    }
}
