//! The gate: checks that a pane's foreground program is a shell at its prompt with nothing typed.
//! A command is typed only if it is.

use std::path::PathBuf;
use std::time::Duration;

use process::{Inspection, Processes};
use tmux_control::PaneId;
use tokio::time::Instant;

use super::Engine;
use super::cursor_row::CursorRow;
use super::limits::{EXEC_TIMEOUT, FOREGROUND_TIMEOUT, PROMPT_TIMEOUT};
use super::refusal::Refusal;
use crate::host::PaneState;
use process::{Foreground, InputState, InputWait, ShellKind};

/// A shell at its prompt.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shell {
    pub(super) kind: ShellKind,
    pub(super) pid: u32,
}

/// Whether a pane's foreground program can take a command.
pub(super) enum Readiness {
    /// A shell at its prompt.
    AtPrompt(Shell),
    /// A shell that is not at its prompt.
    BusyShell(Foreground, InputState),
    /// Another program.
    Program(Foreground, InputState),
    /// The foreground program cannot be determined: its process may just have exited.
    Unknown,
}

/// The foreground program of a pane, and whether it reads input.
#[derive(Debug)]
pub(crate) struct ForegroundProgram {
    pub(crate) process: Foreground,
    pub(crate) wait: InputWait,
    /// Kind of shell, if the program is one.
    pub(crate) shell: Option<ShellKind>,
}

impl ForegroundProgram {
    /// The shell, if it reads input as shells do at their prompts.
    pub(super) fn prompting_shell(&self) -> Option<Shell> {
        let kind = self.shell.filter(|&kind| reads_at_prompt(kind, self.wait.state))?;
        Some(Shell { kind, pid: self.process.pid })
    }
}

/// A shell that was found at its prompt.
#[derive(Debug, Clone)]
pub(super) struct PromptingShell {
    pub(super) shell: Shell,
    /// The inspection that found it.
    pub(super) look: Inspection,
    /// When the call asked for it.
    pub(super) asked: Instant,
}

impl PromptingShell {
    /// By an inspection of the pane.
    pub(super) fn of(
        engine: &Engine,
        pane: &PaneState,
        look: Inspection,
        asked: Instant,
    ) -> Option<Self> {
        let Readiness::AtPrompt(shell) = readiness_by(engine, pane.pid, &look) else { return None };
        Some(Self { shell, look, asked })
    }

    /// Directory of the shell when it was found.
    pub(super) fn directory(&self) -> Option<PathBuf> {
        self.look.cwd(self.shell.pid)
    }
}

/// Probes the foreground program of the pane with this first process. `declared` is the shell to
/// assume for a program whose name is not recognised.
pub(super) async fn probe_once(
    processes: &Processes,
    pid: u32,
    declared: Option<ShellKind>,
) -> Option<ForegroundProgram> {
    program_by(&processes.inspect(pid).await, pid, declared)
}

/// The foreground program by an inspection of the pane.
fn program_by(
    look: &Inspection,
    pid: u32,
    declared: Option<ShellKind>,
) -> Option<ForegroundProgram> {
    let foreground = look.foreground()?;
    let wait = look.input_wait();
    // On this system, another program may have come to the foreground meanwhile. Then `wait` may be its state and
    // not that of `foreground`.
    look.foreground().filter(|now| now.pid == foreground.pid)?;
    let known = look.shell(&foreground);
    let shell =
        known.or(declared.filter(|_| foreground.pid == pid && wait.state == InputState::Raw));
    Some(ForegroundProgram { process: foreground, wait, shell })
}

/// Probes whether the pane with this first process can take a command.
pub(super) async fn readiness(engine: &Engine, pid: u32) -> Readiness {
    readiness_by(engine, pid, &engine.processes().inspect(pid).await)
}

/// The same by an inspection of the pane.
pub(super) fn readiness_by(engine: &Engine, pid: u32, look: &Inspection) -> Readiness {
    let Some(program) = program_by(look, pid, engine.declared()) else {
        return Readiness::Unknown;
    };
    let input = program.wait.state;
    match (program.prompting_shell(), program.shell) {
        (Some(shell), _) => Readiness::AtPrompt(shell),
        (None, Some(_)) => Readiness::BusyShell(program.process, input),
        (None, None) => Readiness::Program(program.process, input),
    }
}

