//! The text of a pane at one moment: the queries to tmux, and the lines made from the replies.

use tmux_control::capture::Capture;
use tmux_control::{Command, Error, PaneId, Row, Server, TmuxReply, row};
use unicode_width::UnicodeWidthChar;

use super::fingerprint::{self, Anchor, OpenLine};
use super::{ANCHOR_LINES, Bookmark, CONTEXT_ROWS, TAIL_LINES};

/// Rows of history that are captured first.
pub(super) const NEAR_ROWS: i64 = 160;

/// Rows captured before a row at which a bookmark could be.
const PROBE_ROWS: i64 = 24;

/// The part of a pane's history to capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaptureRange {
    /// Number of rows above the screen.
    pub(super) back: i64,
    /// Rows, counted from the top of the screen, before each of which some rows are captured too.
    pub(super) probes: Vec<i64>,
}

impl CaptureRange {
    /// The range that is captured first.
    pub const NEAR: Self = Self::back(NEAR_ROWS);
    /// The whole history.
    pub const ALL: Self = Self::back(i32::MAX as i64);

    pub(super) const fn back(rows: i64) -> Self {
        Self { back: rows, probes: Vec::new() }
    }

    /// The queries for this range. Send them in one sequence, so that all replies show the same moment.
    pub(crate) fn queries(&self, pane: PaneId) -> Vec<Command> {
        let probe = |row: &i64| part(pane, row - PROBE_ROWS, Some(*row), true);
        queries(pane, self.back).into_iter().chain(self.probes.iter().map(probe)).collect()
    }
}

/// Beginning of the notice that tmux prints in a pane whose program has exited.
const DEAD_PANE_NOTICE: &str = "Pane is dead";

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
        // Larger than any row if the program did not save the cursor.
        saved: i64 = "alternate_saved_y",
    }
}

/// The text of a pane at one moment, as whole lines, however many rows each takes.
#[derive(Debug)]
pub struct PaneText {
    /// Id of the pane.
    pub pane: PaneId,
    /// Process id of the pane.
    pub pid: u32,
    pub(super) width: i64,
    pub(super) height: i64,
    pub(super) history: i64,
    pub(super) limit: i64,
    /// First row of the first line, counted from the oldest row of the history.
    pub(super) first: i64,
    /// Probed rows with the lines that end there; the first line may lack its beginning.
    pub(super) probes: Vec<(i64, Vec<String>)>,
    /// The captured lines, down to the bottom of the screen.
    pub(super) lines: Vec<String>,
    /// Index of the first line that is at least partly on the screen.
    top: usize,
    /// Index of the last line: the one with the cursor, or the last one with text if that is below.
    pub(super) end: usize,
    /// Last row of that line, counted from the top of the screen.
    row: i64,
    /// Rows of the alternate screen, if it is on. `lines` are then those of the main screen.
    alternate: Option<Vec<String>>,
}

/// The queries for [`CaptureRange::NEAR`].
pub(crate) fn nearby_queries(pane: PaneId) -> [Command; 6] {
    queries(pane, NEAR_ROWS)
}

fn queries(pane: PaneId, rows: i64) -> [Command; 6] {
    let part = |start, end, join| part(pane, start, end, join);
    [
        Server::row_query::<Facts>(&pane.to_string()),
        part(-rows, Some(-1), true),
        part(0, None, true),
        // The main screen while the alternate screen is on, else empty.
        part(0, None, true).args(["-a", "-q"]),
        // One line if the last row of the history continues at the top of the screen, else two.
        part(-1, Some(0), true),
        part(0, None, false),
    ]
}

fn part(pane: PaneId, start: i64, end: Option<i64>, join: bool) -> Command {
    Capture { start: Some(start), end, join, colors: false }.of(pane)
}

impl PaneText {
    /// Builds the text from the replies to the queries of `range`.
    pub(crate) fn from_replies(replies: &[TmuxReply], range: &CaptureRange) -> Result<Self, Error> {
        let [facts, history, screen, behind, seam, grid, probes @ ..] = replies else {
            return Err(Error::Unexpected {
                command: "capture-pane".to_owned(),
                detail: format!("{} replies to six queries", replies.len()),
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
        // Remove tmux's notice, which is not output of the program. tmux prints it at the bottom as a
        // continuation of the row above, and pushes one row into the history.
        let rows = split(grid);
        let notice = rows.last().filter(|row| facts.dead && row.starts_with(DEAD_PANE_NOTICE));
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
            first: (facts.history - range.back).max(0),
            probes: range
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

    /// The rows of the alternate screen.
    pub(crate) fn alternate_rows(&self) -> &[String] {
        self.alternate.as_deref().unwrap_or_default()
    }

    /// Whether the alternate screen is on, as in full-screen programs.
    pub fn is_alternate(&self) -> bool {
        self.alternate.is_some()
    }

    /// A bookmark at the end of the text.
    pub fn bookmark(&self) -> Bookmark {
        let starts = self.starts(self.width);
        let highest = self.history + self.row - CONTEXT_ROWS;
        // The first line may lack its beginning.
        let whole = usize::from(self.first > 0);
        let from = starts.iter().position(|start| *start >= highest).unwrap_or(self.end);
        let from =
            from.max(whole).max(self.end.saturating_sub(TAIL_LINES + ANCHOR_LINES)).min(self.end);
        let context = self.lines.get(from..self.end).unwrap_or_default();
        let (mut anchor, tail) = context.split_at(context.len().saturating_sub(TAIL_LINES));
        if self.is_alternate() {
            anchor = &[];
        }
        Bookmark {
            pane: self.pane,
            pid: self.pid,
            width: self.width,
            history: self.history,
            row: self.row,
            open: OpenLine::of(self.lines.get(self.end).map_or("", String::as_str)),
            anchor: Anchor::of(anchor),
            tail: tail.iter().map(|line| fingerprint::line(line)).collect(),
            alternate: self.alternate_fingerprint(),
        }
    }

    pub(super) fn alternate_fingerprint(&self) -> Option<u32> {
        self.alternate.as_deref().map(fingerprint::screen)
    }

    /// Index of the first line that is at least partly on the screen.
    pub(super) fn top(&self) -> usize {
        self.top
    }

    /// First row of each line at this width, and the row after the last line.
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

    /// Whether the number of rows, computed from the lines' characters, is the one that tmux reports.
    pub(super) fn row_count_matches(&self) -> bool {
        self.starts(self.width).last() == Some(&(self.history + self.height))
    }
}

/// Number of rows that a line takes.
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

fn split(reply: &TmuxReply) -> Vec<String> {
    let text = reply.text();
    let text = text.strip_suffix('\n').unwrap_or(&text);
    text.split('\n').map(str::to_owned).collect()
}
