//! `capture_since`: reads the lines that a pane has printed since the last call.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::actions::cursor::{check_cursor, read_cursor, write_cursor};
use crate::bookmark::{CaptureRange, PaneText, nearby_queries, new_lines_since};
use crate::context::{Cx, Tool};
use crate::contract::{Form, Group, Load, Meta, Output, Target, Tier, ToolError, Toolset};
use crate::results::words::{FactRow, count};
use terminal::text::keep_tail;

pub(super) struct CaptureSince;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Pane, for the first call.
    target: Option<Target>,
    /// Cursor from the last answer.
    #[schemars(extend("x-clear" = true))]
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct NewLines {
    /// Pane id.
    pane_id: String,
    /// Cursor for the next call.
    cursor: String,
    /// New lines.
    lines: Vec<String>,
    /// Whether lines may be missing before these.
    lines_missed: bool,
    /// Whether the first lines are cut because there were too many.
    truncated: bool,
    /// In a full-screen program, the screen row of each line; 0 is the top.
    rows: Option<Vec<i64>>,
    /// Whether a full-screen program shows the alternate screen.
    alternate_screen: bool,
    /// Row of each line, counted from the top of the screen.
    #[serde(skip)]
    at: Vec<i64>,
    /// Whether the call came without a cursor, so that the lines are the screen.
    #[serde(skip)]
    is_first: bool,
    /// How the pane's process ended.
    #[serde(skip)]
    exited: Option<String>,
    #[serde(skip)]
    cut: Option<CutLines>,
}

/// Lines cut from an answer, and the rows in which capture_pane finds them.
struct CutLines {
    /// Number of whole lines; 0 if only the beginning of one line is cut.
    lines: usize,
    start: i64,
    end: Option<i64>,
}

impl Output for NewLines {
    const FORM: Form = Form::Text;

    fn text(&self) -> String {
        let gone = self.cut.as_ref().map_or(0, |cut| cut.lines);
        let total = (self.lines.len() + gone) as u64;
        let news = match (self.alternate_screen, self.is_first) {
            _ if total == 0 => "nothing new".to_owned(),
            (true, _) => format!("{} changed", count(total, "row")),
            (false, true) => format!("{} on the screen", count(total, "line")),
            (false, false) => count(total, "new line"),
        };
        let facts = FactRow::new(&self.pane_id)
            .fact(news)
            .maybe(self.exited.as_ref())
            .flag(self.alternate_screen, "full-screen program")
            .flag(self.lines_missed, "lines may be missing before these")
            .maybe(self.cut.as_ref().map(CutLines::fact))
            .fact(format!("cursor {}", self.cursor));
        let mut text = String::from(facts);
        for (at, line) in self.lines.iter().enumerate() {
            let row = self.rows.as_ref().and_then(|rows| rows.get(at));
            let number = row.map(|row| format!("{row}: ")).unwrap_or_default();
            text.push_str(&format!("\n{number}{line}"));
        }
        text
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
        self.cut = Some(CutLines { lines: gone, start, end });
        self.at.drain(..gone.min(self.at.len()));
        if let Some(rows) = &mut self.rows {
            rows.drain(..gone.min(rows.len()));
        }
        self.truncated = true;
    }
}

impl CutLines {
    fn fact(&self) -> String {
        let Self { lines, start, end } = self;
        let end = end.map(|end| format!(" and end {end}")).unwrap_or_default();
        let cut = match lines {
            0 => "beginning cut".to_owned(),
            lines => format!("first {} cut", count(*lines as u64, "line")),
        };
        format!("{cut}; capture_pane with start {start}{end} shows all of it")
    }
}

impl Tool for CaptureSince {
    const META: Meta = Meta {
        name: "capture_since",
        title: "Capture new lines",
        description: "Read only the lines a pane printed since the last call, and a cursor for the next.",
        group: Group::Screen,
        tier: Tier::Read,
        sets: &[Toolset::Agent],
        idempotent: true,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = NewLines;

    async fn call(cx: &Cx, args: Args) -> Result<NewLines, ToolError> {
        let mark = args.cursor.as_deref().map(|text| read_cursor(cx, text)).transpose()?;
        let target = match (args.target, &mark) {
            (Some(target), _) => target,
            (None, Some(mark)) => Target(mark.pane.to_string()),
            (None, None) => {
                return Err(ToolError::invalid_argument("neither `target` nor `cursor` is given")
                    .hint("give `target` the first time, then `cursor` from the last answer"));
            }
        };
        let (pane, replies) = cx.pane_with(&target, nearby_queries).await?;
        let look = PaneText::from_replies(&replies, &CaptureRange::NEAR)?;
        let (look, news) = match &mark {
            None => {
                let shown = look.screen();
                (look, shown)
            }
            Some(mark) => {
                check_cursor(mark, &target, look.pane, look.pid)?;
                let (look, news) = new_lines_since(cx.tmux(), look, mark).await?;
                check_cursor(mark, &target, look.pane, look.pid)?;
                (look, news)
            }
        };
        let next = match &mark {
            Some(mark) if look.is_alternate() => mark.with_alternate_screen(&look),
            _ => look.bookmark(),
        };
        let (lines, at) = match look.is_alternate() {
            true => {
                let rows = cx.redacted_rows(look.alternate_rows().join("\n"));
                let rows: Vec<&str> = rows.split('\n').collect();
                let screens = cx.watches.shown_screens();
                let changed = screens.changed_rows(&look, mark.as_ref()).into_iter();
                screens.remember(&look);
                let row = |n: usize| rows.get(n).map_or_else(String::new, |row| (*row).to_owned());
                changed.map(|n| (row(n), n as i64)).unzip()
            }
            false if !cx.redacts() => (news.lines, news.rows),
            false => {
                // All lines read, since a secret may begin before the first new one.
                let all = cx.redacted(look.printed_lines().join("\n"));
                let skipped = look.printed_lines().len().saturating_sub(news.lines.len());
                let lines = all.split('\n').skip(skipped).take(news.lines.len());
                (lines.map(str::to_owned).collect(), news.rows)
            }
        };
        Ok(NewLines {
            pane_id: look.pane.to_string(),
            cursor: write_cursor(cx, &next),
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
