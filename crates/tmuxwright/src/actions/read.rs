//! What the tools that show a pane's text have in common.

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use serde_json::Value;
use tmux_control::capture::Capture;
use tmux_control::{PaneId, Reply, Row, Server};

use crate::context::Cx;
use crate::contract::{Target, ToolError};
use crate::host::{PaneState, ProcessState};
use terminal::text::inline;

/// What a tool wants to see of a pane.
pub(crate) struct Wanted {
    /// Which rows, and how; `lines` comes before its start.
    pub(crate) part: Capture,
    /// The last lines instead, history included.
    pub(crate) lines: Option<u32>,
}

/// Reads a pane's text together with facts about it, which know the length of its history.
pub(crate) async fn read<F: Row>(
    cx: &Cx,
    target: &Target,
    wanted: Wanted,
    history: impl Fn(&F) -> i64,
) -> Result<(PaneState, F, String), ToolError> {
    let Wanted { mut part, lines } = wanted;
    if lines == Some(0) {
        return Err(ToolError::invalid_argument("`lines`: 0 is no number of lines")
            .hint("leave it out for the screen"));
    }
    part.start = lines.map(|lines| -i64::from(lines)).or(part.start);
    let queries = |pane: PaneId| [Server::row_query::<F>(&pane.to_string()), part.of(pane)];
    let (pane, replies) = cx.pane_with(target, queries).await?;
    let [facts, mut reply] = <[Reply; 2]>::try_from(replies)
        .map_err(|_| ToolError::internal("two questions had another number of answers"))?;
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
        None => tidy(&reply.text(), part.colors).join("\n"),
    };
    Ok((pane, facts, text))
}

/// The last lines of `text`, whole. A line may take several rows, so that what was read can begin
/// in the middle of one or hold too few of them; then more is read.
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
            return Ok(kept
                .get(kept.len().saturating_sub(wanted)..)
                .unwrap_or_default()
                .join("\n"));
        }
        part.start = Some(-rows.saturating_mul(4).min(history));
        text = cx.tmux().run(part.of(pane)).await?.text();
    }
}

/// Drops what cannot be seen: blanks at the ends of lines, empty lines at the end.
fn tidy(text: &str, colors: bool) -> Vec<&str> {
    let mut kept: Vec<&str> =
        text.lines().map(|line| if colors { line } else { line.trim_end() }).collect();
    while kept.last().is_some_and(|line| line.trim().is_empty()) {
        kept.pop();
    }
    kept
}

/// Where the screen of a pane begins, if not at its top: tmux pushes one line of a dead pane's
/// screen into history to make room for its notice.
pub(crate) fn top_of(process_state: ProcessState) -> Option<i64> {
    process_state.has_exited().then_some(-1)
}

/// How much of a pane's history is read beside its screen.
#[derive(Clone, Copy, Default)]
pub(crate) enum Scrollback {
    #[default]
    Screen,
    Lines(i64),
    All,
}

impl Scrollback {
    /// The first row to read, as tmux counts.
    pub(crate) fn start(self, process_state: ProcessState) -> Option<i64> {
        match self {
            Self::Screen | Self::Lines(0) => top_of(process_state),
            Self::Lines(lines) => Some(-lines),
            Self::All => Some(i64::MIN),
        }
    }
}

impl<'de> Deserialize<'de> for Scrollback {
    /// A number; models write `true` for all of it too.
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

/// The program in a pane, or how it ended.
pub(crate) fn program_or_end(process_state: ProcessState, command: &str) -> String {
    match process_state.exit_code() {
        _ if !process_state.has_exited() => inline(command),
        Some(code) => format!("exited {code}"),
        None => "exited".to_owned(),
    }
}
