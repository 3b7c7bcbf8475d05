//! `search_panes`: searches lines of text in many panes at once.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use futures::stream::{self, StreamExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::capture::Capture;
use tmux_control::{PaneId, Row, Server, row};

use crate::actions::find_lines::{
    LineMatches, LinePattern, aligned_rows, counted_rows, part_around, without_trailing_blanks,
};
use crate::actions::read::{Scrollback, program_or_end};
use crate::context::{Cx, Tool};
use crate::contract::{
    Fleet, FleetEach, FleetList, Form, Group, Load, Meta, Output, Target, Tier, ToolError, Toolset,
};
use crate::host::PaneRow;
use crate::results::side_by_side;
use crate::results::words::{FactRow, count, field};

/// Matching lines shown by default.
const DEFAULT_LIMIT: usize = 100;

/// Panes read ahead: enough to keep tmux busy, few enough to be held in memory.
const MAX_PANES_READ_AHEAD: usize = 8;

pub(super) struct SearchPanes;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Text to find.
    pattern: String,
    /// Treat `pattern` as a regex.
    regex: Option<bool>,
    /// Match case.
    case: Option<bool>,
    /// Only in this session, window or pane.
    target: Option<Target>,
    /// History lines to search too.
    #[serde(default)]
    #[schemars(with = "Option<u32>")]
    scrollback: Scrollback,
    /// Maximum lines shown (default 100).
    limit: Option<usize>,
    /// Matches to skip.
    offset: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct PaneSearch {
    /// Panes with matching lines.
    panes: Vec<PaneMatches>,
    /// Number of matching lines in all panes.
    total: usize,
    /// Offset of the next match.
    next: Option<usize>,
    /// Whether matches are left out, or long lines cut.
    truncated: bool,
    #[serde(skip)]
    offset: usize,
    /// Number of panes searched.
    #[serde(skip)]
    searched: usize,
    /// Whether a long line is cut.
    #[serde(skip)]
    lines_cut: bool,
}

#[derive(Serialize, JsonSchema)]
struct PaneMatches {
    /// Pane id.
    pane_id: String,
    /// Name of its session.
    session: String,
    /// Name of its window.
    window: String,
    /// Foreground program.
    command: String,
    /// Matching lines.
    matches: Vec<LineMatch>,
    /// The pane as a row of text above its lines.
    #[serde(skip)]
    heading: String,
}

#[derive(Serialize, JsonSchema)]
struct LineMatch {
    /// Row of the line, counted as by capture_pane.
    line: i64,
    /// Text of the line.
    text: String,
}

row! {
    TextFacts {
        pane: PaneId = "pane_id",
        width: u32 = "pane_width",
        height: i64 = "pane_height",
        history: i64 = "history_size",
    }
}

impl Output for PaneSearch {
    const FORM: Form = Form::Text;

    fn text(&self) -> String {
        let Self { total, searched, .. } = self;
        let lines = count(*total as u64, "matching line");
        let more = |next| format!("{} shown, continue with offset {next}", self.shown());
        let facts = FactRow::new(format!("{lines} in {}", count(*searched as u64, "pane")))
            .maybe(self.next.map(more))
            .flag(self.lines_cut, "long lines cut");
        let mut text = String::from(facts);
        for pane in &self.panes {
            text.push_str(&format!("\n{}", pane.heading));
            for LineMatch { line, text: found } in &pane.matches {
                text.push_str(&format!("\n{line}: {found}"));
            }
        }
        text
    }

    fn limit(&mut self, max: usize) {
        let mut left = max;
        let mut first = true;
        for pane in &mut self.panes {
            let fits = pane.matches.iter().take_while(|found| {
                let size = found.text.chars().count() + 8;
                let fits = first || size <= left;
                first = false;
                left = if fits { left.saturating_sub(size) } else { 0 };
                fits
            });
            let fits = fits.count();
            pane.matches.truncate(fits);
        }
        self.panes.retain(|pane| !pane.matches.is_empty());
        self.set_next();
    }
}

impl PaneSearch {
    fn shown(&self) -> usize {
        self.panes.iter().map(|pane| pane.matches.len()).sum()
    }

    fn set_next(&mut self) {
        let next = self.offset.saturating_add(self.shown());
        self.next = (next < self.total).then_some(next);
        self.truncated = self.lines_cut || self.next.is_some();
    }
}

