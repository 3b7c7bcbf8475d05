//! Consent: with `policy.confirm`, a call that destroys what this server did not make for the caller goes
//! on only after a person has accepted it.
//!
//! A question names facts about the objects: their ids, names and programs. After the answer the objects
//! are looked up again, and the call goes on only if all of their facts were part of the question.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use tmux_control::PaneId;
use tmux_control::buffer::BufferRow;
use tokio::time::Instant;

use super::Cx;
use super::buffers::no_buffer;
use crate::contract::{Admission, AskedPerson, Code, PersonAnswer, ToolError, field};
use crate::host::{ClientRow, PaneRow, PasteBuffer};
use crate::lock::lock;

/// The time that a person has to answer.
pub const ANSWER_TIME: Duration = Duration::from_secs(300);

/// The number of objects that a question lists.
const MAX_LISTED_FACTS: usize = 20;

/// The characters of the call's arguments that a question shows.
const MAX_ARGUMENT_CHARS: usize = 500;

/// Asks the person behind the MCP client.
pub trait AskPerson: Send + Sync {
    /// Puts a question. Dropping the future withdraws it.
    fn ask(&self, question: String) -> BoxFuture<'_, PersonAnswer>;
}

/// An MCP client that cannot ask a person.
#[derive(Debug)]
pub struct NobodyToAsk;

impl AskPerson for NobodyToAsk {
    fn ask(&self, _: String) -> BoxFuture<'_, PersonAnswer> {
        std::future::ready(PersonAnswer::CannotAsk).boxed()
    }
}

/// The questions of one call, for its audit record.
#[derive(Debug, Clone, Default)]
pub struct Questions(Arc<Mutex<Vec<AskedPerson>>>);

impl Questions {
    /// The questions so far.
    pub fn asked(&self) -> Vec<AskedPerson> {
        lock(&self.0).clone()
    }

    /// Notes a question before it is put, so that it is recorded even if the call is cancelled.
    fn note(&self, about: Vec<String>) {
        lock(&self.0).push(AskedPerson { about, answer: "none".to_owned(), seconds: 0.0 });
    }

    fn note_answer(&self, answer: &PersonAnswer, after: Duration) {
        if let Some(asked) = lock(&self.0).last_mut() {
            answer.name().clone_into(&mut asked.answer);
            asked.seconds = (after.as_secs_f64() * 1e3).round() / 1e3;
        }
    }
}

/// A question about one object.
#[derive(Debug)]
pub(super) struct Question {
    /// The object: `session $1`.
    pub(super) subject: String,
    /// One line for each thing in it that this server did not make for the caller.
    pub(super) facts: Vec<String>,
}

impl Cx {
    /// Asks a person about objects. An error unless the person accepts.
    pub(super) async fn ask(&self, questions: Vec<Question>) -> Result<(), ToolError> {
        let (mut subjects, mut facts) = (Vec::new(), Vec::new());
        for question in questions {
            subjects.push(question.subject);
            facts.extend(question.facts);
        }
        let text = self.question_text(&subjects, &facts);
        self.request.questions.note(facts.iter().take(MAX_LISTED_FACTS).cloned().collect());
        let begun = Instant::now();
        let waiting = || format!("waiting for a person to allow `{}`", self.meta.name);
        let answer = self.wait(ANSWER_TIME, self.request.person.ask(text), waiting).await;
        let answer = answer.unwrap_or(PersonAnswer::Expired);
        self.request.questions.note_answer(&answer, begun.elapsed());
        match refusal(self.meta.name, &answer) {
            None => {
                lock(&self.accepted).extend(facts);
                Ok(())
            }
            Some(error) => Err(error),
        }
    }

    /// Whether a person accepted all of these facts during this call.
    pub(super) fn is_accepted(&self, facts: &[String]) -> bool {
        let accepted: &HashSet<String> = &lock(&self.accepted);
        facts.iter().all(|fact| accepted.contains(fact))
    }

    /// The error for an object that is not what the person was asked about.
    pub(super) fn changed_meanwhile(&self, subject: &str) -> ToolError {
        let message = format!(
            "{subject} changed while the person was asked, so `{}` was not carried out",
            self.meta.name
        );
        ToolError::new(Code::Denied, message).hint(
            "look at it with list_panes, then call again: the person is asked about its new state",
        )
    }

    /// One line for each pane: its id, place and program. A linked window's pane has one for each session.
    pub(super) async fn pane_facts(&self, panes: &[PaneId]) -> Result<Vec<String>, ToolError> {
        let rows = self.host.panes().await?;
        let fact = |row: &PaneRow| {
            let PaneRow { session, window, pane } = row;
            let state = if pane.process_state.has_exited() { "exited" } else { "running" };
            format!(
                "{} · session {} {} · window {} {} · {state} {} · pid {}",
                pane.id,
                session.id,
                field(&session.name),
                window.id,
                field(&window.name),
                field(&pane.command),
                pane.pid
            )
        };
        let here = rows.iter().filter(|row| panes.contains(&row.pane.id)).map(fact);
        // A pane that just closed still counts: no facts at all would need no consent.
        let is_gone = |pane: &&PaneId| !rows.iter().any(|row| row.pane.id == **pane);
        let gone = panes.iter().filter(is_gone).map(|pane| format!("{pane} · closed"));
        Ok(here.chain(gone).collect())
    }