/// Probes the foreground program, and whether it is a shell at its prompt. A shell without a line
/// editor that reads a line may do so for a command, so its row must look like a prompt. Retries
/// while the program cannot be determined.
pub(super) async fn probe(engine: &Engine, pane: &PaneState) -> Option<(ForegroundProgram, bool)> {
    let begun = Instant::now();
    let mut pause = ProbePause::default();
    let program = loop {
        let look = engine.processes().inspect(pane.pid).await;
        match program_by(&look, pane.pid, engine.declared()) {
            Some(program) => break program,
            None if begun.elapsed() > FOREGROUND_TIMEOUT => return None,
            // Nothing can come to the foreground any more.
            None if look.started(pane.pid).is_none() => return None,
            None => pause.wait().await,
        }
    };
    let at_prompt = match program.prompting_shell() {
        None => false,
        Some(shell) => CursorRow::read(engine.tmux(), pane.pane)
            .await
            .is_ok_and(|cursor| require_prompt_row(pane.pane, shell.kind, &cursor).is_ok()),
    };
    Some((program, at_prompt))
}

/// Whether a shell that reads input in this mode is at its prompt. Shells with a line editor read
/// raw keys there, and a line only for a command such as `read`. Shells without one always read
/// lines.
fn reads_at_prompt(kind: ShellKind, input: InputState) -> bool {
    match kind {
        ShellKind::Bash | ShellKind::Zsh | ShellKind::Fish => input == InputState::Raw,
        ShellKind::Dash | ShellKind::Ksh => {
            matches!(input, InputState::Raw | InputState::Line | InputState::Unknown)
        }
    }
}

/// Waits until the pane's shell is at its prompt: for `PROMPT_TIMEOUT` if the shell itself is busy,
/// for `starting` if it still reads its start-up files. Within `settling`, the time left for the
/// shell to return from a command, any foreground program is waited for.
pub(super) async fn shell_at_prompt(
    engine: &Engine,
    pane: &PaneState,
    starting: Duration,
    settling: Duration,
) -> Result<PromptingShell, Refusal> {
    let begun = Instant::now();
    let mut pause = ProbePause::default();
    loop {
        let waited = begun.elapsed();
        let look = engine.processes().inspect(pane.pid).await;
        match readiness_by(engine, pane.pid, &look) {
            Readiness::AtPrompt(shell) => return Ok(PromptingShell { shell, look, asked: begun }),
            _ if waited < settling => {}
            Readiness::BusyShell(shell, input) => {
                let reads = input == InputState::Line || input == InputState::Password;
                if waited > starting.max(PROMPT_TIMEOUT) || (reads && waited > FOREGROUND_TIMEOUT) {
                    let does = if reads { "reads a line" } else { "is at work" };
                    return Err(Refusal::ShellBusy { pane: pane.pane, shell: shell.name, does });
                }
            }
            Readiness::Program(program, input) => {
                let reads = !matches!(input, InputState::None | InputState::Unknown);
                let is_new = look.age().unwrap_or(waited) < EXEC_TIMEOUT;
                // A process that tmux has just forked has not executed its program yet.
                let is_first_process = program.pid == pane.pid && !is_new;
                if waited > starting || (reads && !is_new) || is_first_process {
                    return Err(Refusal::Program {
                        pane: pane.pane,
                        program: program.argv.join(" "),
                        pid: program.pid,
                        reads: Some(reads),
                    });
                }
            }
            Readiness::Unknown if waited > PROMPT_TIMEOUT => {
                let shell = String::from("?");
                return Err(Refusal::ShellBusy {
                    pane: pane.pane,
                    shell,
                    does: "cannot be inspected",
                });
            }
            Readiness::Unknown => {}
        }
        pause.wait().await;
    }
}

/// Pauses between probes of a process, since the system does not notify when it begins to read. The
/// first ones only yield: after a command, a shell is back sooner than the shortest timer.
#[derive(Debug, Default)]
pub(super) struct ProbePause(u32);

