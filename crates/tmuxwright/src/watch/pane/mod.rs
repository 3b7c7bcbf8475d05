//! One pane of a watch: reads its stream and evaluates the conditions.

mod begin;
mod end;
mod keys;
mod phase;
mod probe;
pub(super) mod since;

use std::collections::{HashSet, VecDeque};

use futures::future::{BoxFuture, FutureExt, pending, ready};
use tmux_control::PaneId;
use tmux_control::stream::ring::{Chunk, StreamEnd};
use tmux_control::stream::{PaneStream, StreamItem};
use tokio::time::Instant;

use self::end::WatchedCommand;
use self::keys::UnreadKeys;
use self::phase::{Phase, ProgramExit};
use super::conditions::Needs;
use super::limits::{SCREEN_INTERVAL, SCREEN_QUIET};
use super::observation::{Observation, OutputLine, ProgramState, StableScreen};
use super::until::{HeldCondition, Until};
use super::view::OutputView;
use super::{WatchEvent, WatchLost, WatchedOutput, Watches};
use crate::bookmark::Bookmark;
use crate::host::PaneState;
use crate::input_probe::ProbeSchedule;
use crate::run::OutputPart;
use terminal::screen::ScreenState;

/// Events remembered so that none is reported twice.
const MAX_REMEMBERED_EVENTS: usize = 64;

/// One pane of a watch.
pub(super) struct WatchedPane {
    watches: Watches,
    pane: PaneState,
    until: Until,
    stream: PaneStream,
    view: OutputView,
    /// Input that was received and not processed yet.
    steps: VecDeque<PendingStep>,
    command: Option<WatchedCommand>,
    probes: ProbeSchedule<ProgramState>,
    /// Count of inputs that were typed into the pane when `probes` was last reset.
    inputs: u64,
    last_output: Instant,
    shown: Option<StableScreen>,
    /// Time since which the captured screen may be outdated.
    dirty: Option<Instant>,
    /// Set while keys that were typed during the watch are unread: no state counts then.
    unread_keys: Option<UnreadKeys>,
    phase: Phase,
    exit: ProgramExit,
    /// Exit of the pane's own process, of the foreground program, and of all processes that the watched
    /// command left running.
    process_gone: BoxFuture<'static, ()>,
    program_gone: BoxFuture<'static, Option<i32>>,
    left_gone: BoxFuture<'static, ()>,
    /// Bookmark at the beginning of the watch.
    start_bookmark: Option<Bookmark>,
    /// Whether bytes of the stream were lost.
    missed: bool,
    /// Set while the view does not know the cursor's position.
    resync: Option<ResyncReason>,
    /// Reported events with a line: index of the condition, number and text of the line.
    reported: VecDeque<(usize, u64, String)>,
    /// Conditions reported without a line since the last output.
    reported_since_output: HashSet<usize>,
}

/// Input to be processed in order.
enum PendingStep {
    /// A part of the stream.
    Output(OutputPart),
    /// The watched command has ended, with this code if it is known.
    End(Option<i32>),
    /// The cursor's position after a gap or a resize.
    Place(ScreenState),
    /// The complete output of a process that has exited.
    All(Vec<String>),
    /// The pane's process has exited, with this code.
    Dead(Option<i32>),
}

/// The reason why the view does not know the cursor's position.
#[derive(Clone, Copy)]
enum ResyncReason {
    /// Bytes of the stream were lost.
    Gap,
    /// The pane may have been resized at this position of the stream.
    Size(u64),
}

impl WatchedPane {
    fn new(
        watches: &Watches,
        pane: PaneState,
        until: Until,
        stream: PaneStream,
        view: OutputView,
    ) -> Self {
        let now = Instant::now();
        let (processes, pid) = (watches.host.processes().clone(), pane.pid);
        Self {
            watches: watches.clone(),
            until,
            stream,
            view,
            steps: VecDeque::new(),
            command: None,
            probes: ProbeSchedule::new(now),
            inputs: watches.runs.inputs(pane.pane),
            last_output: now,
            shown: None,
            dirty: None,
            unread_keys: None,
            phase: Phase::Live,
            exit: ProgramExit::None,
            process_gone: match pane.process_state.has_exited() {
                true => ready(()).boxed(),
                false => async move { processes.exited(pid).await }.boxed(),
            },
            program_gone: pending().boxed(),
            left_gone: pending().boxed(),
            pane,
            start_bookmark: None,
            missed: false,
            resync: None,
            reported: VecDeque::new(),
            reported_since_output: HashSet::new(),
        }
    }

