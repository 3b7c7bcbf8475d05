//! The state of the terminal: main and alternate grid, charset and modes.

use unicode_width::UnicodeWidthChar;

use super::LineSink;
use super::charset::{Charset, special_graphic};
use super::grid::Grid;
use super::replies;
use super::row::MAX_EDIT_COLUMNS;

/// Size of a screen in columns and rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScreenSize {
    pub(super) width: usize,
    pub(super) height: usize,
}

/// Modes that decide where written text goes.
#[derive(Debug, Clone, Copy)]
pub(super) struct WriteModes {
    /// Whether new text moves the text after it to the right.
    pub(super) insert: bool,
    /// Whether text continues in the next row at the end of a row.
    pub(super) autowrap: bool,
}

impl Default for WriteModes {
    fn default() -> Self {
        Self { insert: false, autowrap: true }
    }
}

/// The state that `ESC 7` saves.
#[derive(Default, Clone, Copy)]
struct SavedCursor {
    row: usize,
    column: usize,
    charset: Charset,
}

/// A terminal, on which text and controls take effect.
pub(super) struct Terminal {
    main: Grid,
    /// The alternate screen while it is active. Its text never becomes a line.
    alternate: Option<Grid>,
    had_alternate: bool,
    /// Whether the program sent a query.
    queried: bool,
    /// Number of queries whose replies were not found among the output.
    awaited_replies: usize,
    /// Whether the beginning of such a reply may be in front of the cursor.
    may_end_in_reply: bool,
    /// Number of times that the bell rang.
    bells: u64,
    pub(super) charset: Charset,
    pub(super) modes: WriteModes,
    /// The character that was just written, for `CSI b`. Controls and other sequences forget it.
    last: Option<char>,
    /// Saved for both screens, as in tmux.
    saved: SavedCursor,
}

impl Terminal {
    pub(super) fn new(size: ScreenSize) -> Self {
        Self::with_grid(Grid::new(size))
    }

    pub(super) fn with_grid(main: Grid) -> Self {
        Self {
            main,
            alternate: None,
            had_alternate: false,
            queried: false,
            awaited_replies: 0,
            may_end_in_reply: false,
            bells: 0,
            charset: Charset::default(),
            modes: WriteModes::default(),
            last: None,
            saved: SavedCursor::default(),
        }
    }

    /// A terminal whose alternate screen is active and has this grid.
    pub(super) fn in_alternate_grid(mut alternate: Grid) -> Self {
        alternate.keeps_history = false;
        let mut terminal = Self::new(alternate.size());
        terminal.alternate = Some(alternate);
        terminal.had_alternate = true;
        terminal
    }

    pub(super) fn main(&self) -> &Grid {
        &self.main
    }

    /// The active grid.
    pub(super) fn active(&self) -> &Grid {
        self.alternate.as_ref().unwrap_or(&self.main)
    }

    /// The active grid, to be changed.
    pub(super) fn grid(&mut self) -> &mut Grid {
        self.alternate.as_mut().unwrap_or(&mut self.main)
    }

    pub(super) fn in_alternate(&self) -> bool {
        self.alternate.is_some()
    }

    pub(super) fn had_alternate(&self) -> bool {
        self.had_alternate
    }

    pub(super) fn was_queried(&self) -> bool {
        self.queried
    }

    pub(super) fn note_query(&mut self) {
        self.queried = true;
        self.awaited_replies += 1;
    }

    pub(super) fn bells(&self) -> u64 {
        self.bells
    }

    /// Writes text without control characters, and without the echo of replies to queries.
    pub(super) fn print(&mut self, text: &str, sink: LineSink<'_>) {
        let mut rest = text;
        if self.awaited_replies > 0 {
            rest = self.without_replies(text, sink);
        }
        self.write_text(rest, sink);
    }

    /// Writes text up to the last echoed reply in it, and returns the text after that.
    fn without_replies<'a>(&mut self, text: &'a str, sink: LineSink<'_>) -> &'a str {
        let mut rest = text;
        if self.may_end_in_reply
            && let Some(length) = self.grid().take_back_reply(text)
        {
            self.awaited_replies -= 1;
            rest = text.get(length..).unwrap_or_default();
        }
        while self.awaited_replies > 0
            && let Some(reply) = replies::find(rest)
        {
            self.awaited_replies -= 1;
            self.write_text(rest.get(..reply.start).unwrap_or_default(), sink);
            rest = rest.get(reply.end..).unwrap_or_default();
        }
        self.may_end_in_reply &= text.len() < replies::MAX_LENGTH;
        self.may_end_in_reply |= rest.contains('^');
        rest
    }

