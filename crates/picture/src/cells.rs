//! What tmux prints of a screen, with its colours, as a grid of cells.

use unicode_width::UnicodeWidthChar;
use vte::{Params, ParamsIter, Parser, Perform};

use super::Screen;
use terminal::screen::drawn;

/// The most marks that one cell takes; no script needs so many.
const MARKS: usize = 8;

/// Says that the character before is to be shown as emoji.
const EMOJI: char = '\u{fe0f}';

/// A colour as a program asked for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) enum Color {
    /// The terminal's own.
    #[default]
    Default,
    /// One of 256.
    Index(u8),
    /// Exactly this one.
    Rgb([u8; 3]),
}

/// A line under text.
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

/// How a cell looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct Style {
    pub(super) fg: Color,
    pub(super) bg: Color,
    /// The colour of the line under it; the text's if there is none.
    pub(super) line: Color,
    pub(super) underline: Underline,
    pub(super) bold: bool,
    pub(super) dim: bool,
    pub(super) italic: bool,
    pub(super) reverse: bool,
    pub(super) hidden: bool,
    pub(super) strike: bool,
    pub(super) overline: bool,
}

/// One cell of a screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) c: char,
    /// What is put on the character: accents and the like.
    pub(super) marks: String,
    pub(super) style: Style,
    /// How many columns it takes; 0 if it is the second half of the one before.
    pub(super) width: u8,
}

impl Cell {
    const fn blank(style: Style) -> Self {
        Self { c: ' ', marks: String::new(), style, width: 1 }
    }

    /// Whether there is nothing to see but its background.
    pub(super) fn is_blank(&self) -> bool {
        let Style { underline, strike, overline, hidden, .. } = self.style;
        let lines = underline != Underline::None || strike || overline;
        hidden || (self.c == ' ' && self.marks.is_empty() && !lines)
    }

    /// Its text; blank if it is hidden.
    pub(super) fn text(&self) -> String {
        if self.style.hidden {
            return " ".repeat(self.width.into());
        }
        let mut text = String::from(self.c);
        text.push_str(&self.marks);
        text
    }
}

/// A screen, row by row.
#[derive(Debug)]
pub(super) struct Grid {
    pub(super) columns: usize,
    cells: Vec<Cell>,
}

impl Grid {
    /// Reads what tmux prints of a screen: rows with SGR sequences, and shifts to line drawing.
    pub(super) fn read(screen: &Screen<'_>) -> Self {
        let (columns, rows) = (screen.columns as usize, screen.rows as usize);
        let cells = vec![Cell::blank(Style::default()); columns * rows];
        let stops: Vec<usize> = screen.tabs.split(',').flat_map(str::parse).collect();
        let mut reader = Reader {
            grid: Self { columns, cells },
            style: Style::default(),
            row: 0,
            column: 0,
            graphics: false,
            stops: if stops.is_empty() { (0..columns).step_by(8).collect() } else { stops },
            wide_emoji: screen.wide_emoji,
        };
        Parser::new().advance(&mut reader, screen.text);
        reader.grid
    }

    /// All cells, row by row, with their column and row.
    pub(super) fn cells(&self) -> impl Iterator<Item = (usize, usize, &Cell)> {
        let columns = self.columns.max(1);
        self.cells.iter().enumerate().map(move |(at, cell)| (at % columns, at / columns, cell))
    }

    fn at(&mut self, row: usize, column: usize) -> Option<&mut Cell> {
        let inside = column < self.columns;
        self.cells.get_mut(row * self.columns + column).filter(|_| inside)
    }
}

struct Reader {
    grid: Grid,
    style: Style,
    row: usize,
    column: usize,
    /// Whether letters stand for lines now.
    graphics: bool,
    stops: Vec<usize>,
    wide_emoji: bool,
}

impl Reader {
    fn put(&mut self, c: char, width: u8) {
        let style = self.style;
        if let Some(cell) = self.grid.at(self.row, self.column) {
            *cell = Cell { c, marks: String::new(), style, width };
        }
        if width == 2
            && let Some(cell) = self.grid.at(self.row, self.column + 1)
        {
            *cell = Cell { width: 0, ..Cell::blank(style) };
        }
        self.column += usize::from(width);
    }

    fn mark(&mut self, mark: char) {
        if mark == EMOJI && self.wide_emoji {
            self.widen();
        }
        let before = (1..=2).filter_map(|back| self.column.checked_sub(back));
        for column in before {
            match self.grid.at(self.row, column) {
                Some(cell) if cell.width == 0 => {}
                Some(cell) => {
                    if cell.marks.chars().count() < MARKS {
                        cell.marks.push(mark);
                    }
                    return;
                }
                None => return,
            }
        }
    }

    /// Gives the character before a second column.
    fn widen(&mut self) {
        let Some(before) = self.column.checked_sub(1) else { return };
        let Some(cell) = self.grid.at(self.row, before).filter(|cell| cell.width == 1) else {
            return;
        };
        cell.width = 2;
        let half = Cell { width: 0, ..Cell::blank(cell.style) };
        if let Some(cell) = self.grid.at(self.row, self.column) {
            *cell = half;
        }
        self.column += 1;
    }

    fn set(&mut self, params: &Params) {
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
                [9] => style.strike = true,
                // The second is how tmux writes it.
                [53] | [5, 3] => style.overline = true,
                [22] => (style.bold, style.dim) = (false, false),
                [23] => style.italic = false,
                [27] => style.reverse = false,
                [28] => style.hidden = false,
                [29] => style.strike = false,
                [55] => style.overline = false,
                [n @ 30..=37] => style.fg = index(n - 30),
                [n @ 40..=47] => style.bg = index(n - 40),
                [n @ 90..=97] => style.fg = index(n - 82),
                [n @ 100..=107] => style.bg = index(n - 92),
                [38, ref rest @ ..] => style.fg = color(rest, &mut params),
                [48, ref rest @ ..] => style.bg = color(rest, &mut params),
                [58, ref rest @ ..] => style.line = color(rest, &mut params),
                [39] => style.fg = Color::Default,
                [49] => style.bg = Color::Default,
                [59] => style.line = Color::Default,
                _ => {}
            }
        }
    }
}

impl Perform for Reader {
    fn print(&mut self, c: char) {
        let c = if self.graphics { drawn(c) } else { c };
        match c.width().unwrap_or(0) {
            0 => self.mark(c),
            1 => self.put(c, 1),
            _ => self.put(c, 2),
        }
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\n' => (self.row, self.column) = (self.row + 1, 0),
            b'\t' => {
                let next = self.stops.iter().find(|stop| **stop > self.column);
                let stop = next.copied().unwrap_or(usize::MAX).min(self.grid.columns);
                (self.column..stop).for_each(|_| self.put(' ', 1));
            }
            0x0e => self.graphics = true,
            0x0f => self.graphics = false,
            _ => {}
        }
    }

    fn csi_dispatch(&mut self, params: &Params, intermediates: &[u8], _: bool, action: char) {
        if action == 'm' && intermediates.is_empty() {
            self.set(params);
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

/// A colour behind 38, 48 or 58: in the same parameter or in those that follow.
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
