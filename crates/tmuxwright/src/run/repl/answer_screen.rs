//! The screen on which an answer is followed, with its lines numbered from the prompt on.

use std::collections::VecDeque;
use std::ops::Range;

use terminal::screen::{Screen, ScreenPlace};
use unicode_width::UnicodeWidthStr;

use crate::run::cursor_row::CursorRow;

/// Lines of an answer that are kept.
const MAX_ANSWER_LINES: usize = 100_000;

/// A screen of the pane's size that begins with the line of the prompt.
pub(super) struct AnswerScreen {
    screen: Screen,
    /// Lines that can no longer change.
    final_lines: VecDeque<String>,
    /// Lines before them that were not kept.
    dropped: usize,
}

impl AnswerScreen {
    /// A screen that shows the cursor's line where it is in the pane.
    pub(super) fn at(cursor: &CursorRow) -> Self {
        let [row, width, height, history] =
            [cursor.row, cursor.width, cursor.height, cursor.history].map(|it| it as usize);
        let rows_up = cursor.wrapped.width() / width.max(1);
        let row = row.saturating_sub(rows_up);
        let mut screen =
            Screen::for_output(&ScreenPlace { width, height, row, column: 0, history });
        screen.feed(cursor.line().as_bytes(), &mut |_| {});
        Self { screen, final_lines: VecDeque::new(), dropped: 0 }
    }

    pub(super) fn feed(&mut self, bytes: &[u8]) {
        let Self { screen, final_lines, .. } = self;
        screen.feed(bytes, &mut |line| final_lines.push_back(line.to_owned()));
        self.drop_oldest();
    }

    pub(super) fn resize(&mut self, width: usize, height: usize) {
        let Self { screen, final_lines, .. } = self;
        screen.resize(width, height, &mut |line| final_lines.push_back(line.to_owned()));
        self.drop_oldest();
    }

    fn drop_oldest(&mut self) {
        let surplus = self.final_lines.len().saturating_sub(MAX_ANSWER_LINES);
        self.final_lines.drain(..surplus);
        self.dropped += surplus;
    }

    pub(super) fn in_alternate(&self) -> bool {
        self.screen.in_alternate()
    }

    /// The number of the cursor's line, and its text before the cursor.
    pub(super) fn cursor_line(&self) -> (usize, String) {
        let (lines, row) = (self.screen.visible_lines(), self.screen.before_cursor());
        let at_cursor = lines.iter().find_map(|line| {
            let row_start = line.cursor?.saturating_sub(row.len());
            Some((line.index, line.text.get(..row_start).unwrap_or_default()))
        });
        let (index, wrapped) = at_cursor.unwrap_or((lines.len(), ""));
        (self.dropped + self.final_lines.len() + index, format!("{wrapped}{row}"))
    }

    /// The lines with these numbers, and whether some of them were not kept.
    pub(super) fn lines(&self, numbers: Range<usize>) -> (Vec<String>, bool) {
        let lines = self.final_lines.iter().cloned().chain(self.screen.pending());
        let numbered = (self.dropped..).zip(lines);
        let within = numbered.filter(|(number, _)| numbers.contains(number));
        (within.map(|(_, line)| line).collect(), numbers.start < self.dropped)
    }
}
