//! Where a mark's place is in a look, and what is new since.

use super::look::NEAR;
use super::print::{self, Anchor, Open};
use super::{Bookmark, CONTEXT_ROWS, CaptureRange, PaneText};

/// So many lines alike are no accident, even where the row's number does not speak for the place.
const ENOUGH: usize = 3;

/// More than tmux's tenths can make necessary.
const MOST_PROBES: usize = 16;

/// What is new since a mark.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct NewLines {
    /// The lines.
    pub lines: Vec<String>,
    /// The row of each, counted from the top of the screen.
    pub rows: Vec<i64>,
    /// Whether the place is gone, so that lines may be gone too.
    pub missed: bool,
}

/// What a look says about a mark.
#[derive(Debug, PartialEq, Eq)]
pub enum SinceOutcome {
    /// This is new.
    New(NewLines),
    /// That cannot be said without reading so much.
    ReadMore(CaptureRange),
}

/// A line that can be the open one of a mark.
#[derive(Debug, Clone, Copy)]
struct Spot {
    /// Its index.
    line: usize,
    /// How many lines before it are the mark's.
    alike: usize,
}

/// Where to go on.
enum Place {
    /// The mark's open line.
    Open(usize),
    /// The first line before it that was written anew.
    Rewritten(usize),
}

impl PaneText {
    /// What is on the screen.
    pub fn screen(&self) -> NewLines {
        self.lines_from(self.top())
    }

    /// What is new since a mark.
    pub fn since(&self, mark: &Bookmark) -> SinceOutcome {
        let all = self.first == 0;
        if !all {
            let enough = if self.width != mark.width {
                Err(CaptureRange::ALL)
            } else if self.may_be_trimmed() {
                self.shows_only_place(mark)
            } else if mark.place() - CONTEXT_ROWS < self.first {
                Err(CaptureRange::back(self.history - mark.place() + CONTEXT_ROWS + NEAR))
            } else {
                Ok(())
            };
            if let Err(reach) = enough {
                return SinceOutcome::ReadMore(reach);
            }
        }
        match self.find(mark, all) {
            Some(place) => SinceOutcome::New(self.after(&place, mark)),
            None if all => SinceOutcome::New(NewLines { missed: true, ..self.lines_from(0) }),
            None => SinceOutcome::ReadMore(CaptureRange::ALL),
        }
    }

    /// Whether of all rows that a mark in trimmed history can be at only those that were read are
    /// like its own; else what has to be read to know.
    fn shows_only_place(&self, mark: &Bookmark) -> Result<(), CaptureRange> {
        // With fewer lines before it no row is taken for the place.
        let rows = self.rows_of(mark).filter(|row| usize::try_from(*row).unwrap_or(0) >= ENOUGH);
        let (here, others): (Vec<i64>, Vec<i64>) =
            rows.partition(|row| row - CONTEXT_ROWS >= self.first);
        if here.is_empty() || others.len() > MOST_PROBES {
            return Err(CaptureRange::ALL);
        }
        for row in &others {
            let Some((_, lines)) = self.probes.iter().find(|(probed, _)| probed == row) else {
                let probes = others.iter().map(|row| row - self.history).collect();
                return Err(CaptureRange { probes, ..CaptureRange::NEAR });
            };
            // Without the open line and without the first, which may be torn.
            let context = lines.get(1..lines.len() - 1).unwrap_or_default();
            let prints = context.iter().rev().map(|line| print::line(line.trim_end()));
            if prints.zip(mark.tail.iter().rev()).all(|(now, then)| now == *then) {
                return Err(CaptureRange::ALL);
            }
        }
        Ok(())
    }

    /// The rows that a mark can be at if history was trimmed as often as it can have been.
    fn rows_of(&self, mark: &Bookmark) -> impl Iterator<Item = i64> {
        let (place, tenth) = (mark.place(), self.tenth());
        let steps = if self.may_be_trimmed() { place / tenth } else { 0 };
        (0..=steps).map(move |step| place - step * tenth)
    }

    /// Whether history may have been trimmed: tmux drops a tenth when it is full, so a shorter one
    /// is as it grew.
    fn may_be_trimmed(&self) -> bool {
        self.may_have_held(self.history)
    }

    /// The same for a pane that may have had another size since: growing takes rows out of history.
    fn may_have_been_trimmed(&self, mark: &Bookmark) -> bool {
        let then = self.starts(mark.width).last().copied().unwrap_or_default();
        self.may_have_held(then.max(self.history + self.height))
    }

    fn may_have_held(&self, rows: i64) -> bool {
        self.limit == 0 || (self.history > 0 && rows >= self.limit - self.tenth())
    }

    fn tenth(&self) -> i64 {
        (self.limit / 10).max(1)
    }