    pub(super) fn id(&self) -> PaneId {
        self.pane.pane
    }

    /// Waits for the next event in this pane. Cancel-safe.
    pub(super) async fn next(&mut self) -> Result<WatchEvent, WatchLost> {
        loop {
            if let Some(held) = self.held() {
                return Ok(self.report(held));
            }
            if let Some(resync) = self.resync {
                self.resync_position(resync).await;
            }
            if !self.steps.is_empty() {
                continue;
            }
            match self.phase {
                Phase::Live | Phase::Ended => self.wait_for_change().await,
                // A condition on the screen may hold by the last output.
                Phase::Finished if self.dirty.is_some() => self.probe().await,
                Phase::Finished => {
                    if self.has_nothing_left().await {
                        return Ok(self.final_event());
                    }
                }
                Phase::Exiting => self.read_last_output().await,
                Phase::Exited => return Ok(self.final_event()),
                // A pane that closes with its program is the exit of the program.
                Phase::Lost(WatchLost::PaneGone(_)) if self.until.awaits_exit() => {
                    return Ok(self.final_event());
                }
                Phase::Lost(lost) => return Err(lost),
            }
        }
    }

    /// Waits for output, an exit, input or the time of a probe, and takes it. Cancel-safe.
    async fn wait_for_change(&mut self) {
        let alarm = self.alarm();
        tokio::select! {
            biased;
            item = self.stream.next_item() => self.take_item(item),
            code = &mut self.program_gone => {
                self.program_gone = pending().boxed();
                self.take_arrived();
                if !self.take_end_mark() && self.exit.unreported().is_none() {
                    self.steps.push_back(PendingStep::End(code));
                }
            }
            () = &mut self.left_gone => {
                self.left_gone = pending().boxed();
                self.phase.processes_gone();
            }
            () = &mut self.process_gone => {
                self.process_gone = pending().boxed();
                self.phase.process_exited();
            }
            () = self.watches.runs.input_beyond(self.pane.pane, self.inputs) => {
                self.inputs = self.watches.runs.inputs(self.id());
                self.probes.reset(Instant::now());
            }
            () = sleep_until(alarm) => self.probe().await,
        }
    }

    /// The first condition that holds now.
    pub(super) fn held(&mut self) -> Option<HeldCondition> {
        loop {
            let row = self.view.row();
            let observed = self.observe(&row);
            let reported = |index: usize, line: Option<&OutputLine>| match line {
                None => self.reported_since_output.contains(&index),
                Some(line) => self.reported.iter().any(|(reported, number, shown)| {
                    *reported == index && *number == line.number && *shown == line.shown
                }),
            };
            if let Some(held) = self.until.first(&observed, &self.view.new.lines, reported) {
                return Some(held);
            }
            self.view.new = Default::default();
            match self.steps.pop_front()? {
                PendingStep::Output(OutputPart::Text(bytes)) => self.print(&bytes),
                PendingStep::Output(OutputPart::Lost(_)) => self.missed = true,
                PendingStep::End(code) => self.end(code),
                PendingStep::Place(place) => self.view.continue_at(&place),
                PendingStep::All(lines) => self.view.end(lines),
                PendingStep::Dead(code) => self.die(code),
            }
            // Output and an exit that arrive together count as simultaneous.
            match self.steps.front() {
                Some(&PendingStep::End(code)) => self.end(code),
                Some(&PendingStep::Dead(code)) => self.die(code),
                _ => continue,
            }
            self.steps.pop_front();
        }
    }

    /// Makes the event and records that it was reported.
    pub(super) fn report(&mut self, held: HeldCondition) -> WatchEvent {
        let HeldCondition { index, condition, detail, is_program_state, line } = held;
        if condition == "exit" {
            self.exit.report();
        }
        match line {
            None => drop(self.reported_since_output.insert(index)),
            Some(line) => self.reported.push_back((index, line.number, line.shown)),
        }
        if self.reported.len() > MAX_REMEMBERED_EVENTS {
            self.reported.pop_front();
        }
        WatchEvent {
            pane: self.id(),
            is_last: self.phase == Phase::Exited && condition == "exit",
            condition,
            detail,
            is_program_state,
        }
    }

