//! One pane of a watch: takes what happens there and asks the conditions.

mod end;
mod look;

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use futures::future::{BoxFuture, FutureExt, pending, ready};
use tmux_control::PaneId;
use tmux_control::stream::PaneStream;
use tmux_control::stream::ring::{Chunk, End};
use tokio::time::Instant;

use super::conditions::Needs;
use super::echo::Echo;
use super::looks::Looks;
use super::moment::{Doing, Line, Moment, Shown};
use super::place;
use super::until::{Held, Until};
use super::view::View;
use super::{Event, Lost, Seen, Watches};
use crate::bookmark::Bookmark;
use crate::host::PaneState;
use crate::run::{Part, Started, Trail};
use terminal::screen::Place;

/// The screen is asked for when it has been quiet for the one time, or after the other.
const SCREEN_QUIET: Duration = Duration::from_millis(5);
const SCREEN_LATEST: Duration = Duration::from_millis(50);

/// The pauses between looks at what a command left behind.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// How many events are remembered so that none is told twice.
const TOLD: usize = 64;

pub(super) struct Watched {
    watches: Watches,
    pane: PaneState,
    until: Until,
    stream: PaneStream,
    /// The same, for news of the pane's size.
    layout: PaneStream,
    view: View,
    /// What has come and was not taken yet.
    steps: VecDeque<Step>,
    command: Option<Command>,
    looks: Looks,
    last_output: Instant,
    shown: Option<Shown>,
    /// Since when the screen may show something else.
    dirty: Option<Instant>,
    exited: Option<Option<i32>>,
    /// The pane's own process, and the program in the foreground.
    process_gone: BoxFuture<'static, ()>,
    program_gone: BoxFuture<'static, Option<i32>>,
    /// What was seen when the command ended. What comes then is its shell's, if it left nothing.
    at_end: Option<Seen>,
    /// Whether the watch ended because nothing more could happen.
    ran_out: bool,
    /// Where the watch began.
    begun_at: Option<Bookmark>,
    missed: bool,
    /// Why the view has to find its place anew.
    astray: Option<Astray>,
    /// Whether the pane's process is gone, and whether all that was left has been taken.
    dying: bool,
    dead: bool,
    /// Why there is nothing more to watch.
    lost: Option<Lost>,
    /// The lines that were told, and the condition each.
    told: VecDeque<(usize, u64, String)>,
    /// The conditions that were told since the last output, without a line.
    told_now: HashSet<usize>,
    exit_told: bool,
}

/// Something to take.
enum Step {
    /// What was printed.
    Part(Part),
    /// Where the cursor is now.
    Place(Place),
    /// All that was printed by a process that is gone.
    All(Vec<String>),
    /// The pane's process is gone, with this code.
    Dead(Option<i32>),
}

/// Why a view does not know its place.
#[derive(Clone, Copy)]
enum Astray {
    /// Bytes were lost.
    Gap,
    /// The pane may have another size from this position on.
    Size(u64),
}

/// A command that is watched.
struct Command {
    trail: Trail,
    shell: u32,
    /// Whether it has left nothing behind, when somebody last looked.
    is_alone: bool,
    /// When to look what it left behind, and how long to wait before the next look.
    look_after: Instant,
    pause: Duration,
}

impl Watched {
    pub(super) async fn begin(
        watches: &Watches,
        pane: PaneState,
        until: Until,
    ) -> Result<Self, tmux_control::Error> {
        let tmux = watches.host.tmux();
        let asked = place::questions(pane.pane);
        let (stream, answers) = tmux.stream_from(pane.session, pane.pane, asked).await?;
        let standing = place::read(&answers)?;
        let typed = watches.runs.typed(pane.pane);
        let at = typed.as_ref().map(|typed| typed.at);
        let lines = typed.into_iter().flat_map(|typed| typed.lines);
        let place = &standing.place;
        let echo = Echo::of(lines, place.width, View::top(place), &standing.shown);
        let view = View::at(place, echo);
        let mut watched = Self::new(watches, pane, until, stream, view, at);
        watched.begun_at = standing.mark;
        if watched.until.needs(Needs::Program) {
            watched.program_gone = watched.program();
        }
        if watched.until.needs(Needs::Screen) {
            watched.show(standing.shown);
        }
        Ok(watched)
    }

