//! Excerpts of a transcript: the selected lines, cut to a length, with notices of omitted lines and of
//! the call that reads them.
//!
//! Lines count from 1 here, as in every text for a reader.

use std::io;
use std::ops::Range;

use regex::Regex;

use super::view::{LineEnds, ReadLines, TranscriptView};

/// The lines of a transcript that a caller selects. Line numbers start at 1.
#[derive(Debug, Clone)]
pub enum LineSelection {
    /// All lines, or the first and last ones if there are too many lines or characters.
    BothEnds {
        /// Limit of lines; 0 selects all lines and lifts the limit of characters, too.
        max_lines: u64,
    },
    /// The first lines, as many as given.
    Head(u64),
    /// The last lines, as many as given.
    Tail(u64),
    /// The lines from a number on.
    From(u64),
    /// The lines that match a pattern.
    Grep {
        /// Pattern, applied to each line separately.
        regex: Regex,
        /// Number of lines before and after each match that are included.
        context: usize,
        /// First line of the search.
        from: u64,
    },
}

/// The part of a transcript that is shown.
#[derive(Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// Lines, without a newline after the last, and notices of omitted ones.
    pub text: String,
    /// Number of lines in the transcript.
    pub total_lines: u64,
    /// Number of its lines that are in the text, including those that are cut.
    pub shown_lines: u64,
    /// Whether a limit omitted a part of the selected lines.
    pub truncated: bool,
    /// First line that is omitted or follows.
    pub next: Option<u64>,
    /// Number of matching lines in the text; `None` if the selection is not a search.
    pub matches: Option<u64>,
}

/// The selected lines, at most `max_chars` characters of them (0: no limit), plus notices.
///
/// A notice names the call that reads the omitted lines: `call` formats it from its arguments, such as
/// `from=101` or `from=7, max_chars=4000`.
///
/// # Errors
///
/// Fails if the file of the transcript cannot be read.
pub fn excerpt(
    view: &TranscriptView<'_>,
    selection: &LineSelection,
    max_chars: usize,
    call: &dyn Fn(&str) -> String,
) -> io::Result<Excerpt> {
    let max_chars = if max_chars == 0 { usize::MAX } else { max_chars };
    let writer = ExcerptWriter { view, call, max_chars, total: view.lines() };
    match *selection {
        LineSelection::BothEnds { max_lines: 0 } => writer.range(0, writer.total, usize::MAX),
        LineSelection::BothEnds { max_lines } => writer.both_ends(max_lines),
        LineSelection::Head(lines) => writer.range(0, lines.min(writer.total), max_chars),
        LineSelection::Tail(lines) => writer.tail(lines),
        LineSelection::From(line) => writer.range(line.saturating_sub(1), writer.total, max_chars),
        LineSelection::Grep { ref regex, context, from } => writer.grep(regex, context, from),
    }
}

/// Lines of the transcript, or a notice.
struct Piece {
    text: String,
    lines: u64,
    /// Whether nothing of the lines is omitted.
    whole: bool,
}

impl From<ReadLines> for Piece {
    fn from(read: ReadLines) -> Self {
        Self { lines: count(&read.lines), text: read.text, whole: true }
    }
}

/// Composes an excerpt. Lines count from 0 inside.
struct ExcerptWriter<'a> {
    view: &'a TranscriptView<'a>,
    call: &'a dyn Fn(&str) -> String,
    max_chars: usize,
    total: u64,
}

