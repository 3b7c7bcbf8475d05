//! Refusals of the gate: the reason why a command was not typed, and the next step for the caller.

use tmux_control::PaneId;

use crate::input_probe::AwaitedInput;

/// Reason why a command or an input was not entered.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// Another job of this client runs in the pane.
    #[error("{pane} is busy with command {id}{}", runs(.program))]
    Busy {
        /// The pane.
        pane: PaneId,
        /// The job's id. Not its command, which may hold a secret: MCP clients log errors.
        id: String,
        /// Name of the program in the foreground.
        program: Option<String>,
        /// Input for which the command waits.
        awaited: Option<AwaitedInput>,
    },
    /// A job of another MCP client runs in the pane.
    #[error("{pane} is busy with a command of another client")]
    Taken {
        /// The pane.
        pane: PaneId,
    },
    /// Another call is about to run a command in the pane, or uses the interpreter there.
    #[error("another call is typing a command or input into {pane}")]
    Contended {
        /// The pane.
        pane: PaneId,
    },
    /// The foreground program is not a shell.
    #[error("{pane} runs `{program}` (pid {pid}), not a shell at its prompt{}", waits(.reads))]
    Program {
        /// The pane.
        pane: PaneId,
        /// Command line of the program.
        program: String,
        /// Process of the program.
        pid: u32,
        /// Whether the program waits for input; `None` if that is not known.
        reads: Option<bool>,
    },
    /// The shell is busy itself, for example with a loop or `read`.
    #[error("the shell `{shell}` in {pane} is not at its prompt: it {does}")]
    ShellBusy {
        /// The pane.
        pane: PaneId,
        /// Name of the shell.
        shell: String,
        /// Activity of the shell, as the end of a sentence.
        does: &'static str,
    },
    /// A shell of the pool has not reached its first prompt.
    #[error(
        "the shell `{shell}` in {pane} has been reading its start-up files for more than {seconds} s"
    )]
    Starting {
        /// The pane.
        pane: PaneId,
        /// Name of the shell.
        shell: String,
        /// Seconds for which it was waited for.
        seconds: u64,
    },
    /// The shell waits for the rest of a command.
    #[error("{pane} is at a continuation prompt (`{row}`) of an unfinished command")]
    Continuation {
        /// The pane.
        pane: PaneId,
        /// The row of the cursor.
        row: String,
    },
    /// Text is typed at the prompt.
    #[error("text is typed at the prompt of {pane} but not entered")]
    HalfTyped {
        /// The pane.
        pane: PaneId,
    },
    /// The shell's line editor is not at its prompt, but in a dialog.
    #[error("the line editor of the shell in {pane} {does}")]
    Dialog {
        /// The pane.
        pane: PaneId,
        /// Activity of the line editor, as the end of a sentence.
        does: &'static str,
    },
    /// The foreground program draws the screen of a terminal within it.
    #[error(
        "`{program}` in {pane} draws the screen of another terminal, from which output cannot be read exactly"
    )]
    Redrawn {
        /// The pane.
        pane: PaneId,
        /// Command line of the program.
        program: String,
    },
    /// The tmux whose client runs in the pane is in copy mode or the like.
    #[error("the tmux inside {pane} is in copy mode, or in another mode of its own")]
    InnerMode {
        /// The pane.
        pane: PaneId,
    },
    /// A typed blank did not appear.
    #[error(
        "the shell in {pane} does not show typed keys: its line editor is in vi normal mode and takes \
         them as commands, or a program has left the echo of the terminal off"
    )]
    KeysAreCommands {
        /// The pane.
        pane: PaneId,
    },
    /// The keys that try the line editor behind a relay had no effect.
    #[error(
        "`{program}` in {pane} shows none of the keys that were tried: its connection may have stalled, \
         or its line editor is in vi normal mode and takes them as commands"
    )]
    NoReaction {
        /// The pane.
        pane: PaneId,
        /// Command line of the relay.
        program: String,
    },
    /// The input holds a key that its line editor would not take as text.
    #[error("the line editor of `{program}` in {pane} takes a tab as a key")]
    TabIsKey {
        /// The pane.
        pane: PaneId,
        /// Name of the program.
        program: String,
    },
    /// A person is using the keyboard.
    #[error("a person is pressing keys in {pane}")]
    PersonActive {
        /// The pane.
        pane: PaneId,
    },
    /// Other panes would receive the command too.
    #[error("the panes of the window of {pane} are synchronized: all of them would get the input")]
    Synchronized {
        /// The pane.
        pane: PaneId,
    },
    /// The shell cannot read our command files, and only its empty prompt tells that it reads a command.
    #[error(
        "the shell in {pane} is not at an empty prompt, and cannot be inspected: it runs as another user, \
         in another root or another tmux, or within a command"
    )]
    OutOfReach {
        /// The pane.
        pane: PaneId,
    },
    /// The foreground program asks for something that is not a statement.
    #[error("`{program}` in {pane} is not at its prompt: {}", asks(.row, *.hidden))]
    Question {
        /// The pane.
        pane: PaneId,
        /// Command line of the program.
        program: String,
        /// The row of the cursor.
        row: String,
        /// Whether its answer is not echoed.
        hidden: bool,
    },
    /// The foreground program shows the alternate screen.
    #[error("`{program}` in {pane} shows a full screen, not a prompt")]
    FullScreen {
        /// The pane.
        pane: PaneId,
        /// Command line of the program.
        program: String,
    },
    /// A shell with a line editor shows its prompt, but its terminal edits the line.
    #[error("{pane} shows the prompt of its shell, but another program reads there")]
    NoEditor {
        /// The pane.
        pane: PaneId,
    },
    /// The program behind a relay did not answer as a shell does. The line that asked it stands on its screen.
    #[error(
        "`{program}` in {pane} shows a prompt but did not answer as a shell: one line with `eval` was entered \
         there, and C-c pressed"
    )]
    NoAnswer {
        /// The pane.
        pane: PaneId,
        /// Command line of the relay.
        program: String,
    },
    /// The foreground program does not wait for input.
    #[error("`{program}` in {pane} does not wait for input{}", at_row(.row))]
    NoReader {
        /// The pane.
        pane: PaneId,
        /// Command line of the program.
        program: String,
        /// The row of the cursor, if it does not end with the expected prompt.
        row: Option<String>,
    },
    /// tmux failed.
    #[error(transparent)]
    Tmux(#[from] tmux_control::Error),
    /// A command file could not be written.
    #[error("the private file for the command could not be written: {0}")]
    Io(#[from] std::io::Error),
}

fn at_row(row: &Option<String>) -> String {
    row.as_ref()
        .map(|row| format!(" at that prompt; the cursor is behind `{row}`"))
        .unwrap_or_default()
}

fn asks(row: &str, hidden: bool) -> String {
    match row.trim() {
        _ if hidden => "it asks for a password".to_owned(),
        "" => "it reads input and shows no prompt".to_owned(),
        row => format!("it asks `{row}`"),
    }
}

fn runs(program: &Option<String>) -> String {
    program.as_ref().map(|program| format!("; `{program}` runs in it")).unwrap_or_default()
}

fn waits(reads: &Option<bool>) -> &'static str {
    if *reads == Some(true) { "; it waits for input" } else { "" }
}

