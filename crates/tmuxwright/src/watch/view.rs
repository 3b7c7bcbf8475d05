//! What a pane printed since a watch began, as lines.

use std::collections::VecDeque;

use super::echo::Echo;
use super::moment::Line;
use crate::run::TypedLine;
use terminal::screen::{self, Screen, ScreenState};

/// How many characters of lines that scrolled off are kept to be shown.
const KEPT: usize = 200_000;

/// The lines of a full-screen program have numbers of their own, and so have those that came last.
const ALTERNATE: u64 = 1 << 48;
const LAST: u64 = 1 << 56;

/// The text of one pane.
pub(super) struct View {
    screen: Screen,
    echo: Echo,
    /// The number of the line that was there already, and where in it the new begins.
    first: u64,
    new_from: usize,
    /// How many lines have scrolled off.
    gone: u64,
    /// The newest of them.
    kept: VecDeque<String>,
    kept_size: usize,
    /// Whether some of them are not kept.
    pub(super) is_cut: bool,
    bells: u64,
    /// Whether all that was printed is known.
    has_ended: bool,
    /// What came with the last bytes.
    pub(super) news: News,
}

/// What some bytes brought.
#[derive(Debug, Default)]
pub(super) struct News {
    pub(super) lines: Vec<Line>,
    pub(super) changed: bool,
    pub(super) bell: bool,
}

impl View {
    /// The number of the first row of the screen in a view that begins here.
    pub(super) fn top(place: &ScreenState) -> u64 {
        if place.alternate { ALTERNATE } else { 0 }
    }

    /// A view that begins here.
    pub(super) fn at(place: &ScreenState, echo: Echo) -> Self {
        Self {
            screen: Screen::from_state(place),
            echo,
            first: first(place),
            new_from: place.before.len(),
            gone: 0,
            kept: VecDeque::new(),
            kept_size: 0,
            is_cut: false,
            bells: 0,
            has_ended: false,
            news: News::default(),
        }
    }

    /// Goes on at another place, or in another size; what was seen is kept.
    pub(super) fn go_on_at(&mut self, place: &ScreenState) {
        let lines: Vec<(u64, String)> = (self.gone..).zip(self.screen.pending()).collect();
        let mut lines: Vec<_> =
            lines.into_iter().filter(|(number, line)| !self.is_old(*number, line)).collect();
        // The line that the cursor is in comes again.
        lines.pop_if(|(_, last)| *last == place.before);
        lines.into_iter().for_each(|(_, line)| self.keep(line));
        self.gone += place.height as u64;
        self.first = first(place) + if place.alternate { 0 } else { self.gone };
        self.new_from = place.before.len();
        self.echo.go_on_in(place.width);
        self.screen = Screen::from_state(place);
        self.bells = 0;
    }

    /// Ends with these lines, which are all that was printed. Those that had not come are news.
    pub(super) fn end(&mut self, lines: Vec<String>) {
        let seen = self.output();
        let mut seen: Vec<&str> = seen.lines().map(str::trim_end).collect();
        let mut news = Vec::new();
        for line in &lines {
            match seen.iter().position(|seen| *seen == line.trim_end()) {
                Some(at) => drop(seen.remove(at)),
                None => news.push(self.line(LAST + news.len() as u64, line, true)),
            }
        }
        self.kept.clear();
        lines.into_iter().for_each(|line| self.keep(line));
        self.screen = Screen::new(1);
        self.has_ended = true;
        self.news = News { changed: !news.is_empty(), lines: news, bell: false };
    }

    /// Expects the echo of these lines.
    pub(super) fn expect(&mut self, typed: impl IntoIterator<Item = TypedLine>) {
        self.echo.expect(typed);
    }

    /// Takes bytes; what is new in them is then in `news`.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        if self.has_ended {
            return;
        }
        let mut done = Vec::new();
        self.screen.feed(bytes, &mut |line| done.push(line.to_owned()));
        let mut lines = Vec::new();
        for text in done {
            let number = self.gone;
            self.gone += 1;
            if !self.is_old(number, &text) {
                lines.push(self.line(number, &text, true));
                self.keep(text);
            }
        }
        let base = if self.screen.in_alternate() { ALTERNATE } else { self.gone };
        let fresh = self.screen.changed_lines();
        let erased = fresh.as_ref().is_some_and(Vec::is_empty);
        for screen::ScreenLine { index, text, cursor } in fresh.unwrap_or_default() {
            let line = self.line(base + index as u64, &text, cursor.is_none());
            lines.push(line);
        }
        let changed = erased || lines.iter().any(Line::has_news);
        let bell = self.screen.bells() > self.bells;
        self.bells = self.screen.bells();
        self.news = News { lines, changed, bell };
    }

    /// Whether a line was there already as it is. What is above the cursor is unknown, and empty
    /// here.
    fn is_old(&self, number: u64, text: &str) -> bool {
        (number < self.first && text.is_empty())
            || (number == self.first && text.len() <= self.new_from)
    }

    fn line(&mut self, number: u64, shown: &str, is_whole: bool) -> Line {
        let text = self.echo.strip(number, shown, is_whole);
        let new_from = if number == self.first { self.new_from } else { 0 };
        Line { number, text, shown: shown.to_owned(), new_from, is_whole }
    }

    fn keep(&mut self, line: String) {
        self.kept_size += line.len();
        self.kept.push_back(line);
        while self.kept_size > KEPT
            && let Some(oldest) = self.kept.pop_front()
        {
            self.kept_size -= oldest.len();
            self.is_cut = true;
        }
    }

    /// The row the cursor is in, up to the cursor.
    pub(super) fn row(&self) -> String {
        self.screen.before_cursor()
    }

    pub(super) fn in_alternate(&self) -> bool {
        self.screen.in_alternate()
    }

    /// All that was printed, as far as it is kept.
    pub(super) fn output(&self) -> String {
        let main = self.screen.pending();
        let main = (self.gone..).zip(&main).filter(|(number, line)| !self.is_old(*number, line));
        let mut lines: Vec<&str> = self.kept.iter().map(String::as_str).collect();
        lines.extend(main.map(|(_, line)| line.as_str()));
        let alternate =
            if self.screen.in_alternate() { self.screen.visible_lines() } else { Vec::new() };
        lines.extend(alternate.iter().map(|line| line.text.as_str()));
        lines.join("\n").trim_end().to_owned()
    }
}

