//! Looking at a watched pane: what its screen shows, what its program does, where its cursor is.

use std::time::Duration;

use tmux_control::capture::Capture;
use tmux_control::stream::PaneStream;
use tmux_control::stream::ring::Chunk;
use tokio::time::Instant;

use super::{Astray, Step, Watched};
use crate::bookmark::{self, Bookmark};
use crate::host::PaneState;
use crate::run::{PROMPT_ENDS, Part};
use crate::watch::WatchLost;
use crate::watch::conditions::Needs;
use crate::watch::moment::{Doing, Shown};
use crate::watch::place::{self, Standing};
use process::Input;
use terminal::screen::Place;

/// The pause before a question is asked again that had no answer.
const ONCE_MORE: Duration = Duration::from_millis(100);

impl Watched {
    /// Looks at what is due.
    pub(super) async fn look(&mut self) {
        let now = Instant::now();
        if self.dirty.is_some() {
            let screen = Capture { start: None, end: None, join: true, colors: false };
            let shown = self.watches.host.tmux().run(screen.of(self.id())).await;
            self.dirty = None;
            match shown {
                Ok(shown) => self.show(shown.text()),
                Err(error) => self.trouble(&error),
            }
        } else if let Some(shown) = &mut self.shown {
            shown.at = now;
        }
        if self.until.needs(Needs::Program) && now >= self.looks.due() {
            let sight = self.watches.runs.sight(&self.pane).await;
            let doing = sight.map(|(sight, at_prompt)| self.doing(now, sight.input, at_prompt));
            self.looks.saw(doing);
            if self.looks.settled().is_some_and(|doing| doing != Doing::Work) {
                self.hear_out().await;
            }
            if self.exit_told && doing.is_some_and(|doing| doing != Doing::Prompt) {
                self.exit_told = false;
                self.program_gone = self.program();
            }
        }
    }

    /// What was printed before a program began to wait, or ended, may still be on its way: then
    /// nothing can be concluded yet. False if there was nothing.
    pub(super) async fn hear_out(&mut self) -> bool {
        let come = self.watches.host.tmux().catch_up(self.pane.session, self.id());
        tokio::select! {
            biased;
            chunk = self.stream.next() => {
                self.looks.reset(Instant::now());
                self.take(chunk);
                true
            }
            _ = come => false,
        }
    }

    /// What a program does that has been seen to do this with its input.
    fn doing(&self, now: Instant, input: Input, at_prompt: bool) -> Doing {
        match input {
            _ if at_prompt => Doing::Prompt,
            Input::Line => Doing::Line,
            Input::Password => Doing::Password,
            Input::Raw => {
                let asks = self.view.row().trim_end().ends_with(PROMPT_ENDS);
                self.looks.keys(now, asks || self.view.in_alternate())
            }
            Input::None | Input::Unknown => Doing::Work,
        }
    }

    pub(super) fn show(&mut self, text: String) {
        let at = Instant::now();
        match &mut self.shown {
            Some(shown) if shown.text == text => shown.at = at,
            shown => *shown = Some(Shown { text, since: at, at }),
        }
    }

    /// After lost bytes, or when the pane may have another size: where is the cursor now?
    pub(super) async fn find_place(&mut self, astray: Astray) {
        let asked = place::queries(self.id());
        let host = &self.watches.host;
        let found = match host.pane(&self.id().to_string()).await {
            Ok(pane) if pane.pid != self.pane.pid => {
                self.lost = Some(WatchLost::Respawned(self.id()));
                return;
            }
            Ok(pane) => host.tmux().stream_from(pane.session, self.id(), asked).await,
            Err(error) => Err(error),
        };
        match found.and_then(|(stream, answers)| Ok((stream, place::read(&answers)?))) {
            Ok((stream, Standing { place, shown, .. })) => {
                // A full-screen program draws everything anew; other output goes on where it was.
                let sized = match astray {
                    Astray::Size(at) if place.alternate => Some((at, place.top())),
                    _ => None,
                };
                self.take_up_to(&stream, sized).await;
                let begun = self.command.as_ref().is_none_or(|it| it.trail.has_begun());
                let start = Place { alternate: false, ..place.top() };
                self.steps.push_back(Step::Place(if begun { place } else { start }));
                self.layout = stream.clone();
                self.stream = stream;
                if self.until.needs(Needs::Screen) {
                    self.show(shown);
                }
                self.astray = None;
            }
            Err(error) => {
                self.trouble(&error);
                tokio::time::sleep(ONCE_MORE).await;
            }
        }
    }

    /// Takes all that was printed up to this very moment. The mark behind it, if there can be one.
    pub(crate) async fn catch_up(&mut self, now: &PaneState) -> Option<Bookmark> {
        let queries = bookmark::queries(self.id());
        let asked = self.watches.host.tmux().stream_from(now.session, self.id(), queries).await;
        let (stream, answers) = asked.ok()?;
        self.take_up_to(&stream, None).await;
        // What comes after a command's end is no longer about it.
        let over = self.command.is_some() && (self.exited.is_some() || self.exit_told);
        while let Some(step) = self.steps.pop_front().filter(|_| !over) {
            match step {
                Step::Part(Part::Text(bytes)) => self.print(&bytes),
                Step::Part(Part::End(_)) | Step::Dead(_) => {}
                Step::All(lines) => self.view.end(lines),
                Step::Place(place) => self.view.go_on_at(&place),
            }
        }
        bookmark::from_replies(&answers).ok()
    }

    /// Takes all that comes before the place where another reader of the same stream is. `sized` is
    /// from where on another size counts: what was printed behind it belongs there.
    async fn take_up_to(&mut self, other: &PaneStream, sized: Option<(u64, Place)>) {
        let mut sized = sized;
        while self.lost.is_none()
            && other.is_beside(&self.stream)
            && self.stream.position() < other.position()
        {
            let begin = self.stream.position();
            let chunk = self.stream.next().await;
            match (chunk, sized.take_if(|(at, _)| *at < self.stream.position())) {
                (Chunk::Bytes { mut bytes, next }, Some((at, place))) => {
                    let before = usize::try_from(at.saturating_sub(begin)).unwrap_or(usize::MAX);
                    let behind = bytes.split_off(before.min(bytes.len()));
                    self.take(Chunk::Bytes { bytes, next: at });
                    self.steps.push_back(Step::Place(place));
                    self.take(Chunk::Bytes { bytes: behind, next });
                }
                (chunk, _) => self.take(chunk),
            }
        }
    }

    /// What an error of tmux means for the watch. Most pass.
    fn trouble(&mut self, error: &tmux_control::Error) {
        if error.is_no_server() {
            self.lost = Some(WatchLost::ServerGone);
        } else if error.is_not_found() {
            self.lost = Some(WatchLost::PaneGone(self.id()));
        } else {
            tracing::debug!("watching {}: {error}", self.id());
        }
    }
}
