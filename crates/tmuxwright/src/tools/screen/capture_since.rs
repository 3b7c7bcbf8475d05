//! `capture_since`: what a pane has printed since the last look.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bookmark::{Bookmark, Look, Reach, near_questions, since};
use crate::context::{Cx, Tool};
use crate::contract::{Form, Group, Load, Meta, Output, Target, Tier, ToolError, Toolset};
use terminal::text::keep_tail;

pub(super) struct CaptureSince;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Pane; for the first call.
    target: Option<Target>,
    /// From the last answer.
    #[schemars(extend("x-clear" = true))]
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Since {
    /// The pane.
    pane_id: String,
    /// For the next call.
    cursor: String,
    /// The new lines.
    lines: Vec<String>,
    /// Whether lines may be missing before them.
    lines_missed: bool,
    /// Whether the first of them are cut because there were too many.
    truncated: bool,
    /// In a full-screen program, the rows that the lines are; 0 is the top.
    rows: Option<Vec<i64>>,
    /// Whether a full-screen program has the pane.
    alternate_screen: bool,
    /// The row of each line, counted from the top of the screen.
    #[serde(skip)]
    at: Vec<i64>,
    #[serde(skip)]
    is_first: bool,
    #[serde(skip)]
    exited: Option<String>,
    #[serde(skip)]
    cut: Option<Cut>,
}

/// What was cut: so many lines, and the rows in which they can be found.
struct Cut {
    lines: usize,
    start: i64,
    end: Option<i64>,
}

impl Output for Since {
    const FORM: Form = Form::Text;

    fn text(&self) -> String {
        let gone = self.cut.as_ref().map_or(0, |cut| cut.lines);
        let count = self.lines.len() + gone;
        let s = if count == 1 { "" } else { "s" };
        let what = match (self.alternate_screen, self.is_first) {
            _ if count == 0 => "nothing new".to_owned(),
            (true, _) => format!("{count} row{s} changed in a full-screen program"),
            (false, true) => format!("{count} line{s} on the screen"),
            (false, false) => format!("{count} new line{s}"),
        };
        let mut facts = format!("{} · {what}", self.pane_id);
        if let Some(exited) = &self.exited {
            facts.push_str(&format!(" · {exited}"));
        }
        if self.lines_missed {
            facts.push_str(" · lines may be missing before these");
        }
        if let Some(Cut { lines, start, end }) = self.cut {
            let end = end.map(|end| format!(" and end {end}")).unwrap_or_default();
            facts.push_str(&match lines {
                0 => " · its beginning is cut".to_owned(),
                lines => format!(" · the first {lines} are cut"),
            });
            facts.push_str(&format!("; capture_pane with start {start}{end} has all of it"));
        }
        facts.push_str(&format!(" · cursor {}", self.cursor));
        for (at, line) in self.lines.iter().enumerate() {
            let row = self.rows.as_ref().and_then(|rows| rows.get(at));
            let number = row.map(|row| format!("{row}: ")).unwrap_or_default();
            facts.push_str(&format!("\n{number}{line}"));
        }
        facts
    }

    fn limit(&mut self, max: usize) {
        let mut text = self.lines.join("\n");
        if keep_tail(&mut text, max) == 0 {
            return;
        }
        let kept: Vec<String> = text.split('\n').map(str::to_owned).collect();
        let gone = self.lines.len().saturating_sub(kept.len());
        let is_whole = self.lines.get(gone) == kept.first();
        self.lines = kept;
        let start = self.at.first().copied().unwrap_or_default();
        let end = self.at.get(gone).filter(|_| is_whole).map(|next| next - 1);
        self.cut = Some(Cut { lines: gone, start, end });
        self.at.drain(..gone.min(self.at.len()));
        if let Some(rows) = &mut self.rows {
            rows.drain(..gone.min(rows.len()));
        }
        self.truncated = true;
    }
}

impl Tool for CaptureSince {
    const META: Meta = Meta {
        name: "capture_since",
        title: "Capture new lines",
        description: "Only what a pane has printed since the last call, and a cursor for the next.",
        group: Group::Screen,
        tier: Tier::Read,
        sets: &[Toolset::Agent],
        idempotent: true,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = Since;

    async fn call(cx: &Cx, args: Args) -> Result<Since, ToolError> {
        let mark = args.cursor.as_deref().map(read_cursor).transpose()?;
        let target = match (args.target, &mark) {
            (Some(target), _) => target,
            (None, Some(mark)) => Target(mark.pane.to_string()),
            (None, None) => {
                return Err(ToolError::invalid_argument("neither `target` nor `cursor` is given")
                    .hint("give `target` the first time, then `cursor` from the last answer"));
            }
        };
        let (pane, replies) = cx.pane_with(&target, near_questions).await?;
        let look = Look::from_replies(&replies, &Reach::NEAR)?;
        let (look, news) = match &mark {
            None => {
                let shown = look.screen();
                (look, shown)
            }
            Some(mark) => {
                check(mark, &look, &target)?;
                let (look, news) = since(cx.tmux(), look, mark).await?;
                check(mark, &look, &target)?;
                (look, news)
            }
        };
        let next = match &mark {
            Some(mark) if look.is_alternate() => mark.in_front_of(&look),
            _ => look.mark(),
        };
        let (lines, at) = match look.is_alternate() {
            true => look.changed_rows(mark.as_ref()).into_iter().map(|(n, row)| (row, n)).unzip(),
            false => (news.lines, news.rows),
        };
        Ok(Since {
            pane_id: look.pane.to_string(),
            cursor: next.to_string(),
            lines,
            lines_missed: news.missed,
            truncated: false,
            rows: look.is_alternate().then(|| at.clone()),
            alternate_screen: look.is_alternate(),
            at,
            is_first: mark.is_none(),
            exited: pane.process_state.has_exited().then(|| match pane.process_state.exit_code() {
                Some(code) => format!("exited {code}"),
                None => "exited".to_owned(),
            }),
            cut: None,
        })
    }
}

/// The next step for a cursor that leads nowhere.
const ANEW: &str = "call with `target` alone to start anew";

fn read_cursor(text: &str) -> Result<Bookmark, ToolError> {
    text.parse().map_err(|error: crate::bookmark::NotAMark| {
        ToolError::invalid_argument(error.to_string())
            .hint(format!("give it exactly as the last answer had it, or {ANEW}"))
    })
}

/// A cursor is of one pane and one process in it.
fn check(mark: &Bookmark, look: &Look, target: &Target) -> Result<(), ToolError> {
    if mark.pane != look.pane {
        return Err(ToolError::invalid_argument(format!(
            "the cursor is of pane {}, but `{target}` is {}",
            mark.pane, look.pane
        ))
        .hint(format!("leave `target` out, or {ANEW}")));
    }
    if mark.pid != look.pid {
        return Err(ToolError::invalid_argument(format!(
            "the cursor is of process {} in {}, but the pane was respawned, or belongs to another \
             tmux server: process {} is there",
            mark.pid, mark.pane, look.pid
        ))
        .hint(ANEW));
    }
    Ok(())
}
