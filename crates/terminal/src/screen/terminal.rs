//! The terminal's two screens and its modes.

use unicode_width::UnicodeWidthChar;

use super::Done;
use super::charset::{Charset, drawn};
use super::grid::Grid;
use super::row::REACH;

/// How large a terminal is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    pub(super) width: usize,
    pub(super) height: usize,
}

/// A terminal that is told what to do.
pub(super) struct Terminal {
    main: Grid,
    /// The alternate screen while it is shown. What is on it is never output.
    alternate: Option<Grid>,
    had_alternate: bool,
    /// Whether something was asked of the terminal.
    asked: bool,
    /// How often the bell rang.
    bells: u64,
    pub(super) charset: Charset,
    /// Whether text pushes what follows it to the right.
    pub(super) insert: bool,
    /// The last character written.
    last: Option<char>,
}

impl Terminal {
    pub(super) fn new(size: Size) -> Self {
        Self {
            main: Grid::new(size),
            alternate: None,
            had_alternate: false,
            asked: false,
            bells: 0,
            charset: Charset::default(),
            insert: false,
            last: None,
        }
    }

    pub(super) fn main(&self) -> &Grid {
        &self.main
    }

    pub(super) fn active(&self) -> &Grid {
        self.alternate.as_ref().unwrap_or(&self.main)
    }

    pub(super) fn grid(&mut self) -> &mut Grid {
        self.alternate.as_mut().unwrap_or(&mut self.main)
    }

    pub(super) fn in_alternate(&self) -> bool {
        self.alternate.is_some()
    }

    pub(super) fn had_alternate(&self) -> bool {
        self.had_alternate
    }

    pub(super) fn asked(&self) -> bool {
        self.asked
    }

    pub(super) fn ask(&mut self) {
        self.asked = true;
    }

    pub(super) fn bells(&self) -> u64 {
        self.bells
    }

    /// Writes text without controls.
    pub(super) fn print(&mut self, text: &str, done: Done<'_>) {
        let Some(last) = text.chars().next_back() else { return };
        self.last = Some(last);
        if self.charset.draws() {
            return text.chars().for_each(|c| self.put(drawn(c), done));
        }
        let mut rest = text;
        while !rest.is_empty() {
            let length = rest.bytes().position(|b| !b.is_ascii()).unwrap_or(rest.len());
            let (plain, tail) = rest.split_at(length);
            if length > 0 {
                self.write(plain, length, done);
            }
            let mut others = tail.chars();
            if let Some(c) = others.next() {
                self.put(c, done);
            }
            rest = others.as_str();
        }
    }

    fn put(&mut self, c: char, done: Done<'_>) {
        match c.width() {
            // A control of the upper half.
            None => {}
            Some(0) => self.grid().mark(c),
            Some(width) => self.write(c.encode_utf8(&mut [0; 4]), width, done),
        }
    }

    fn write(&mut self, text: &str, width: usize, done: Done<'_>) {
        let insert = self.insert;
        match &mut self.alternate {
            Some(grid) => grid.put(text, width, insert, &mut |_| {}),
            None => self.main.put(text, width, insert, done),
        }
    }

    /// Writes the last character again.
    pub(super) fn repeat(&mut self, count: usize, done: Done<'_>) {
        let Some(last) = self.last else { return };
        let (_, column) = self.grid().cursor();
        let text = last.encode_utf8(&mut [0; 4]).repeat(count.min(REACH.saturating_sub(column)));
        self.print(&text, done);
    }

    pub(super) fn control(&mut self, byte: u8, done: Done<'_>) {
        match byte {
            b'\n' | 0x0b | 0x0c => self.line_feed(done),
            b'\r' => self.grid().carriage_return(),
            b'\t' => self.grid().tab(),
            0x07 => self.bells += 1,
            0x08 => self.grid().back(),
            0x0e => self.charset.shift(true),
            0x0f => self.charset.shift(false),
            _ => {}
        }
    }

    pub(super) fn line_feed(&mut self, done: Done<'_>) {
        match &mut self.alternate {
            Some(grid) => grid.line_feed(&mut |_| {}),
            None => self.main.line_feed(done),
        }
    }

    pub(super) fn scroll_up(&mut self, count: usize, done: Done<'_>) {
        match &mut self.alternate {
            Some(grid) => grid.scroll_up(count, &mut |_| {}),
            None => self.main.scroll_up(count, done),
        }
    }

    pub(super) fn save(&mut self) {
        let charset = self.charset;
        self.grid().save(charset);
    }

    pub(super) fn restore(&mut self) {
        self.charset = self.grid().restore();
    }

    pub(super) fn show_alternate(&mut self, on: bool) {
        if !on {
            self.alternate = None;
        } else if self.alternate.is_none() {
            self.alternate = Some(self.main.blank_copy());
            self.had_alternate = true;
        }
    }

    /// Back to the usual modes; the text stays.
    pub(super) fn soft_reset(&mut self) {
        self.charset = Charset::default();
        self.insert = false;
        self.grid().reset_region();
    }

    /// As new, but for what is known of the program.
    pub(super) fn reset(&mut self) {
        let Self { had_alternate, asked, bells, .. } = *self;
        *self = Self { had_alternate, asked, bells, ..Self::new(self.main.size()) };
    }
}