    pub(super) async fn follow(
        watches: &Watches,
        started: Started,
        until: Until,
    ) -> Result<Self, tmux_control::Error> {
        let Started { job, pane, shell, stream, trail } = started;
        let answers = watches.host.tmux().sequence(place::questions(pane.pane)).await;
        // A command that closed its pane has still been watched.
        let place = answers
            .and_then(|answers| place::read(&answers))
            .map(|it| Place { alternate: false, ..it.place.top() });
        let typed = watches.runs.typed(pane.pane).into_iter().flat_map(|typed| typed.lines);
        let place = place.unwrap_or_default();
        let view = View::at(&place, Echo::after(typed, place.width));
        let mut watched = Self::new(watches, pane, until, stream, view, None);
        watched.command = Some(Command {
            trail,
            shell,
            is_alone: false,
            look_after: Instant::now(),
            pause: FIRST_PAUSE,
        });
        watched.program_gone = async move { job.end().await }.boxed();
        if watched.until.needs(Needs::Screen) {
            watched.dirty = Some(Instant::now());
        }
        Ok(watched)
    }

    fn new(
        watches: &Watches,
        pane: PaneState,
        until: Until,
        stream: PaneStream,
        view: View,
        typed: Option<Instant>,
    ) -> Self {
        let now = Instant::now();
        Self {
            watches: watches.clone(),
            until,
            layout: stream.clone(),
            stream,
            view,
            steps: VecDeque::new(),
            command: None,
            looks: Looks::begin(now, typed),
            last_output: now,
            shown: None,
            dirty: None,
            exited: None,
            process_gone: match pane.process_state.has_exited() {
                true => ready(()).boxed(),
                false => process::exited(pane.pid).boxed(),
            },
            program_gone: pending().boxed(),
            pane,
            at_end: None,
            ran_out: false,
            begun_at: None,
            missed: false,
            astray: None,
            dying: false,
            dead: false,
            lost: None,
            told: VecDeque::new(),
            told_now: HashSet::new(),
            exit_told: false,
        }
    }

    pub(super) fn id(&self) -> PaneId {
        self.pane.pane
    }

    /// The next event in this pane. May be dropped and called again.
    pub(super) async fn next(&mut self) -> Result<Event, Lost> {
        loop {
            if let Some(held) = self.held() {
                return Ok(self.tell(held));
            }
            if let Some(astray) = self.astray {
                self.find_place(astray).await;
            }
            if self.is_over().await {
                self.ran_out = true;
                return Ok(self.last_word());
            }
            if !self.steps.is_empty() {
                continue;
            }
            if let Some(lost) = self.lost {
                return Err(lost);
            }
            if self.dead {
                return Ok(self.last_word());
            }
            if self.dying {
                self.take_the_rest().await;
                continue;
            }
            let alarm = self.alarm();
            tokio::select! {
                biased;
                at = self.layout.rearranged() => {
                    self.astray.get_or_insert(Astray::Size(at));
                }
                chunk = self.stream.next() => self.take(chunk),
                code = &mut self.program_gone => {
                    self.program_gone = pending().boxed();
                    self.exited.get_or_insert(code);
                }
                () = &mut self.process_gone => {
                    self.process_gone = pending().boxed();
                    self.dying = true;
                }
                () = sleep_until(alarm) => self.look().await,
            }
        }
    }

    /// The first condition that holds now.
    pub(super) fn held(&mut self) -> Option<Held> {
        loop {
            let row = self.view.row();
            let moment = self.moment(&row);
            let told = |index: usize, line: Option<&Line>| match line {
                None => self.told_now.contains(&index),
                Some(line) => self.told.iter().any(|(told, number, shown)| {
                    *told == index && *number == line.number && *shown == line.shown
                }),
            };
            if let Some(held) = self.until.first(&moment, &self.view.news.lines, told) {
                return Some(held);
            }
            self.view.news = Default::default();
            if self.may_be_over() {
                return None;
            }
            match self.steps.pop_front()? {
                Step::Part(Part::Text(bytes)) => self.print(&bytes),
                Step::Part(Part::End(code)) => self.end(code),
                Step::Place(place) => self.view.go_on_at(&place),
                Step::All(lines) => self.view.end(lines),
                Step::Dead(code) => self.die(code),
            }
            // What came at once with the end happened at once with it.
            match self.steps.front() {
                Some(&Step::Part(Part::End(code))) => self.end(code),
                Some(&Step::Dead(code)) => self.die(code),
                _ => continue,
            }
            self.steps.pop_front();
        }
    }

