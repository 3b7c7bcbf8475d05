//! Probes of a watched pane: screen, state of the foreground program, cursor position.

use futures::FutureExt;
use tmux_control::capture::Capture;
use tmux_control::stream::PaneStream;
use tmux_control::stream::ring::Chunk;
use tokio::time::Instant;

use super::phase::{Phase, ProgramExit};
use super::{PendingStep, ResyncReason, WatchedPane};
use crate::bookmark::{self, Bookmark, CaptureRange, PaneText};
use crate::host::PaneState;
use crate::input_probe::{AwaitedInput, ShownRow, awaited_input};
use crate::run::OutputPart;
use crate::watch::WatchLost;
use crate::watch::conditions::Needs;
use crate::watch::limits::RETRY_DELAY;
use crate::watch::observation::{ProgramState, StableScreen};
use crate::watch::position::{self, PanePosition};
use process::InputWait;
use terminal::screen::ScreenState;

impl WatchedPane {
    /// Makes the probes that are due.
    pub(super) async fn probe(&mut self) {
        let now = Instant::now();
        self.check_keys().await;
        if self.dirty.is_some() {
            let screen = Capture { start: None, end: None, join: true, colors: false };
            let shown = self.watches.host.tmux().run(screen.of(self.id())).await;
            self.dirty = None;
            match shown {
                Ok(shown) => self.record_screen(shown.text()),
                Err(error) => {
                    self.dirty = Some(now);
                    self.handle_error(&error).await;
                }
            }
        } else if let Some(shown) = &mut self.shown {
            shown.at = now;
        }
        if self.until.needs(Needs::Program) && now >= self.probes.due() {
            self.probe_program().await;
        }
    }

    /// Probes the state of the foreground program. Typed keys must have reached the terminal before, and
    /// all output the view after it: else the state is that of an earlier moment and does not count.
    async fn probe_program(&mut self) {
        if self.drain_pending().await {
            return;
        }
        let runs = &self.watches.runs;
        let inputs = runs.inputs(self.id());
        let found = runs.probe_foreground(&self.pane).await;
        if self.drain_pending().await || self.watches.runs.inputs(self.id()) != inputs {
            return;
        }
        let state = found.map(|(program, at_prompt)| match at_prompt {
            true => ProgramState::Prompt,
            false => self.awaited(&program.wait).map_or(ProgramState::Running, ProgramState::Waits),
        });
        self.probes.record(state);
        let is_reported = matches!(self.exit, ProgramExit::Reported(_));
        if is_reported && state.is_some_and(|state| state != ProgramState::Prompt) {
            let program_gone = Self::program_exit(&self.watches, &self.pane).await;
            self.exit = ProgramExit::None;
            self.program_gone = program_gone;
        }
    }

    /// The input for which the foreground program waits, judged by what the pane shows.
    fn awaited(&self, wait: &InputWait) -> Option<AwaitedInput> {
        let row = self.view.row();
        let alternate = self.view.in_alternate();
        awaited_input(wait, ShownRow { row: &row, alternate, quiet: self.probes.quiet() })
    }

    /// Reads output that was printed before a program began to wait or exited and that may still be on
    /// its way. False if there was none; otherwise a probe made before proves nothing.
    pub(super) async fn drain_pending(&mut self) -> bool {
        let come = self.watches.host.tmux().catch_up(self.pane.session, self.id());
        let item = tokio::select! {
            biased;
            item = self.stream.next_item() => Some(item),
            // A reader that is being woken has not read what has come.
            _ = come => self.stream.next_item().now_or_never(),
        };
        let Some(item) = item else { return false };
        self.probes.reset(Instant::now());
        self.take_item(item);
        true
    }

    /// Records a capture of the screen.
    pub(super) fn record_screen(&mut self, text: String) {
        let at = Instant::now();
        match &mut self.shown {
            Some(shown) if shown.text == text => shown.at = at,
            shown => *shown = Some(StableScreen { text, since: at, at }),
        }
    }

