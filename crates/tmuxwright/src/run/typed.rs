//! What we typed into panes lately, so that whoever watches does not take its echo for output.

use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;

use tmux_control::PaneId;
use tokio::time::Instant;

use crate::lock::lock;

/// How much is remembered: lines of one pane, characters of one line, panes.
const LINES: usize = 16;
const LONGEST: usize = 4000;
const PANES: usize = 256;

/// What was typed, by pane.
#[derive(Debug, Default)]
pub(super) struct Typed(Mutex<HashMap<PaneId, Recent>>);

/// What was typed into one pane.
#[derive(Debug, Clone)]
pub(crate) struct Recent {
    /// When that was.
    pub(crate) at: Instant,
    /// The lines, oldest first.
    pub(crate) lines: VecDeque<TypedLine>,
    /// How many there were.
    count: u64,
    /// Whether the last line was entered.
    entered: bool,
}

/// A line that was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TypedLine {
    /// Which one it is, counted from 1.
    pub(crate) number: u64,
    /// What it says so far.
    pub(crate) text: String,
}

impl Typed {
    /// Notes that this was typed, and entered or not.
    pub(super) fn note(&self, pane: PaneId, text: &str, enter: bool) {
        let mut panes = lock(&self.0);
        if panes.len() >= PANES && !panes.contains_key(&pane) {
            panes.clear();
        }
        let now = Instant::now();
        let recent = panes.entry(pane).or_insert_with(|| Recent {
            at: now,
            lines: VecDeque::new(),
            count: 0,
            entered: true,
        });
        recent.at = now;
        for (number, line) in text.split(['\n', '\r']).enumerate() {
            recent.add(line, number > 0);
        }
        recent.entered = enter || text.ends_with(['\n', '\r']);
    }

    pub(super) fn of_pane(&self, pane: PaneId) -> Option<Recent> {
        lock(&self.0).get(&pane).cloned()
    }
}

impl Recent {
    fn add(&mut self, text: &str, begins: bool) {
        let text: String = text.chars().take(LONGEST).collect();
        match self.lines.back_mut() {
            Some(last) if !begins && !self.entered => last.text.push_str(&text),
            _ if text.trim().is_empty() => {}
            _ => {
                self.count += 1;
                self.lines.push_back(TypedLine { number: self.count, text });
            }
        }
        if self.lines.len() > LINES {
            self.lines.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_put_together_until_they_are_entered() {
        let typed = Typed::default();
        let pane = PaneId(1);
        assert!(typed.of_pane(pane).is_none());
        typed.note(pane, "echo ", false);
        typed.note(pane, "one", true);
        typed.note(pane, "two\nthree", false);
        typed.note(pane, "", true);
        typed.note(pane, "four\n", false);
        typed.note(pane, "five", false);
        let recent = typed.of_pane(pane).unwrap();
        let lines: Vec<&str> = recent.lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(lines, ["echo one", "two", "three", "four", "five"]);
        assert_eq!(recent.lines[4].number, 5);
    }
}
