//! `search_buffer`: searches text in paste buffers of any size.

use std::ops::{ControlFlow, Range};
use std::time::Duration;

use schemars::JsonSchema;
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::Instant;

use crate::buffer_search::{BufferPattern, BufferSearch, Extract, Hit, HitList};
use crate::context::{Cx, Tool, buffer_failed, no_buffer};
use crate::contract::{BufferName, Form, Group, Load, Meta, Output, Tier, ToolError};
use crate::host::PasteBuffer;
use crate::results::words::{FactRow, count, field};
use terminal::text::clean;

/// Bytes that one call searches; then it answers with a cursor.
const MAX_SEARCHED_BYTES: u64 = 64 * 1024 * 1024;

/// Time that one call searches; then it answers with a cursor.
const MAX_SEARCH_TIME: Duration = Duration::from_secs(5);

/// Matches shown by default.
const DEFAULT_MATCHES: usize = 20;

/// Limit of the argument `limit`.
const MAX_MATCHES: usize = 1000;

/// Bytes searched on each side of `near` by default, and shown around a match at most.
const CONTEXT_BYTES: u64 = 4096;

pub(super) struct SearchBuffer;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Text to find.
    pattern: String,
    /// Treat `pattern` as a regex.
    regex: Option<bool>,
    /// Fuzzy match, best first.
    fuzzy: Option<bool>,
    /// Match case.
    case: Option<bool>,
    /// Buffers to search (default all).
    #[schemars(with = "Option<Vec<String>>", extend("x-clear" = true))]
    buffers: Option<Vec<BufferName>>,
    /// Bytes to show around a match, or to search around `near` (default 4096).
    context: Option<u64>,
    /// Search only around this match id or byte offset.
    #[schemars(with = "Option<String>", extend("x-clear" = true))]
    near: Option<BufferPosition>,
    /// Maximum matches shown (default 20).
    limit: Option<usize>,
    /// Cursor from an earlier answer.
    #[schemars(with = "Option<String>", extend("x-clear" = true))]
    cursor: Option<BufferPosition>,
}

/// A byte offset in a named buffer, or in the only one.
#[derive(Clone)]
struct BufferPosition {
    name: Option<BufferName>,
    offset: u64,
}

impl<'de> Deserialize<'de> for BufferPosition {
    /// Reads `notes@120`, `120`, or a JSON number.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let position = match &value {
            Value::Number(number) => number.as_u64().map(|offset| Self { name: None, offset }),
            Value::String(text) => {
                let (name, offset) = match text.rsplit_once('@') {
                    Some((name, offset)) => (Some(BufferName(name.to_owned())), offset),
                    None => (None, text.as_str()),
                };
                offset.parse().ok().map(|offset| Self { name, offset })
            }
            _ => None,
        };
        position
            .ok_or_else(|| D::Error::custom(format!("{value} is not a position such as notes@120")))
    }
}

#[derive(Serialize, JsonSchema)]
pub(super) struct BufferMatches {
    /// The first matches; of a fuzzy search, the best.
    matches: Vec<BufferMatch>,
    /// Number of matching lines of a fuzzy search.
    total: Option<u64>,
    /// Bytes searched.
    searched: u64,
    /// Cursor with which the next call continues the search.
    cursor: Option<String>,
    /// Whether matches are left out, or the search is not complete.
    truncated: bool,
    /// Number of buffers in the search.
    #[serde(skip)]
    buffers: usize,
}

#[derive(Serialize, JsonSchema)]
struct BufferMatch {
    /// Id for `near`: buffer name and offset.
    id: String,
    /// Full name of the buffer.
    name: String,
    /// Byte offset in the buffer.
    offset: u64,
    /// Length in bytes.
    length: u64,
    /// Line number, from 1.
    line: u64,
    /// Score of a fuzzy match.
    score: Option<u32>,
    /// The line, or the text around the match.
    text: String,
}

impl BufferMatch {
    fn new(hit: Hit, buffer: &PasteBuffer) -> Self {
        let Hit { offset, length, line, score, text, .. } = hit;
        let id = format!("{}@{offset}", buffer.short_name());
        Self { id, name: buffer.row.name.clone(), offset, length, line, score, text }
    }

    /// The match as a row with its text. Several lines of text are indented, so that none can be read
    /// as the row of another match.
    fn row(&self) -> String {
        let facts = FactRow::new(field(&self.id))
            .fact(count(self.length, "byte"))
            .maybe(self.score.map(|score| format!("score {score}")))
            .fact(format!("line {}", self.line));
        let text = clean(&self.text, false);
        let text = match text.contains('\n') {
            true => format!("\n  {}", text.replace('\n', "\n  ")),
            false => format!(" {text}"),
        };
        format!("{}:{text}", String::from(facts))
    }
}

impl Output for BufferMatches {
    const FORM: Form = Form::Text;