impl Tool for SearchPanes {
    const META: Meta = Meta {
        name: "search_panes",
        title: "Search panes",
        description: "Search (grep) the screens of all panes, with history if asked. Line numbers are those of capture_pane.",
        group: Group::Screen,
        tier: Tier::Read,
        sets: &[Toolset::Agent],
        idempotent: true,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = PaneSearch;
    const FLEET: Fleet = Fleet::Each(FleetEach {
        list: FleetList::Targets,
        excluded: &[
            ("target", "put it into `targets`"),
            ("offset", "continue with `server`, `target` and `offset` for one of them"),
        ],
        shared: Some(("limit", DEFAULT_LIMIT)),
        summed: Some("total"),
        text: side_by_side::searches,
    });

    async fn call(cx: &Cx, args: Args) -> Result<PaneSearch, ToolError> {
        let regex = args.regex.unwrap_or(false);
        let pattern = LinePattern::new(&args.pattern, regex, args.case.unwrap_or(false))?;
        let limit = args.limit.unwrap_or(DEFAULT_LIMIT);
        if limit == 0 {
            return Err(ToolError::invalid_argument("`limit`: 0 would show no line")
                .hint("leave `limit` out for 100 lines"));
        }
        let offset = args.offset.unwrap_or(0);
        let panes = panes(cx, args.target.as_ref()).await?;
        let mut result = PaneSearch {
            panes: Vec::new(),
            total: 0,
            next: None,
            truncated: false,
            offset,
            searched: panes.len(),
            lines_cut: false,
        };
        let mut texts = stream::iter(panes)
            .map(|row| async {
                let text = PaneText::read(cx, &row, args.scrollback).await;
                (row, text)
            })
            .buffered(MAX_PANES_READ_AHEAD);
        while let Some((row, text)) = texts.next().await {
            let Some(text) = unless_gone(text)? else { continue };
            let skip = offset.saturating_sub(result.total);
            let until = offset.saturating_add(limit).saturating_sub(result.total);
            let Some(found) = search(cx, text, &pattern, &(skip..until)).await? else { continue };
            result.total += found.count;
            result.lines_cut |= found.cut;
            if !found.matches.is_empty() {
                result.panes.push(PaneMatches::new(row, found.matches));
            }
        }
        result.set_next();
        Ok(result)
    }
}

/// The panes to search, each once although its window may be in several sessions.
async fn panes(cx: &Cx, target: Option<&Target>) -> Result<Vec<PaneRow>, ToolError> {
    let only = match target {
        Some(target) => Some(cx.resolve(target).await?),
        None => None,
    };
    let mut seen = HashSet::new();
    let mut panes = cx.panes().await?;
    panes.retain(|row| {
        only.as_ref().is_none_or(|found| found.holds(row)) && seen.insert(row.pane.id)
    });
    Ok(panes)
}

/// The answer, or `None` if the pane was closed while others were read.
fn unless_gone<T>(answer: Result<T, tmux_control::Error>) -> Result<Option<T>, ToolError> {
    match answer {
        Err(error) if error.is_not_found() => Ok(None),
        other => Ok(Some(other?)),
    }
}

impl PaneMatches {
    fn new(row: PaneRow, matches: Vec<LineMatch>) -> Self {
        let program = program_or_end(row.pane.process_state, &row.pane.command);
        let (session, window) = (field(&row.session.name), field(&row.window.name));
        let address = format!("{session}:{}.{}", row.window.index, row.pane.index);
        Self {
            heading: FactRow::new(format!("{} {address} {window}", row.pane.id))
                .fact(program)
                .into(),
            pane_id: row.pane.id.to_string(),
            session: row.session.name,
            window: row.window.name,
            command: row.pane.command,
            matches,
        }
    }
}

/// The text of a pane, with wrapped lines joined.
struct PaneText {
    pane: PaneId,
    part: Capture,
    joined: String,
    width: usize,
    /// Number of rows on the screen and in the history read.
    rows: i64,
    /// Number of the first row.
    top: i64,
}

impl PaneText {
    async fn read(
        cx: &Cx,
        row: &PaneRow,
        scrollback: Scrollback,
    ) -> Result<Self, tmux_control::Error> {
        let start = scrollback.start(row.pane.process_state);
        let part = Capture { start, end: None, join: true, colors: false };
        let pane = row.pane.id;
        let ask = vec![Server::row_query::<TextFacts>(&pane.to_string()), part.of(pane)];
        let mut replies = cx.tmux().sequence(ask).await?.into_iter().map(|reply| reply.0);
        let mut facts = replies.next().unwrap_or_default();
        let mut text = replies.next().unwrap_or_default();
        if text.is_empty() {
            // A spawned tmux process prints all answers as one text.
            let line = facts.iter().position(|&byte| byte == b'\n').map_or(0, |at| at + 1);
            text = facts.split_off(line);
        }
        Self::new(pane, part, &facts, text)
    }

