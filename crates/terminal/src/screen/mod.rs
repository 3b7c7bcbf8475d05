//! A terminal emulator that turns the bytes a program writes into the lines a person would see.
//!
//! A line that wraps is one line, however long it is and whatever the width. The rules are those of
//! tmux, where this terminal's programs run: when text wraps, what a resize moves, and that a cleared
//! screen is kept as history. That is why it is built on the parser `vte` and not on a crate with a
//! complete terminal; the tests compare it with avt and with tmux. It can also have no width: then
//! no line wraps.
//!
//! Lines that scroll off or are cleared from the whole screen are final. Colours, titles and the
//! alternate screen are dropped.
//!
//! - `input`: splits bytes into text, controls and sequences. `perform`: effects of sequences.
//! - `terminal`: main and alternate grid, and the modes. `grid`: rows, cursor and scroll region.
//! - `erase`: erased and deleted text. `scroll`: rows that move.
//! - `replies`: echoed replies of the terminal to queries.
//! - `lines`: rows joined to lines. `resize`: wrapping at another width. `row`, `cells`: the text of a row. `charset`: line drawing.

mod cells;
mod charset;
mod erase;
mod grid;
mod input;
mod lines;
mod perform;
mod replies;
mod resize;
mod row;
mod scroll;
mod terminal;
#[cfg(test)]
mod tests;

pub use charset::special_graphic;
use grid::Grid;
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

/// Size and cursor of a terminal whose text is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScreenPlace {
    /// Number of columns.
    pub width: usize,
    /// Number of rows.
    pub height: usize,
    /// Row of the cursor, from 0.
    pub row: usize,
    /// Column of the cursor, from 0.
    pub column: usize,
    /// Number of rows above the screen, which a taller screen shows again.
    pub history: usize,
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
        let below_unknown = Grid::below_unknown(size, state.row, 0);
        let terminal = match state.alternate {
            true => Terminal::in_alternate_grid(below_unknown),
            false => Terminal::with_grid(below_unknown),
        };
        let mut screen = Self { input: InputParser::default(), terminal };
        screen.terminal.print(&state.before, &mut |_| {});
        screen.changed_lines();
        screen
    }

    /// A screen for output that begins at a place of a running terminal. Rows that show older text are
    /// not part of its lines.
    pub fn for_output(place: &ScreenPlace) -> Self {
        let size = ScreenSize { width: place.width, height: place.height };
        let mut grid = Grid::below_unknown(size, place.row, place.column);
        grid.history = place.history;
        grid.omits_blank_start = true;
        Self { input: InputParser::default(), terminal: Terminal::with_grid(grid) }
    }

    /// An empty screen of the same width with `height` rows.
    pub fn blank(&self, height: usize) -> Self {
        Self::for_output(&ScreenPlace { height, row: 0, column: 0, history: 0, ..self.place() })
    }

    /// Size and cursor of the main screen now.
    pub fn place(&self) -> ScreenPlace {
        let grid = self.terminal.main();
        let (ScreenSize { width, height }, (row, column)) = (grid.size(), grid.cursor());
        ScreenPlace { width, height, row, column, history: grid.history }
    }

    /// Changes the size, as tmux does with a pane. Passes each line that becomes final to `sink`.
    pub fn resize(&mut self, width: usize, height: usize, sink: &mut impl FnMut(&str)) {
        self.terminal.resize(ScreenSize { width, height }, sink);
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