    fn text(&self) -> String {
        let shown = self.matches.len() as u64;
        let matches = match self.total {
            Some(total) if total > shown => format!("the best {shown} of {total} matching lines"),
            Some(total) => count(total, "matching line"),
            None if shown == 1 => "1 match".to_owned(),
            None => format!("{shown} matches"),
        };
        let cursor = self.cursor.as_ref();
        let facts = FactRow::new(format!("{matches} in {}", count(self.buffers as u64, "buffer")))
            .fact(format!("{} searched", count(self.searched, "byte")))
            .maybe(cursor.map(|cursor| format!("continue with cursor {}", field(cursor))));
        let mut text = String::from(facts);
        for found in &self.matches {
            text.push_str(&format!("\n{}", found.row()));
        }
        text
    }

    fn limit(&mut self, max: usize) {
        let mut left = max;
        let fits = self.matches.iter().enumerate().take_while(|(index, found)| {
            let size = found.row().chars().count() + 1;
            let fits = *index == 0 || size <= left;
            left = left.saturating_sub(size);
            fits
        });
        let fits = fits.count();
        if let Some(first) = self.matches.get(fits)
            && self.total.is_none()
        {
            self.cursor = Some(format!("{}@{}", first.name, first.offset));
        }
        self.truncated |= fits < self.matches.len() || self.cursor.is_some();
        self.matches.truncate(fits);
    }
}

impl Tool for SearchBuffer {
    const META: Meta = Meta {
        name: "search_buffer",
        title: "Search buffers",
        description: "Search text (grep) in paste buffers. Each match has a line number and an id to search near.",
        group: Group::Buffer,
        tier: Tier::Read,
        sets: &[],
        idempotent: true,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = BufferMatches;

    async fn call(cx: &Cx, args: Args) -> Result<BufferMatches, ToolError> {
        let mut pattern = pattern(&args)?;
        let limit = args.limit.unwrap_or(DEFAULT_MATCHES);
        if !(1..=MAX_MATCHES).contains(&limit) {
            return Err(ToolError::invalid_argument(format!(
                "`limit`: {limit} is not from 1 to {MAX_MATCHES}"
            ))
            .hint("leave `limit` out for 20 matches"));
        }
        let fuzzy = pattern.is_fuzzy();
        let mut scope = SearchScope::of(cx, &args).await?;
        let mut found = HitList::new(limit, fuzzy);
        let (mut cursor, searched) = scope.search(cx, &mut pattern, &mut found).await?;
        let total = fuzzy.then_some(found.total());
        let (mut hits, more) = found.into_hits();
        if let Some(more) = more
            && let Some(buffer) = scope.buffers.get(more.buffer)
        {
            cursor = Some(format!("{}@{}", buffer.row.name, more.offset));
        }
        if let (Some(context), None) = (args.context, &args.near) {
            scope.show_around(cx, context.min(CONTEXT_BYTES), &mut hits).await?;
        }
        let truncated = cursor.is_some() || total > Some(hits.len() as u64);
        let matches = hits.into_iter().filter_map(|hit| {
            let buffer = scope.buffers.get(hit.buffer)?;
            Some(BufferMatch::new(hit, buffer))
        });
        let (matches, buffers) = (matches.collect(), scope.buffers.len());
        Ok(BufferMatches { matches, total, searched, cursor, truncated, buffers })
    }
}

fn pattern(args: &Args) -> Result<BufferPattern, ToolError> {
    let case = args.case.unwrap_or(false);
    let regex = args.regex.unwrap_or(false);
    match args.fuzzy.unwrap_or(false) {
        true if regex => Err(ToolError::invalid_argument("`regex` and `fuzzy` are both given")
            .hint("give only one of them")),
        true => BufferPattern::fuzzy(&args.pattern, case),
        false => BufferPattern::exact(&args.pattern, regex, case),
    }
}

/// The buffers and the byte range to search.
struct SearchScope {
    buffers: Vec<PasteBuffer>,
    /// Whether the call names them: then a missing buffer is an error.
    named: bool,
    /// Index of the first buffer to search.
    first: usize,
    /// Offsets at which a match may begin; the start is in the first buffer.
    range: Range<u64>,
}

impl SearchScope {
    async fn of(cx: &Cx, args: &Args) -> Result<Self, ToolError> {
        let near_name = args.near.as_ref().and_then(|near| near.name.clone());
        let names = near_name.map(|name| vec![name]).or_else(|| args.buffers.clone());
        let mut buffers = Vec::new();
        match &names {
            Some(names) => {
                for name in names {
                    buffers.push(cx.buffer(name).await?);
                }
            }
            None => buffers = cx.buffers().await?,
        }
        // A fixed order, so that a cursor can continue the search.
        buffers.sort_by(|a, b| a.row.name.cmp(&b.row.name));
        buffers.dedup_by(|a, b| a.row.name == b.row.name);
        let mut scope = Self { buffers, named: names.is_some(), first: 0, range: 0..u64::MAX };
        if let Some(near) = &args.near {
            scope.limit_to(near.offset, args.context.unwrap_or(CONTEXT_BYTES))?;
        }
        if let Some(cursor) = &args.cursor {
            scope.continue_at(cursor)?;
        }
        Ok(scope)
    }

