//! Whether a pane is a shell at its prompt with nothing typed. Only then is a command typed there.

use std::time::Duration;

use tmux_control::keys::{TmuxKey, type_text};
use tmux_control::{PaneId, Server};
use tokio::time::Instant;

use super::look::{Look, last_line};
use super::refusal::Refusal;
use crate::host::PaneState;
use process::{Foreground, InputState, ShellKind};

/// How long after its start a shell may still be starting.
pub(super) const START: Duration = Duration::from_secs(5);
/// How long a new process may take to become the program it is for.
const NEW: Duration = Duration::from_millis(500);
/// How long a shell may take to print its prompt.
pub(super) const PROMPT_TIME: Duration = Duration::from_secs(3);
/// How long the echo of a key may take.
const ECHO_TIME: Duration = Duration::from_millis(60);

/// A shell at its prompt.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shell {
    pub(super) kind: ShellKind,
    pub(super) pid: u32,
}

/// What a pane's foreground is.
pub(super) enum Front {
    /// A shell that waits for a command.
    Prompt(Shell, InputState),
    /// A shell that does something else.
    Shell(Foreground, InputState),
    /// Another program.
    Program(Foreground, InputState),
    /// Nothing is known: the process may just be gone.
    Unknown,
}

/// Who has a pane's terminal, and what it does with what is typed.
#[derive(Debug)]
pub(crate) struct Sight {
    pub(crate) foreground: Foreground,
    pub(crate) input: InputState,
    /// Which shell it is, if it is one.
    pub(crate) shell: Option<ShellKind>,
}

impl Sight {
    /// The shell, if it reads as shells do at their prompts.
    fn prompt(&self) -> Option<Shell> {
        let kind = self.shell.filter(|&kind| is_prompt(kind, self.input))?;
        Some(Shell { kind, pid: self.foreground.pid })
    }
}

/// Looks who has the terminal of the pane with this first process. `declared` is what a shell is
/// that has no known name.
fn sight(pid: u32, declared: Option<ShellKind>) -> Option<Sight> {
    let foreground = process::foreground(pid)?;
    let input = process::input_state(pid);
    // Between the two looks another program may have come to the front: what read was not this one.
    process::foreground(pid).filter(|now| now.pid == foreground.pid)?;
    let known = process::shell(&foreground);
    let shell = known.or(declared.filter(|_| foreground.pid == pid && input == InputState::Raw));
    Some(Sight { foreground, input, shell })
}

/// The same as what it means for somebody who wants to type a command.
pub(super) fn front(pid: u32, declared: Option<ShellKind>) -> Front {
    let Some(sight) = sight(pid, declared) else {
        return Front::Unknown;
    };
    match (sight.prompt(), sight.shell) {
        (Some(shell), _) => Front::Prompt(shell, sight.input),
        (None, Some(_)) => Front::Shell(sight.foreground, sight.input),
        (None, None) => Front::Program(sight.foreground, sight.input),
    }
}

/// Looks for a moment if need be, and says also whether a shell is at its prompt: one without a line
/// editor that reads a line may do so for a command.
pub(super) async fn look(
    tmux: &Server,
    pane: &PaneState,
    declared: Option<ShellKind>,
) -> Option<(Sight, bool)> {
    let begun = Instant::now();
    let mut pause = Pause::default();
    let sight = loop {
        match sight(pane.pid, declared) {
            Some(sight) => break sight,
            None if begun.elapsed() > ECHO_TIME => return None,
            None => pause.take().await,
        }
    };
    let at_prompt = match sight.prompt() {
        None => false,
        Some(shell) => Look::at(tmux, pane.pane)
            .await
            .is_ok_and(|look| must_look_like_a_prompt(pane.pane, shell.kind, &look).is_ok()),
    };
    Some((sight, at_prompt))
}

/// Shells with a line editor read their prompt's input raw; when they read a line, it is for a
/// command such as `read`. Those without have no other way.
fn is_prompt(kind: ShellKind, input: InputState) -> bool {
    match kind {
        ShellKind::Bash | ShellKind::Zsh | ShellKind::Fish => input == InputState::Raw,
        ShellKind::Dash | ShellKind::Ksh => {
            matches!(input, InputState::Raw | InputState::Line | InputState::Unknown)
        }
    }
}

/// Waits until the pane's shell is at its prompt: for a moment if it is at work itself, and longer
/// if it is still starting. While it settles after a command, whatever is there may go.
pub(super) async fn shell_at_prompt(
    pane: &PaneState,
    declared: Option<ShellKind>,
    starting: Duration,
    settling: Duration,
) -> Result<Shell, Refusal> {
    let begun = Instant::now();
    let age = process::age(pane.pid).unwrap_or_default();
    let mut pause = Pause::default();
    loop {
        let waited = begun.elapsed();
        let is_new = age + waited < NEW;
        match front(pane.pid, declared) {
            Front::Prompt(shell, _) => return Ok(shell),
            _ if waited < settling => {}
            Front::Shell(shell, input) => {
                let reads = input == InputState::Line || input == InputState::Password;
                if waited > starting.max(PROMPT_TIME) || (reads && waited > ECHO_TIME) {
                    let does = if reads { "reads a line" } else { "is at work" };
                    return Err(Refusal::ShellBusy { pane: pane.pane, shell: shell.name, does });
                }
            }
            Front::Program(program, input) => {
                let reads = !matches!(input, InputState::None | InputState::Unknown);
                // A process that tmux has just made is not yet the program it will be.
                let itself = program.pid == pane.pid && !is_new;
                if waited > starting || (reads && !is_new) || itself {
                    return Err(Refusal::Program {
                        pane: pane.pane,
                        program: program.argv.join(" "),
                        pid: program.pid,
                        reads,
                    });
                }
            }
            Front::Unknown if waited > PROMPT_TIME => {
                let shell = String::from("?");
                return Err(Refusal::ShellBusy { pane: pane.pane, shell, does: "cannot be seen" });
            }
            Front::Unknown => {}
        }
        pause.take().await;
    }
}

