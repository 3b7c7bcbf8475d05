//! Whether a program waits for input: the judgement that the run engine and watches share.
//!
//! A program that has its terminal open for reading need not wait for input: `ssh` reads it while a remote
//! command works, and so does a program with a thread for keys. So only evidence of a question counts: a
//! process that is blocked in a read of the terminal and in nothing else, an echo that is switched off, or
//! an unfinished last row with the cursor behind it (`question`). Output and typed keys make every earlier
//! probe worthless (`schedule`); [`tmux_control::Server::catch_up`] says when both have arrived.

mod question;
mod schedule;

use std::time::Duration;

use question::RowKind;
pub(crate) use schedule::ProbeSchedule;

use process::{InputState, InputWait, Inspection};

/// Input that a program waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AwaitedInput {
    /// A line of input.
    Line,
    /// A line that is not echoed.
    Password,
    /// Single keys, as a line editor or a full-screen program reads them.
    Keys,
}

/// Silence after which a program counts as waiting although the evidence is weak: a full-screen program
/// that also waits for other files, or a row that does not look like a question. Such programs draw more
/// often than this while they work, and nothing else tells the two apart.
const WEAK_EVIDENCE_QUIET: Duration = Duration::from_millis(300);

/// Programs that pass keys on to a terminal elsewhere. They read their own terminal all the time, so only
/// a row that looks like a question says that the program behind them waits.
const RELAYS: &[&str] = &[
    "adb",
    "asciinema",
    "autossh",
    "dbclient",
    "distrobox",
    "doas",
    "docker",
    "dtach",
    "et",
    "expect",
    "incus",
    "kubectl",
    "limactl",
    "lxc",
    "machinectl",
    "minicom",
    "mosh-client",
    "multipass",
    "nerdctl",
    "oc",
    "picocom",
    "pkexec",
    "plink",
    "podman",
    "run0",
    "runuser",
    "screen",
    "script",
    "session-manager-plugin",
    "slogin",
    "ssh",
    "su",
    "sudo",
    "systemd-nspawn",
    "systemd-run",
    "telnet",
    "tio",
    "tmux",
    "toolbox",
    "tsh",
    "ttyrec",
    "unbuffer",
    "virsh",
    "wsl.exe",
    "zellij",
];

/// Whether a program passes keys on to a terminal elsewhere.
pub(crate) fn is_relay(name: &str) -> bool {
    RELAYS.contains(&name)
}

/// Whether an unfinished row looks like a question or a prompt.
pub(crate) fn is_question(row: &str) -> bool {
    RowKind::of(row) == RowKind::Question
}

/// What a pane shows at the moment of a probe.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShownRow<'a> {
    /// Text of the cursor's row, up to the cursor.
    pub(crate) row: &'a str,
    /// Whether the alternate screen is shown.
    pub(crate) alternate: bool,
    /// Time since the last output.
    pub(crate) quiet: Duration,
}

/// The input for which a program waits; `None` without evidence that it waits for any. All output and all
/// typed keys must have arrived before the probe of `wait`.
pub(crate) fn awaited_input(wait: &InputWait, shown: ShownRow<'_>) -> Option<AwaitedInput> {
    let awaited = match wait.state {
        InputState::None | InputState::Unknown => return None,
        InputState::Password => return Some(AwaitedInput::Password),
        InputState::Line => AwaitedInput::Line,
        InputState::Raw => AwaitedInput::Keys,
    };
    let is_relay = wait.reader.as_deref().is_some_and(is_relay);
    let row = RowKind::of(shown.row);
    let is_full_screen = shown.alternate && awaited == AwaitedInput::Keys;
    let is_weak = is_full_screen || (row == RowKind::Text && !is_relay);
    let waits = (wait.is_lone && !is_relay)
        || row == RowKind::Question
        || (is_weak && shown.quiet >= WEAK_EVIDENCE_QUIET);
    match is_relay {
        true => waits.then_some(behind_relay(awaited, shown.row)),
        false => waits.then_some(awaited),
    }
}

/// The input that a question behind a relay awaits. Its terminal is elsewhere, so the echo tells nothing.
fn behind_relay(awaited: AwaitedInput, row: &str) -> AwaitedInput {
    if asks_for_secret(row) { AwaitedInput::Password } else { awaited }
}

/// Whether a row asks for a password, by its words.
pub(crate) fn asks_for_secret(row: &str) -> bool {
    question::names_secret(row)
}

