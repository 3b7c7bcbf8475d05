//! Search in a view, line by line, with results in the format of `grep -n -C`.

use std::collections::VecDeque;
use std::io;

use regex::Regex;

use super::store::ByteSpan;
use super::view::TranscriptView;

/// One page of search results.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct GrepPage {
    /// Matching lines start with `12:`, context lines with `11-`; groups are separated by `--`.
    pub(super) text: String,
    /// Number of lines in the text, matching and context.
    pub(super) lines: u64,
    /// Number of matching lines in the text.
    pub(super) matches: u64,
    /// First line of the next page, from 0, if the budget ended this one.
    pub(super) next: Option<u64>,
    /// Whether a line was too long to be shown whole.
    pub(super) cut: bool,
}

impl TranscriptView<'_> {
    /// The results from line `from` on, up to the budget. A match before `from` still has context here,
    /// so that successive pages together are the results of one search.
    pub(super) fn grep(
        &self,
        regex: &Regex,
        context: usize,
        from: u64,
        budget: usize,
    ) -> io::Result<GrepPage> {
        let mut builder = PageBuilder {
            left: budget,
            last: None,
            separators: context > 0,
            page: GrepPage::default(),
        };
        let mut before: VecDeque<(u64, ByteSpan)> = VecDeque::new();
        let mut after = 0;
        let first = from.saturating_sub(context as u64);
        for block in self.blocks(first..self.lines()) {
            let text = self.load(&block, usize::MAX)?.unwrap_or_default();
            let mut at = block.span.at;
            for (number, line) in (block.first..).zip(text.split('\n')) {
                let span = ByteSpan { at, len: line.len() };
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
                        if !builder.add(near, '-', &self.text(span)?, 0) {
                            return Ok(builder.page);
                        }
                    }
                    if !builder.add(number, ':', line, hit.start()) {
                        return Ok(builder.page);
                    }
                    builder.page.matches += 1;
                } else if after > 0 {
                    after -= 1;
                    if number >= from && !builder.add(number, '-', line, 0) {
                        return Ok(builder.page);
                    }
                } else if number >= from && context > 0 {
                    if before.len() == context {
                        before.pop_front();
                    }
                    before.push_back((number, span));
                }
            }
        }
        Ok(builder.page)
    }
}

/// Collects the lines of a page.
struct PageBuilder {
    /// Number of characters that are left of the budget.
    left: usize,
    /// The last line added.
    last: Option<u64>,
    /// Whether groups are separated by `--`.
    separators: bool,
    page: GrepPage,
}

impl PageBuilder {
    /// Adds a line if the budget allows it, and returns whether it did. The first line is always added,
    /// cut around byte `around` if necessary, so that every page makes progress.
    fn add(&mut self, number: u64, separator: char, line: &str, around: usize) -> bool {
        let label = format!("{}{separator}", number + 1);
        let gap = match self.last {
            None => "",
            Some(last) if self.separators && last + 1 < number => "\n--\n",
            Some(_) => "\n",
        };
        let cost = gap.len() + label.len() + line.chars().count();
        let fits = cost <= self.left;
        if !fits && self.last.is_some() {
            self.page.next = Some(number);
            return false;
        }
        self.page.text.push_str(gap);
        self.page.text.push_str(&label);
        if fits {
            self.left -= cost;
            self.page.text.push_str(line);
        } else {
            let room = self.left.saturating_sub(label.len());
            self.page.text.push_str(&cut_around(line, around, room));
            self.page.cut = true;
            self.left = 0;
        }
        self.last = Some(number);
        self.page.lines += 1;
        true
    }
}

/// Cuts a line to some characters, a quarter of them before byte `around`.
fn cut_around(line: &str, around: usize, chars: usize) -> String {
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
