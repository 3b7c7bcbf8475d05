//! `search_panes`: lines that match, in many panes at once.

use std::collections::HashSet;
use std::ops::Range;

use futures::stream::{self, StreamExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::capture::Capture;
use tmux_control::{PaneId, Row, Server, row};

use crate::actions::find_lines::{
    Found, Pattern, aligned_rows, counted_rows, without_trailing_blanks,
};
use crate::actions::read::{Scrollback, program_or_end};
use crate::context::{Cx, Tool};
use crate::contract::{Form, Group, Load, Meta, Output, Target, Tier, ToolError, Toolset};
use crate::host::PaneRow;
use crate::results::words::count;
use terminal::text::inline;

/// How many panes are read ahead: enough to keep tmux at work, few enough to be held in memory.
const AHEAD: usize = 8;

/// The longest line that is shown whole, in characters.
const LONGEST: usize = 1000;

pub(super) struct SearchPanes;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Text to find.
    pattern: String,
    /// Whether it is a regex.
    regex: Option<bool>,
    /// Whether case counts.
    case: Option<bool>,
    /// Only in this session, window or pane.
    target: Option<Target>,
    /// Lines of history to search too.
    #[serde(default)]
    #[schemars(with = "Option<u32>")]
    scrollback: Scrollback,
    /// Most lines to show (default 100).
    limit: Option<usize>,
    /// Matches to skip.
    offset: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Matches {
    /// The panes that have any.
    panes: Vec<PaneMatches>,
    /// How many lines match in all.
    total: usize,
    /// The offset to go on with.
    next: Option<usize>,
    /// Whether some are left out or cut.
    truncated: bool,
    #[serde(skip)]
    offset: usize,
    #[serde(skip)]
    searched: usize,
}

#[derive(Serialize, JsonSchema)]
struct PaneMatches {
    /// The pane.
    pane_id: String,
    /// Its session's name.
    session: String,
    /// Its window's name.
    window: String,
    /// The program in its foreground.
    command: String,
    /// Its lines that match.
    matches: Vec<Match>,
    #[serde(skip)]
    heading: String,
}

#[derive(Serialize, JsonSchema)]
struct Match {
    /// Its row, as capture_pane counts.
    line: i64,
    /// The line.
    text: String,
}

row! {
    Facts {
        pane: PaneId = "pane_id",
        width: u32 = "pane_width",
        height: i64 = "pane_height",
        history: i64 = "history_size",
    }
}

impl Output for Matches {
    const FORM: Form = Form::Text;

    fn text(&self) -> String {
        let Self { total, searched, .. } = self;
        let lines = count(*total as u64, "matching line");
        let mut text = format!("{lines} in {}", count(*searched as u64, "pane"));
        if let Some(next) = self.next {
            text.push_str(&format!(" · {} shown, more with offset {next}", self.shown()));
        }
        for pane in &self.panes {
            text.push_str(&format!("\n{}", pane.heading));
            for Match { line, text: found } in &pane.matches {
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

impl Matches {
    fn shown(&self) -> usize {
        self.panes.iter().map(|pane| pane.matches.len()).sum()
    }

    fn set_next(&mut self) {
        let next = self.offset.saturating_add(self.shown());
        self.next = (next < self.total).then_some(next);
        self.truncated |= self.next.is_some();
    }
}

impl Tool for SearchPanes {
    const META: Meta = Meta {
        name: "search_panes",
        title: "Search panes",
        description: "Find text on the screens of all panes, with history if asked. Line numbers are those of capture_pane.",
        group: Group::Screen,
        tier: Tier::Read,
        sets: &[Toolset::Agent],
        idempotent: true,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = Matches;

    async fn call(cx: &Cx, args: Args) -> Result<Matches, ToolError> {
        let regex = args.regex.unwrap_or(false);
        let pattern = Pattern::new(&args.pattern, regex, args.case.unwrap_or(false))?;
        let limit = args.limit.unwrap_or(100);
        if limit == 0 {
            return Err(ToolError::invalid_argument("`limit`: 0 lines would show nothing")
                .hint("leave it out for 100"));
        }
        let offset = args.offset.unwrap_or(0);
        let panes = panes(cx, args.target.as_ref()).await?;
        let mut result = Matches {
            panes: Vec::new(),
            total: 0,
            next: None,
            truncated: false,
            offset,
            searched: panes.len(),
        };
        let mut texts = stream::iter(panes)
            .map(|row| async {
                let text = Text::read(cx, &row, args.scrollback).await;
                (row, text)
            })
            .buffered(AHEAD);
        while let Some((row, text)) = texts.next().await {
            let Some(text) = there(text)? else { continue };
            let skip = offset.saturating_sub(result.total);
            let until = offset.saturating_add(limit).saturating_sub(result.total);
            let Some(found) = search(cx, text, &pattern, &(skip..until)).await? else { continue };
            result.total += found.count;
            result.truncated |= found.cut;
            if !found.matches.is_empty() {
                result.panes.push(PaneMatches::new(row, found.matches));
            }
        }
        result.set_next();
        Ok(result)
    }
}

/// The panes to search, each once though its window may be in several sessions.
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

/// What of it there is: a pane may go while others are read.
fn there<T>(answer: Result<T, tmux_control::Error>) -> Result<Option<T>, ToolError> {
    match answer {
        Err(error) if error.is_not_found() => Ok(None),
        other => Ok(Some(other?)),
    }
}

impl PaneMatches {
    fn new(row: PaneRow, matches: Vec<Match>) -> Self {
        let program = program_or_end(row.pane.process_state, &row.pane.command);
        Self {
            heading: format!("{} {} · {program}", row.pane.id, inline(&row.address())),
            pane_id: row.pane.id.to_string(),
            session: row.session.name,
            window: row.window.name,
            command: row.pane.command,
            matches,
        }
    }
}

/// The text of a pane, wrapped lines put together.
struct Text {
    pane: PaneId,
    part: Capture,
    joined: String,
    width: usize,
    /// How many rows it is.
    rows: i64,
    /// The number of the first.
    top: i64,
}

impl Text {
    async fn read(
        cx: &Cx,
        row: &PaneRow,
        scrollback: Scrollback,
    ) -> Result<Self, tmux_control::Error> {
        let start = scrollback.start(row.pane.process_state);
        let part = Capture { start, end: None, join: true, colors: false };
        let pane = row.pane.id;
        let ask = vec![Server::row_query::<Facts>(&pane.to_string()), part.of(pane)];
        let mut replies = cx.tmux().sequence(ask).await?.into_iter().map(|reply| reply.0);
        let mut facts = replies.next().unwrap_or_default();
        let mut text = replies.next().unwrap_or_default();
        if text.is_empty() {
            // A tmux of its own prints all answers as one.
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
        let facts = Facts::parse_one("display-message", facts)?;
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

    /// Reads it again, with the rows in which its lines begin.
    async fn again(&self, cx: &Cx) -> Result<(Self, Vec<usize>), tmux_control::Error> {
        let Self { pane, part, .. } = *self;
        let version = cx.tmux().version().await?;
        let facts = Server::row_query::<Facts>(&pane.to_string());
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

/// What was found in one pane.
struct PaneFound {
    count: usize,
    matches: Vec<Match>,
    /// Whether a line was too long.
    cut: bool,
}

/// Finds the lines that match, and in which rows they begin. `None` if the pane has gone.
async fn search(
    cx: &Cx,
    text: Text,
    pattern: &Pattern,
    wanted: &Range<usize>,
) -> Result<Option<PaneFound>, ToolError> {
    let seen = without_trailing_blanks(&text.joined);
    let found = pattern.find(&seen, wanted);
    if found.lines.is_empty() {
        return Ok(Some(show(&seen, found, 0, &[])));
    }
    // Counted are the fewest rows that each can take: if all together take no more, each does not.
    let (starts, rows) = counted_rows(&text.joined, text.width);
    if i64::try_from(rows).is_ok_and(|rows| rows == text.rows) {
        return Ok(Some(show(&seen, found, text.top, &starts)));
    }
    let Some((text, starts)) = there(text.again(cx).await)? else {
        return Ok(None);
    };
    let seen = without_trailing_blanks(&text.joined);
    Ok(Some(show(&seen, pattern.find(&seen, wanted), text.top, &starts)))
}

/// The lines as they are shown, numbered from the row `top` on.
fn show(text: &str, found: Found, top: i64, starts: &[usize]) -> PaneFound {
    let mut cut = false;
    let matches = found
        .lines
        .into_iter()
        .map(|line| {
            let row = starts.get(line.index).copied().unwrap_or(line.index);
            let whole = text.get(line.place.clone()).unwrap_or_default();
            let shown = shorten(whole, line.hit.start.saturating_sub(line.place.start));
            cut |= shown.len() != whole.len();
            Match { line: top.saturating_add_unsigned(row as u64), text: shown }
        })
        .collect();
    PaneFound { count: found.count, matches, cut }
}

/// A long line around where it matches.
fn shorten(line: &str, hit: usize) -> String {
    if line.chars().nth(LONGEST).is_none() {
        return line.to_owned();
    }
    let skipped = line.get(..hit).map_or(0, |before| before.chars().count()).saturating_sub(100);
    let mut shown: String = line.chars().skip(skipped).take(LONGEST).collect();
    if skipped > 0 {
        shown.insert(0, '…');
    }
    if line.chars().nth(skipped + LONGEST).is_some() {
        shown.push('…');
    }
    shown
}
