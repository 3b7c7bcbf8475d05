//! Why a command was not typed. Each says what is in the way and what to do about it.

use tmux_control::PaneId;

/// A command that did not reach a shell; the pane is as it was.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// Another command of ours runs there.
    #[error("{pane} is busy with command {id}")]
    Busy {
        /// The pane.
        pane: PaneId,
        /// The command's id. Its text may hold a secret, and errors are logged by clients.
        id: String,
    },
    /// A command of another client runs there.
    #[error("{pane} is busy with a command of another client")]
    Taken {
        /// The pane.
        pane: PaneId,
    },
    /// Another call is about to run a command there.
    #[error("another call is just starting a command in {pane}")]
    Contended {
        /// The pane.
        pane: PaneId,
    },
    /// A program has the terminal.
    #[error("{pane} runs `{program}` (pid {pid}), not a shell at its prompt{}", waits(*.reads))]
    Program {
        /// The pane.
        pane: PaneId,
        /// What runs there.
        program: String,
        /// Its process.
        pid: u32,
        /// Whether it waits for input.
        reads: bool,
    },
    /// The shell itself is at something.
    #[error("the shell `{shell}` in {pane} is not at its prompt: it {does}")]
    ShellBusy {
        /// The pane.
        pane: PaneId,
        /// Its shell.
        shell: String,
        /// What it does instead.
        does: &'static str,
    },
    /// A shell that we started is still not at its first prompt.
    #[error("the shell `{shell}` in {pane} is at its start-up files for more than {seconds} s")]
    Starting {
        /// The pane.
        pane: PaneId,
        /// Its shell.
        shell: String,
        /// How long it was waited for.
        seconds: u64,
    },
    /// The shell waits for the rest of a command.
    #[error(
        "the shell in {pane} is at a continuation prompt (`{row}`): an unfinished command is there"
    )]
    Continuation {
        /// The pane.
        pane: PaneId,
        /// The row the cursor is in.
        row: String,
    },
    /// Somebody has begun to type a command.
    #[error("somebody has typed something at the prompt of {pane} and not entered it")]
    HalfTyped {
        /// The pane.
        pane: PaneId,
    },
    /// Other panes would get the command too.
    #[error("what is typed into {pane} goes to all panes of its window, which are synchronized")]
    Synchronized {
        /// The pane.
        pane: PaneId,
    },
    /// The shell cannot read our files.
    #[error("the shell in {pane} runs as another user or in another file system")]
    OutOfReach {
        /// The pane.
        pane: PaneId,
    },
    /// The program there does not wait for input.
    #[error("`{program}` in {pane} does not wait for input{}", at_row(.row))]
    NoReader {
        /// The pane.
        pane: PaneId,
        /// What runs there.
        program: String,
        /// The row the cursor is in, if that is why.
        row: Option<String>,
    },
    /// tmux failed.
    #[error(transparent)]
    Tmux(#[from] tmux_control::Error),
    /// A private file could not be written.
    #[error("a private file for the command could not be written: {0}")]
    Io(#[from] std::io::Error),
}

fn at_row(row: &Option<String>) -> String {
    row.as_ref()
        .map(|row| format!(" at that prompt; the cursor is behind `{row}`"))
        .unwrap_or_default()
}

fn waits(reads: bool) -> &'static str {
    if reads { "; it waits for input" } else { "" }
}

impl Refusal {
    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::Busy { id, .. } => format!(
                "command_result with command_id `{id}` and `wait` waits for it; interrupt stops it; \
                 without `target` a command gets a pane of its own"
            ),
            Self::Taken { .. } => "wait_for with until [\"prompt\"] waits for its end; without \
                                   `target` a command gets a pane of its own"
                .to_owned(),
            Self::Contended { .. } => {
                "call again, or leave out `target` to get a pane of its own".to_owned()
            }
            Self::Program { reads: true, .. } => {
                "run_in_repl or send_keys talks to it; without `target` a command gets a pane of \
                 its own"
                    .to_owned()
            }
            Self::Program { .. } => "wait for it, or stop it with interrupt; without `target` a \
                                     command gets a pane of its own"
                .to_owned(),
            Self::ShellBusy { .. } => "look with capture_pane; interrupt brings it back to its \
                                       prompt; without `target` a command gets a pane of its own"
                .to_owned(),
            Self::Starting { pane, .. } => format!(
                "wait_for {pane} until [\"prompt\"], then call again; capture_pane shows what it \
                 prints, interrupt ends what it runs there"
            ),
            Self::Continuation { .. } => "finish it with send_keys, or give it up with interrupt; \
                                          then call again"
                .to_owned(),
            Self::HalfTyped { .. } => "a person may be at work there (capture_pane shows it): leave out `target` to get a \
                                       pane of your own, or clear the line with send_keys [\"C-u\"]"
                .to_owned(),
            Self::Synchronized { .. } => {
                "a person did this with synchronize-panes; leave out `target` \
                                          to get a pane of your own"
                    .to_owned()
            }
            Self::OutOfReach { .. } => "type the command with send_keys and read the screen with \
                                        capture_pane"
                .to_owned(),
            Self::NoReader { .. } => {
                "look with capture_pane; call again when it is at its prompt, \
                                      or stop what it does with interrupt"
                    .to_owned()
            }
            Self::Tmux(_) => "list_panes shows what there is".to_owned(),
            Self::Io(_) => "free some space in the temporary directory and call again".to_owned(),
        }
    }
}
