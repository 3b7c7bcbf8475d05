//! A watch that begins at an earlier cursor: text printed after it counts too.

use tmux_control::stream::PaneStream;
use tmux_control::{Error, TmuxReply};

use super::WatchedPane;
use crate::bookmark::{Bookmark, CaptureRange, MAX_CAPTURES, NewLines, PaneText, SinceOutcome};
use crate::host::PaneState;
use crate::watch::Watches;
use crate::watch::conditions::Needs;
use crate::watch::echo::EchoFilter;
use crate::watch::position;
use crate::watch::until::Until;
use crate::watch::view::{EARLIER_BASE, OutputView};

/// Facts about the place at which a watch begins.
pub(crate) struct SincePlace {
    /// Lines before it. A secret may begin there.
    pub(crate) before: String,
    /// Whether it was not found: then all text that is left counts, and lines may be missing.
    pub(crate) is_lost: bool,
}

impl WatchedPane {
    /// Watches a pane from now on, and with the text printed since a bookmark.
    pub(crate) async fn begin_since(
        watches: &Watches,
        pane: PaneState,
        until: Until,
        since: &Bookmark,
    ) -> Result<(Self, SincePlace), Error> {
        let (stream, answers, text, news) = read_since(watches, &pane, since).await?;
        let is_lost = news.missed;
        let position = position::read(&answers)?;
        let place = &position.place;
        let typed = watches.runs.recent_input(pane.pane);
        let lines = typed.into_iter().flat_map(|typed| typed.lines);
        let mut view;
        let mut before = String::new();
        if text.is_alternate() {
            let echo = EchoFilter::of(lines, place.width, OutputView::top(place), &position.shown);
            view = OutputView::at(place, echo);
            let rows = text.alternate_rows();
            let changed = watches.shown_screens().changed_rows(&text, Some(since)).into_iter();
            view.begin_with_rows(changed.filter_map(|row| Some((row, rows.get(row)?.as_str()))));
        } else {
            let all = text.printed_lines();
            let older = all.len().saturating_sub(news.lines.len());
            // The echoes in older lines are over.
            before = all.get(..older).unwrap_or_default().join("\n");
            let echo = EchoFilter::of(lines, place.width, EARLIER_BASE, &before);
            view = OutputView::at(place, echo);
            let open = news.lines.first().map_or(0, |line| since.bytes_seen_of(line));
            let first = (EARLIER_BASE + older as u64, open);
            view.begin_with_lines(news.lines, first, &place.before);
        }
        let mut watched = Self::new(watches, pane, until, stream, view);
        watched.start_bookmark = Some(since.clone());
        if watched.until.needs(Needs::Program) {
            watched.program_gone = Self::program_exit(watches, &watched.pane).await;
        }
        if watched.until.needs(Needs::Screen) {
            watched.record_screen(position.shown);
        }
        Ok((watched, SincePlace { before, is_lost }))
    }
}

/// Reads the text since a bookmark and a position of the stream in one sequence: each line is either in
/// the text or in the stream.
async fn read_since(
    watches: &Watches,
    pane: &PaneState,
    since: &Bookmark,
) -> Result<(PaneStream, Vec<TmuxReply>, PaneText, NewLines), Error> {
    let mut range = CaptureRange::NEAR;
    let mut captures = 1;
    loop {
        let queries = position::queries_with(pane.pane, &range);
        let asked = watches.host.tmux().stream_from(pane.session, pane.pane, queries).await;
        let (stream, answers) = asked?;
        let text = position::text(&answers, &range)?;
        if text.is_alternate() {
            return Ok((stream, answers, text, NewLines::default()));
        }
        range = match text.since(since) {
            SinceOutcome::New(news) => return Ok((stream, answers, text, news)),
            SinceOutcome::ReadMore(further) if captures < MAX_CAPTURES => further,
            SinceOutcome::ReadMore(_) => CaptureRange::ALL,
        };
        captures += 1;
    }
}
