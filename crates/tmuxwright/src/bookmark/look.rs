//! One look at a pane: what tmux has to be asked, and its answers put together.

use tmux_control::capture::Capture;
use tmux_control::{Command, Error, PaneId, Reply, Row, Server, row};
use unicode_width::UnicodeWidthChar;

use super::print::{self, Anchor, Open};
use super::{ANCHOR, Bookmark, CONTEXT_ROWS, TAIL};

/// How many rows of history a look reads when nothing speaks for more.
pub(super) const NEAR: i64 = 160;

/// How many rows are read before a row that a mark could be at.
const PROBE_ROWS: i64 = 24;

/// How much of a pane's history a look reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaptureRange {
    /// So many rows, up to the screen.
    pub(super) back: i64,
    /// And what is before each of these, counted from the top of the screen.
    pub(super) probes: Vec<i64>,
}

impl CaptureRange {
    /// What a look reads when nothing speaks for more.
    pub const NEAR: Self = Self::back(NEAR);
    /// Everything.
    pub const ALL: Self = Self::back(i32::MAX as i64);

    pub(super) const fn back(rows: i64) -> Self {
        Self { back: rows, probes: Vec::new() }
    }

    /// The questions for such a look. Ask them in one sequence, so that all answers are of the same
    /// moment.
    pub(crate) fn queries(&self, pane: PaneId) -> Vec<Command> {
        let probe = |row: &i64| part(pane, row - PROBE_ROWS, Some(*row), true);
        queries(pane, self.back).into_iter().chain(self.probes.iter().map(probe)).collect()
    }
}

/// With what tmux begins its notice in a pane whose program has exited.
const NOTICE: &str = "Pane is dead";

row! {
    Facts {
        pane: PaneId = "pane_id",
        pid: u32 = "pane_pid",
        dead: bool = "pane_dead",
        width: i64 = "pane_width",
        height: i64 = "pane_height",
        history: i64 = "history_size",
        limit: i64 = "history_limit",
        cursor: i64 = "cursor_y",
        alternate: bool = "alternate_on",
        // Beyond every row if the program did not ask for it to be saved.
        saved: i64 = "alternate_saved_y",
    }
}

/// What a pane had printed at one moment, as whole lines, however many rows each takes.
#[derive(Debug)]
pub struct PaneText {
    /// The pane.
    pub pane: PaneId,
    /// Its first process.
    pub pid: u32,
    pub(super) width: i64,
    pub(super) height: i64,
    pub(super) history: i64,
    pub(super) limit: i64,
    /// The row with which the first line begins, counted from the oldest.
    pub(super) first: i64,
    /// The lines that end with some other rows, of which the first may lack its beginning.
    pub(super) probes: Vec<(i64, Vec<String>)>,
    /// All lines that were read, down to the bottom of the screen.
    pub(super) lines: Vec<String>,
    /// The first line of which something is on the screen.
    top: usize,
    /// The last line that counts: the one the cursor is in, or the last with text if that is below.
    pub(super) end: usize,
    /// The last row of that line, counted from the top of the screen.
    row: i64,
    /// The rows of a full-screen program, if one is there. Then the lines are those behind it.
    alternate: Option<Vec<String>>,
}

/// The questions for the first look, when nothing speaks for more.
pub(crate) fn nearby_queries(pane: PaneId) -> [Command; 6] {
    queries(pane, NEAR)
}

fn queries(pane: PaneId, rows: i64) -> [Command; 6] {
    let part = |start, end, join| part(pane, start, end, join);
    [
        Server::row_query::<Facts>(&pane.to_string()),
        part(-rows, Some(-1), true),
        part(0, None, true),
        // The screen behind a full-screen program; nothing if there is none.
        part(0, None, true).args(["-a", "-q"]),
        // One line if the last row of history goes on at the top of the screen, else two.
        part(-1, Some(0), true),
        part(0, None, false),
    ]
}

fn part(pane: PaneId, start: i64, end: Option<i64>, join: bool) -> Command {
    Capture { start: Some(start), end, join, colors: false }.of(pane)
}

