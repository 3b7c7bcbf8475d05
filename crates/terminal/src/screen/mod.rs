//! A terminal emulator that turns the bytes a program writes into the lines a person would see.
//!
//! The terminal has a height, but need not have a width: then no line wraps, and a long line stays
//! one line. That is why it is built on the parser `vte` and not on a crate with a complete terminal:
//! avt, vt100 and alacritty_terminal all have a width.
//!
//! Lines that scroll off the top are final. Colours, titles and the alternate screen are dropped.
//!
//! - `input`: splits bytes into text, controls and sequences. `perform`: effects of sequences.
//! - `terminal`: main and alternate grid, and the modes. `grid`: rows, cursor and scroll region.
//! - `lines`: rows joined to lines. `row`, `cells`: the text of a row. `charset`: line drawing.

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

pub use charset::special_graphic;
use input::InputParser;
pub use lines::ScreenLine;
use terminal::{ScreenSize, Terminal};

/// Receives each line that can no longer change.
type LineSink<'a> = &'a mut dyn FnMut(&str);

/// State of a running terminal from which a [`Screen`] can start: size, cursor and active screen.
#[derive(Debug, Clone, Default)]
pub struct ScreenState {
    /// Number of columns.
    pub width: usize,
    /// Number of rows.
    pub height: usize,
    /// Row of the cursor, from 0.
    pub row: usize,
    /// Text of that row before the cursor.
    pub before: String,
    /// Whether the alternate screen is active.
    pub alternate: bool,
}

impl ScreenState {
    /// The same state with the cursor at the top left.
    pub fn at_top(&self) -> Self {
        Self { row: 0, before: String::new(), ..self.clone() }
    }
}

/// A terminal screen: takes bytes, and gives lines.
pub struct Screen {
    input: InputParser,
    terminal: Terminal,
}

impl Screen {
    /// A screen of unlimited width. A program can move the cursor up and change text within the last
    /// `height` rows.
    pub fn new(height: usize) -> Self {
        let size = ScreenSize { width: usize::MAX, height };
        Self { input: InputParser::default(), terminal: Terminal::new(size) }
    }

    /// A screen that continues a running terminal. Of its text it knows only the part of the row before
    /// the cursor.
    pub fn from_state(state: &ScreenState) -> Self {
        let size = ScreenSize { width: state.width, height: state.height };
        let mut screen = Self { input: InputParser::default(), terminal: Terminal::new(size) };
        if state.alternate {
            screen.terminal.show_alternate(true);
        }
        screen.terminal.grid().move_to(state.row, 0);
        screen.terminal.grid().unknown_rows = state.row;
        screen.terminal.print(&state.before, &mut |_| {});
        screen.changed_lines();
        screen
    }

    /// The lines of the active screen from the first that changed since the previous call; `None` if
    /// none did.
    pub fn changed_lines(&mut self) -> Option<Vec<ScreenLine>> {
        self.terminal.grid().changed_lines()
    }

    /// Number of times that the bell rang.
    pub fn bells(&self) -> u64 {
        self.terminal.bells()
    }

    /// The lines of the active screen.
    pub fn visible_lines(&self) -> Vec<ScreenLine> {
        self.terminal.active().lines()
    }

    /// Processes bytes, which may be split anywhere. Passes each line that becomes final to `sink`.
    pub fn feed(&mut self, bytes: &[u8], sink: &mut impl FnMut(&str)) {
        self.input.feed(bytes, &mut self.terminal, sink);
    }

    /// The lines of the main screen, which may still change. They follow the final ones.
    pub fn pending(&self) -> Vec<String> {
        self.terminal.main().lines().into_iter().map(|line| line.text).collect()
    }

    /// Ends the input: passes the pending lines to `sink` and resets the screen.
    pub fn finish(&mut self, sink: &mut impl FnMut(&str)) {
        self.input.finish(&mut self.terminal, sink);
        self.terminal.main().lines().iter().for_each(|line| sink(&line.text));
        self.terminal.reset();
    }

    /// The text of the cursor's row before the cursor.
    pub fn before_cursor(&self) -> String {
        self.terminal.active().before_cursor()
    }

    /// The row of the cursor, from the top of the active screen.
    pub fn cursor_row(&self) -> usize {
        self.terminal.active().cursor_row()
    }

    /// Whether the alternate screen is active, as it is while a full-screen program runs.
    pub fn in_alternate(&self) -> bool {
        self.terminal.in_alternate()
    }

    /// Whether the program ever queried the terminal. The reply arrives in its input, as if typed.
    pub fn was_queried(&self) -> bool {
        self.terminal.was_queried()
    }

    /// Whether the alternate screen was ever active.
    pub fn had_alternate(&self) -> bool {
        self.terminal.had_alternate()
    }
}