    fn new(
        pane: PaneId,
        part: Capture,
        facts: &[u8],
        text: Vec<u8>,
    ) -> Result<Self, tmux_control::Error> {
        let facts = TextFacts::parse_one("display-message", facts)?;
        let top = part.start.unwrap_or(0).max(-facts.history);
        Ok(Self {
            pane,
            part,
            joined: String::from_utf8(text)
                .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
            width: facts.width.max(1) as usize,
            rows: facts.height - top,
            top,
        })
    }

    /// The text that is searched: without trailing blanks, and without secrets, which a pattern could
    /// otherwise guess.
    async fn searched(&self, cx: &Cx) -> Cow<'_, str> {
        if !cx.redacts() {
            return without_trailing_blanks(&self.joined);
        }
        let mut text =
            cx.redacted_capture(self.pane, self.part, String::new()).await.unwrap_or_default();
        // The pane may have printed meanwhile, or be gone.
        if text.lines().count() != self.joined.lines().count() {
            text = cx.redacted(self.joined.clone());
        }
        Cow::Owned(without_trailing_blanks(&text).into_owned())
    }

    /// Reads the text again, with the rows in which its lines begin.
    async fn read_with_rows(&self, cx: &Cx) -> Result<(Self, Vec<usize>), tmux_control::Error> {
        let Self { pane, part, .. } = *self;
        let version = cx.tmux().version().await?;
        let facts = Server::row_query::<TextFacts>(&pane.to_string());
        let ask = vec![facts, part.of(pane), part.rows_of(pane, version)];
        let mut replies = cx.tmux().sequence(ask).await?.into_iter().map(|reply| reply.0);
        let facts = replies.next().unwrap_or_default();
        let text = Self::new(pane, part, &facts, replies.next().unwrap_or_default())?;
        let apart = String::from_utf8_lossy(&replies.next().unwrap_or_default()).into_owned();
        let starts = aligned_rows(&text.joined, &apart)
            .unwrap_or_else(|| counted_rows(&text.joined, text.width).0);
        Ok((text, starts))
    }
}

/// The matching lines of one pane.
struct PaneFound {
    /// Number of matching lines, those not wanted included.
    count: usize,
    matches: Vec<LineMatch>,
    /// Whether a long line is cut.
    cut: bool,
}

/// Finds the matching lines and the rows in which they begin; `None` if the pane is gone.
async fn search(
    cx: &Cx,
    text: PaneText,
    pattern: &LinePattern,
    wanted: &Range<usize>,
) -> Result<Option<PaneFound>, ToolError> {
    let seen = text.searched(cx).await;
    let found = pattern.find(&seen, wanted);
    if found.lines.is_empty() {
        return Ok(Some(show(&seen, found, 0, &[])));
    }
    // `counted_rows` counts the fewest rows each line can take. If the sum is the number of rows there
    // are, no line takes more; else rows and lines are read together.
    let (starts, rows) = counted_rows(&text.joined, text.width);
    if i64::try_from(rows).is_ok_and(|rows| rows == text.rows) {
        return Ok(Some(show(&seen, found, text.top, &starts)));
    }
    let Some((text, starts)) = unless_gone(text.read_with_rows(cx).await)? else {
        return Ok(None);
    };
    let seen = text.searched(cx).await;
    Ok(Some(show(&seen, pattern.find(&seen, wanted), text.top, &starts)))
}

/// The lines as shown, with row numbers that begin at `top`.
fn show(text: &str, found: LineMatches, top: i64, starts: &[usize]) -> PaneFound {
    let mut cut = false;
    let matches = found
        .lines
        .into_iter()
        .map(|line| {
            let row = starts.get(line.index).copied().unwrap_or(line.index);
            let whole = text.get(line.place.clone()).unwrap_or_default();
            let shown = part_around(whole, line.hit.start.saturating_sub(line.place.start));
            cut |= shown.len() != whole.len();
            LineMatch { line: top.saturating_add_unsigned(row as u64), text: shown }
        })
        .collect();
    PaneFound { count: found.count, matches, cut }
}
