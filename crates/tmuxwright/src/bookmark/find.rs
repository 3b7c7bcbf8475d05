//! Search for a bookmark's position in a pane's text, and the new lines after it.

use super::fingerprint::{self, Anchor, OpenLine};
use super::pane_text::NEAR_ROWS;
use super::{Bookmark, CONTEXT_ROWS, CaptureRange, PaneText};

/// Matching lines that identify a position by themselves, without the row number.
const MIN_MATCHING_LINES: usize = 3;

/// Probes per capture. tmux trims by tenths, so fewer than these are usually needed.
const MAX_PROBES: usize = 16;

/// The lines printed since a bookmark.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct NewLines {
    /// Text of the lines.
    pub lines: Vec<String>,
    /// First row of each line, counted from the top of the screen.
    pub rows: Vec<i64>,
    /// Whether the bookmark was not found, so that lines may be missing.
    pub missed: bool,
}

/// The result of a search for a bookmark.
#[derive(Debug, PartialEq, Eq)]
pub enum SinceOutcome {
    /// The lines after the bookmark.
    New(NewLines),
    /// The captured text is not enough: capture this range.
    ReadMore(CaptureRange),
}

/// A line that may be a bookmark's open line.
#[derive(Debug, Clone, Copy)]
struct CandidateLine {
    /// Index of the line.
    line: usize,
    /// Number of lines before it that match the bookmark.
    matching: usize,
}

/// The line from which new lines are reported.
enum ResumePoint {
    /// The bookmark's open line.
    Open(usize),
    /// The first of the bookmark's lines that was rewritten.
    Rewritten(usize),
}

impl PaneText {
    /// The lines on the screen.
    pub fn screen(&self) -> NewLines {
        self.lines_from(self.top())
    }

    /// The lines after a bookmark.
    pub fn since(&self, bookmark: &Bookmark) -> SinceOutcome {
        let all = self.first == 0;
        if !all {
            let enough = if self.width != bookmark.width {
                Err(CaptureRange::ALL)
            } else if self.may_be_trimmed() {
                self.check_other_rows(bookmark)
            } else if bookmark.absolute_row() - CONTEXT_ROWS < self.first {
                Err(CaptureRange::back(
                    self.history - bookmark.absolute_row() + CONTEXT_ROWS + NEAR_ROWS,
                ))
            } else {
                Ok(())
            };
            if let Err(range) = enough {
                return SinceOutcome::ReadMore(range);
            }
        }
        match self.find(bookmark, all) {
            Some(point) => SinceOutcome::New(self.after(&point, bookmark)),
            None if all => SinceOutcome::New(NewLines { missed: true, ..self.lines_from(0) }),
            None => SinceOutcome::ReadMore(CaptureRange::ALL),
        }
    }

    /// Checks, in a history that may have been trimmed, that no row outside the captured text can be the
    /// bookmark's. Otherwise returns the range to capture.
    fn check_other_rows(&self, bookmark: &Bookmark) -> Result<(), CaptureRange> {
        // A row with fewer lines before it is never accepted.
        let rows = self
            .rows_of(bookmark)
            .filter(|row| usize::try_from(*row).unwrap_or(0) >= MIN_MATCHING_LINES);
        let (here, others): (Vec<i64>, Vec<i64>) =
            rows.partition(|row| row - CONTEXT_ROWS >= self.first);
        if here.is_empty() || others.len() > MAX_PROBES {
            return Err(CaptureRange::ALL);
        }
        for row in &others {
            let Some((_, lines)) = self.probes.iter().find(|(probed, _)| probed == row) else {
                let probes = others.iter().map(|row| row - self.history).collect();
                return Err(CaptureRange { probes, ..CaptureRange::NEAR });
            };
            // Without the open line, and without the first one, which may lack its beginning.
            let context = lines.get(1..lines.len() - 1).unwrap_or_default();
            let fingerprints = context.iter().rev().map(|line| fingerprint::line(line.trim_end()));
            if fingerprints.zip(bookmark.tail.iter().rev()).all(|(now, then)| now == *then) {
                return Err(CaptureRange::ALL);
            }
        }
        Ok(())
    }