impl ExcerptWriter<'_> {
    fn both_ends(&self, max_lines: u64) -> io::Result<Excerpt> {
        let (view, total, max) = (self.view, self.total, self.max_chars);
        let few = total <= max_lines;
        if few {
            let whole = view.read(0, total, max)?;
            if whole.lines.end == total {
                return Ok(self.finish([whole.into()], None));
            }
        }
        let (front, front_chars) = (max_lines / 2, max / 2);
        let (back, back_chars) = (max_lines - front, max - front_chars);
        let head = view.read(0, front.min(total), front_chars)?;
        // Head and tail cannot overlap: there are more lines or characters than both may have.
        let tail = view.tail(total.saturating_sub(back), back_chars)?;
        let mut hidden = head.lines.end..tail.lines.start;
        let left = max.saturating_sub(cost(&head)).saturating_sub(cost(&tail));
        let mut pieces = vec![Piece::from(head)];
        // A single long line is cut instead of omitted, if enough of it can be shown.
        if few && count(&hidden) == 1 && left >= max / 4 {
            pieces.push(self.cut_middle(hidden.start, left)?);
            pieces.push(Piece::from(tail));
            return Ok(self.finish(pieces, None));
        }
        if hidden.start == 0 && front > 0 && !hidden.is_empty() {
            pieces.push(self.cut(0, front_chars, 0)?);
            hidden.start = 1;
        }
        let mut end = Piece::from(tail);
        if hidden.end == total && !hidden.is_empty() {
            end = self.cut_middle(total - 1, back_chars)?;
            hidden.end = total - 1;
        }
        pieces.extend(self.left_out(&hidden));
        pieces.push(end);
        Ok(self.finish(pieces, (!hidden.is_empty()).then_some(hidden.start)))
    }

    fn range(&self, from: u64, to: u64, max_chars: usize) -> io::Result<Excerpt> {
        let read = self.view.read(from, to, max_chars)?;
        let end = read.lines.end.max((from + 1).min(to));
        let mut pieces = Vec::new();
        if read.lines.is_empty() && from < to {
            pieces.push(self.cut(from, max_chars, 0)?);
        } else {
            pieces.push(Piece::from(read));
        }
        if end < to {
            let (more, call) = (self.total - end, self.call_from(end, ""));
            let s = if more == 1 { "" } else { "s" };
            pieces.push(notice(format!("… {more} more line{s}; go on with {call} …")));
        }
        Ok(self.finish(pieces, (end < self.total).then_some(end)))
    }

    fn tail(&self, lines: u64) -> io::Result<Excerpt> {
        let first = self.total.saturating_sub(lines);
        let read = self.view.tail(first, self.max_chars)?;
        let mut hidden = first..read.lines.start;
        let mut end = Piece::from(read);
        if hidden.end == self.total && !hidden.is_empty() {
            end = self.cut_middle(self.total - 1, self.max_chars)?;
            hidden.end -= 1;
        }
        let mut pieces = Vec::from_iter(self.left_out(&hidden));
        pieces.push(end);
        Ok(self.finish(pieces, (!hidden.is_empty()).then_some(hidden.start)))
    }

    fn grep(&self, regex: &Regex, context: usize, from: u64) -> io::Result<Excerpt> {
        let page = self.view.grep(regex, context, from.saturating_sub(1), self.max_chars)?;
        let mut text = page.text;
        if let Some(next) = page.next {
            let (matches, total, call) = (page.matches, self.total, self.call_from(next, ""));
            let es = if matches == 1 { "" } else { "es" };
            text.push_str(&format!(
                "\n… {matches} match{es} up to line {next} of {total}; go on with {call} and the same grep …",
            ));
        }
        Ok(Excerpt {
            text,
            total_lines: self.total,
            shown_lines: page.lines,
            truncated: page.cut || page.next.is_some(),
            next: page.next.map(|next| next + 1),
            matches: Some(page.matches),
        })
    }

    /// Joins the pieces; `next` is the first line that is omitted or follows.
    fn finish(&self, pieces: impl IntoIterator<Item = Piece>, next: Option<u64>) -> Excerpt {
        let mut text = Vec::new();
        let (mut shown_lines, mut truncated) = (0, false);
        for piece in pieces.into_iter().filter(|piece| piece.lines > 0 || !piece.whole) {
            shown_lines += piece.lines;
            truncated |= !piece.whole;
            text.push(piece.text);
        }
        Excerpt {
            text: text.join("\n"),
            total_lines: self.total,
            shown_lines,
            truncated,
            next: next.map(|next| next + 1),
            matches: None,
        }
    }

    fn cut_middle(&self, line: u64, chars: usize) -> io::Result<Piece> {
        self.cut(line, chars - chars / 2, chars / 2)
    }

    /// The first `start` and the last `end` characters of a line that is too long.
    fn cut(&self, line: u64, start: usize, end: usize) -> io::Result<Piece> {
        let LineEnds { start, end, hidden } = self.view.ends(line, start, end)?;
        let chars = start.chars().count() + hidden + end.chars().count();
        let call = self.call_from(line, &format!(", max_chars={chars}"));
        let gap = if end.is_empty() { "" } else { " …" };
        let text = format!("{start}… [+{hidden} characters; {call} shows the line]{gap}{end}");
        Ok(Piece { text, lines: 1, whole: false })
    }

    /// The notice of omitted lines, if there are any.
    fn left_out(&self, hidden: &Range<u64>) -> Option<Piece> {
        let (first, last, call) = (hidden.start + 1, hidden.end, self.call_from(hidden.start, ""));
        let (which, them) = match count(hidden) {
            0 => return None,
            1 => (format!("line {first}"), "it"),
            _ => (format!("lines {first}–{last}"), "them"),
        };
        let total = self.total;
        Some(notice(format!("… {which} of {total} left out; {call} shows {them} …")))
    }

    /// The call that reads from a line on.
    fn call_from(&self, line: u64, more_arguments: &str) -> String {
        (self.call)(&format!("from={}{more_arguments}", line + 1))
    }
}

fn notice(text: String) -> Piece {
    Piece { text, lines: 0, whole: false }
}

fn count(range: &Range<u64>) -> u64 {
    range.end.saturating_sub(range.start)
}

/// The number of characters of lines, and of the newline that joins them to the next.
fn cost(read: &ReadLines) -> usize {
    if read.lines.is_empty() { 0 } else { read.text.chars().count() + 1 }
}