impl PaneText {
    /// Puts the answers to the questions together.
    pub(crate) fn from_replies(replies: &[Reply], reach: &CaptureRange) -> Result<Self, Error> {
        let [facts, history, screen, behind, seam, grid, probes @ ..] = replies else {
            return Err(Error::Unexpected {
                command: "capture-pane".to_owned(),
                detail: format!("{} answers to six queries", replies.len()),
            });
        };
        let facts = Facts::parse_one("display-message", &facts.0)?;
        let mut lines = Vec::new();
        if facts.history > 0 {
            lines = split(history);
        }
        let mut below = split(if facts.alternate { behind } else { screen });
        let mut top = lines.len();
        if facts.history > 0 && split(seam).len() == 1 {
            top = top.saturating_sub(1);
            if let (Some(last), Some(first)) = (lines.last_mut(), below.first()) {
                last.push_str(first);
                below.remove(0);
            }
        }
        lines.extend(below);
        let cursor = if facts.alternate { facts.saved } else { facts.cursor };
        let mut free = if (0..facts.height).contains(&cursor) {
            facts.height - 1 - cursor
        } else {
            facts.height - 1
        };
        // The notice is tmux's, not the program's. It is put at the bottom, far from the rest but as
        // if the row before went on there, and pushes a row into history.
        let rows = split(grid);
        let notice = rows.last().filter(|row| facts.dead && row.starts_with(NOTICE));
        if let (Some(notice), Some(last)) = (notice, lines.last_mut())
            && let Some(own) = last.trim_end().strip_suffix(notice.trim_end()).map(str::len)
        {
            last.truncate(own);
            lines.push(String::new());
            free = facts.height - 1;
            top = top.saturating_sub(1);
        }
        for line in &mut lines {
            line.truncate(line.trim_end().len());
        }
        let blank = lines.iter().rev().take_while(|line| line.is_empty()).count();
        let blank = i64::try_from(blank).unwrap_or(i64::MAX).min(free);
        let end = lines.len().saturating_sub(1 + usize::try_from(blank).unwrap_or_default());
        Ok(Self {
            pane: facts.pane,
            pid: facts.pid,
            width: facts.width.max(1),
            height: facts.height,
            history: facts.history,
            limit: facts.limit,
            first: (facts.history - reach.back).max(0),
            probes: reach
                .probes
                .iter()
                .zip(probes)
                .map(|(row, lines)| (facts.history + row, split(lines)))
                .collect(),
            lines,
            top,
            end,
            row: facts.height - 1 - blank,
            alternate: facts
                .alternate
                .then(|| rows.into_iter().map(|row| row.trim_end().to_owned()).collect()),
        })
    }

    /// Whether a full-screen program is there.
    pub fn is_alternate(&self) -> bool {
        self.alternate.is_some()
    }

    /// The place behind everything that was seen.
    pub fn bookmark(&self) -> Bookmark {
        let starts = self.starts(self.width);
        let highest = self.history + self.row - CONTEXT_ROWS;
        // The first line may lack its beginning.
        let whole = usize::from(self.first > 0);
        let from = starts.iter().position(|start| *start >= highest).unwrap_or(self.end);
        let from = from.max(whole).max(self.end.saturating_sub(TAIL + ANCHOR)).min(self.end);
        let context = self.lines.get(from..self.end).unwrap_or_default();
        let (anchor, tail) = context.split_at(context.len().saturating_sub(TAIL));
        Bookmark {
            pane: self.pane,
            pid: self.pid,
            width: self.width,
            history: self.history,
            row: self.row,
            open: Open::of(self.lines.get(self.end).map_or("", String::as_str)),
            anchor: Anchor::of(anchor),
            tail: tail.iter().map(|line| print::line(line)).collect(),
            alternate: self.alternate_prints(),
        }
    }

    pub(super) fn alternate_prints(&self) -> Option<Vec<u32>> {
        let mut prints: Vec<u32> = self.alternate.as_ref()?.iter().map(|r| print::row(r)).collect();
        while prints.last() == Some(&0) {
            prints.pop();
        }
        Some(prints)
    }

    /// The rows of the full-screen program that are not as a mark saw them, with their numbers; all
    /// that are not blank if it saw none.
    pub fn changed_rows(&self, mark: Option<&Bookmark>) -> Vec<(i64, String)> {
        let seen = mark.and_then(|mark| mark.alternate.as_deref()).unwrap_or_default();
        let rows = self.alternate.as_deref().unwrap_or_default();
        let numbered = (0..).zip(rows).zip(seen.iter().copied().chain(std::iter::repeat(0)));
        numbered
            .filter(|((_, row), seen)| print::row(row) != *seen)
            .map(|((number, row), _)| (number, row.clone()))
            .collect()
    }

    /// The first line of which something is on the screen.
    pub(super) fn top(&self) -> usize {
        self.top
    }

    /// The row with which each line begins if rows are so wide, and the one after the last line.
    pub(super) fn starts(&self, width: i64) -> Vec<i64> {
        let mut next = self.first;
        let mut starts = Vec::with_capacity(self.lines.len() + 1);
        for line in &self.lines {
            starts.push(next);
            next += rows(line, width);
        }
        starts.push(next);
        starts
    }

    /// Whether the rows of the lines, counted by their characters, are those tmux has.
    pub(super) fn counts_like_tmux(&self) -> bool {
        self.starts(self.width).last() == Some(&(self.history + self.height))
    }
}

/// How many rows a line takes.
fn rows(line: &str, width: i64) -> i64 {
    if line.is_ascii() {
        let length = i64::try_from(line.len()).unwrap_or(i64::MAX);
        return (length.saturating_sub(1) / width).max(0) + 1;
    }
    let (mut rows, mut column) = (1, 0);
    for c in line.chars() {
        let cells = i64::try_from(c.width().unwrap_or(0)).unwrap_or_default();
        if column + cells > width {
            rows += 1;
            column = 0;
        }
        column += cells;
    }
    rows
}

fn split(reply: &Reply) -> Vec<String> {
    let text = reply.text();
    let text = text.strip_suffix('\n').unwrap_or(&text);
    text.split('\n').map(str::to_owned).collect()
}
