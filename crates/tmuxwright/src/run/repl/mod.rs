//! Entering input into an interpreter (REPL) and reading its answer up to the next prompt.
//!
//! An interpreter prints no marks. Input is entered only at its prompt (`gate`), which is known from a
//! table (`interpreters`) or learned from the row before the input (`prompts`). The answer ends where
//! the program reads again and its row says why (`standing`, `exchange`).

mod answer_screen;
mod declared;
mod entering;
mod exchange;
mod gate;
mod input;
mod interpreter_table;
mod interpreters;
mod kept_lines;
mod leaving;
mod prompts;
mod python_lines;
mod standing;

use std::sync::Arc;
use std::time::Duration;

use tmux_control::PaneId;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::cursor_row::CursorRow;
use super::gate::{self as shell_gate, Shell};
use super::limits::{DISTURBANCE_TIMEOUT, RELAY_QUIET};
use super::pane_records::TypingLease;
use super::{Engine, Refusal};
use crate::host::PaneState;
use crate::input_probe;
pub use declared::{DeclaredEntry, DeclaredInterpreter};
use entering::Typed;
use exchange::Exchange;
pub use interpreters::Interpreters;
use interpreters::OpenInterrupt;
use process::{Foreground, InputState};
use standing::LastKind;
pub(super) use standing::LastStanding;
pub use standing::Standing;

/// Answer of an interpreter.
#[derive(Debug)]
pub struct ReplAnswer {
    /// Text between the input and the next prompt.
    pub output: String,
    /// Name of the interpreter.
    pub program: String,
    /// Where the interpreter stands now.
    pub standing: Standing,
    /// Whether the answer reports an error, as far as the shape of its errors is known.
    pub has_error: bool,
    /// Lines of the input that were not entered.
    pub lines_left: usize,
    /// Whether the beginning of the text is lost.
    pub cut: bool,
    /// Time from the call to the end of the answer.
    pub took: Duration,
}

/// A known interpreter that reads.
pub(super) struct InterpreterState {
    pub(super) name: &'static str,
    /// Input that leaves it.
    pub(super) leave: &'static str,
    pub(super) standing: Standing,
    /// Why C-c must not be pressed there.
    pub(super) unpressed: Option<Unpressed>,
}

/// Why C-c is not pressed in an interpreter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unpressed {
    /// It is at its empty prompt, where some are left by C-c.
    NothingRuns,
    /// Within the open statement, C-c would leave it.
    WouldLeave,
    /// The statement would stay open.
    StaysOpen,
    /// Text is typed at the prompt, which C-c would not drop, or not without leaving.
    TextTyped,
    /// It would leave the interpreter, and not only the question.
    WouldLeaveQuestion,
}

/// The foreground program of a pane, as a reader of input.
#[derive(Debug, Clone)]
struct Reader {
    program: Foreground,
    input: InputState,
    /// The shell, if the program is one at its prompt.
    shell: Option<Shell>,
    /// Whether it is a shell that runs a command.
    is_busy_shell: bool,
    /// Whether another process of its group reads the terminal for it, as for `sh -c python3`.
    has_other_reader: bool,
    /// Whether the program behind the terminal cannot be inspected: a relay such as ssh, or a program of
    /// another user.
    is_relay: bool,
}

impl Reader {
    async fn probe(engine: &Engine, pane: &PaneState) -> Option<Self> {
        let processes = engine.processes();
        let found = shell_gate::probe_once(processes, pane.pid, engine.declared()).await?;
        let (shell, input) = (found.prompting_shell(), found.wait.state);
        let is_busy_shell = found.shell.is_some() && shell.is_none();
        let has_other_reader =
            found.wait.reader.as_ref().is_some_and(|name| *name != found.process.name);
        let is_relay = shell.is_none()
            && (input == InputState::Unknown || input_probe::is_relay(&found.process.name));
        // `su -c` waits for its program, which reads this terminal from a session of its own.
        let input = match input {
            InputState::None if is_relay => {
                input_probe::terminal_input(&processes.inspect(pane.pid).await)
            }
            input => input,
        };
        let program = found.process;
        Some(Self { program, input, shell, is_busy_shell, has_other_reader, is_relay })
    }

