//! Text that tools typed into panes recently, so that watches do not take its echo for output.

use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;

use tmux_control::PaneId;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::lock::lock;

/// Limits: lines and bytes kept for one pane, characters of one line, panes.
const MAX_LINES_PER_PANE: usize = 500;
const MAX_BYTES_PER_PANE: usize = 64_000;
const MAX_LINE_CHARS: usize = 4000;
const MAX_PANES: usize = 256;

/// Recently typed text, by pane.
#[derive(Debug, Default)]
pub(super) struct TypedInput {
    panes: Mutex<HashMap<PaneId, RecentInput>>,
    /// Notified when the count of inputs of a pane changes.
    changed: Notify,
}

/// Recently typed text of one pane.
#[derive(Debug, Clone)]
pub(crate) struct RecentInput {
    /// Changes whenever a call begins or ends to type: a state that was probed before does not count.
    inputs: u64,
    /// When it changed last.
    changed: Instant,
    /// The lines, oldest first.
    pub(crate) lines: VecDeque<TypedLine>,
    /// Lines typed so far, including those no longer kept.
    count: u64,
    /// Whether Enter was pressed after the last line.
    entered: bool,
    /// Whether the terminal may hold text until Enter is pressed.
    is_held: bool,
}

/// A typed line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TypedLine {
    /// Number of the line in its pane, from 1.
    pub(crate) number: u64,
    /// The text typed so far.
    pub(crate) text: String,
}

impl TypedInput {
    /// Records text that was typed. `enter` is whether Enter was pressed after it.
    pub(super) fn record(&self, pane: PaneId, text: &str, enter: bool) {
        self.change(pane, |recent| {
            for (number, line) in text.split(['\n', '\r']).enumerate() {
                recent.add(line, number > 0);
            }
            // Keys without text neither begin nor end a line.
            if enter || !text.is_empty() {
                recent.entered = enter || text.ends_with(['\n', '\r']);
                recent.is_held = false;
            }
        });
    }

    /// Records that the terminal of a pane edits lines: it holds text that was typed until Enter.
    pub(super) fn hold(&self, pane: PaneId, text: &str) {
        self.change(pane, |recent| recent.is_held = !text.ends_with(['\n', '\r']));
    }

    /// Records that a call has typed all its input.
    pub(super) fn record_end(&self, pane: PaneId) {
        self.change(pane, |_| {});
    }

    /// Whether the terminal of a pane may hold text that was not entered.
    pub(super) fn is_held(&self, pane: PaneId) -> bool {
        lock(&self.panes).get(&pane).is_some_and(|recent| recent.is_held)
    }

    fn change(&self, pane: PaneId, change: impl FnOnce(&mut RecentInput)) {
        let mut panes = lock(&self.panes);
        if panes.len() >= MAX_PANES && !panes.contains_key(&pane) {
            panes.clear();
        }
        let recent = panes.entry(pane).or_insert_with(RecentInput::new);
        recent.inputs += 1;
        recent.changed = Instant::now();
        change(recent);
        drop(panes);
        self.changed.notify_waiters();
    }

    pub(super) fn of_pane(&self, pane: PaneId) -> Option<RecentInput> {
        lock(&self.panes).get(&pane).cloned()
    }

    /// Number of the last line that was typed into a pane; 0 if there is none.
    pub(super) fn last_line(&self, pane: PaneId) -> u64 {
        lock(&self.panes).get(&pane).map_or(0, |recent| recent.count)
    }

    /// Count of the moments at which a call began or ended to type into a pane.
    pub(super) fn inputs(&self, pane: PaneId) -> u64 {
        lock(&self.panes).get(&pane).map_or(0, |recent| recent.inputs)
    }

    /// When a call last began or ended to type into a pane.
    pub(super) fn last_change(&self, pane: PaneId) -> Option<Instant> {
        lock(&self.panes).get(&pane).map(|recent| recent.changed)
    }

    /// Waits until the count differs from an earlier one. Cancel-safe.
    pub(super) async fn inputs_beyond(&self, pane: PaneId, earlier: u64) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if self.inputs(pane) != earlier {
                return;
            }
            changed.await;
        }
    }
}

impl RecentInput {
    fn new() -> Self {
        let (changed, lines) = (Instant::now(), VecDeque::new());
        Self { inputs: 0, changed, lines, count: 0, entered: true, is_held: false }
    }

    fn add(&mut self, text: &str, begins_line: bool) {
        let text: String = text.chars().take(MAX_LINE_CHARS).collect();
        match self.lines.back_mut() {
            Some(last) if !begins_line && !self.entered => last.text.push_str(&text),
            _ if text.trim().is_empty() => {}
            _ => {
                self.count += 1;
                self.lines.push_back(TypedLine { number: self.count, text });
            }
        }
        let mut bytes: usize = self.lines.iter().map(|line| line.text.len()).sum();
        while self.lines.len() > MAX_LINES_PER_PANE || bytes > MAX_BYTES_PER_PANE {
            bytes -= self.lines.pop_front().map_or(bytes, |line| line.text.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_text_is_joined_until_enter() {
        let typed = TypedInput::default();
        let pane = PaneId(1);
        assert!(typed.of_pane(pane).is_none());
        typed.record(pane, "echo ", false);
        typed.record(pane, "one", true);
        typed.record(pane, "two\nthree", false);
        typed.record(pane, "", true);
        typed.record(pane, "four\n", false);
        typed.record(pane, "five", false);
        let recent = typed.of_pane(pane).unwrap();
        let lines: Vec<&str> = recent.lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(lines, ["echo one", "two", "three", "four", "five"]);
        assert_eq!(recent.lines[4].number, 5);
    }
}
