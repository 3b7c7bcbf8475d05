//! The beginning of a watch: in a pane from now on, or with a command.

use futures::future::FutureExt;
use tokio::time::Instant;

use super::WatchedPane;
use super::end::WatchedCommand;
use crate::host::PaneState;
use crate::run::StartedJob;
use crate::watch::conditions::Needs;
use crate::watch::echo::EchoFilter;
use crate::watch::until::Until;
use crate::watch::view::OutputView;
use crate::watch::{Watches, position};
use terminal::screen::ScreenState;

impl WatchedPane {
    /// Watches a pane from now on.
    pub(in crate::watch) async fn begin(
        watches: &Watches,
        pane: PaneState,
        until: Until,
    ) -> Result<Self, tmux_control::Error> {
        let tmux = watches.host.tmux();
        let asked = position::queries(pane.pane);
        let (stream, answers) = tmux.stream_from(pane.session, pane.pane, asked).await?;
        let position = position::read(&answers)?;
        let typed = watches.runs.recent_input(pane.pane);
        let lines = typed.into_iter().flat_map(|typed| typed.lines);
        let place = &position.place;
        let echo = EchoFilter::of(lines, place.width, OutputView::top(place), &position.shown);
        let view = OutputView::at(place, echo);
        let mut watched = Self::new(watches, pane, until, stream, view);
        watched.start_bookmark = position.bookmark;
        if watched.until.needs(Needs::Program) {
            watched.program_gone = Self::program_exit(watches, &watched.pane).await;
        }
        if watched.until.needs(Needs::Screen) {
            watched.record_screen(position.shown);
        }
        Ok(watched)
    }

    /// Watches a command from its first output on.
    pub(in crate::watch) async fn follow(
        watches: &Watches,
        started: StartedJob,
        until: Until,
    ) -> Result<Self, tmux_control::Error> {
        let StartedJob { job, pane, shell, prompt, stream, output_filter, last_typed } = started;
        let answers = watches.host.tmux().sequence(position::queries(pane.pane)).await;
        // The command may have closed its pane already; its output can still be read.
        let place = answers
            .and_then(|answers| position::read(&answers))
            .map(|it| ScreenState { alternate: false, ..it.place.at_top() });
        let place = place.unwrap_or_default();
        let view = OutputView::at(&place, EchoFilter::after(last_typed, place.width));
        let mut watched = Self::new(watches, pane, until, stream, view);
        watched.command = Some(WatchedCommand { output_filter, shell, prompt });
        watched.program_gone = async move { job.wait_for_end().await }.boxed();
        if watched.until.needs(Needs::Screen) {
            watched.dirty = Some(Instant::now());
        }
        Ok(watched)
    }
}