    /// The rows at which a bookmark can be, for every number of times the history can have been trimmed.
    fn rows_of(&self, bookmark: &Bookmark) -> impl Iterator<Item = i64> {
        let (row, tenth) = (bookmark.absolute_row(), self.tenth());
        let steps = if self.may_be_trimmed() { row / tenth } else { 0 };
        (0..=steps).map(move |step| row - step * tenth)
    }

    /// Whether the history may have been trimmed. tmux drops a tenth when it is full, so a shorter
    /// history was never trimmed.
    fn may_be_trimmed(&self) -> bool {
        self.may_have_held(self.history)
    }

    /// The same for a pane that may have been resized: growing it takes rows out of the history.
    fn may_have_been_trimmed(&self, bookmark: &Bookmark) -> bool {
        let then = self.starts(bookmark.width).last().copied().unwrap_or_default();
        self.may_have_held(then.max(self.history + self.height))
    }

    fn may_have_held(&self, rows: i64) -> bool {
        self.limit == 0 || (self.history > 0 && rows >= self.limit - self.tenth())
    }

    fn tenth(&self) -> i64 {
        (self.limit / 10).max(1)
    }

    fn find(&self, bookmark: &Bookmark, all: bool) -> Option<ResumePoint> {
        let fingerprints: Vec<u16> =
            self.lines.iter().map(|line| fingerprint::line(line)).collect();
        let expected = self.expected(bookmark);
        let candidates: Vec<CandidateLine> = (0..self.lines.len())
            .filter_map(|line| self.candidate(bookmark, &fingerprints, line))
            .collect();
        let never_trimmed = !self.may_have_been_trimmed(bookmark);
        let is_right = |candidate: &&CandidateLine| {
            (never_trimmed || candidate.matching >= MIN_MATCHING_LINES)
                && expected.contains(&candidate.line)
        };
        let right: Vec<CandidateLine> = candidates.iter().filter(is_right).copied().collect();
        if !right.is_empty() {
            return self.unambiguous(bookmark, &right).map(ResumePoint::Open);
        }
        if all {
            let highest = self.highest(bookmark);
            let is_sure = |candidate: &CandidateLine| {
                candidate.matching >= MIN_MATCHING_LINES && candidate.line <= highest
            };
            let sure: Vec<CandidateLine> = candidates.into_iter().filter(is_sure).collect();
            if !sure.is_empty() {
                return self.unambiguous(bookmark, &sure).map(ResumePoint::Open);
            }
        }
        if !all && self.may_be_trimmed() {
            return None;
        }
        let mut rewritten =
            expected.iter().filter_map(|line| self.rewritten(bookmark, &fingerprints, *line));
        let first = rewritten.next();
        first.filter(|_| rewritten.next().is_none()).map(ResumePoint::Rewritten)
    }

    /// The lines at the bookmark's row number: several if the history may have been trimmed, none if the
    /// rows of lines cannot be computed.
    fn expected(&self, bookmark: &Bookmark) -> Vec<usize> {
        if !self.row_count_matches() {
            return Vec::new();
        }
        let starts = self.starts(bookmark.width);
        let mut lines: Vec<usize> = self
            .rows_of(bookmark)
            .filter(|row| *row >= self.first)
            .map(|row| starts.partition_point(|start| *start <= row).saturating_sub(1))
            .filter(|line| *line < self.lines.len())
            .collect();
        lines.dedup();
        lines
    }