    /// Whether the program itself reads each key, as far as an inspection shows.
    fn reads_each_key(&self) -> bool {
        self.has_editor() && !self.is_relay && !self.has_other_reader
    }

    fn reads(&self) -> bool {
        self.input != InputState::None
    }

    /// Whether the program edits its line itself. Otherwise the terminal does, which knows no arrow keys.
    fn has_editor(&self) -> bool {
        self.input == InputState::Raw
    }

    fn is_same(&self, other: &Self) -> bool {
        self.program.pid == other.program.pid
    }

    /// Whether the process has not exited.
    async fn is_alive(&self, engine: &Engine) -> bool {
        engine.is_alive(self.program.pid, self.program.started.as_deref()).await
    }
}

/// One call of `run_in_repl`.
struct ReplCall {
    engine: Arc<Engine>,
    pane: PaneState,
    input: String,
    /// The end of the prompt, as the caller gave it.
    given: Option<String>,
    until: Instant,
    /// Cancelled when the caller is gone.
    cancelled: CancellationToken,
}

impl ReplCall {
    async fn run(&self) -> Result<ReplAnswer, Refusal> {
        let begun = Instant::now();
        let disturbed_until = begun + DISTURBANCE_TIMEOUT;
        let (mut exchange, typed) = loop {
            let passed = gate::pass(self, disturbed_until).await?;
            let mut exchange = Exchange::begin(self, passed);
            match exchange.enter().await? {
                Typed::Nothing if Instant::now() > disturbed_until => {
                    return Err(Refusal::PersonActive { pane: self.pane.pane });
                }
                Typed::Nothing => {}
                typed => break (exchange, typed),
            }
        };
        let standing = match typed {
            Typed::Line => exchange.answer().await?,
            Typed::Text | Typed::Nothing => exchange.not_entered().await?,
        };
        self.engine.note_input_end(self.pane.pane);
        let last = exchange.last_standing(&standing);
        self.engine.remember_standing(self.pane.pane, last).await;
        Ok(exchange.into_answer(standing, begun.elapsed()))
    }

    /// Waits unless the caller is gone.
    async fn wait<T>(&self, wait: impl Future<Output = T>) -> Result<T, Refusal> {
        match self.cancelled.run_until_cancelled(wait).await {
            Some(done) => Ok(done),
            None => Err(self.abandoned()),
        }
    }

    /// The end of a call whose caller is gone. Nobody reads it.
    fn abandoned(&self) -> Refusal {
        Refusal::Contended { pane: self.pane.pane }
    }
}

impl Engine {
    /// Enters input at an interpreter's prompt and reads up to the next one. `prompt` is the end of
    /// the prompt, if the caller knows it. Runs in a task of its own: a line whose typing has begun is typed
    /// to its end even if the caller is cancelled.
    pub async fn run_in_repl(
        self: &Arc<Self>,
        pane: &PaneState,
        input: String,
        prompt: Option<String>,
        timeout: Duration,
    ) -> Result<ReplAnswer, Refusal> {
        let cancelled = CancellationToken::new();
        let _cancels = cancelled.clone().drop_guard();
        let lease = TypingLease::acquire(self, pane.pane, &cancelled).await?;
        let (engine, until) = (Arc::clone(self), Instant::now() + timeout);
        let call = ReplCall { engine, pane: pane.clone(), input, given: prompt, until, cancelled };
        let task = async move {
            let answer = call.run().await;
            drop(lease);
            answer
        };
        let answer = tokio::spawn(task.in_current_span()).await;
        answer.unwrap_or(Err(Refusal::Contended { pane: pane.pane }))
    }

