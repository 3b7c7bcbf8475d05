//! Searches a view, line by line, in the form of `grep -n -C`.

use std::collections::VecDeque;
use std::io;

use regex::Regex;

use super::store::Span;
use super::view::View;

/// What a search found.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// `12:` before a match, `11-` before a line near one, `--` between groups.
    pub text: String,
    /// Lines in the text, matches and others.
    pub shown: u64,
    /// Matches in the text.
    pub matches: u64,
    /// The line to go on from, if the budget ended the search; counts from 0.
    pub next: Option<u64>,
    /// Whether a line was too long to be shown whole.
    pub cut: bool,
}

impl View<'_> {
    /// What a search of everything prints for the lines from `from` on, up to the budget. So pages
    /// that start where the last one ended miss no line near a match.
    pub fn grep(
        &self,
        regex: &Regex,
        context: usize,
        from: u64,
        budget: usize,
    ) -> io::Result<Found> {
        let mut page =
            Page { left: budget, last: None, groups: context > 0, found: Found::default() };
        let mut before: VecDeque<(u64, Span)> = VecDeque::new();
        let mut after = 0;
        let first = from.saturating_sub(context as u64);
        for block in self.blocks(first..self.lines()) {
            let text = self.load(&block, usize::MAX)?.unwrap_or_default();
            let mut at = block.span.at;
            for (number, line) in (block.first..).zip(text.split('\n')) {
                let span = Span { at, len: line.len() };
                at += span.len as u64 + 1;
                if number < first {
                    continue;
                }
                if let Some(hit) = regex.find(line) {
                    after = context;
                    if number < from {
                        continue;
                    }
                    for (near, span) in before.drain(..) {
                        if !page.add(near, '-', &self.text(span)?, 0) {
                            return Ok(page.found);
                        }
                    }
                    if !page.add(number, ':', line, hit.start()) {
                        return Ok(page.found);
                    }
                    page.found.matches += 1;
                } else if after > 0 {
                    after -= 1;
                    if number >= from && !page.add(number, '-', line, 0) {
                        return Ok(page.found);
                    }
                } else if number >= from && context > 0 {
                    if before.len() == context {
                        before.pop_front();
                    }
                    before.push_back((number, span));
                }
            }
        }
        Ok(page.found)
    }
}

struct Page {
    left: usize,
    last: Option<u64>,
    groups: bool,
    found: Found,
}

impl Page {
    /// Adds a line if there is room. The first one is always added, cut if it must be, so that
    /// every page makes progress.
    fn add(&mut self, number: u64, mark: char, line: &str, around: usize) -> bool {
        let label = format!("{}{mark}", number + 1);
        let gap = match self.last {
            None => "",
            Some(last) if self.groups && last + 1 < number => "\n--\n",
            Some(_) => "\n",
        };
        let cost = gap.len() + label.len() + line.chars().count();
        let fits = cost <= self.left;
        if !fits && self.last.is_some() {
            self.found.next = Some(number);
            return false;
        }
        self.found.text.push_str(gap);
        self.found.text.push_str(&label);
        if fits {
            self.left -= cost;
            self.found.text.push_str(line);
        } else {
            let room = self.left.saturating_sub(label.len());
            self.found.text.push_str(&window(line, around, room));
            self.found.cut = true;
            self.left = 0;
        }
        self.last = Some(number);
        self.found.shown += 1;
        true
    }
}

/// Some characters of a line, a quarter of them before `around`.
fn window(line: &str, around: usize, chars: usize) -> String {
    let (before, _) = line.split_at_checked(around).unwrap_or(("", line));
    let lead = before.chars().rev().take(chars / 4).map(char::len_utf8).sum::<usize>();
    let (skipped, rest) = line.split_at_checked(around - lead).unwrap_or(("", line));
    let len = rest.chars().take(chars).map(char::len_utf8).sum::<usize>();
    let (shown, dropped) = rest.split_at_checked(len).unwrap_or((rest, ""));
    let mut text = String::new();
    if !skipped.is_empty() {
        text.push_str(&format!("[+{} characters] …", skipped.chars().count()));
    }
    text.push_str(shown);
    if !dropped.is_empty() {
        text.push_str(&format!("… [+{} characters]", dropped.chars().count()));
    }
    text
}
