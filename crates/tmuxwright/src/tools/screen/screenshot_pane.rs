//! `screenshot_pane`: a picture of a pane's screen as PNG, SVG or HTML.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::capture::Capture;
use tmux_control::{PaneId, Row, Server, TmuxReply, row};

use crate::context::files::AtomicFile;
use crate::context::{Cx, SecretFinder, Tool};
#[cfg(feature = "files")]
use crate::contract::FilePath;
use crate::contract::{Form, Group, Image, Load, Meta, Output, Target, Tier, ToolError};
use crate::results::words::{FactRow, field};
use picture::{CursorShape, Picture, ScreenCapture, ScreenCursor};
use terminal::text::clean;

pub(super) struct ScreenshotPane;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Pane, such as %3.
    target: Target,
    /// Picture format (default png, or as `path` ends).
    format: Option<PictureFormat>,
    /// Colour theme (default dark).
    theme: Option<ThemeName>,
    #[cfg(feature = "files")]
    /// Local file to write instead of returning the picture.
    path: Option<FilePath>,
}

impl Args {
    #[cfg(feature = "files")]
    async fn file(&self, cx: &Cx) -> Result<Option<PathBuf>, ToolError> {
        match &self.path {
            Some(path) => cx.file_to_write(path, "path").await.map(Some),
            None => Ok(None),
        }
    }

    #[cfg(not(feature = "files"))]
    async fn file(&self, _: &Cx) -> Result<Option<PathBuf>, ToolError> {
        Ok(None)
    }
}

#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(description = "")]
pub(super) enum ThemeName {
    #[default]
    Dark,
    Light,
}

impl From<ThemeName> for picture::Theme {
    fn from(name: ThemeName) -> Self {
        match name {
            ThemeName::Dark => Self::Dark,
            ThemeName::Light => Self::Light,
        }
    }
}

#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    JsonSchema,
    strum::Display,
    strum::EnumString,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", ascii_case_insensitive)]
pub(super) enum PictureFormat {
    Png,
    Svg,
    Html,
}

impl PictureFormat {
    /// The format that a file's extension names.
    fn of(path: &Path) -> Option<Self> {
        path.extension()?.to_str()?.parse().ok()
    }
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Screenshot {
    /// Pane id.
    pane_id: String,
    /// Format of the picture.
    format: PictureFormat,
    /// File that was written.
    path: String,
    /// Width in pixels.
    width: u32,
    /// Height in pixels.
    height: u32,
    /// Width of the pane in columns.
    columns: u32,
    /// Height of the pane in rows.
    rows: u32,
    /// Size of the picture's file in bytes.
    bytes: usize,
    /// Mode of the pane, such as copy-mode; the picture shows the screen behind it.
    mode: String,
    /// Details that may be missing because tmux does not report them.
    missing: String,
    /// The picture as text, unless it is a PNG or was written to a file.
    text: String,
    #[serde(skip)]
    png: Option<Vec<u8>>,
    /// Number of secrets that are covered in the picture.
    #[serde(skip)]
    covered: usize,
}

row! {
    ScreenFacts {
        pane: PaneId = "pane_id",
        columns: u32 = "pane_width",
        rows: u32 = "pane_height",
        cursor_x: u32 = "cursor_x",
        cursor_y: u32 = "cursor_y",
        cursor: bool = "cursor_flag",
        cursor_shape: String = "cursor_shape",
        // Without a pane, tmux 3.2a crashes on these two.
        fg: String = "?pane_id,#{pane_fg},",
        bg: String = "?pane_id,#{pane_bg},",
        tabs: String = "pane_tabs",
    }
}

impl ScreenFacts {
    /// The cursor, if the pane shows one. Old versions do not report its shape.
    fn cursor(&self) -> Option<ScreenCursor> {
        let shape = match self.cursor_shape.as_str() {
            "underline" => CursorShape::Underline,
            "bar" => CursorShape::Bar,
            _ => CursorShape::Block,
        };
        self.cursor.then_some(ScreenCursor { x: self.cursor_x, y: self.cursor_y, shape })
    }
}

impl Output for Screenshot {
    const FORM: Form = Form::Text;

    fn text(&self) -> String {
        let Self { pane_id, format, width, height, columns, rows, bytes, path, mode, .. } = self;
        let behind = || format!("the pane is in {}, the picture shows the screen", field(mode));
        let facts = FactRow::new(pane_id)
            .fact(format!("{columns}x{rows}"))
            .fact(format.to_string())
            .fact(format!("{width}x{height} pixels"))
            .fact(format!("{bytes} bytes"))
            .maybe((!path.is_empty()).then(|| format!("path {}", field(path))))
            .maybe((!self.missing.is_empty()).then_some(&self.missing))
            .maybe((!mode.is_empty()).then(behind));
        let facts = String::from(facts);
        if self.text.is_empty() { facts } else { format!("{facts}\n{}", self.text) }
    }