    /// Where a known interpreter reads its next statement; `None` for other programs and while it works.
    pub(super) async fn interpreter_standing(&self, pane: &PaneState) -> Option<InterpreterState> {
        let reader = Reader::probe(self, pane).await.filter(Reader::reads)?;
        if reader.is_relay
            && let Some(typed) = self.shared.typed_input.last_change(pane.pane)
        {
            // Until its echo has come back, the row is that from before the input.
            tokio::time::sleep_until(typed + RELAY_QUIET).await;
        }
        if reader.shell.is_some() || !self.catch_up(pane).await {
            return None;
        }
        let cursor = CursorRow::read(self.tmux(), pane.pane).await.ok()?;
        let (row, program) = (cursor.line(), &reader.program);
        // The terminal echoes C-c before the prompt.
        let row = row.strip_prefix("^C").map(str::to_owned).unwrap_or(row);
        let interpreter =
            self.interpreters().of(Some(program), &row).filter(|_| !cursor.alternate)?;
        let again = Reader::probe(self, pane).await.filter(Reader::reads)?;
        if !again.is_same(&reader) {
            return None;
        }
        let (name, leave) = (interpreter.name(), interpreter.leave());
        let is_dropped = interpreter.open_interrupt() == OpenInterrupt::Abandons;
        let typed = format!("{row}{}", cursor.after.trim_end());
        if !is_dropped && interpreter.has_typed_text(&typed) {
            let (standing, unpressed) = (Standing::Asks { row }, Some(Unpressed::TextTyped));
            return Some(InterpreterState { name, leave, standing, unpressed });
        }
        if cursor.has_text_after() {
            return None;
        }
        let mut unpressed = None;
        let last = {
            let records = self.records();
            let last = records.standings.get(&pane.pane).filter(|it| it.is_of(program)).cloned();
            last.filter(|last| last.kind != LastKind::Question && last.shows(&row))
        };
        let standing = match interpreter.prompt_in(&row) {
            Some(1..) if interpreter.is_continuation(&row) => Standing::Open { row },
            Some(_)
                if interpreter.has_statement_end()
                    && last.as_ref().is_some_and(|it| it.kind == LastKind::Continuation) =>
            {
                Standing::Open { row }
            }
            Some(at) => {
                // Output without an end, or the echo of C-c, may precede the prompt.
                let (before, row) = row.split_at_checked(at).unwrap_or(("", &row));
                let is_empty = before.is_empty() || before.ends_with("^C") || last.is_some();
                unpressed = is_empty.then_some(Unpressed::NothingRuns);
                let row = row.to_owned();
                Standing::AtPrompt { row, is_learned: false }
            }
            None if interpreter.is_continuation(&row) => Standing::Open { row },
            None if interpreter.continues_blank()
                && row.trim().is_empty()
                && reader.has_editor() =>
            {
                Standing::Open { row }
            }
            None => Standing::Asks { row },
        };
        let is_open = matches!(standing, Standing::Open { .. });
        let asks = matches!(standing, Standing::Asks { .. });
        unpressed = match interpreter.open_interrupt() {
            OpenInterrupt::Leaves if is_open => Some(Unpressed::WouldLeave),
            OpenInterrupt::Leaves if asks => Some(Unpressed::WouldLeaveQuestion),
            OpenInterrupt::Ignored if is_open => Some(Unpressed::StaysOpen),
            _ => unpressed,
        };
        Some(InterpreterState { name, leave, standing, unpressed })
    }

    /// Forgets where an interpreter was left, and returns it: a call types into the pane, perhaps text for
    /// `input()`.
    pub(super) fn forget_standing(&self, pane: PaneId) -> Option<LastStanding> {
        self.records().standings.remove(&pane)
    }

    /// Records where an interpreter was left, for the next call.
    async fn remember_standing(&self, pane: PaneId, last: Option<LastStanding>) {
        let known: Vec<(PaneId, LastStanding)> =
            self.records().standings.iter().map(|(pane, it)| (*pane, it.clone())).collect();
        let mut dead = Vec::new();
        for (pane, standing) in known {
            if !standing.is_alive(self).await {
                dead.push((pane, standing));
            }
        }
        let mut records = self.records();
        for (pane, standing) in dead {
            if records.standings.get(&pane).is_some_and(|now| now.is_of_same(&standing)) {
                records.standings.remove(&pane);
            }
        }
        match last {
            Some(last) => records.standings.insert(pane, last),
            None => records.standings.remove(&pane),
        };
    }
}