/// The way out that most refusals have.
const RUN_ELSEWHERE: &str = "leave out `target` to use a shell of this server's own";

/// The next step for a pane whose command still runs.
fn busy_hint(id: &str, awaited: Option<AwaitedInput>) -> String {
    match awaited {
        // A pager, an editor or a menu ignores an interrupt.
        Some(AwaitedInput::Keys) => format!(
            "it waits for keys: send_keys presses them (`q` leaves a pager), run_in_repl enters input into an \
             interpreter, capture_pane shows its screen; command_result with command_id `{id}` has its result; \
             {RUN_ELSEWHERE}"
        ),
        Some(_) => format!(
            "it waits for a line of input: send_keys answers it; command_result with command_id `{id}` has its \
             result; interrupt stops it; {RUN_ELSEWHERE}"
        ),
        None => format!(
            "command_result with command_id `{id}` and `wait` waits for its end; if it has started a shell, call \
             again once that shows its prompt; an interpreter takes input with run_in_repl; interrupt stops it; \
             {RUN_ELSEWHERE}"
        ),
    }
}

/// The next step for a pane with another program than a shell.
fn program_hint(reads: Option<bool>) -> String {
    match reads {
        Some(true) => format!("enter input with run_in_repl or send_keys; {RUN_ELSEWHERE}"),
        Some(false) => format!(
            "wait_for with until [\"prompt\"] waits for its end; interrupt stops it; {RUN_ELSEWHERE}"
        ),
        None => format!(
            "capture_pane shows its screen; run_in_repl or send_keys enters input into a program behind it; \
             wait_for with until [\"prompt\"] waits for a prompt; {RUN_ELSEWHERE}"
        ),
    }
}

