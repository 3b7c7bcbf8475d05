//! `search_buffer`: finds text in paste buffers, however large.

use std::ops::{ControlFlow, Range};
use std::time::Duration;

use schemars::JsonSchema;
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::Instant;

use crate::buffer_search::{Extract, Found, Hit, Pattern, Search};
use crate::context::{Cx, Tool, buffer_failed, no_buffer};
use crate::contract::{BufferName, Form, Group, Load, Meta, Output, Tier, ToolError};
use crate::host::PasteBuffer;
use crate::results::words::count;
use terminal::text::inline;

/// How much one call searches, and for how long; then it says where to go on.
const BYTES: u64 = 64 * 1024 * 1024;
const TIME: Duration = Duration::from_secs(5);

/// How many matches are shown, and how many can be asked for.
const USUAL: usize = 20;
const MOST: usize = 1000;

/// How far around an earlier match is searched, and the most that is shown around one.
const NEAR: u64 = 4096;

pub(super) struct SearchBuffer;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Text to find.
    pattern: String,
    /// Whether it is a regex.
    regex: Option<bool>,
    /// Whether about right will do; best lines first.
    fuzzy: Option<bool>,
    /// Whether case counts.
    case: Option<bool>,
    /// Default all.
    #[schemars(with = "Option<Vec<String>>", extend("x-clear" = true))]
    buffers: Option<Vec<BufferName>>,
    /// Bytes to show around a match, or to search around `near` (default 4096).
    context: Option<u64>,
    /// Only around this match id or byte.
    #[schemars(with = "Option<String>", extend("x-clear" = true))]
    near: Option<Place>,
    /// Default 20.
    limit: Option<usize>,
    /// From an earlier call.
    #[schemars(with = "Option<String>", extend("x-clear" = true))]
    cursor: Option<Place>,
}

/// A place in a buffer, or in the only one.
#[derive(Clone)]
struct Place {
    name: Option<BufferName>,
    offset: u64,
}

impl<'de> Deserialize<'de> for Place {
    /// `notes@120`, `120` or the number itself.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let place = match &value {
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
        place.ok_or_else(|| D::Error::custom(format!("{value} is no place such as notes@120")))
    }
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Matches {
    /// The first, or the best.
    matches: Vec<Match>,
    /// How many lines fit, of which the best are shown.
    total: Option<u64>,
    /// How many bytes were searched.
    searched: u64,
    /// How to go on.
    cursor: Option<String>,
    /// Whether some are left out.
    truncated: bool,
    #[serde(skip)]
    buffers: usize,
}

#[derive(Serialize, JsonSchema)]
struct Match {
    /// What names it in another call.
    id: String,
    /// The buffer.
    name: String,
    /// Where it begins.
    offset: u64,
    /// How many bytes it is long.
    length: u64,
    /// Its line, from 1.
    line: u64,
    /// How well it fits.
    score: Option<u32>,
    /// The line, or what is around the match.
    text: String,
}

impl Match {
    fn new(hit: Hit, buffer: &PasteBuffer) -> Self {
        let Hit { offset, length, line, score, text, .. } = hit;
        let id = format!("{}@{offset}", buffer.short_name());
        Self { id, name: buffer.row.name.clone(), offset, length, line, score, text }
    }

    fn row(&self) -> String {
        let Self { id, line, text, .. } = self;
        let score = self.score.map_or(String::new(), |score| format!(" · score {score}"));
        let gap = if text.contains('\n') { '\n' } else { ' ' };
        format!("{} · line {line}{score}:{gap}{text}", inline(id))
    }
}

impl Output for Matches {
    const FORM: Form = Form::Text;

