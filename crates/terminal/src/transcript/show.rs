//! What an agent is shown of a command's output, and how it is told to get the rest. Lines count
//! from 1 here, as agents do.

use std::io;
use std::ops::Range;

use regex::Regex;

use super::view::{Ends, Part, View};

/// Which lines are wanted.
pub enum Wish {
    /// Everything, or its first and last lines if there are more than `max_lines` or too many
    /// characters; with 0 really everything.
    Default {
        /// The most lines that are shown.
        max_lines: u64,
    },
    /// The first lines.
    Head(u64),
    /// The last lines.
    Tail(u64),
    /// This line and those after it.
    From(u64),
    /// Lines that match.
    Grep {
        /// The pattern, held against each line by itself.
        regex: Regex,
        /// How many lines are shown before and after each match.
        context: usize,
        /// The first line that is searched.
        from: u64,
    },
}

/// The part of the output that is shown.
#[derive(Debug, PartialEq, Eq)]
pub struct Shown {
    /// Lines without a newline after the last, and notices of what is left out.
    pub text: String,
    /// Lines there are.
    pub total_lines: u64,
    /// Lines of the output in the text, also those cut short.
    pub shown_lines: u64,
    /// Whether a limit left out something that was asked for.
    pub truncated: bool,
    /// The first line that is left out or follows.
    pub next: Option<u64>,
    /// Matches in the text, of a search.
    pub matches: Option<u64>,
}

/// Shows at most `max_chars` characters of output (0: no limit), and notices on top of that.
pub fn show(view: &View<'_>, wish: &Wish, command_id: &str, max_chars: usize) -> io::Result<Shown> {
    let max_chars = if max_chars == 0 { usize::MAX } else { max_chars };
    let page = Page { view, command_id, max_chars, total: view.lines() };
    match *wish {
        Wish::Default { max_lines: 0 } => page.from(0, page.total, usize::MAX),
        Wish::Default { max_lines } => page.both_ends(max_lines),
        Wish::Head(lines) => page.from(0, lines.min(page.total), max_chars),
        Wish::Tail(lines) => page.tail(lines),
        Wish::From(line) => page.from(line.saturating_sub(1), page.total, max_chars),
        Wish::Grep { ref regex, context, from } => page.grep(regex, context, from),
    }
}

/// Lines of the output, or a notice in their place.
struct Piece {
    text: String,
    lines: u64,
    whole: bool,
}

impl From<Part> for Piece {
    fn from(part: Part) -> Self {
        Self { lines: count(&part.lines), text: part.text, whole: true }
    }
}

struct Page<'a> {
    view: &'a View<'a>,
    command_id: &'a str,
    max_chars: usize,
    total: u64,
}