    /// The last line that can be the bookmark's if it is not at an expected row. Rows keep their order
    /// unless they are wrapped anew, and clearing the history removes all rows above the screen.
    fn highest(&self, bookmark: &Bookmark) -> usize {
        if self.width != bookmark.width || !self.row_count_matches() {
            return self.lines.len();
        }
        let row = if self.may_be_trimmed() { 0 } else { bookmark.row };
        self.starts(self.width).partition_point(|start| *start <= row).saturating_sub(1)
    }

    /// A candidate, if the lines before this one match the bookmark as far as they still exist.
    fn candidate(
        &self,
        bookmark: &Bookmark,
        fingerprints: &[u16],
        line: usize,
    ) -> Option<CandidateLine> {
        let before = line - usize::from(self.first > 0).min(line);
        let wanted = bookmark.anchor.lines + bookmark.tail.len();
        let tail = bookmark.tail.len().min(before);
        let is_cut_off = before < wanted;
        if is_cut_off && (self.first > 0 || before < MIN_MATCHING_LINES) {
            return None;
        }
        let seen = fingerprints.get(line - tail..line)?;
        if seen != bookmark.tail.get(bookmark.tail.len() - tail..)? {
            return None;
        }
        if is_cut_off {
            return Some(CandidateLine { line, matching: tail });
        }
        self.has_anchor(bookmark, line).then_some(CandidateLine { line, matching: wanted })
    }

    fn has_anchor(&self, bookmark: &Bookmark, line: usize) -> bool {
        let end = line.checked_sub(bookmark.tail.len());
        let range = end.and_then(|end| Some(end.checked_sub(bookmark.anchor.lines)?..end));
        let lines = range.and_then(|range| self.lines.get(range));
        lines.is_some_and(|lines| Anchor::of(lines) == bookmark.anchor)
    }

    /// The only candidate, or the only one whose line begins with the bookmark's open line.
    fn unambiguous(&self, bookmark: &Bookmark, candidates: &[CandidateLine]) -> Option<usize> {
        if let [candidate] = candidates {
            return Some(candidate.line);
        }
        let continues = |candidate: &&CandidateLine| {
            bookmark.open.length > 0
                && self.lines.get(candidate.line).is_some_and(|l| bookmark.open.begins(l))
        };
        let mut continued = candidates.iter().filter(continues);
        continued.next().filter(|_| continued.next().is_none()).map(|candidate| candidate.line)
    }

    /// The first of the bookmark's lines that was rewritten, as progress displays and prompts do, if the
    /// lines before it match.
    fn rewritten(&self, bookmark: &Bookmark, fingerprints: &[u16], line: usize) -> Option<usize> {
        let start = line.checked_sub(bookmark.tail.len())?;
        let pairs = fingerprints.get(start..line)?.iter().zip(&bookmark.tail);
        let same = pairs.take_while(|(now, then)| now == then).count();
        let sure =
            self.has_anchor(bookmark, line) && bookmark.anchor.lines + same >= MIN_MATCHING_LINES;
        sure.then_some(start + same)
    }

    fn after(&self, point: &ResumePoint, bookmark: &Bookmark) -> NewLines {
        let line = match *point {
            ResumePoint::Rewritten(line) => return self.lines_from(line),
            ResumePoint::Open(line) => line,
        };
        let text = self.lines.get(line).map_or("", String::as_str);
        self.lines_from(line + usize::from(OpenLine::of(text) == bookmark.open))
    }

    /// All captured lines, without an empty last line. New lines are the last ones of them.
    pub(crate) fn printed_lines(&self) -> &[String] {
        let is_line = self.lines.get(self.end).is_some_and(|last| !last.is_empty());
        self.lines.get(..self.end + usize::from(is_line)).unwrap_or_default()
    }

    /// The lines from this one on.
    fn lines_from(&self, line: usize) -> NewLines {
        let lines = self.printed_lines().get(line..).unwrap_or_default().to_vec();
        let starts = self.starts(self.width);
        let rows = starts.iter().skip(line).take(lines.len()).map(|row| row - self.history);
        NewLines { rows: rows.collect(), lines, missed: false }
    }
}