    /// Finds the cursor's position after lost bytes or a possible resize.
    pub(super) async fn resync_position(&mut self, resync: ResyncReason) {
        let asked = position::queries(self.id());
        let host = &self.watches.host;
        let found = match host.pane(&self.id().to_string()).await {
            Ok(pane) if pane.pid != self.pane.pid => {
                self.phase.lose(WatchLost::Respawned(self.id()));
                return;
            }
            Ok(pane) => host.tmux().stream_from(pane.session, self.id(), asked).await,
            Err(error) => {
                self.handle_error(&error).await;
                return;
            }
        };
        match found.and_then(|(stream, answers)| Ok((stream, position::read(&answers)?))) {
            Ok((stream, PanePosition { place, shown, .. })) => {
                // A full-screen program redraws everything in the new size; other output continues.
                let sized = match resync {
                    ResyncReason::Size(at) if place.alternate => Some((at, place.at_top())),
                    _ => None,
                };
                self.take_up_to(&stream, sized);
                let begun = self.command.as_ref().is_none_or(|it| it.output_filter.has_begun());
                let start = ScreenState { alternate: false, ..place.at_top() };
                self.steps.push_back(PendingStep::Place(if begun { place } else { start }));
                self.stream = stream;
                if self.until.needs(Needs::Screen) {
                    self.record_screen(shown);
                }
                self.resync = None;
            }
            // The pane may have moved or closed meanwhile; it is asked for again.
            Err(error) => {
                tracing::debug!("finding the cursor of {}: {error}", self.id());
                tokio::time::sleep(RETRY_DELAY).await;
            }
        }
    }

    /// Reads all output up to this moment. Returns a bookmark after it, if the pane can be captured.
    pub(crate) async fn catch_up(&mut self, now: &PaneState) -> Option<Bookmark> {
        let queries = bookmark::queries(self.id());
        let asked = self.watches.host.tmux().stream_from(now.session, self.id(), queries).await;
        let (stream, answers) = asked.ok()?;
        self.take_up_to(&stream, None);
        // Output after a command's end is its shell's, as far as the answer is concerned.
        let has_ended = self.command.is_some() && self.exit != ProgramExit::None;
        let mut over = has_ended && self.phase == Phase::Live;
        while let Some(step) = self.steps.pop_front().filter(|_| !over) {
            match step {
                PendingStep::Output(OutputPart::Text(bytes)) => self.print(&bytes),
                PendingStep::Output(OutputPart::Lost(_)) => self.missed = true,
                PendingStep::End(_) => over = self.command.is_some(),
                PendingStep::Dead(_) => {}
                PendingStep::All(lines) => self.view.end(lines),
                PendingStep::Place(place) => self.view.continue_at(&place),
            }
        }
        let text = PaneText::from_replies(&answers, &CaptureRange::NEAR).ok()?;
        self.watches.shown_screens().remember(&text);
        Some(text.bookmark())
    }

    /// Reads up to the position of another reader of the same stream. `sized` is the position from which a
    /// new size holds, and the cursor there. Later bytes are not in what was asked there.
    fn take_up_to(&mut self, other: &PaneStream, sized: Option<(u64, ScreenState)>) {
        let mut sized = sized;
        while !self.phase.is_lost() {
            let begin = self.stream.position();
            let Some(chunk) = self.stream.next_before(other) else { break };
            match (chunk, sized.take_if(|(at, _)| *at < self.stream.position())) {
                (Chunk::Bytes { mut bytes, next }, Some((at, place))) => {
                    let before = usize::try_from(at.saturating_sub(begin)).unwrap_or(usize::MAX);
                    let behind = bytes.split_off(before.min(bytes.len()));
                    self.take(Chunk::Bytes { bytes, next: at });
                    self.steps.push_back(PendingStep::Place(place));
                    self.take(Chunk::Bytes { bytes: behind, next });
                }
                (chunk, _) => self.take(chunk),
            }
        }
    }

    /// Ends the watch if an error of tmux means that pane or server are gone, after all output. After
    /// other errors the query may be repeated.
    async fn handle_error(&mut self, error: &tmux_control::Error) {
        if error.is_no_server() {
            self.read_closed_pane(WatchLost::ServerGone).await;
        } else if error.is_not_found() {
            self.read_closed_pane(WatchLost::PaneGone(self.id())).await;
        } else {
            tracing::debug!("watching {}: {error}", self.id());
            tokio::time::sleep(RETRY_DELAY).await;
        }
    }
}
