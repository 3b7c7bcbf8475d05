//! Where an interpreter stands after its input.

use process::{Foreground, ReadCount};
use tokio::time::Instant;

use super::interpreters::Interpreter;
use crate::run::Engine;

/// Where the program in a pane stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// At its prompt.
    AtPrompt {
        /// The prompt.
        row: String,
        /// Whether it was learned from the screen.
        is_learned: bool,
    },
    /// At the prompt within an open statement.
    Open {
        /// That prompt.
        row: String,
    },
    /// The input was not accepted, and stands in the line editor still.
    NotTaken {
        /// The row before the cursor.
        row: String,
    },
    /// It waits for an answer that is not a statement.
    Asks {
        /// The row before the cursor, perhaps empty.
        row: String,
    },
    /// It waits for a line that is not echoed.
    AsksPassword,
    /// A program shows the alternate screen.
    FullScreen {
        /// Name of the program.
        program: String,
    },
    /// It has not answered in time.
    Running,
    /// It has exited.
    Left {
        /// Name of the program in its place.
        back_in: Option<String>,
        /// Exit code, if it is known.
        code: Option<i32>,
    },
    /// Its pane is gone.
    PaneGone,
}

impl Standing {
    /// Whether the next line of an input can be entered.
    pub(super) fn takes_line(&self) -> bool {
        matches!(self, Self::AtPrompt { .. } | Self::Open { .. })
    }

    /// The standing in words. `quote` is applied to text of the terminal.
    pub fn words(&self, quote: impl Fn(&str) -> String) -> String {
        match self {
            Self::AtPrompt { row, .. } if row.trim().is_empty() => "at its prompt".to_owned(),
            Self::AtPrompt { row, is_learned } => {
                let learned = if *is_learned { " (prompt learned)" } else { "" };
                format!("at {}{learned}", quote(row.trim()))
            }
            Self::Open { row } if row.trim().is_empty() => "statement open".to_owned(),
            Self::Open { row } => format!("at {} (statement open)", quote(row.trim())),
            Self::NotTaken { row } => {
                format!("input not accepted, still typed: {}", quote(row.trim()))
            }
            Self::Asks { row } if row.trim().is_empty() => "reads input".to_owned(),
            Self::Asks { row } => format!("asks: {}", quote(row.trim())),
            Self::AsksPassword => "asks for a password".to_owned(),
            Self::FullScreen { program } => format!("{} shows a full screen", quote(program)),
            Self::Running => "still running".to_owned(),
            Self::Left { back_in, code } => {
                let place = match back_in {
                    Some(program) => format!("back in {}", quote(program)),
                    None => "its program has exited".to_owned(),
                };
                let code = code.map(|code| format!(", exit code {code}")).unwrap_or_default();
                format!("left: {place}{code}")
            }
            Self::PaneGone => "pane gone".to_owned(),
        }
    }
}

/// Kind of the row in which a call left an interpreter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LastKind {
    /// Its prompt.
    Prompt,
    /// The prompt within an open statement.
    Continuation,
    /// A question.
    Question,
}

/// Where a call left an interpreter.
#[derive(Debug, Clone)]
pub(in crate::run) struct LastStanding {
    pid: u32,
    started: Option<String>,
    /// The row before the cursor.
    pub(super) row: String,
    pub(super) kind: LastKind,
    /// The interpreter, if it was known. A continuation prompt alone does not always tell which one it is.
    pub(super) interpreter: Option<&'static Interpreter>,
    pub(super) at: Instant,
    /// What its process had read by then, keys included.
    read_count: Option<ReadCount>,
}

impl LastStanding {
    /// `None` if the program does not wait for a statement.
    pub(super) fn of(
        program: &Foreground,
        interpreter: Option<&'static Interpreter>,
        standing: &Standing,
        read_count: Option<ReadCount>,
    ) -> Option<Self> {
        let (row, kind) = match standing {
            Standing::AtPrompt { row, .. } => (row, LastKind::Prompt),
            Standing::Open { row } => (row, LastKind::Continuation),
            Standing::Asks { row } => (row, LastKind::Question),
            _ => return None,
        };
        let row = row.clone();
        let (pid, started) = (program.pid, program.started.clone());
        Some(Self { pid, started, row, kind, interpreter, at: Instant::now(), read_count })
    }

    /// Whether the program is the one that was left.
    pub(super) fn is_of(&self, program: &Foreground) -> bool {
        self.pid == program.pid && self.started == program.started
    }

    /// Whether the program has read no key since: then its row can have changed only by output. A terminal that edits
    /// the line keeps the keys until Enter.
    pub(super) async fn has_read_no_key(&self, engine: &Engine) -> bool {
        let Some(then) = self.read_count else { return false };
        let now = engine.processes().read_count(self.pid).await;
        now.is_some_and(|now| now.has_no_key_since(then))
    }

    /// Whether the process has not exited.
    pub(super) async fn is_alive(&self, engine: &Engine) -> bool {
        engine.is_alive(self.pid, self.started.as_deref()).await
    }

    /// Whether another record is of the same process.
    pub(super) fn is_of_same(&self, other: &Self) -> bool {
        self.pid == other.pid && self.started == other.started
    }

    /// Whether the row is the one that was left, with nothing more. Output without an end may precede the
    /// prompt in it.
    pub(super) fn shows(&self, row: &str) -> bool {
        match self.row.trim_end() {
            "" => row.trim_end().is_empty(),
            shown => row.trim_end().ends_with(shown),
        }
    }
}
