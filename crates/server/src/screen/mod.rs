//! What a program wrote to its terminal, as the lines a person would have seen there.
//!
//! The terminal has a height, but no width: nothing wraps, so a line stays one line. That is why
//! this is our own on top of the parser `vte`: avt, vt100 and alacritty_terminal all have a width.
//!
//! Rows that scrolled off the top are final. Colours, titles, and what was drawn on the alternate
//! screen are dropped.
//!
//! - `input`: bytes → text, controls and sequences. `perform`: what each sequence does.
//! - `terminal`: two grids and the modes. `grid`: rows and a cursor.
//! - `row`, `cells`: the text of a row. `charset`: line drawing.

mod cells;
mod charset;
mod grid;
mod input;
mod perform;
mod row;
mod terminal;
#[cfg(test)]
mod tests;

use input::Input;
use terminal::Terminal;

/// Takes a line that can no longer change.
type Done<'a> = &'a mut dyn FnMut(&str);

/// A terminal without a width.
pub(crate) struct Screen {
    input: Input,
    terminal: Terminal,
}

impl Screen {
    /// A terminal of so many rows: this is how far up a program can go to change what it wrote.
    pub(crate) fn new(height: usize) -> Self {
        Self { input: Input::default(), terminal: Terminal::new(height) }
    }

    /// Takes bytes, cut anywhere. Lines that are final go to `done`, in order.
    pub(crate) fn feed(&mut self, bytes: &[u8], done: &mut impl FnMut(&str)) {
        self.input.feed(bytes, &mut self.terminal, done);
    }

    /// The lines that may still change: what is on the screen below the final ones.
    pub(crate) fn pending(&self) -> Vec<String> {
        self.terminal.main().lines().map(|row| row.text().into_owned()).collect()
    }

    /// Ends the text: what is pending goes to `done`, and the screen is as new.
    pub(crate) fn finish(&mut self, done: &mut impl FnMut(&str)) {
        self.input.finish(&mut self.terminal);
        self.terminal.main().lines().for_each(|row| done(&row.text()));
        self.terminal.reset();
    }

    /// The text of the cursor's row up to the cursor.
    pub(crate) fn before_cursor(&self) -> String {
        self.terminal.active().before_cursor()
    }

    /// Which row the cursor is in, from the top of what is pending.
    pub(crate) fn cursor_row(&self) -> usize {
        self.terminal.active().cursor_row()
    }

    /// Whether the alternate screen is shown: a full-screen program runs.
    pub(crate) fn in_alternate(&self) -> bool {
        self.terminal.in_alternate()
    }

    /// Whether anything was ever asked of the terminal, whose answer comes as if it were typed.
    pub(crate) fn asked(&self) -> bool {
        self.terminal.asked()
    }

    /// Whether the alternate screen was ever shown.
    pub(crate) fn had_alternate(&self) -> bool {
        self.terminal.had_alternate()
    }
}
