//! What a program wrote to its terminal, as the lines a person would have seen there.
//!
//! The terminal has a height, but need not have a width: then nothing wraps, so a line stays one
//! line, wherever a program cuts it. That is why this is our own on top of the parser `vte`: avt,
//! vt100 and alacritty_terminal all have a width.
//!
//! Rows that scrolled off the top are final. Colours, titles, and what was drawn on the alternate
//! screen are dropped.
//!
//! - `input`: bytes → text, controls and sequences. `perform`: what each sequence does.
//! - `terminal`: two grids and the modes. `grid`: rows and a cursor.
//! - `lines`: rows as lines. `row`, `cells`: the text of a row. `charset`: line drawing.

mod cells;
mod charset;
mod grid;
mod input;
mod lines;
mod perform;
mod row;
mod terminal;
#[cfg(test)]
mod tests;

pub use charset::drawn;
use input::Input;
pub use lines::Line;
use terminal::{Size, Terminal};

/// Takes a line that can no longer change.
type Done<'a> = &'a mut dyn FnMut(&str);

/// Where a terminal's cursor is.
#[derive(Debug, Clone, Default)]
pub struct Place {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// The row the cursor is in.
    pub row: usize,
    /// The text before it there.
    pub before: String,
    /// Whether the alternate screen is shown.
    pub alternate: bool,
}

impl Place {
    /// The same terminal with its cursor at the top.
    pub fn top(&self) -> Self {
        Self { row: 0, before: String::new(), ..self.clone() }
    }
}

/// A terminal.
pub struct Screen {
    input: Input,
    terminal: Terminal,
}

impl Screen {
    /// A terminal of so many rows: this is how far up a program can go to change what it wrote. It
    /// has no width.
    pub fn new(height: usize) -> Self {
        let size = Size { width: usize::MAX, height };
        Self { input: Input::default(), terminal: Terminal::new(size) }
    }

    /// A terminal as it is now, but for its text: only what is written from now on is in it, and
    /// what the cursor's row had before.
    pub fn at(place: &Place) -> Self {
        let size = Size { width: place.width, height: place.height };
        let mut screen = Self { input: Input::default(), terminal: Terminal::new(size) };
        if place.alternate {
            screen.terminal.show_alternate(true);
        }
        screen.terminal.grid().go(place.row, 0);
        screen.terminal.grid().unknown = place.row;
        screen.terminal.print(&place.before, &mut |_| {});
        screen.fresh_lines();
        screen
    }

    /// The lines of the screen that is shown, from the first that has changed since this was last
    /// asked. `None` if nothing has.
    pub fn fresh_lines(&mut self) -> Option<Vec<Line>> {
        self.terminal.grid().fresh_lines()
    }

    /// How often the bell rang.
    pub fn bells(&self) -> u64 {
        self.terminal.bells()
    }

    /// The lines of the screen that is shown.
    pub fn shown(&self) -> Vec<Line> {
        self.terminal.active().lines()
    }

    /// Takes bytes, cut anywhere. Lines that are final go to `done`, in order.
    pub fn feed(&mut self, bytes: &[u8], done: &mut impl FnMut(&str)) {
        self.input.feed(bytes, &mut self.terminal, done);
    }

    /// The lines that may still change: what is on the screen below the final ones.
    pub fn pending(&self) -> Vec<String> {
        self.terminal.main().lines().into_iter().map(|line| line.text).collect()
    }

    /// Ends the text: what is pending goes to `done`, and the screen is as new.
    pub fn finish(&mut self, done: &mut impl FnMut(&str)) {
        self.input.finish(&mut self.terminal, done);
        self.terminal.main().lines().iter().for_each(|line| done(&line.text));
        self.terminal.reset();
    }

    /// The text of the cursor's row up to the cursor.
    pub fn before_cursor(&self) -> String {
        self.terminal.active().before_cursor()
    }

    /// Which row the cursor is in, from the top of what is pending.
    pub fn cursor_row(&self) -> usize {
        self.terminal.active().cursor_row()
    }

    /// Whether the alternate screen is shown: a full-screen program runs.
    pub fn in_alternate(&self) -> bool {
        self.terminal.in_alternate()
    }

    /// Whether anything was ever asked of the terminal, whose answer comes as if it were typed.
    pub fn asked(&self) -> bool {
        self.terminal.asked()
    }

    /// Whether the alternate screen was ever shown.
    pub fn had_alternate(&self) -> bool {
        self.terminal.had_alternate()
    }
}
