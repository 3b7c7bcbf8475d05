//! Reading of a pane's screen and history, for the tools that show text.

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use serde_json::Value;
use terminal::text::trim_styled_blanks;
use tmux_control::capture::Capture;
use tmux_control::{PaneId, Row, Server, TmuxReply};

use crate::context::Cx;
use crate::contract::{Target, ToolError};
use crate::host::{PaneState, ProcessState};
use crate::results::objects::{PaneStatus, program_or_exit};

/// The part of a pane's text that a tool reads.
pub(crate) struct ReadRequest {
    /// Rows to capture; `lines` takes precedence over its start.
    pub(crate) part: Capture,
    /// Number of last lines to read instead, history included.
    pub(crate) lines: Option<u32>,
}

/// Reads a pane's text together with a row of facts in one sequence. `history` takes the length of the
/// history from that row.
pub(crate) async fn read<F: Row>(
    cx: &Cx,
    target: &Target,
    wanted: ReadRequest,
    history: impl Fn(&F) -> i64,
) -> Result<(PaneState, F, String), ToolError> {
    let ReadRequest { mut part, lines } = wanted;
    if lines == Some(0) {
        return Err(ToolError::invalid_argument("`lines`: 0 is too few")
            .hint("give at least 1, or leave `lines` out for the screen"));
    }
    part.start = lines.map(|lines| -i64::from(lines)).or(part.start);
    let queries = |pane: PaneId| [Server::row_query::<F>(&pane.to_string()), part.of(pane)];
    let (pane, replies) = cx.pane_with(target, queries).await?;
    let [facts, mut reply] = <[TmuxReply; 2]>::try_from(replies)
        .map_err(|_| ToolError::internal("two queries did not get two replies"))?;
    let facts = F::parse_one("display-message", &facts.0)?;
    if part.start.is_none()
        && let Some(start) = top_of(pane.process_state)
    {
        reply = cx.tmux().run(Capture { start: Some(start), ..part }.of(pane.pane)).await?;
    }
    let text = match lines {
        Some(lines) => {
            last_lines(cx, pane.pane, part, lines, reply.text(), history(&facts)).await?
        }
        None => {
            let start = part.start.or(top_of(pane.process_state));
            let part = Capture { start, ..part };
            let text = cx.redacted_capture(pane.pane, part, reply.text()).await?;
            without_invisible_blanks(text, part.colors)
        }
    };
    Ok((pane, facts, text))
}

/// The last lines of `text`, whole. A line may take several rows, so the captured rows can begin in the
/// middle of a line or contain too few lines; then more rows are captured.
async fn last_lines(
    cx: &Cx,
    pane: PaneId,
    mut part: Capture,
    lines: u32,
    mut text: String,
    history: i64,
) -> Result<String, ToolError> {
    let wanted = usize::try_from(lines).unwrap_or(usize::MAX);
    loop {
        let rows = -part.start.unwrap_or_default();
        let kept = tidy(&text, part.colors);
        if kept.len() > wanted || rows >= history {
            let text = cx.redacted_capture(pane, part, text).await?;
            let kept = tidy(&text, part.colors);
            let kept = kept.get(kept.len().saturating_sub(wanted)..).unwrap_or_default();
            return Ok(without_invisible_blanks(kept.join("\n"), part.colors));
        }
        part.start = Some(-rows.saturating_mul(4).min(history));
        text = cx.tmux().run(part.of(pane)).await?.text();
    }
}

/// The text without invisible blanks at the ends of lines, and without empty lines at the end.
fn without_invisible_blanks(text: String, colors: bool) -> String {
    let text = if colors { trim_styled_blanks(&text) } else { text };
    tidy(&text, colors).join("\n")
}

/// Drops invisible text: blanks at the ends of lines, empty lines at the end.
fn tidy(text: &str, colors: bool) -> Vec<&str> {
    let mut kept: Vec<&str> =
        text.lines().map(|line| if colors { line } else { line.trim_end() }).collect();
    while kept.last().is_some_and(|line| line.trim().is_empty()) {
        kept.pop();
    }
    kept
}

/// The first row of a dead pane's screen: tmux pushes one line into history to make room for its notice.
/// `None` for a pane whose program runs.
pub(crate) fn top_of(life: ProcessState) -> Option<i64> {
    life.has_exited().then_some(-1)
}

/// Amount of history that is read in addition to the screen.
#[derive(Clone, Copy, Default)]
pub(crate) enum Scrollback {
    #[default]
    Screen,
    Lines(i64),
    All,
}

impl Scrollback {
    /// The first row to read, as tmux counts rows.
    pub(crate) fn start(self, life: ProcessState) -> Option<i64> {
        match self {
            Self::Screen | Self::Lines(0) => top_of(life),
            Self::Lines(lines) => Some(-lines),
            Self::All => Some(i64::MIN),
        }
    }
}

impl<'de> Deserialize<'de> for Scrollback {
    /// Accepts a number; models also write `true` for all.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let whole = |all: bool| if all { Self::All } else { Self::Screen };
        let wanted = match &value {
            Value::Bool(all) => Some(whole(*all)),
            Value::String(text) => text.parse().ok().map(whole),
            Value::Number(number) => {
                number.as_u64().map(|lines| Self::Lines(i64::try_from(lines).unwrap_or(i64::MAX)))
            }
            _ => None,
        };
        wanted.ok_or_else(|| D::Error::custom(format!("{value} is not a number of lines")))
    }
}

/// The program in a pane's foreground, or its exit code, as one fact of a row.
pub(crate) fn program_or_end(life: ProcessState, command: &str) -> String {
    program_or_exit(PaneStatus::of(life), life.exit_code(), command)
}