    /// Asks the guard, and a person if needed, whether the call may detach a person's terminal.
    pub async fn may_detach(&self, client: &ClientRow) -> Result<(), ToolError> {
        if self.guard.admit_removal() == Admission::Granted {
            return Ok(());
        }
        let fact = |client: &ClientRow| {
            let ClientRow { name, session_name, pid, .. } = client;
            format!("{} · session {} · pid {pid}", field(name), field(session_name))
        };
        let subject = format!("the tmux client {}", field(&client.name));
        self.ask(vec![Question { subject: subject.clone(), facts: vec![fact(client)] }]).await?;
        let people = self.people().await?;
        match people.iter().any(|now| now.name == client.name && self.is_accepted(&[fact(now)])) {
            true => Ok(()),
            false => Err(self.changed_meanwhile(&subject)),
        }
    }

    /// Asks the guard, and a person if needed, whether the call may replace or remove a buffer. Returns
    /// the buffer as it is after the answer.
    pub async fn may_replace(&self, buffer: PasteBuffer) -> Result<PasteBuffer, ToolError> {
        if !self.needs_consent(&buffer) {
            return Ok(buffer);
        }
        let (name, fact) = (buffer.row.name.clone(), buffer_fact(&buffer));
        let subject = format!("the paste buffer {}", field(&name));
        self.ask(vec![Question { subject, facts: vec![fact] }]).await?;
        let mut buffers = self.host.buffers().await?;
        buffers.retain(|now| now.row.name == name);
        let now = buffers.pop().ok_or_else(|| no_buffer(&name))?;
        self.check_consent(&now)?;
        Ok(now)
    }

    /// Refuses a buffer that needs a person's consent and is not the one that the person accepted.
    pub fn check_consent(&self, buffer: &PasteBuffer) -> Result<(), ToolError> {
        match self.needs_consent(buffer) {
            true => Err(self.changed_meanwhile(&format!("buffer {}", field(&buffer.row.name)))),
            false => Ok(()),
        }
    }

    fn needs_consent(&self, buffer: &PasteBuffer) -> bool {
        let asks = self.guard.admit_removal() == Admission::AskPerson;
        asks && !buffer.own() && !self.is_accepted(&[buffer_fact(buffer)])
    }

    fn question_text(&self, subjects: &[String], facts: &[String]) -> String {
        let tool = self.meta.name;
        let subjects = subjects.join(", ");
        let place = match self.server.has_others() {
            true => format!(" on server `{}`", self.server.name()),
            false => String::new(),
        };
        let mut text = format!(
            "An agent calls `{tool}`{place}, which would destroy or change {subjects}. These are not its own:\n"
        );
        for fact in facts.iter().take(MAX_LISTED_FACTS) {
            text.push_str(&format!("- {fact}\n"));
        }
        if let Some(more @ 1..) = facts.len().checked_sub(MAX_LISTED_FACTS) {
            text.push_str(&format!("- and {more} more\n"));
        }
        let arguments = &self.request.arguments;
        let shown: String = arguments.chars().take(MAX_ARGUMENT_CHARS).collect();
        let cut = if shown.len() < arguments.len() { "…" } else { "" };
        text.push_str(&format!("Arguments: {shown}{cut}\nAccept to allow this one call."));
        text
    }
}

fn buffer_fact(buffer: &PasteBuffer) -> String {
    let BufferRow { name, bytes, created, .. } = &buffer.row;
    format!("buffer {} · {bytes} bytes · created at {created}", field(name))
}

/// The error for an answer that does not allow the call.
fn refusal(tool: &str, answer: &PersonAnswer) -> Option<ToolError> {
    let denied = |message: String| ToolError::new(Code::Denied, message);
    Some(match answer {
        PersonAnswer::Accepted => return None,
        PersonAnswer::Declined => denied(format!("the person declined, so `{tool}` was not carried out"))
            .hint("do not call it again unless the person asks for it; create_pane makes a pane of your own"),
        PersonAnswer::Dismissed => {
            denied(format!("the person closed the question without an answer, so `{tool}` was not carried out"))
                .hint("ask the person what to do before you call it again")
        }
        PersonAnswer::Expired => denied(format!(
            "no person answered within {} seconds, so `{tool}` was not carried out",
            ANSWER_TIME.as_secs()
        ))
        .hint("call it again when a person is there to answer"),
        PersonAnswer::CannotAsk => denied(format!(
            "`{tool}` on objects that this server did not make needs the consent of a person \
             (`policy.confirm`), and this MCP client cannot ask one: it does not support elicitation"
        ))
        .hint(
            "ask the person to do it in tmux; a person can also use a client that supports elicitation, or \
             start tmuxwright without --confirm",
        ),
        PersonAnswer::Failed(why) => {
            denied(format!("the person could not be asked ({why}), so `{tool}` was not carried out"))
                .hint("call it again to have the question put once more")
        }
    })
}
