//! The rows of alternate screens that were shown: what has changed on one since a bookmark.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use tmux_control::PaneId;

use super::{Bookmark, PaneText, fingerprint};
use crate::lock::lock;

/// Screens that are remembered, of all panes together.
const MAX_SCREENS: usize = 256;

/// Fingerprints of the rows of alternate screens. They need not outlive the process: without them, more
/// rows are reported than have changed, never fewer.
#[derive(Debug, Clone, Default)]
pub(crate) struct ShownScreens(Arc<Mutex<VecDeque<ShownScreen>>>);

#[derive(Debug)]
struct ShownScreen {
    pane: PaneId,
    /// Fingerprint of the whole screen.
    screen: u32,
    rows: Vec<u32>,
}

impl ShownScreens {
    /// Remembers the alternate screen, if it is on, for bookmarks made of this text.
    pub(crate) fn remember(&self, text: &PaneText) {
        let Some(screen) = text.alternate_fingerprint() else {
            return;
        };
        let rows = text.alternate_rows().iter().map(|row| fingerprint::row(row)).collect();
        let mut screens = lock(&self.0);
        screens.retain(|shown| (shown.pane, shown.screen) != (text.pane, screen));
        if screens.len() == MAX_SCREENS {
            screens.pop_front();
        }
        screens.push_back(ShownScreen { pane: text.pane, screen, rows });
    }

    /// The numbers of the alternate screen's rows that differ from the bookmark's; of all rows with text if
    /// the bookmark has none, or its screen is not remembered.
    pub(crate) fn changed_rows(&self, text: &PaneText, bookmark: Option<&Bookmark>) -> Vec<usize> {
        let then = bookmark.and_then(|bookmark| bookmark.alternate);
        if then.is_some() && then == text.alternate_fingerprint() {
            return Vec::new();
        }
        let screens = lock(&self.0);
        let shown =
            screens.iter().find(|shown| shown.pane == text.pane && Some(shown.screen) == then);
        let rows = shown.map(|shown| shown.rows.as_slice()).unwrap_or_default();
        let seen = rows.iter().copied().chain(std::iter::repeat(0));
        let compared = text.alternate_rows().iter().zip(seen).enumerate();
        compared
            .filter(|(_, (row, seen))| fingerprint::row(row) != *seen)
            .map(|(number, _)| number)
            .collect()
    }
}
