//! The output of a pane since a watch began, as numbered lines.

use std::collections::VecDeque;

use super::echo::EchoFilter;
use super::observation::OutputLine;
use crate::run::{Prompt, TypedLine, same_prompt};
use terminal::screen::{self, Screen, ScreenLine, ScreenState};

/// Size of the kept lines that have scrolled off the screen.
const MAX_KEPT_BYTES: usize = 200_000;

/// Rows after a command's end that can still change.
const MAX_LATE_ROWS: usize = 50;

/// Number of the alternate screen's first line.
const ALTERNATE_BASE: u64 = 1 << 48;
/// Number of the first line that was printed before the watch.
pub(super) const EARLIER_BASE: u64 = 1 << 52;
/// Number of the first line that was found only after the program's exit.
const LATE_BASE: u64 = 1 << 56;

/// The output of one pane.
pub(super) struct OutputView {
    screen: Screen,
    echo: EchoFilter,
    /// Number of the line with the cursor at the beginning, and the byte offset of new text in it.
    first: u64,
    new_from: usize,
    /// Number of lines that have scrolled off the screen.
    scrolled_off: u64,
    /// The newest of them.
    kept: VecDeque<String>,
    kept_size: usize,
    /// Whether some of them were dropped.
    pub(super) is_cut: bool,
    bells: u64,
    /// The shell's prompt, once the watched command has ended. It is not output.
    prompt: Option<Prompt>,
    /// Whether the complete output is known; later bytes are ignored.
    has_ended: bool,
    /// Result of the last `feed` or `end`.
    pub(super) new: NewOutput,
}

/// The changes made by some bytes.
#[derive(Debug, Default)]
pub(super) struct NewOutput {
    pub(super) lines: Vec<OutputLine>,
    pub(super) changed: bool,
    pub(super) bell: bool,
}

impl OutputView {
    /// Number of the screen's first row in a view that begins at `place`.
    pub(super) fn top(place: &ScreenState) -> u64 {
        if place.alternate { ALTERNATE_BASE } else { 0 }
    }

    /// A view that begins with the cursor at `place`.
    pub(super) fn at(place: &ScreenState, echo: EchoFilter) -> Self {
        Self {
            screen: Screen::from_state(place),
            echo,
            first: first(place),
            new_from: place.before.len(),
            scrolled_off: 0,
            kept: VecDeque::new(),
            kept_size: 0,
            is_cut: false,
            bells: 0,
            prompt: None,
            has_ended: false,
            new: NewOutput::default(),
        }
    }

    /// Counts lines that were printed before the watch as new. `first` is the number of the first one and
    /// `seen` the old part of it, in bytes; `before` is the text of the cursor's row.
    pub(super) fn begin_with_lines(
        &mut self,
        lines: Vec<String>,
        (first, seen): (u64, usize),
        before: &str,
    ) {
        let last = lines.len().saturating_sub(1);
        let mut new = Vec::with_capacity(lines.len());
        for (index, text) in lines.into_iter().enumerate() {
            let old = if index == 0 { seen } else { 0 };
            if index == last && text == before.trim_end() {
                // The view has this line, and output may continue it.
                self.new_from = old;
                new.push(self.line(self.first, &text, false));
            } else {
                let number = first + index as u64;
                new.push(OutputLine { new_from: old, ..self.line(number, &text, true) });
                self.keep(text);
            }
        }
        self.set_new(new);
    }

