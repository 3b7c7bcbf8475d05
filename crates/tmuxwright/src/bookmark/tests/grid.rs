//! A model of tmux's grid: rows that wrap, history that is trimmed by tenths.

use tmux_control::{PaneId, TmuxReply};

use crate::bookmark::{Bookmark, CaptureRange, NewLines, PaneText, SinceOutcome};

/// A row, and whether it continues in the next one.
#[derive(Debug, Clone)]
struct Cells {
    text: String,
    wraps: bool,
}

#[derive(Debug)]
pub(super) struct Grid {
    rows: Vec<Cells>,
    /// Row of the cursor.
    cursor: usize,
    width: usize,
    height: usize,
    limit: usize,
    pub(super) pid: u32,
    /// Smallest width at which rows were trimmed.
    pub(super) trimmed_at: usize,
    /// Whether tmux has printed the notice of a dead pane.
    dead: bool,
    /// Rows of the alternate screen, if it is on.
    pub(super) full: Option<Vec<String>>,
}

impl Grid {
    pub(super) fn new(width: usize, height: usize, limit: usize) -> Self {
        let blank = Cells { text: String::new(), wraps: false };
        let rows = vec![blank; height];
        Self {
            rows,
            cursor: 0,
            width,
            height,
            limit,
            pid: 7,
            trimmed_at: usize::MAX,
            dead: false,
            full: None,
        }
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    fn history(&self) -> usize {
        self.rows.len() - self.height
    }

    fn line_feed(&mut self) {
        self.cursor += 1;
        if self.cursor == self.rows.len() {
            if self.history() > 0 && self.history() >= self.limit {
                let tenth = (self.limit / 10).max(1).min(self.history());
                self.rows.drain(..tenth);
                self.trimmed_at = self.trimmed_at.min(self.width);
                self.cursor -= tenth;
            }
            self.rows.push(Cells { text: String::new(), wraps: false });
        }
    }

    pub(super) fn print(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '\n' => self.line_feed(),
                '\r' => self.rows[self.cursor].text.clear(),
                c => {
                    if self.rows[self.cursor].text.chars().count() == self.width {
                        self.rows[self.cursor].wraps = true;
                        self.line_feed();
                    }
                    self.rows[self.cursor].text.push(c);
                }
            }
        }
    }

    pub(super) fn lines(&mut self, lines: &[String]) {
        for line in lines {
            self.print(line);
            self.print("\n");
        }
    }

    /// Rewrites the row `above` rows above the cursor.
    pub(super) fn rewrite(&mut self, above: usize, text: &str) {
        let row = self.cursor - above;
        self.rows[row].text = text.to_owned();
    }

    pub(super) fn resize(&mut self, width: usize) {
        self.width = width;
        let lines = join(&self.rows[..=self.cursor]);
        self.rows.clear();
        for line in lines {
            let characters: Vec<char> = line.chars().collect();
            let mut parts: Vec<String> =
                characters.chunks(width).map(|part| part.iter().collect()).collect();
            let last = parts.pop().unwrap_or_default();
            self.rows.extend(parts.into_iter().map(|text| Cells { text, wraps: true }));
            self.rows.push(Cells { text: last, wraps: false });
        }
        self.cursor = self.rows.len() - 1;
        while self.rows.len() < self.height {
            self.rows.push(Cells { text: String::new(), wraps: false });
        }
    }

    pub(super) fn clear_history(&mut self) {
        let history = self.history();
        self.rows.drain(..history);
        self.cursor -= history;
    }

    /// Ends the program; tmux prints its notice at the bottom.
    pub(super) fn die(&mut self) {
        self.dead = true;
        self.cursor = self.rows.len() - 1;
        self.rows[self.cursor].wraps = true;
        self.line_feed();
        self.print("Pane is dead (status 0)");
    }

    /// The replies to the queries of a range.
    pub(super) fn replies(&self, range: &CaptureRange) -> Vec<TmuxReply> {
        let history = self.history();
        let back = usize::try_from(range.back).unwrap().min(history);
        let cursor = self.cursor - history;
        let (shown, saved) = if self.full.is_some() { (0, cursor) } else { (cursor, 99_999) };
        let facts = format!(
            "%3;{};{};{};{};{history};{};{shown};{};{saved};\n",
            self.pid,
            u32::from(self.dead),
            self.width,
            self.height,
            self.limit,
            u32::from(self.full.is_some()),
        );
        let (old, main) = self.rows.split_at(history);
        let reply = |lines: &[String]| TmuxReply(format!("{}\n", lines.join("\n")).into_bytes());
        let rows = || main.iter().map(|row| row.text.clone()).collect();
        let full = self.full.clone().unwrap_or_else(rows);
        let seam = old.last().is_some_and(|row| row.wraps);
        let main = reply(&join(main));
        let (screen, behind) = match self.full {
            Some(_) => (reply(&full), main),
            None => (main, reply(&[String::new()])),
        };
        let mut replies = vec![
            TmuxReply(facts.into_bytes()),
            reply(&join(&old[history - back..])),
            screen,
            behind,
            reply(&vec!["x".to_owned(); if seam { 1 } else { 2 }]),
            reply(&full),
        ];
        for probe in &range.probes {
            let row = usize::try_from(i64::try_from(history).unwrap() + probe).unwrap();
            replies.push(reply(&join(&self.rows[row.saturating_sub(24)..=row])));
        }
        replies
    }

    pub(super) fn text(&self) -> PaneText {
        self.text_in(&CaptureRange::NEAR)
    }

    fn text_in(&self, range: &CaptureRange) -> PaneText {
        PaneText::from_replies(&self.replies(range), range).unwrap()
    }

    pub(super) fn bookmark(&self) -> Bookmark {
        let bookmark = self.text().bookmark();
        assert_eq!(bookmark.pane, PaneId(3));
        assert_eq!(bookmark.to_string().parse(), Ok(bookmark.clone()), "{bookmark}");
        bookmark
    }

    /// The lines since a bookmark, and the ranges that had to be captured.
    pub(super) fn since(&self, bookmark: &Bookmark) -> (NewLines, Vec<CaptureRange>) {
        let mut ranges = vec![CaptureRange::NEAR];
        loop {
            let range = ranges.last().unwrap();
            match self.text_in(range).since(bookmark) {
                SinceOutcome::New(new) => return (new, ranges),
                SinceOutcome::ReadMore(further) => {
                    assert!(!ranges.contains(&further), "{further:?} after {ranges:?}");
                    ranges.push(further);
                }
            }
        }
    }

    /// The lines since a bookmark. Fails if any were missed.
    pub(super) fn new_lines(&self, bookmark: &Bookmark) -> Vec<String> {
        let (new, _) = self.since(bookmark);
        assert!(!new.missed, "{new:?}");
        assert_eq!(new.lines.len(), new.rows.len());
        new.lines
    }

    /// The lines that the grid still holds.
    pub(super) fn left(&self) -> Vec<String> {
        join(&self.rows[..=self.cursor])
    }
}

fn join(rows: &[Cells]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for (at, row) in rows.iter().enumerate() {
        line.push_str(&row.text);
        if !row.wraps || at + 1 == rows.len() {
            lines.push(std::mem::take(&mut line));
        }
    }
    lines
}