    fn find(&self, mark: &Bookmark, all: bool) -> Option<Place> {
        let prints: Vec<u16> = self.lines.iter().map(|line| print::line(line)).collect();
        let expected = self.expected(mark);
        let spots: Vec<Spot> =
            (0..self.lines.len()).filter_map(|line| self.spot(mark, &prints, line)).collect();
        let is_as_it_grew = !self.may_have_been_trimmed(mark);
        let is_right =
            |spot: &&Spot| (is_as_it_grew || spot.alike >= ENOUGH) && expected.contains(&spot.line);
        let right: Vec<Spot> = spots.iter().filter(is_right).copied().collect();
        if !right.is_empty() {
            return self.only(mark, &right).map(Place::Open);
        }
        if all {
            let highest = self.highest(mark);
            let is_sure = |spot: &Spot| spot.alike >= ENOUGH && spot.line <= highest;
            let sure: Vec<Spot> = spots.into_iter().filter(is_sure).collect();
            if !sure.is_empty() {
                return self.only(mark, &sure).map(Place::Open);
            }
        }
        if !all && self.may_be_trimmed() {
            return None;
        }
        let mut rewritten = expected.iter().filter_map(|line| self.rewritten(mark, &prints, *line));
        let first = rewritten.next();
        first.filter(|_| rewritten.next().is_none()).map(Place::Rewritten)
    }

    /// The lines that the number of the mark's row leads to: several if history may have been
    /// trimmed, none if rows cannot be counted.
    fn expected(&self, mark: &Bookmark) -> Vec<usize> {
        if !self.counts_like_tmux() {
            return Vec::new();
        }
        let starts = self.starts(mark.width);
        let mut lines: Vec<usize> = self
            .rows_of(mark)
            .filter(|row| *row >= self.first)
            .map(|row| starts.partition_point(|start| *start <= row).saturating_sub(1))
            .filter(|line| *line < self.lines.len())
            .collect();
        lines.dedup();
        lines
    }

    /// The last line that the mark's can be if it is not where it is expected. Rows keep their order
    /// unless they are wrapped anew, and clearing history leaves none above the screen of then.
    fn highest(&self, mark: &Bookmark) -> usize {
        if self.width != mark.width || !self.counts_like_tmux() {
            return self.lines.len();
        }
        let row = if self.may_be_trimmed() { 0 } else { mark.row };
        self.starts(self.width).partition_point(|start| *start <= row).saturating_sub(1)
    }

    /// Whether the mark's lines are before this one, as far as they can still be there.
    fn spot(&self, mark: &Bookmark, prints: &[u16], line: usize) -> Option<Spot> {
        let before = line - usize::from(self.first > 0).min(line);
        let wanted = mark.anchor.lines + mark.tail.len();
        let tail = mark.tail.len().min(before);
        let is_cut_off = before < wanted;
        if is_cut_off && (self.first > 0 || before < ENOUGH) {
            return None;
        }
        let seen = prints.get(line - tail..line)?;
        if seen != mark.tail.get(mark.tail.len() - tail..)? {
            return None;
        }
        if is_cut_off {
            return Some(Spot { line, alike: tail });
        }
        self.has_anchor(mark, line).then_some(Spot { line, alike: wanted })
    }

    fn has_anchor(&self, mark: &Bookmark, line: usize) -> bool {
        let end = line.checked_sub(mark.tail.len());
        let range = end.and_then(|end| Some(end.checked_sub(mark.anchor.lines)?..end));
        let lines = range.and_then(|range| self.lines.get(range));
        lines.is_some_and(|lines| Anchor::of(lines) == mark.anchor)
    }

    /// The one spot, or the only one whose line goes on as the mark's did.
    fn only(&self, mark: &Bookmark, spots: &[Spot]) -> Option<usize> {
        if let [spot] = spots {
            return Some(spot.line);
        }
        let goes_on = |spot: &&Spot| {
            mark.open.length > 0 && self.lines.get(spot.line).is_some_and(|l| mark.open.begins(l))
        };
        let mut going = spots.iter().filter(goes_on);
        going.next().filter(|_| going.next().is_none()).map(|spot| spot.line)
    }

    /// The first of the mark's lines that was written anew, as progress displays and prompts do, if
    /// those before it are the same.
    fn rewritten(&self, mark: &Bookmark, prints: &[u16], line: usize) -> Option<usize> {
        let start = line.checked_sub(mark.tail.len())?;
        let pairs = prints.get(start..line)?.iter().zip(&mark.tail);
        let same = pairs.take_while(|(now, then)| now == then).count();
        let sure = self.has_anchor(mark, line) && mark.anchor.lines + same >= ENOUGH;
        sure.then_some(start + same)
    }

    fn after(&self, place: &Place, mark: &Bookmark) -> NewLines {
        let line = match *place {
            Place::Rewritten(line) => return self.lines_from(line),
            Place::Open(line) => line,
        };
        let text = self.lines.get(line).map_or("", String::as_str);
        self.lines_from(line + usize::from(Open::of(text) == mark.open))
    }

    /// The lines from this one on; the last only if there is something in it.
    fn lines_from(&self, line: usize) -> NewLines {
        let is_line = self.lines.get(self.end).is_some_and(|last| !last.is_empty());
        let end = self.end + usize::from(is_line);
        let lines = self.lines.get(line..end).unwrap_or_default().to_vec();
        let starts = self.starts(self.width);
        let rows = starts.iter().skip(line).take(lines.len()).map(|row| row - self.history);
        NewLines { rows: rows.collect(), lines, missed: false }
    }
}