/// How a program that cannot be inspected would read the terminal of a pane, by the mode of the terminal.
pub(crate) fn terminal_input(look: &Inspection) -> InputState {
    match (look.hides_input(), look.edits_lines()) {
        (true, _) => InputState::Password,
        (false, true) => InputState::Line,
        (false, false) => InputState::Raw,
    }
}

/// The input for which such a program waits: only a row that looks like a question says so, or an echo that is
/// switched off.
pub(crate) fn hidden_input(state: InputState, row: &str) -> Option<AwaitedInput> {
    match state {
        InputState::Password => Some(AwaitedInput::Password),
        InputState::Line if is_question(row) => Some(behind_relay(AwaitedInput::Line, row)),
        InputState::Raw if is_question(row) => Some(behind_relay(AwaitedInput::Keys, row)),
        _ => None,
    }
}

/// A sentence about a program that reads its terminal.
pub(crate) fn reader(wait: &InputWait) -> Option<String> {
    let reader = wait.reader.as_deref()?;
    if !matches!(wait.state, InputState::Line | InputState::Raw) {
        return None;
    }
    let does = match is_relay(reader) {
        true => "passes keys on to another terminal",
        false => "reads the terminal",
    };
    Some(format!("`{reader}` {does}"))
}

/// The same about a program whose row shows no question.
pub(crate) fn reads_without_question(wait: &InputWait) -> Option<String> {
    reader(wait).map(|reads| format!("{reads} but shows no question"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(state: InputState, reader: &str, is_lone: bool, row: &str) -> Option<AwaitedInput> {
        let wait = InputWait { state, reader: Some(reader.to_owned()), is_lone };
        awaited_input(&wait, ShownRow { row, alternate: false, quiet: Duration::from_secs(9) })
    }

    #[test]
    fn lone_read_counts_whatever_the_row() {
        for row in ["", "Name: ", "Working..."] {
            let lone = judged(InputState::Line, "cat", true, row);
            assert_eq!(lone, Some(AwaitedInput::Line), "{row}");
        }
        assert_eq!(judged(InputState::None, "cat", true, "Name: "), None);
    }

    #[test]
    fn shared_read_counts_with_an_unfinished_row() {
        for (row, counts) in
            [("", false), ("Name: ", true), ("Enter your name ", true), ("Working...", false)]
        {
            let shared = judged(InputState::Line, "node", false, row);
            assert_eq!(shared.is_some(), counts, "{row}");
        }
    }

    #[test]
    fn relay_counts_with_a_question_only() {
        for lone in [false, true] {
            for (row, counts) in
                [("", false), ("me@host:~$ ", true), ("Unpacking x (1.2)", false), ("?", true)]
            {
                let keys = judged(InputState::Raw, "ssh", lone, row);
                assert_eq!(keys, counts.then_some(AwaitedInput::Keys), "{row}");
            }
        }
        for (state, row) in [
            (InputState::Password, "me@host's password: "),
            (InputState::Raw, "[sudo] password for me: "),
        ] {
            let secret = judged(state, "ssh", true, row);
            assert_eq!(secret, Some(AwaitedInput::Password), "{row}");
        }
        let local = judged(InputState::Raw, "vi", true, "Password: ");
        assert_eq!(local, Some(AwaitedInput::Keys));
    }

    #[test]
    fn hidden_program_counts_with_a_question_only() {
        use InputState::{Line, None as Busy, Password, Raw};
        for (state, row, awaited) in [
            (Raw, "me@host:~$ ", Some(AwaitedInput::Keys)),
            (Line, "Name: ", Some(AwaitedInput::Line)),
            (Password, "", Some(AwaitedInput::Password)),
            (Raw, "Unpacking x (1.2)", None),
            (Busy, "Name: ", None),
        ] {
            assert_eq!(hidden_input(state, row), awaited, "{state:?} {row}");
        }
    }

    #[test]
    fn full_screen_program_counts_once_it_is_quiet() {
        let wait =
            InputWait { state: InputState::Raw, reader: Some("nvim".into()), is_lone: false };
        let shown = |quiet| ShownRow { row: "~", alternate: true, quiet };
        assert_eq!(awaited_input(&wait, shown(Duration::ZERO)), None);
        assert_eq!(awaited_input(&wait, shown(WEAK_EVIDENCE_QUIET)), Some(AwaitedInput::Keys));
    }
}