    fn observe<'a>(&'a self, row: &'a str) -> Observation<'a> {
        let now = Instant::now();
        Observation {
            now,
            quiet_since: if self.has_unread_keys() { now } else { self.last_output },
            changed: self.view.new.changed,
            bell: self.view.new.bell,
            row,
            program: self.program_state_now(),
            exited: self
                .exit
                .unreported()
                .or_else(|| self.is_only_the_shell_left().then_some(None)),
            screen: self.shown.as_ref().filter(|_| !self.has_unread_keys()),
        }
    }

    /// Whether no program but the shell runs, and that is not reported yet.
    fn is_only_the_shell_left(&self) -> bool {
        let is_reported = matches!(self.exit, ProgramExit::Reported(_));
        self.program_state_now() == Some(ProgramState::Prompt) && !is_reported
    }

    fn take_item(&mut self, item: StreamItem) {
        match item {
            StreamItem::Chunk(chunk) => self.take(chunk),
            StreamItem::Layout => {
                let here = ResyncReason::Size(self.stream.position());
                self.resync.get_or_insert(here);
            }
        }
    }

    fn take(&mut self, chunk: Chunk) {
        match chunk {
            Chunk::Bytes { bytes, .. } => match &mut self.command {
                Some(command) => {
                    self.steps.extend(
                        command.output_filter.parts(&bytes).into_iter().map(PendingStep::Output),
                    );
                }
                None => self.steps.push_back(PendingStep::Output(OutputPart::Text(bytes))),
            },
            Chunk::Gap { .. } => {
                self.missed = true;
                self.resync = Some(ResyncReason::Gap);
                if let Some(command) = &mut self.command {
                    command.output_filter.begin();
                }
            }
            Chunk::End(StreamEnd::PaneGone) => self.phase.lose(WatchLost::PaneGone(self.id())),
            Chunk::End(StreamEnd::ServerGone) => self.phase.lose(WatchLost::ServerGone),
        }
    }

    /// Takes all that the stream holds. A job has read its end mark when it ends, and this reader of the
    /// same stream may only just be woken.
    fn take_arrived(&mut self) {
        while !self.phase.is_lost()
            && let Some(item) = self.stream.next_item().now_or_never()
        {
            self.take_item(item);
        }
    }

    fn die(&mut self, code: Option<i32>) {
        self.exit = ProgramExit::Unreported(code);
        self.phase.output_read();
    }

    fn print(&mut self, bytes: &[u8]) {
        let now = Instant::now();
        if let Some(typed) = self.watches.runs.recent_input(self.id()) {
            self.view.expect(typed.lines);
        }
        self.view.feed(bytes);
        self.last_output = now;
        self.probes.reset(now);
        self.reported_since_output.clear();
        if self.until.needs(Needs::Screen) {
            self.dirty.get_or_insert(now);
        }
    }

    /// Time of the next probe if no event comes before.
    fn alarm(&self) -> Option<Instant> {
        let due =
            self.until.due(&self.observe(""), |index| self.reported_since_output.contains(&index));
        let program = self.until.needs(Needs::Program).then(|| self.probes.due());
        let screen =
            self.dirty.map(|dirty| (self.last_output + SCREEN_QUIET).min(dirty + SCREEN_INTERVAL));
        let keys = self.unread_keys.as_ref().map(|keys| keys.check_at);
        [due, program, screen, keys].into_iter().flatten().min()
    }

    /// The output during the watch.
    pub(super) fn output(&self) -> WatchedOutput {
        WatchedOutput {
            output: self.view.output(),
            is_cut: self.view.is_cut,
            missed: self.missed,
            pane_closed: matches!(self.phase, Phase::Lost(WatchLost::PaneGone(_))),
        }
    }
}

async fn sleep_until(alarm: Option<Instant>) {
    match alarm {
        Some(alarm) => tokio::time::sleep_until(alarm).await,
        None => pending().await,
    }
}