    /// Counts rows of the alternate screen that were drawn before the watch as new.
    pub(super) fn begin_with_rows<'a>(&mut self, rows: impl Iterator<Item = (usize, &'a str)>) {
        let mut new = Vec::new();
        for (row, text) in rows {
            let number = ALTERNATE_BASE + row as u64;
            if number == self.first {
                self.new_from = 0;
            }
            new.push(self.line(number, text, false));
        }
        self.set_new(new);
    }

    fn set_new(&mut self, lines: Vec<OutputLine>) {
        let changed = lines.iter().any(OutputLine::has_new_text);
        self.new = NewOutput { lines, changed, bell: false };
    }

    /// Continues after the end of the watched command: its shell prints its prompt, and processes that
    /// the command left running may print more output.
    pub(super) fn end_command(&mut self, prompt: Prompt) {
        let pending: Vec<(u64, String)> =
            (self.scrolled_off..).zip(self.screen.pending()).collect();
        for (number, line) in pending {
            self.scrolled_off = number + 1;
            if !self.is_old(number, &line) {
                self.keep(line);
            }
        }
        (self.first, self.new_from) = (self.scrolled_off, 0);
        self.screen = self.screen.blank(MAX_LATE_ROWS);
        self.bells = 0;
        self.prompt = Some(prompt);
    }

    /// Continues with the cursor at `place`, possibly in another size. Earlier output is kept.
    pub(super) fn continue_at(&mut self, place: &ScreenState) {
        let lines: Vec<(u64, String)> = (self.scrolled_off..).zip(self.screen.pending()).collect();
        let mut lines: Vec<_> =
            lines.into_iter().filter(|(number, line)| !self.is_old(*number, line)).collect();
        // The cursor's line is part of `place`.
        lines.pop_if(|(_, last)| *last == place.before);
        lines.into_iter().for_each(|(_, line)| self.keep(line));
        self.scrolled_off += place.height as u64;
        self.first = first(place) + if place.alternate { 0 } else { self.scrolled_off };
        self.new_from = place.before.len();
        self.echo.set_width(place.width);
        self.screen = Screen::from_state(place);
        self.bells = 0;
    }

    /// Ends the view with the complete output. Lines that the stream did not have are new.
    pub(super) fn end(&mut self, lines: Vec<String>) {
        let seen = self.output();
        let mut seen: Vec<&str> = seen.lines().map(str::trim_end).collect();
        let mut new = Vec::new();
        for line in &lines {
            match seen.iter().position(|seen| *seen == line.trim_end()) {
                Some(at) => drop(seen.remove(at)),
                None => new.push(self.line(LATE_BASE + new.len() as u64, line, true)),
            }
        }
        self.kept.clear();
        lines.into_iter().for_each(|line| self.keep(line));
        self.screen = Screen::new(1);
        self.has_ended = true;
        self.new = NewOutput { changed: !new.is_empty(), lines: new, bell: false };
    }

    /// Expects the echo of these lines.
    pub(super) fn expect(&mut self, typed: impl IntoIterator<Item = TypedLine>) {
        self.echo.expect(typed);
    }

    /// Processes bytes and sets `new`.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        if self.has_ended {
            return;
        }
        let mut done = Vec::new();
        self.screen.feed(bytes, &mut |line| done.push(line.to_owned()));
        let mut lines = Vec::new();
        for text in done {
            let number = self.scrolled_off;
            self.scrolled_off += 1;
            let text = self.without_prompt(&text);
            if !self.is_old(number, &text) {
                lines.push(self.line(number, &text, true));
                self.keep(text);
            }
        }
        let base = if self.screen.in_alternate() { ALTERNATE_BASE } else { self.scrolled_off };
        let fresh = self.screen.changed_lines();
        let erased = fresh.as_ref().is_some_and(Vec::is_empty);
        let fresh = self.without_prompt_rows(fresh.unwrap_or_default());
        for screen::ScreenLine { index, text, cursor } in fresh {
            let line = self.line(base + index as u64, &text, cursor.is_none());
            lines.push(line);
        }
        let changed = erased || lines.iter().any(OutputLine::has_new_text);
        let bell = self.screen.bells() > self.bells;
        self.bells = self.screen.bells();
        self.new = NewOutput { lines, changed, bell };
    }

    /// Whether a line was there unchanged at the beginning. Lines above the cursor are unknown then, and
    /// empty in the view.
    fn is_old(&self, number: u64, text: &str) -> bool {
        (number < self.first && text.is_empty())
            || (number == self.first && text.len() <= self.new_from)
    }

    /// The rows without those of the shell's prompt.
    fn without_prompt_rows(&self, mut rows: Vec<ScreenLine>) -> Vec<ScreenLine> {
        let Some(prompt) = &self.prompt else { return rows };
        let before_cursor = self.screen.before_cursor();
        let is_prompt = prompt.row.trim().is_empty() || same_prompt(&before_cursor, &prompt.row);
        if rows.last().is_some_and(|last| last.cursor.is_some()) && is_prompt {
            rows.truncate(rows.len().saturating_sub(prompt.rows() as usize));
        }
        rows.iter_mut().for_each(|row| row.text = self.without_prompt(&row.text));
        rows.retain(|row| !row.text.is_empty());
        rows
    }

    /// A line without the prompt before it: a process in the background prints behind the prompt.
    fn without_prompt(&self, line: &str) -> String {
        let prompt = self.prompt.as_ref().map(|prompt| prompt.row.as_str());
        let rest =
            prompt.filter(|row| !row.trim().is_empty()).and_then(|row| line.strip_prefix(row));
        rest.unwrap_or(line).to_owned()
    }

    fn line(&mut self, number: u64, shown: &str, is_whole: bool) -> OutputLine {
        let text = self.echo.strip(number, shown, is_whole);
        let new_from = if number == self.first { self.new_from } else { 0 };
        OutputLine { number, text, shown: shown.to_owned(), new_from, is_whole }
    }

    fn keep(&mut self, line: String) {
        self.kept_size += line.len();
        self.kept.push_back(line);
        while self.kept_size > MAX_KEPT_BYTES
            && let Some(oldest) = self.kept.pop_front()
        {
            self.kept_size -= oldest.len();
            self.is_cut = true;
        }
    }

    /// Text of the cursor's row, up to the cursor.
    pub(super) fn row(&self) -> String {
        self.screen.before_cursor()
    }

    pub(super) fn in_alternate(&self) -> bool {
        self.screen.in_alternate()
    }

    /// The output, as far as it is kept.
    pub(super) fn output(&self) -> String {
        let mut main = self.screen.pending();
        if self.prompt.is_some() && !self.screen.in_alternate() {
            let rows = self.without_prompt_rows(self.screen.visible_lines());
            main = rows.into_iter().map(|row| row.text).collect();
        }
        let main =
            (self.scrolled_off..).zip(&main).filter(|(number, line)| !self.is_old(*number, line));
        let mut lines: Vec<&str> = self.kept.iter().map(String::as_str).collect();
        lines.extend(main.map(|(_, line)| line.as_str()));
        let alternate =
            if self.screen.in_alternate() { self.screen.visible_lines() } else { Vec::new() };
        lines.extend(alternate.iter().map(|line| line.text.trim_end()));
        lines.join("\n").trim_end().to_owned()
    }
}