/// The number of the line that is there already.
fn first(place: &ScreenState) -> u64 {
    place.row as u64 + View::top(place)
}

impl Line {
    /// Whether there is anything in it that is new and no echo.
    fn has_news(&self) -> bool {
        self.text.get(self.new_from..).is_some_and(|new| !new.trim().is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(row: usize, before: &str) -> View {
        let place =
            ScreenState { width: 20, height: 4, row, before: before.into(), alternate: false };
        View::at(&place, Echo::default())
    }

    fn texts(view: &View) -> Vec<(u64, &str, bool)> {
        view.news.lines.iter().map(|l| (l.number, l.text.as_str(), l.is_whole)).collect()
    }

    #[test]
    fn lines_keep_their_numbers_when_they_scroll_off() {
        let mut view = view(2, "$ ");
        view.feed(b"ls\r\none");
        assert_eq!(texts(&view), [(2, "$ ls", true), (3, "one", false)]);
        assert_eq!(view.news.lines[0].new_from, 2);
        view.feed(b"\r\ntwo\r\nthree\r\nfour\r\nfive");
        let numbers: Vec<u64> = view.news.lines.iter().map(|line| line.number).collect();
        assert_eq!(numbers, [2, 3, 4, 5, 6, 7]);
        assert_eq!(view.output(), "$ ls\none\ntwo\nthree\nfour\nfive");
    }

    #[test]
    fn what_was_there_before_is_no_news() {
        let mut view = view(1, "FINISHED ");
        view.feed(b"\x1b[1m");
        assert!(!view.news.changed);
        view.feed(b"\r\n");
        assert!(!view.news.changed && view.news.lines[0].new_from == 9);
        view.feed(b"x\x07");
        assert!(view.news.changed && view.news.bell);
    }

    #[test]
    fn what_is_unknown_does_not_go_on_in_what_was_there() {
        let mut view = view(2, "# ls");
        // As fish does it: up, to the right, and over the edge.
        view.feed(b"\x1bM\r\x1b[18C  ls -l\r\ntotal");
        assert_eq!(texts(&view)[1..], [(2, "ls -l", true), (3, "total", false)]);
        assert_eq!(view.output().lines().last(), Some("total"));
    }

    #[test]
    fn what_had_not_come_at_the_end_is_news() {
        let mut view = view(1, "$ ");
        view.feed(b"ls\r\none\r\n");
        view.end(["$ ls", "one", "two"].map(String::from).to_vec());
        assert_eq!(texts(&view), [(LAST, "two", true)]);
        assert_eq!(view.output(), "$ ls\none\ntwo");
    }

    #[test]
    fn a_gap_does_not_end_a_view() {
        let mut view = view(0, "");
        view.feed(b"before\r\n");
        let place =
            ScreenState { width: 20, height: 4, row: 3, before: "x".into(), alternate: false };
        view.go_on_at(&place);
        view.feed(b"y\r\nafter");
        assert_eq!(view.output(), "before\nxy\nafter");
        // In another size, the line that was begun goes on.
        let place =
            ScreenState { width: 9, height: 2, row: 0, before: "after".into(), alternate: false };
        view.go_on_at(&place);
        view.feed(b" all\r\n");
        assert_eq!(view.output(), "before\nxy\nafter all");
    }

    #[test]
    fn what_a_full_screen_program_showed_before_is_no_news() {
        let place =
            ScreenState { width: 20, height: 4, row: 1, before: "menu".into(), alternate: true };
        let mut view = View::at(&place, Echo::default());
        view.feed(b"!\x1b[4;1Hnew");
        let new_from: Vec<usize> = view.news.lines.iter().map(|line| line.new_from).collect();
        assert_eq!(texts(&view).len(), 3);
        assert_eq!(new_from, [4, 0, 0]);
    }

    #[test]
    fn a_full_screen_program_has_lines_too() {
        let mut view = view(1, "$ ");
        view.feed(b"\x1b[?1049h\x1b[3;2Hmenu");
        assert_eq!(texts(&view).last(), Some(&(ALTERNATE + 2, " menu", false)));
        assert!(view.output().ends_with(" menu"));
        view.feed(b"\x1b[?1049l");
        assert!(!view.in_alternate() && view.output().is_empty());
    }
}