impl Page<'_> {
    fn both_ends(&self, max_lines: u64) -> io::Result<Shown> {
        let (view, total, max) = (self.view, self.total, self.max_chars);
        let few = total <= max_lines;
        if few {
            let whole = view.read(0, total, max)?;
            if whole.lines.end == total {
                return Ok(self.shown([whole.into()], None));
            }
        }
        let (front, front_chars) = (max_lines / 2, max / 2);
        let (back, back_chars) = (max_lines - front, max - front_chars);
        let head = view.read(0, front.min(total), front_chars)?;
        // The two cannot overlap: there are more lines or more characters than both may have.
        let tail = view.tail(total.saturating_sub(back), back_chars)?;
        let mut hidden = head.lines.end..tail.lines.start;
        let left = max.saturating_sub(cost(&head)).saturating_sub(cost(&tail));
        let mut pieces = vec![Piece::from(head)];
        // One long line is shown in part, if that part is worth it.
        if few && count(&hidden) == 1 && left >= max / 4 {
            pieces.push(self.cut_middle(hidden.start, left)?);
            pieces.push(Piece::from(tail));
            return Ok(self.shown(pieces, None));
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
        Ok(self.shown(pieces, (!hidden.is_empty()).then_some(hidden.start)))
    }

    fn from(&self, from: u64, to: u64, max_chars: usize) -> io::Result<Shown> {
        let part = self.view.read(from, to, max_chars)?;
        let end = part.lines.end.max((from + 1).min(to));
        let mut pieces = Vec::new();
        if part.lines.is_empty() && from < to {
            pieces.push(self.cut(from, max_chars, 0)?);
        } else {
            pieces.push(Piece::from(part));
        }
        if end < to {
            let (more, call) = (self.total - end, self.call(end, ""));
            let s = if more == 1 { "" } else { "s" };
            pieces.push(notice(format!("… {more} more line{s}; go on with {call} …")));
        }
        Ok(self.shown(pieces, (end < self.total).then_some(end)))
    }

    fn tail(&self, lines: u64) -> io::Result<Shown> {
        let first = self.total.saturating_sub(lines);
        let part = self.view.tail(first, self.max_chars)?;
        let mut hidden = first..part.lines.start;
        let mut end = Piece::from(part);
        if hidden.end == self.total && !hidden.is_empty() {
            end = self.cut_middle(self.total - 1, self.max_chars)?;
            hidden.end -= 1;
        }
        let mut pieces = Vec::from_iter(self.left_out(&hidden));
        pieces.push(end);
        Ok(self.shown(pieces, (!hidden.is_empty()).then_some(hidden.start)))
    }

    fn grep(&self, regex: &Regex, context: usize, from: u64) -> io::Result<Shown> {
        let found = self.view.grep(regex, context, from.saturating_sub(1), self.max_chars)?;
        let mut text = found.text;
        if let Some(next) = found.next {
            let (matches, total, call) = (found.matches, self.total, self.call(next, ""));
            let es = if matches == 1 { "" } else { "es" };
            text.push_str(&format!(
                "\n… {matches} match{es} up to line {next} of {total}; go on with {call} and the same grep …",
            ));
        }
        Ok(Shown {
            text,
            total_lines: self.total,
            shown_lines: found.shown,
            truncated: found.cut || found.next.is_some(),
            next: found.next.map(|next| next + 1),
            matches: Some(found.matches),
        })
    }

    fn shown(&self, pieces: impl IntoIterator<Item = Piece>, next: Option<u64>) -> Shown {
        let mut text = Vec::new();
        let (mut shown_lines, mut truncated) = (0, false);
        for piece in pieces.into_iter().filter(|piece| piece.lines > 0 || !piece.whole) {
            shown_lines += piece.lines;
            truncated |= !piece.whole;
            text.push(piece.text);
        }
        Shown {
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

    /// The start and the end of a line that is too long.
    fn cut(&self, line: u64, start: usize, end: usize) -> io::Result<Piece> {
        let Ends { start, end, hidden } = self.view.ends(line, start, end)?;
        let chars = start.chars().count() + hidden + end.chars().count();
        let call = self.call(line, &format!(", max_chars={chars}"));
        let gap = if end.is_empty() { "" } else { " …" };
        let text = format!("{start}… [+{hidden} characters; {call} shows the line]{gap}{end}");
        Ok(Piece { text, lines: 1, whole: false })
    }

    fn left_out(&self, hidden: &Range<u64>) -> Option<Piece> {
        let (first, last, call) = (hidden.start + 1, hidden.end, self.call(hidden.start, ""));
        let (which, them) = match count(hidden) {
            0 => return None,
            1 => (format!("line {first}"), "it"),
            _ => (format!("lines {first}–{last}"), "them"),
        };
        let total = self.total;
        Some(notice(format!("… {which} of {total} left out; {call} shows {them} …")))
    }

    fn call(&self, from: u64, more: &str) -> String {
        format!("command_result(command_id={:?}, from={}{more})", self.command_id, from + 1)
    }
}

fn notice(text: String) -> Piece {
    Piece { text, lines: 0, whole: false }
}

fn count(range: &Range<u64>) -> u64 {
    range.end.saturating_sub(range.start)
}

/// The characters of a part and of the newline that joins it to the next.
fn cost(part: &Part) -> usize {
    if part.lines.is_empty() { 0 } else { part.text.chars().count() + 1 }
}