    fn fits(&self, max: usize) -> Result<(), ToolError> {
        let length = self.text.chars().count();
        if length <= max {
            return Ok(());
        }
        let format = self.format;
        Err(ToolError::invalid_argument(format!(
            "the {format} has {length} characters, more than the {max} an answer may have"
        ))
        .hint("give `path` to write it to a file, or use format png"))
    }

    fn redacted(&self) -> usize {
        self.covered
    }

    fn images(&mut self) -> Vec<Image> {
        self.png.take().into_iter().map(|bytes| Image { mime: "image/png", bytes }).collect()
    }
}

impl Tool for ScreenshotPane {
    const META: Meta = Meta {
        name: "screenshot_pane",
        title: "Screenshot pane",
        description: "Take a screenshot of a pane with colours and cursor: a PNG image, or SVG or HTML text.",
        group: Group::Screen,
        tier: Tier::Read,
        sets: &[],
        idempotent: true,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = Screenshot;

    async fn call(cx: &Cx, args: Args) -> Result<Screenshot, ToolError> {
        let path = args.file(cx).await?;
        let named = path.as_deref().and_then(PictureFormat::of);
        let format = args.format.or(named).unwrap_or(PictureFormat::Png);
        let theme = args.theme.unwrap_or_default().into();
        let part = Capture { start: None, end: None, join: false, colors: true };
        let queries = |pane: PaneId| {
            [Server::row_query::<ScreenFacts>(&pane.to_string()), part.cells_of(pane)]
        };
        let (pane, replies) = cx.pane_with(&args.target, queries).await?;
        let [facts, text] = <[TmuxReply; 2]>::try_from(replies).map_err(|_| {
            ToolError::internal("tmux answered two queries with another number of replies")
        })?;
        let facts = ScreenFacts::parse_one("display-message", &facts.0)?;
        let version = cx.tmux().version().await?;
        let wide_emoji = version.widens_emoji();
        let (above, find) = match cx.secret_finder() {
            Some(find) => (cx.rows_above(pane.pane).await?, Some(find)),
            None => (String::new(), None),
        };
        let job = PaintJob { facts, text: text.0, above, find, wide_emoji, format, theme };
        // Painting takes milliseconds of CPU time, which would block other calls.
        let painted = tokio::task::spawn_blocking(|| paint(job));
        let (mut shot, picture) = painted
            .await
            .map_err(|error| ToolError::internal(format!("painting failed: {error}")))??;
        match (path, format) {
            (Some(path), _) => {
                shot.path = path.display().to_string();
                AtomicFile::create(path).await?.write(picture).await?.commit().await?;
            }
            (None, PictureFormat::Png) => shot.png = Some(picture),
            (None, PictureFormat::Svg | PictureFormat::Html) => {
                shot.text = String::from_utf8_lossy(&picture).into_owned();
            }
        }
        let missing = match version.captures_no_erased_cells() {
            true => format!("tmux {version} does not report colours behind erased text"),
            false => String::new(),
        };
        Ok(Screenshot { mode: pane.mode, missing, ..shot })
    }
}

/// Everything that painting a picture needs.
struct PaintJob {
    facts: ScreenFacts,
    text: Vec<u8>,
    /// Rows above the screen, in which a secret may begin.
    above: String,
    /// Finds the secrets to cover, if they are redacted.
    find: Option<SecretFinder>,
    wide_emoji: bool,
    format: PictureFormat,
    theme: picture::Theme,
}

/// Paints a picture. Returns the facts about it, and its bytes.
fn paint(job: PaintJob) -> Result<(Screenshot, Vec<u8>), ToolError> {
    let PaintJob { facts, above, find, format, theme, .. } = job;
    let screen = ScreenCapture {
        text: &job.text,
        columns: facts.columns,
        rows: facts.rows,
        cursor: facts.cursor(),
        tabs: &facts.tabs,
        wide_emoji: job.wide_emoji,
        fg: &facts.fg,
        bg: &facts.bg,
    };
    let mut picture = Picture::new(&screen, theme);
    let covered = find.map_or(0, |find| picture.cover(&above, find));
    let (width, height) = picture.size();
    let file = match format {
        PictureFormat::Png => picture
            .png()
            .map_err(|error| ToolError::internal(format!("painting failed: {error}")))?,
        PictureFormat::Svg => clean(&picture.svg(), false).into_bytes(),
        PictureFormat::Html => clean(&picture.html(), false).into_bytes(),
    };
    let shot = Screenshot {
        pane_id: facts.pane.to_string(),
        format,
        path: String::new(),
        width,
        height,
        columns: facts.columns,
        rows: facts.rows,
        bytes: file.len(),
        mode: String::new(),
        missing: String::new(),
        text: String::new(),
        png: None,
        covered,
    };
    Ok((shot, file))
}