    fn write_text(&mut self, text: &str, sink: LineSink<'_>) {
        let Some(last) = text.chars().next_back() else { return };
        self.last = Some(last);
        if self.charset.is_graphics() {
            return text.chars().for_each(|c| self.put(special_graphic(c), sink));
        }
        let mut rest = text;
        while !rest.is_empty() {
            let length = rest.bytes().position(|b| !b.is_ascii()).unwrap_or(rest.len());
            let (ascii, tail) = rest.split_at(length);
            if length > 0 {
                self.write(ascii, length, sink);
            }
            let mut others = tail.chars();
            if let Some(c) = others.next() {
                self.put(c, sink);
            }
            rest = others.as_str();
        }
    }

    fn put(&mut self, c: char, sink: LineSink<'_>) {
        match c.width() {
            // C1 control character.
            None => {}
            Some(0) => self.grid().add_mark(c),
            Some(width) => self.write(c.encode_utf8(&mut [0; 4]), width, sink),
        }
    }

    fn write(&mut self, text: &str, width: usize, sink: LineSink<'_>) {
        let modes = self.modes;
        self.grid().put(text, width, modes, sink);
    }

    /// Repeats the character that was just written, up to the last column.
    pub(super) fn repeat(&mut self, count: usize, sink: LineSink<'_>) {
        let Some(last) = self.last else { return };
        let (_, column) = self.grid().cursor();
        let limit = self.grid().size().width.min(MAX_EDIT_COLUMNS);
        let text = last.encode_utf8(&mut [0; 4]).repeat(count.min(limit.saturating_sub(column)));
        self.print(&text, sink);
    }

    /// Notes that a control or a sequence follows the last character.
    pub(super) fn forget_last(&mut self) {
        self.last = None;
    }

    pub(super) fn control(&mut self, byte: u8, sink: LineSink<'_>) {
        self.forget_last();
        match byte {
            b'\n' | 0x0b | 0x0c => self.grid().line_feed(sink),
            b'\r' => self.grid().carriage_return(),
            b'\t' => self.grid().tab(),
            0x07 => self.bells += 1,
            0x08 => self.grid().backspace(),
            0x0e => self.charset.shift(true),
            0x0f => self.charset.shift(false),
            _ => {}
        }
    }

    /// `CSI J`. Text that a program clears from the whole screen was shown, so its lines become final.
    pub(super) fn erase_screen(&mut self, part: usize, sink: LineSink<'_>) {
        match &mut self.alternate {
            Some(grid) => grid.erase_screen(part, sink),
            None if part == 2 || (part == 0 && self.main.is_homed()) => self.main.clear(sink),
            None => self.main.erase_screen(part, sink),
        }
    }

    /// Changes the size. The main screen is reflowed.
    pub(super) fn resize(&mut self, size: ScreenSize, sink: LineSink<'_>) {
        self.main.resize(size, sink);
        if let Some(grid) = &mut self.alternate {
            grid.resize(size, sink);
        }
    }

    pub(super) fn save(&mut self) {
        let (row, column) = self.grid().cursor();
        self.saved = SavedCursor { row, column, charset: self.charset };
    }

    /// Restores the saved state. Without any, the cursor moves to the top left.
    pub(super) fn restore(&mut self) {
        let SavedCursor { row, column, charset } = self.saved;
        self.grid().move_to(row, column);
        self.charset = charset;
    }

    /// Shows or leaves the alternate screen. The cursor moves back to its place on the main screen only
    /// if the program asks for that.
    pub(super) fn show_alternate(&mut self, on: bool, restores_cursor: bool) {
        if on && self.alternate.is_none() {
            self.alternate = Some(self.main.alternate());
            self.had_alternate = true;
        } else if let Some(alternate) = self.alternate.take_if(|_| !on)
            && !restores_cursor
        {
            let (row, column) = alternate.cursor();
            self.main.move_to(row, column);
        }
    }

    /// `ESC c`: resets the modes and clears the active screen.
    pub(super) fn hard_reset(&mut self, sink: LineSink<'_>) {
        self.charset = Charset::default();
        self.modes = WriteModes::default();
        self.grid().reset_scroll_region();
        self.saved = SavedCursor::default();
        self.erase_screen(2, sink);
        self.grid().move_to(0, 0);
    }

    /// Resets everything except the facts about the program.
    pub(super) fn reset(&mut self) {
        let Self { had_alternate, queried, bells, .. } = *self;
        *self = Self { had_alternate, queried, bells, ..Self::new(self.main.size()) };
    }
}