impl Refusal {
    /// The next step for the caller.
    pub fn hint(&self) -> String {
        match self {
            Self::Busy { id, awaited, .. } => busy_hint(id, *awaited),
            Self::Taken { .. } => {
                format!("wait_for with until [\"prompt\"] waits for its end; {RUN_ELSEWHERE}")
            }
            Self::Contended { .. } => format!("call again, or {RUN_ELSEWHERE}"),
            Self::Program { reads, .. } => program_hint(*reads),
            Self::ShellBusy { .. } => format!(
                "capture_pane shows its screen; interrupt brings it back to its prompt; \
                 {RUN_ELSEWHERE}"
            ),
            Self::Starting { pane, .. } => format!(
                "wait_for {pane} until [\"prompt\"], then call again; capture_pane shows its \
                 screen, interrupt stops the program that the start-up files run"
            ),
            Self::Continuation { .. } => "finish the command with send_keys, or drop it with \
                                          interrupt; then call again"
                .to_owned(),
            Self::HalfTyped { .. } => format!(
                "a person may be using the pane (capture_pane shows it): {RUN_ELSEWHERE}; if the text \
                 is yours or is only a prompt, drop it with interrupt and call again"
            ),
            Self::Dialog { .. } => format!(
                "capture_pane shows it; leave it with interrupt and call again, or {RUN_ELSEWHERE}"
            ),
            Self::InnerMode { .. } => {
                format!("leave it with send_keys `q` and call again, or {RUN_ELSEWHERE}")
            }
            Self::Redrawn { .. } => {
                format!("type with send_keys and read its screen with capture_pane, or {RUN_ELSEWHERE}")
            }
            Self::KeysAreCommands { .. } => format!(
                "leave vi normal mode with send_keys `i`, or turn the echo on with send_keys `stty echo` \
                 and `enter`; then call again; or {RUN_ELSEWHERE}"
            ),
            Self::NoReaction { .. } => format!(
                "call again; if capture_pane shows that the connection works, its line editor is in vi normal mode, \
                 which send_keys `i` leaves; {RUN_ELSEWHERE}"
            ),
            Self::TabIsKey { .. } => {
                "use blanks, or `\\t` in a text, instead of tabs; then call again".to_owned()
            }
            Self::PersonActive { .. } => {
                format!("call again when the person has stopped, or {RUN_ELSEWHERE}")
            }
            Self::Synchronized { .. } => {
                format!("a person may have set synchronize-panes: {RUN_ELSEWHERE}")
            }
            Self::OutOfReach { .. } => "capture_pane shows its screen; call again once it shows its \
                                        prompt; send_keys answers what it asks"
                .to_owned(),
            Self::Question { hidden: true, .. } => "a person who is attached can enter it, show_message asks \
                                                    them; send_keys with `enter` answers it, interrupt \
                                                    leaves it"
                .to_owned(),
            Self::Question { .. } => "answer it with send_keys and `enter`, or leave it with \
                                      interrupt; if this row is the prompt, call again with `prompt`"
                .to_owned(),
            Self::FullScreen { .. } => "press its keys with send_keys; capture_pane shows its screen; \
                                        leave it with its own key, such as `q`"
                .to_owned(),
            Self::NoEditor { .. } => "capture_pane shows its screen; answer with send_keys and `enter`, or \
                                      stop the program with interrupt; then call again"
                .to_owned(),
            Self::NoAnswer { .. } => "call again if the connection is slow; bash, zsh, fish 3.4 and POSIX shells are recognised; enter input \
                                      into other programs with run_in_repl, and read the screen with \
                                      capture_pane"
                .to_owned(),
            Self::NoReader { .. } => "capture_pane shows its screen; call again when it is at its \
                                      prompt, or stop it with interrupt"
                .to_owned(),
            Self::Tmux(_) => "call again; list_panes shows which panes exist".to_owned(),
            Self::Io(_) => "free some space in the temporary directory and call again".to_owned(),
        }
    }
}