    /// Notes that an event was told.
    pub(super) fn tell(&mut self, held: Held) -> Event {
        let Held { index, words, says, line } = held;
        if words == "exit" {
            self.exited = None;
            self.exit_told = true;
        }
        match line {
            None => drop(self.told_now.insert(index)),
            Some(line) => self.told.push_back((index, line.number, line.shown)),
        }
        if self.told.len() > TOLD {
            self.told.pop_front();
        }
        Event { pane: self.id(), is_last: self.dead && words == "exit", words, says }
    }

    fn moment<'a>(&'a self, row: &'a str) -> Moment<'a> {
        Moment {
            now: Instant::now(),
            quiet_since: self.last_output,
            changed: self.view.news.changed,
            bell: self.view.news.bell,
            row,
            doing: self.looks.settled(),
            exited: self.exited.or_else(|| self.is_at_rest().then_some(None)),
            screen: self.shown.as_ref(),
        }
    }

    /// Whether no program runs but the shell, and nobody has been told.
    fn is_at_rest(&self) -> bool {
        self.looks.settled() == Some(Doing::Prompt) && !self.exit_told
    }

    fn take(&mut self, chunk: Chunk) {
        match chunk {
            Chunk::Bytes { bytes, .. } => match &mut self.command {
                Some(command) => {
                    self.steps.extend(command.trail.parts(&bytes).into_iter().map(Step::Part));
                }
                None => self.steps.push_back(Step::Part(Part::Text(bytes))),
            },
            Chunk::Gap { .. } => {
                self.missed = true;
                self.astray = Some(Astray::Gap);
                if let Some(command) = &mut self.command {
                    command.trail.begin();
                }
            }
            Chunk::End(End::PaneGone) => self.lost = Some(Lost::PaneGone(self.id())),
            Chunk::End(End::ServerGone) => self.lost = Some(Lost::ServerGone),
        }
    }

    fn end(&mut self, code: i32) {
        self.exited = Some(Some(code));
        self.at_end = Some(self.seen());
    }

    fn die(&mut self, code: Option<i32>) {
        self.exited = Some(code);
        self.dead = true;
    }

    fn print(&mut self, bytes: &[u8]) {
        let now = Instant::now();
        if let Some(typed) = self.watches.runs.typed(self.id()) {
            self.view.expect(typed.lines);
        }
        self.view.feed(bytes);
        self.last_output = now;
        self.looks.reset(now);
        self.told_now.clear();
        if self.until.needs(Needs::Screen) {
            self.dirty.get_or_insert(now);
        }
    }

    /// When to look at something though nothing happens until then.
    fn alarm(&self) -> Option<Instant> {
        let due = self.until.due(&self.moment(""), |index| self.told_now.contains(&index));
        let look = self.until.needs(Needs::Program).then(|| self.looks.due());
        let screen =
            self.dirty.map(|dirty| (self.last_output + SCREEN_QUIET).min(dirty + SCREEN_LATEST));
        let left = self.command.as_ref().map(|command| command.look_after);
        let left = left.filter(|_| self.has_ended());
        [due, look, screen, left].into_iter().flatten().min()
    }

    pub(super) fn seen(&self) -> Seen {
        if let Some(seen) = self.at_end.as_ref().filter(|_| self.ran_out) {
            return seen.clone();
        }
        Seen { output: self.view.output(), is_cut: self.view.is_cut, missed: self.missed }
    }
}

async fn sleep_until(alarm: Option<Instant>) {
    match alarm {
        Some(alarm) => tokio::time::sleep_until(alarm).await,
        None => pending().await,
    }
}
