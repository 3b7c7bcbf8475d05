//! What `wait_for` and `start_and_watch` answer with, and the waiting itself.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use tmux_control::PaneId;
use tokio::time::Instant;

use crate::context::Cx;
use crate::contract::{Code, Form, Notice, Output, ToolError};
use crate::host::PaneState;
use crate::results::command::seconds;
use crate::run::Job;
use crate::run::activity::Standing;
use crate::watch::{Event, Lost, Seen, Watch};
use terminal::text::{inline, keep_tail};

/// What is said when nothing happened.
const TIMEOUT: &str = "timeout";

/// How long a shell may take to its prompt.
const TO_PROMPT: Duration = Duration::from_millis(100);

/// How much of what was seen goes into an error.
const IN_ERROR: usize = 2_000;

/// What ended a wait.
#[derive(Serialize, JsonSchema)]
pub(crate) struct EventResult {
    /// The condition that held, as it was given; `exit` if the program ended first; or `timeout`.
    event: String,
    /// Where.
    pane_id: String,
    /// The line that made it hold.
    #[serde(rename = "match")]
    matched: String,
    /// The newest of what the pane printed meanwhile.
    output: String,
    /// How long it took, in seconds.
    elapsed: f64,
    /// What the pane does now: prompt, line, password, raw, running or exited.
    state: String,
    /// Where capture_since goes on reading.
    cursor: Option<String>,
    /// The command's id, for command_result.
    command_id: Option<String>,
    /// Its exit code, if it has ended.
    exit_code: Option<i32>,
    /// Whether the begin of the output is left out.
    truncated: bool,
    /// What else there is to say.
    note: Option<String>,
}

impl Output for EventResult {
    const FORM: Form = Form::Text;

    fn text(&self) -> String {
        let mut facts = vec![inline(&self.event)];
        if !self.matched.is_empty() {
            facts.push(format!("`{}`", inline(&self.matched)));
        }
        facts.push(seconds(self.elapsed));
        facts.push(format!("{} {}", self.pane_id, self.state));
        facts.extend(self.command_id.as_ref().map(|id| format!("command {id}")));
        facts.extend(self.cursor.as_ref().map(|cursor| format!("cursor {cursor}")));
        if self.truncated {
            facts.push("the begin is cut; capture_pane with lines shows more".to_owned());
        }
        facts.extend(self.note.clone());
        let facts = facts.join(" · ");
        if self.output.is_empty() { facts } else { format!("{facts}\n{}", self.output) }
    }

    fn notices(&self) -> Vec<Notice> {
        if self.event == TIMEOUT {
            return Vec::new();
        }
        let Self { event, pane_id, state, .. } = self;
        let event = inline(event);
        let after = seconds(self.elapsed);
        let command = self.command_id.as_ref().map(|id| format!(", command {id}"));
        let text = format!(
            "{event} in {pane_id}{} after {after}; now {state}",
            command.unwrap_or_default()
        );
        let mut facts = vec![
            ("event", event),
            ("pane_id", pane_id.clone()),
            ("state", state.clone()),
            ("elapsed", self.elapsed.to_string()),
        ];
        facts.extend(self.command_id.clone().map(|id| ("command_id", id)));
        facts.extend(self.exit_code.map(|code| ("exit_code", code.to_string())));
        vec![Notice { text, facts }]
    }

    fn limit(&mut self, max: usize) {
        self.truncated |= keep_tail(&mut self.output, max) > 0;
    }
}

/// A wait for what a watch shows.
pub(crate) struct Wait<'a> {
    pub(crate) cx: &'a Cx,
    pub(crate) watch: Watch,
    pub(crate) begun: Instant,
    pub(crate) patience: Duration,
    /// The command that is watched.
    pub(crate) job: Option<Arc<Job>>,
}