impl ProbePause {
    /// Number of pauses that only yield.
    const YIELDS: u32 = 20;

    pub(super) async fn wait(&mut self) {
        self.0 += 1;
        match self.0.checked_sub(Self::YIELDS) {
            None => tokio::task::yield_now().await,
            Some(times) => {
                tokio::time::sleep(Duration::from_millis(1 << times.min(4))).await;
            }
        }
    }
}

/// Refuses a shell that cannot read our command files: of another user, or with another root.
pub(super) fn require_shared_files(
    look: &Inspection,
    pane: PaneId,
    shell: Shell,
) -> Result<(), Refusal> {
    let can_read = look.uid(shell.pid).is_none_or(|uid| Some(uid) == look.own_uid() || uid == 0);
    if can_read && look.sees_our_files(shell.pid) != Some(false) {
        return Ok(());
    }
    Err(Refusal::OutOfReach { pane })
}

/// Refuses a row that is a continuation prompt. `known` is the row of the shell's primary prompt.
pub(super) fn refuse_continuation(
    pane: PaneId,
    kind: ShellKind,
    cursor: &CursorRow,
    known: Option<&str>,
) -> Result<(), Refusal> {
    if known == Some(cursor.before.as_str()) || !is_continuation(kind, &cursor.before) {
        return Ok(());
    }
    Err(Refusal::Continuation { pane, row: cursor.before.trim_end().to_owned() })
}

/// Whether a row is a continuation prompt, or a first prompt that looks the same.
pub(super) fn is_continuation(kind: ShellKind, row: &str) -> bool {
    match kind {
        ShellKind::Fish => !row.is_empty() && row.trim().is_empty(),
        ShellKind::Zsh => row.strip_suffix("> ").is_some_and(|words| {
            // `quote> `, `for cmdsubst> `: the names of the open constructs.
            words.split(' ').all(|word| ZSH_CONSTRUCTS.contains(&word))
        }),
        _ => row == "> ",
    }
}

/// Names of unfinished constructs in the continuation prompts of zsh.
const ZSH_CONSTRUCTS: &[&str] = &[
    "",
    "array",
    "always",
    "bquote",
    "braceparam",
    "case",
    "cmdand",
    "cmdor",
    "cmdsubst",
    "cond",
    "cursh",
    "do",
    "dquote",
    "elif",
    "elif-then",
    "else",
    "errpipe",
    "for",
    "foreach",
    "function",
    "heredoc",
    "heredocd",
    "if",
    "math",
    "mathsubst",
    "pipe",
    "quote",
    "repeat",
    "select",
    "subsh",
    "then",
    "until",
    "while",
];

/// Refuses a row without a prompt character, for shells without a line editor: a command such as
/// `read` reads lines in the same mode as such a shell at its prompt.
pub(super) fn require_prompt_row(
    pane: PaneId,
    kind: ShellKind,
    cursor: &CursorRow,
) -> Result<(), Refusal> {
    let has_editor = matches!(kind, ShellKind::Bash | ShellKind::Zsh | ShellKind::Fish);
    if has_editor || cursor.before.contains(['$', '#', '%', '>']) {
        return Ok(());
    }
    let shell = kind.name().to_owned();
    Err(Refusal::ShellBusy { pane, shell, does: "reads a line" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn continuation_prompts_are_recognised() {
        for (kind, row) in [
            (ShellKind::Bash, "> "),
            (ShellKind::Dash, "> "),
            (ShellKind::Zsh, "quote> "),
            (ShellKind::Zsh, "for cmdsubst> "),
            (ShellKind::Fish, "      "),
        ] {
            assert!(is_continuation(kind, row), "{kind:?} {row:?}");
        }
        for (kind, row) in [
            (ShellKind::Bash, "$ "),
            (ShellKind::Bash, "~> "),
            (ShellKind::Zsh, "me@host> "),
            (ShellKind::Fish, "me@host ~> "),
            (ShellKind::Fish, ""),
        ] {
            assert!(!is_continuation(kind, row), "{kind:?} {row:?}");
        }
    }
}