/// A pause between two looks at a process, since nobody tells when it begins to read. None at
/// first: after a command, a shell takes less than a timer can measure.
#[derive(Debug, Default)]
pub(super) struct Pause(u32);

impl Pause {
    const AT_ONCE: u32 = 20;

    pub(super) async fn take(&mut self) {
        self.0 += 1;
        match self.0.checked_sub(Self::AT_ONCE) {
            None => tokio::task::yield_now().await,
            Some(times) => {
                tokio::time::sleep(Duration::from_millis(1 << times.min(4))).await;
            }
        }
    }
}

/// Whether the shell, which can be read only through the file system, reads the same files as we.
pub(super) fn must_reach(pane: PaneId, shell: Shell) -> Result<(), Refusal> {
    let ours = rustix::process::getuid().as_raw();
    let user = process::uid(shell.pid).is_none_or(|uid| uid == ours || uid == 0);
    if user && process::sees_our_files(shell.pid) != Some(false) {
        return Ok(());
    }
    Err(Refusal::OutOfReach { pane })
}

/// Refuses a row that is a continuation prompt. `known` is the row of the shell's own prompt.
pub(super) fn must_not_continue(
    pane: PaneId,
    kind: ShellKind,
    look: &Look,
    known: Option<&str>,
) -> Result<(), Refusal> {
    if known == Some(look.before.as_str()) || !is_continuation(kind, &look.before) {
        return Ok(());
    }
    Err(Refusal::Continuation { pane, row: look.before.trim_end().to_owned() })
}

fn is_continuation(kind: ShellKind, row: &str) -> bool {
    match kind {
        ShellKind::Fish => !row.is_empty() && row.trim().is_empty(),
        ShellKind::Zsh => row.strip_suffix("> ").is_some_and(|words| {
            // `quote> `, `for cmdsubst> `: what zsh is in the middle of.
            words.split(' ').all(|word| ZSH_STATES.contains(&word))
        }),
        _ => row == "> ",
    }
}

/// What zsh calls the constructs it waits for the end of.
const ZSH_STATES: &[&str] = &[
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

/// Refuses a row that no shell without a line editor has as its prompt: there, a command such as
/// `read` looks just like the shell itself.
pub(super) fn must_look_like_a_prompt(
    pane: PaneId,
    kind: ShellKind,
    look: &Look,
) -> Result<(), Refusal> {
    let edits = matches!(kind, ShellKind::Bash | ShellKind::Zsh | ShellKind::Fish);
    if edits || look.before.contains(['$', '#', '%', '>']) {
        return Ok(());
    }
    let shell = kind.name().to_owned();
    Err(Refusal::ShellBusy { pane, shell, does: "reads a line" })
}

/// Finds out whether something has been typed at the prompt, by clearing the line and looking
/// whether anything vanished. What did is put back.
pub(super) async fn must_be_empty(
    tmux: &Server,
    pane: PaneId,
    kind: ShellKind,
    look: Look,
) -> Result<Look, Refusal> {
    if look.has_text_behind() {
        return Err(Refusal::HalfTyped { pane });
    }
    let line = last_line(tmux, pane).await?;
    tmux.run(TmuxKey::Named("C-u".to_owned()).press(pane)).await?;
    let mut base = look;
    let mut since = Instant::now();
    while since.elapsed() < ECHO_TIME {
        tokio::time::sleep(Duration::from_millis(5)).await;
        let mut now = Look::at(tmux, pane).await?;
        if (now.row, now.column) < (base.row, base.column) {
            // A shell that draws its prompt anew is on its way back.
            tokio::time::sleep(ECHO_TIME / 2).await;
            now = Look::at(tmux, pane).await?;
        }
        if (now.row, now.column) < (base.row, base.column) {
            let text = line.strip_prefix(&now.before).unwrap_or(&line).to_owned();
            put_back(tmux, pane, kind, &base, &text).await?;
            return Err(Refusal::HalfTyped { pane });
        }
        if now != base {
            base = now;
            since = Instant::now();
        }
    }
    Ok(base)
}

/// Puts back what C-u has cleared: it is typed once more. fish would expand abbreviations in it, and
/// zsh divides long lines by itself, but they keep what was cleared; zsh does not when it is told to
/// be vi.
async fn put_back(
    tmux: &Server,
    pane: PaneId,
    kind: ShellKind,
    look: &Look,
    text: &str,
) -> Result<(), tmux_control::Error> {
    let press = |key: &str| tmux.run(TmuxKey::Named(key.to_owned()).press(pane));
    match kind {
        ShellKind::Fish => press("C-y").await.map(|_| ()),
        ShellKind::Zsh => {
            press("C-y").await?;
            let begun = Instant::now();
            while begun.elapsed() < ECHO_TIME {
                tokio::time::sleep(Duration::from_millis(5)).await;
                let now = Look::at(tmux, pane).await?;
                if (now.row, now.column) == (look.row, look.column) {
                    return Ok(());
                }
            }
            press("BSpace").await?;
            tmux.run_all(type_text(pane, text)).await
        }
        _ => tmux.run_all(type_text(pane, text)).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn continuation_prompts_are_known() {
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