impl Wait<'_> {
    /// Waits until something happens or time is up, and says what there is to say of it.
    pub(crate) async fn result(mut self) -> Result<EventResult, ToolError> {
        let event = match self.event().await {
            Ok(event) => event,
            Err(lost) => return Err(self.lost(lost)),
        };
        let elapsed = self.begun.elapsed();
        let at = event.as_ref().map(|event| event.pane);
        let Some(pane) = at.or_else(|| self.watch.panes().next()) else {
            return Err(ToolError::internal("a wait without a pane"));
        };
        let ended = event.as_ref().is_some_and(|event| event.words == "exit");
        let (seen, mark, state) = match self.cx.host.pane(&pane.to_string()).await {
            Ok(now) => {
                let (seen, mark) = self.watch.see(&now).await;
                (seen, mark, state(self.cx, &now, ended).await)
            }
            Err(_) => (self.watch.seen(pane), None, "gone"),
        };
        let Seen { output, is_cut, missed } = seen;
        let (event, matched) = match event {
            Some(Event { words, says, .. }) => (words, says),
            None => (TIMEOUT.to_owned(), String::new()),
        };
        let job = self.job.as_ref();
        Ok(EventResult {
            event,
            pane_id: pane.to_string(),
            matched,
            output,
            elapsed: (elapsed.as_secs_f64() * 1e4).round() / 1e4,
            state: state.to_owned(),
            cursor: mark.map(|mark| mark.to_string()),
            command_id: job.map(|job| job.id.clone()),
            exit_code: job.and_then(|job| job.exit_code()),
            truncated: is_cut,
            note: missed.then(|| "some output was missed: the tmux client was replaced".to_owned()),
        })
    }

    /// The first event; none if time is up. The client is told now and then that it goes on.
    async fn event(&mut self) -> Result<Option<Event>, Lost> {
        let left = self.patience.saturating_sub(self.begun.elapsed());
        let panes: Vec<String> = self.watch.panes().map(|pane| pane.to_string()).collect();
        let message = || format!("nothing yet in {}", panes.join(", "));
        self.cx.wait(left, self.watch.next(), message).await.transpose()
    }

    /// The error for a wait that can not go on, with what was seen.
    fn lost(&self, lost: Lost) -> ToolError {
        let pane = match lost {
            Lost::PaneGone(pane) | Lost::Respawned(pane) => Some(pane),
            Lost::ServerGone => self.watch.panes().next(),
        };
        let mut seen = match pane {
            Some(pane) => self.watch.seen(pane).output,
            None => String::new(),
        };
        keep_tail(&mut seen, IN_ERROR);
        let after = seconds(self.begun.elapsed().as_secs_f64());
        let mut message = format!("{lost} after {after}, before anything that was waited for");
        if !seen.is_empty() {
            message.push_str(&format!("; it had printed:\n{seen}"));
        }
        let hint = match (&self.job, lost) {
            (Some(job), _) => format!("command_result {} has what was seen of the command", job.id),
            (None, Lost::ServerGone) => "list_panes shows whether a server is back".to_owned(),
            (None, Lost::Respawned(pane)) => format!("wait_for {pane} again for the new program"),
            (None, Lost::PaneGone(_)) => "list_panes shows what is there".to_owned(),
        };
        ToolError::new(Code::Lost, message).hint(hint)
    }
}

/// What a pane does now. A shell whose command has just ended is given a moment to its prompt.
async fn state(cx: &Cx, pane: &PaneState, ended: bool) -> &'static str {
    let until = Instant::now() + TO_PROMPT;
    loop {
        let word = Standing::of(&cx.runs, pane).await.word();
        if word != "running" || !ended || Instant::now() > until {
            return word;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// The panes of a wait, each once.
pub(crate) fn without_twins<T>(panes: Vec<T>, id: impl Fn(&T) -> PaneId) -> Vec<T> {
    let mut seen = Vec::new();
    let is_new = |pane: &T| {
        let new = !seen.contains(&id(pane));
        seen.push(id(pane));
        new
    };
    panes.into_iter().filter(is_new).collect()
}