/// Number of the line with the cursor at the beginning.
fn first(place: &ScreenState) -> u64 {
    place.row as u64 + OutputView::top(place)
}

impl OutputLine {
    /// Whether it has new text that is not an echo.
    fn has_new_text(&self) -> bool {
        self.text.get(self.new_from..).is_some_and(|new| !new.trim().is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(row: usize, before: &str) -> OutputView {
        let place =
            ScreenState { width: 20, height: 4, row, before: before.into(), alternate: false };
        OutputView::at(&place, EchoFilter::default())
    }

    fn texts(view: &OutputView) -> Vec<(u64, &str, bool)> {
        view.new.lines.iter().map(|l| (l.number, l.text.as_str(), l.is_whole)).collect()
    }

    #[test]
    fn lines_keep_their_numbers_when_they_scroll_off() {
        let mut view = view(2, "$ ");
        view.feed(b"ls\r\none");
        assert_eq!(texts(&view), [(2, "$ ls", true), (3, "one", false)]);
        assert_eq!(view.new.lines[0].new_from, 2);
        view.feed(b"\r\ntwo\r\nthree\r\nfour\r\nfive");
        let numbers: Vec<u64> = view.new.lines.iter().map(|line| line.number).collect();
        assert_eq!(numbers, [2, 3, 4, 5, 6, 7]);
        assert_eq!(view.output(), "$ ls\none\ntwo\nthree\nfour\nfive");
    }

    #[test]
    fn text_before_the_watch_is_not_new() {
        let mut view = view(1, "FINISHED ");
        view.feed(b"\x1b[1m");
        assert!(!view.new.changed);
        view.feed(b"\r\n");
        assert!(!view.new.changed && view.new.lines[0].new_from == 9);
        view.feed(b"x\x07");
        assert!(view.new.changed && view.new.bell);
    }

    #[test]
    fn unknown_line_does_not_join_the_first_line() {
        let mut view = view(2, "# ls");
        // As fish redraws: up, right, and past the edge.
        view.feed(b"\x1bM\r\x1b[18C  ls -l\r\ntotal");
        assert_eq!(texts(&view)[1..], [(2, "ls -l", true), (3, "total", false)]);
        assert_eq!(view.output().lines().last(), Some("total"));
    }

    #[test]
    fn line_missing_from_the_stream_is_new() {
        let mut view = view(1, "$ ");
        view.feed(b"ls\r\none\r\n");
        view.end(["$ ls", "one", "two"].map(String::from).to_vec());
        assert_eq!(texts(&view), [(LATE_BASE, "two", true)]);
        assert_eq!(view.output(), "$ ls\none\ntwo");
    }

    #[test]
    fn view_continues_after_a_gap() {
        let mut view = view(0, "");
        view.feed(b"before\r\n");
        let place =
            ScreenState { width: 20, height: 4, row: 3, before: "x".into(), alternate: false };
        view.continue_at(&place);
        view.feed(b"y\r\nafter");
        assert_eq!(view.output(), "before\nxy\nafter");
        // After a resize, the unfinished line continues.
        let place =
            ScreenState { width: 9, height: 2, row: 0, before: "after".into(), alternate: false };
        view.continue_at(&place);
        view.feed(b" all\r\n");
        assert_eq!(view.output(), "before\nxy\nafter all");
    }

    #[test]
    fn earlier_alternate_screen_is_not_new() {
        let place =
            ScreenState { width: 20, height: 4, row: 1, before: "menu".into(), alternate: true };
        let mut view = OutputView::at(&place, EchoFilter::default());
        view.feed(b"!\x1b[4;1Hnew");
        let new_from: Vec<usize> = view.new.lines.iter().map(|line| line.new_from).collect();
        assert_eq!(texts(&view).len(), 3);
        assert_eq!(new_from, [4, 0, 0]);
    }

    #[test]
    fn alternate_screen_has_its_own_line_numbers() {
        let mut view = view(1, "$ ");
        view.feed(b"\x1b[?1049h\x1b[3;2Hmenu");
        assert_eq!(texts(&view).last(), Some(&(ALTERNATE_BASE + 2, " menu", false)));
        assert!(view.output().ends_with(" menu"));
        view.feed(b"\x1b[?1049l");
        assert!(!view.in_alternate() && view.output().is_empty());
    }
}
