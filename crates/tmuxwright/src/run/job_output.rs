//! The output of a job: the screen on which its program prints, and the lines that are final.

use process::ShellKind;
use terminal::screen::{Screen, ScreenPlace};
use terminal::transcript::Transcript;

/// Rows of the prompt below the row in which the terminal has echoed an interrupt, and that row.
const ROWS_BELOW_INTERRUPT: usize = 3;

/// Output of a job.
pub(super) struct JobOutput {
    pub(super) screen: Screen,
    pub(super) transcript: Transcript,
    /// Number of bytes.
    pub(super) bytes: u64,
    /// Whether the output is complete; further text is the shell's and ignored.
    closed: bool,
    /// Whether tmux may have discarded the last output.
    pub(super) may_lack_end: bool,
    /// Whether the terminal echoed an interrupt (`^C`) into the output.
    pub(super) interrupted: bool,
}

impl JobOutput {
    /// Output that will begin at about `place`.
    pub(super) fn new(place: &ScreenPlace) -> Self {
        Self {
            screen: Screen::for_output(place),
            transcript: Transcript::new(),
            bytes: 0,
            closed: false,
            may_lack_end: false,
            interrupted: false,
        }
    }

    pub(super) fn feed(&mut self, bytes: &[u8]) {
        if self.closed {
            return;
        }
        self.bytes += bytes.len() as u64;
        self.interrupted |= bytes.windows(2).any(|pair| pair == b"^C");
        let Self { screen, transcript, .. } = self;
        screen.feed(bytes, &mut |line| transcript.push(line));
    }

    /// Changes the size of the screen.
    pub(super) fn resize(&mut self, width: usize, height: usize) {
        let Self { screen, transcript, closed, .. } = self;
        if !*closed {
            screen.resize(width, height, &mut |line| transcript.push(line));
        }
    }

    /// The lines that can still change.
    pub(super) fn pending(&self) -> Vec<String> {
        if self.closed { Vec::new() } else { self.screen.pending() }
    }

    /// Whether the terminal has echoed an interrupt right above the last row.
    pub(super) fn was_just_interrupted(&self) -> bool {
        let rows = if self.interrupted { self.pending() } else { Vec::new() };
        rows.iter().rev().take(ROWS_BELOW_INTERRUPT).any(|row| row.contains("^C"))
    }

    /// Whether this prompt follows the interrupt with text behind it, which a person has entered. It need
    /// not begin a line: zsh wraps it into a row of its own.
    pub(super) fn shows_entered_line(&self, prompt: &str) -> bool {
        let rows = self.pending();
        let above = rows.split_last().map_or_else(String::new, |(_, above)| above.join("\n"));
        let Some((_, after)) = above.rsplit_once("^C") else { return false };
        let goes_on = |text: &str| !text.is_empty() && !text.starts_with('\n');
        !prompt.trim().is_empty() && after.split(prompt).skip(1).any(goes_on)
    }

    /// Moves the rows on the screen into the transcript, without the last `dropped_rows` and, after
    /// an interrupt, without the `^C` that the terminal echoed, since no program printed it. Nor did one
    /// print the mark with which zsh fills such a row.
    pub(super) fn close(&mut self, dropped_rows: usize, interrupted: bool) {
        if self.closed {
            return;
        }
        self.closed = true;
        let mut rows = Vec::new();
        self.screen.finish(&mut |row| rows.push(row.to_owned()));
        rows.truncate(rows.len().saturating_sub(dropped_rows));
        if interrupted
            && let Some(last) = rows.last_mut()
            && let Some(at) = echoed_interrupt(last)
        {
            last.truncate(at);
            if last.is_empty() {
                rows.pop();
            }
        }
        rows.iter().for_each(|row| self.transcript.push(row));
    }

    /// Closes the output before the `exit` or `logout` that bash prints when `command` makes it exit.
    pub(super) fn trim_shell_exit_message(&mut self, shell: ShellKind, command: &str) {
        let rows = self.screen.pending();
        let words = ["exit", "logout"];
        let printed = rows.last().is_some_and(|row| words.contains(&row.as_str()));
        if shell == ShellKind::Bash && printed && words.iter().any(|it| command.contains(it)) {
            self.close(1, false);
        }
    }
}

/// Where the `^C` begins that ends a row, or precedes a short mark and the blanks that fill the row.
fn echoed_interrupt(row: &str) -> Option<usize> {
    let at = row.rfind("^C")?;
    let behind = row.get(at + 2..)?;
    (behind.is_empty() || behind.ends_with("    ")).then_some(at)
}