    fn limit_to(&mut self, offset: u64, context: u64) -> Result<(), ToolError> {
        let [buffer] = self.buffers.as_slice() else {
            return Err(ToolError::invalid_argument(format!(
                "`near`: {offset} could be in any of {} buffers",
                self.buffers.len()
            ))
            .hint("give a match id such as notes@120, or one name in `buffers`"));
        };
        within(buffer, "near", offset)?;
        self.range = offset.saturating_sub(context)..offset.saturating_add(context);
        Ok(())
    }

    fn continue_at(&mut self, cursor: &BufferPosition) -> Result<(), ToolError> {
        let name = cursor.name.as_ref().map_or("", |name| &name.0);
        let is_it = |buffer: &PasteBuffer| buffer.row.name == name || buffer.short_name() == name;
        self.first = self.buffers.iter().position(is_it).ok_or_else(|| {
            no_buffer(name).hint("the buffer of `cursor` is gone; search again without `cursor`")
        })?;
        if let Some(buffer) = self.buffers.get(self.first) {
            within(buffer, "cursor", cursor.offset)?;
        }
        self.range.start = self.range.start.max(cursor.offset);
        Ok(())
    }

    /// Searches until the list is full, all buffers are searched, or a limit is reached. Returns the
    /// cursor in the last case, and the number of bytes searched.
    async fn search(
        &mut self,
        cx: &Cx,
        pattern: &mut BufferPattern,
        found: &mut HitList,
    ) -> Result<(Option<String>, u64), ToolError> {
        let until = Instant::now() + MAX_SEARCH_TIME;
        let mut searched = 0;
        for (index, buffer) in self.buffers.iter().enumerate().skip(self.first) {
            let name = &buffer.row.name;
            let range = if index == self.first { self.range.clone() } else { 0..self.range.end };
            let start = range.start;
            let mut search = BufferSearch::new(pattern, range, found, index);
            let mut reader = cx.read_masked_buffer(name).await?;
            let ended = loop {
                let piece = match reader.next().await {
                    // The buffer was deleted while others were searched.
                    Err(error) if error.is_not_found() && !self.named => break search.finish(),
                    other => other.map_err(|error| buffer_failed(name, error))?,
                };
                let Some(piece) = piece else { break search.finish() };
                if search.push(piece).is_break() {
                    break ControlFlow::Break(());
                }
                let position = search.position();
                let done = searched + position.saturating_sub(start);
                if position > start && (done >= MAX_SEARCHED_BYTES || Instant::now() >= until) {
                    return Ok((Some(format!("{name}@{position}")), done));
                }
            };
            searched += search.position().saturating_sub(start);
            if ended.is_break() {
                break;
            }
        }
        Ok((None, searched))
    }

    /// Replaces the text of each match with the bytes around it.
    async fn show_around(&self, cx: &Cx, context: u64, hits: &mut [Hit]) -> Result<(), ToolError> {
        for (index, buffer) in self.buffers.iter().enumerate() {
            let mut here: Vec<&mut Hit> =
                hits.iter_mut().filter(|hit| hit.buffer == index).collect();
            if here.is_empty() {
                continue;
            }
            let around = |hit: &&mut Hit| {
                hit.offset.saturating_sub(context)..hit.offset + hit.length + context
            };
            let mut extract = Extract::new(here.iter().map(around).collect());
            let lost = |error| buffer_failed(&buffer.row.name, error);
            let mut reader = cx.read_masked_buffer(&buffer.row.name).await.map_err(lost)?;
            while let Some(piece) = reader.next().await.map_err(lost)? {
                if extract.push(piece).is_break() {
                    break;
                }
            }
            for (hit, part) in here.iter_mut().zip(extract.into_parts()) {
                hit.text = String::from_utf8_lossy(&part).into_owned();
            }
        }
        Ok(())
    }
}

/// Refuses an offset past the end of its buffer, which may have changed.
fn within(buffer: &PasteBuffer, argument: &str, offset: u64) -> Result<(), ToolError> {
    let bytes = buffer.row.bytes;
    if offset > bytes {
        return Err(ToolError::invalid_argument(format!(
            "`{argument}`: {offset} is past the end of `{}`, which has {bytes} bytes",
            buffer.short_name()
        ))
        .hint(format!("the buffer may have changed; search it again without `{argument}`")));
    }
    Ok(())
}