    fn text(&self) -> String {
        let shown = self.matches.len() as u64;
        let mut text = match self.total {
            Some(total) if total > shown => format!("the best {shown} of {total} matching lines"),
            Some(total) => count(total, "matching line"),
            None => count(shown, "match").replace("matchs", "matches"),
        };
        let buffers = count(self.buffers as u64, "buffer");
        text.push_str(&format!(" in {buffers} · {} searched", count(self.searched, "byte")));
        if let Some(cursor) = &self.cursor {
            text.push_str(&format!(" · go on with cursor {}", inline(cursor)));
        }
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
        description: "Find text in paste buffers: byte offset, line, and an id to search near.",
        group: Group::Buffer,
        tier: Tier::Read,
        sets: &[],
        idempotent: true,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = Matches;

    async fn call(cx: &Cx, args: Args) -> Result<Matches, ToolError> {
        let mut pattern = pattern(&args)?;
        let limit = args.limit.unwrap_or(USUAL);
        if !(1..=MOST).contains(&limit) {
            return Err(ToolError::invalid_argument(format!(
                "`limit`: {limit} is not from 1 to {MOST}"
            ))
            .hint("leave it out for 20"));
        }
        let fuzzy = pattern.is_fuzzy();
        let mut scope = Scope::of(cx, &args).await?;
        let mut found = Found::new(limit, fuzzy);
        let (mut cursor, searched) = scope.search(cx, &mut pattern, &mut found).await?;
        let total = fuzzy.then_some(found.total());
        let (mut hits, more) = found.into_hits();
        if let Some(more) = more
            && let Some(buffer) = scope.buffers.get(more.buffer)
        {
            cursor = Some(format!("{}@{}", buffer.row.name, more.offset));
        }
        if let (Some(context), None) = (args.context, &args.near) {
            scope.show_around(cx, context.min(NEAR), &mut hits).await?;
        }
        let truncated = cursor.is_some() || total > Some(hits.len() as u64);
        let matches = hits.into_iter().filter_map(|hit| {
            let buffer = scope.buffers.get(hit.buffer)?;
            Some(Match::new(hit, buffer))
        });
        let matches = matches.collect();
        Ok(Matches { matches, total, searched, cursor, truncated, buffers: scope.buffers.len() })
    }
}

fn pattern(args: &Args) -> Result<Pattern, ToolError> {
    let case = args.case.unwrap_or(false);
    let regex = args.regex.unwrap_or(false);
    match args.fuzzy.unwrap_or(false) {
        true if regex => Err(ToolError::invalid_argument("`regex` and `fuzzy` are both given")
            .hint("give one of them")),
        true => Pattern::fuzzy(&args.pattern, case),
        false => Pattern::exact(&args.pattern, regex, case),
    }
}

/// Where to search.
struct Scope {
    buffers: Vec<PasteBuffer>,
    /// Whether they were named, and so must be there.
    named: bool,
    /// The first of them that is to be searched, and from where on.
    first: usize,
    range: Range<u64>,
}

impl Scope {
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
        // In an order that stays, so that a search can go on.
        buffers.sort_by(|a, b| a.row.name.cmp(&b.row.name));
        buffers.dedup_by(|a, b| a.row.name == b.row.name);
        let mut scope = Self { buffers, named: names.is_some(), first: 0, range: 0..u64::MAX };
        if let Some(near) = &args.near {
            scope.stay_near(near.offset, args.context.unwrap_or(NEAR))?;
        }
        if let Some(cursor) = &args.cursor {
            scope.go_on(cursor)?;
        }
        Ok(scope)
    }

    fn stay_near(&mut self, offset: u64, context: u64) -> Result<(), ToolError> {
        let [buffer] = self.buffers.as_slice() else {
            return Err(ToolError::invalid_argument(format!(
                "`near`: {offset} may be in any of {} buffers",
                self.buffers.len()
            ))
            .hint("give the id of a match, such as notes@120, or one name in `buffers`"));
        };
        within(buffer, "near", offset)?;
        self.range = offset.saturating_sub(context)..offset.saturating_add(context);
        Ok(())
    }

    fn go_on(&mut self, cursor: &Place) -> Result<(), ToolError> {
        let name = cursor.name.as_ref().map_or("", |name| &name.0);
        let is_it = |buffer: &PasteBuffer| buffer.row.name == name || buffer.short_name() == name;
        self.first = self.buffers.iter().position(is_it).ok_or_else(|| {
            no_buffer(name).hint("it was there for the search of `cursor`; search without it")
        })?;
        if let Some(buffer) = self.buffers.get(self.first) {
            within(buffer, "cursor", cursor.offset)?;
        }
        self.range.start = self.range.start.max(cursor.offset);
        Ok(())
    }

    /// Searches until there is enough, all is seen, or it has been long enough. Returns where to go
    /// on then, and how much was searched.
    async fn search(
        &mut self,
        cx: &Cx,
        pattern: &mut Pattern,
        found: &mut Found,
    ) -> Result<(Option<String>, u64), ToolError> {
        let until = Instant::now() + TIME;
        let mut searched = 0;
        for (index, buffer) in self.buffers.iter().enumerate().skip(self.first) {
            let name = &buffer.row.name;
            let range = if index == self.first { self.range.clone() } else { 0..self.range.end };
            let start = range.start;
            let mut search = Search::new(pattern, range, found, index);
            let mut reader = cx.tmux().read_buffer(name)?;
            let ended = loop {
                let piece = match reader.next().await {
                    // It went while others were searched.
                    Err(error) if error.is_not_found() && !self.named => break search.finish(),
                    other => other.map_err(|error| buffer_failed(name, error))?,
                };
                let Some(piece) = piece else { break search.finish() };
                if search.push(piece).is_break() {
                    break ControlFlow::Break(());
                }
                let position = search.position();
                let done = searched + position.saturating_sub(start);
                if position > start && (done >= BYTES || Instant::now() >= until) {
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

    /// Replaces the lines of matches by what is around these.
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
            let mut reader = cx.tmux().read_buffer(&buffer.row.name).map_err(lost)?;
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

/// A place must be in its buffer, which may have changed.
fn within(buffer: &PasteBuffer, argument: &str, offset: u64) -> Result<(), ToolError> {
    let bytes = buffer.row.bytes;
    if offset > bytes {
        return Err(ToolError::invalid_argument(format!(
            "`{argument}`: {offset} is behind the end of `{}`, which has {bytes} bytes",
            buffer.short_name()
        ))
        .hint("the buffer may have changed; search it anew"));
    }
    Ok(())
}
