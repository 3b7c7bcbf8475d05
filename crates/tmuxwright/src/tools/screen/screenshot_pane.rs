//! `screenshot_pane`: a picture of what a pane shows.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::capture::Capture;
use tmux_control::{PaneId, Reply, Row, Server, row};

use crate::context::files::AtomicFile;
use crate::context::{Cx, Tool};
#[cfg(feature = "files")]
use crate::contract::FilePath;
use crate::contract::{Form, Group, Image, Load, Meta, Output, Target, Tier, ToolError};
use picture::{Cursor, CursorShape, Picture, Screen};
use terminal::text::{clean, inline};

pub(super) struct ScreenshotPane;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Pane.
    target: Target,
    /// Default png.
    format: Option<Format>,
    /// Default dark.
    theme: Option<ThemeName>,
    #[cfg(feature = "files")]
    /// Write it to this file instead.
    path: Option<FilePath>,
}

impl Args {
    #[cfg(feature = "files")]
    fn file(&self, cx: &Cx) -> Result<Option<PathBuf>, ToolError> {
        self.path.as_ref().map(|path| cx.file_to_write(path, "path")).transpose()
    }

    #[cfg(not(feature = "files"))]
    fn file(&self, _: &Cx) -> Result<Option<PathBuf>, ToolError> {
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Format {
    Png,
    Svg,
    Html,
}

impl Format {
    fn name(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Svg => "svg",
            Self::Html => "html",
        }
    }

    /// The format that the name of a file stands for.
    fn of(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        [Self::Png, Self::Svg, Self::Html].into_iter().find(|format| format.name() == ending)
    }
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Screenshot {
    /// The pane.
    pane_id: String,
    /// The kind of picture.
    format: Format,
    /// The file it was written to.
    path: String,
    /// Its width in pixels.
    width: u32,
    /// Its height in pixels.
    height: u32,
    /// The pane's width.
    columns: u32,
    /// The pane's height.
    rows: u32,
    /// The size of the picture's file.
    bytes: usize,
    /// The mode the pane is in, such as copy-mode; the picture is of the screen behind it.
    mode: String,
    /// What may be missing in it because tmux does not tell.
    missing: String,
    /// The picture itself, unless it is a PNG or was written to a file.
    text: String,
    #[serde(skip)]
    png: Option<Vec<u8>>,
}

row! {
    Facts {
        pane: PaneId = "pane_id",
        columns: u32 = "pane_width",
        rows: u32 = "pane_height",
        cursor_x: u32 = "cursor_x",
        cursor_y: u32 = "cursor_y",
        cursor: bool = "cursor_flag",
        cursor_shape: String = "cursor_shape",
        // tmux 3.2a dies of these two where there is no pane.
        fg: String = "?pane_id,#{pane_fg},",
        bg: String = "?pane_id,#{pane_bg},",
        tabs: String = "pane_tabs",
    }
}

impl Facts {
    /// The cursor, if the pane shows one. Old versions do not tell its shape.
    fn cursor(&self) -> Option<Cursor> {
        let shape = match self.cursor_shape.as_str() {
            "underline" => CursorShape::Underline,
            "bar" => CursorShape::Bar,
            _ => CursorShape::Block,
        };
        self.cursor.then_some(Cursor { x: self.cursor_x, y: self.cursor_y, shape })
    }
}

impl Output for Screenshot {
    const FORM: Form = Form::Text;

    fn text(&self) -> String {
        if !self.text.is_empty() {
            return self.text.clone();
        }
        let Self { pane_id, width, height, columns, rows, bytes, path, mode, .. } = self;
        let format = self.format.name();
        let mut facts = format!(
            "{pane_id} · {columns}x{rows} · {format} · {width}x{height} pixels · {bytes} bytes"
        );
        if !path.is_empty() {
            facts.push_str(&format!(" · {}", inline(path)));
        }
        if !self.missing.is_empty() {
            facts.push_str(&format!(" · {}", self.missing));
        }
        if !mode.is_empty() {
            facts.push_str(&format!(" · the pane is in {}, this is behind it", inline(mode)));
        }
        facts
    }

    fn fits(&self, max: usize) -> Result<(), ToolError> {
        let length = self.text.chars().count();
        if length <= max {
            return Ok(());
        }
        let format = self.format.name();
        Err(ToolError::invalid_argument(format!(
            "the {format} has {length} characters, which is more than the {max} an answer may have"
        ))
        .hint("give `path` to have it written to a file, or take a png"))
    }

    fn images(&mut self) -> Vec<Image> {
        self.png.take().into_iter().map(|bytes| Image { mime: "image/png", bytes }).collect()
    }
}

impl Tool for ScreenshotPane {
    const META: Meta = Meta {
        name: "screenshot_pane",
        title: "Screenshot pane",
        description: "A picture of a pane's screen, with colours and cursor: an image to look at, \
                      or SVG or HTML as text.",
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
        let path = args.file(cx)?;
        let named = path.as_deref().and_then(Format::of);
        let format = args.format.or(named).unwrap_or(Format::Png);
        let theme = args.theme.unwrap_or_default().into();
        let part = Capture { start: None, end: None, join: false, colors: true };
        let queries =
            |pane: PaneId| [Server::row_query::<Facts>(&pane.to_string()), part.cells_of(pane)];
        let (pane, replies) = cx.pane_with(&args.target, queries).await?;
        let [facts, text] = <[Reply; 2]>::try_from(replies)
            .map_err(|_| ToolError::internal("two questions had another number of answers"))?;
        let facts = Facts::parse_one("display-message", &facts.0)?;
        let version = cx.tmux().version().await?;
        let wide_emoji = version.widens_emoji();
        let job = Job { facts, text: text.0, wide_emoji, format, theme, path };
        // Painting takes a while, in which others want to be served.
        let painted = tokio::task::spawn_blocking(|| paint(job));
        let shot = painted
            .await
            .map_err(|error| ToolError::internal(format!("no picture: {error}")))??;
        let missing = match version.captures_no_erased_cells() {
            true => format!("tmux {version} does not tell colours behind erased text"),
            false => String::new(),
        };
        Ok(Screenshot { mode: pane.mode, missing, ..shot })
    }
}

/// A picture to be painted.
struct Job {
    facts: Facts,
    text: Vec<u8>,
    wide_emoji: bool,
    format: Format,
    theme: picture::Theme,
    path: Option<PathBuf>,
}

fn paint(job: Job) -> Result<Screenshot, ToolError> {
    let Job { facts, format, theme, path, .. } = job;
    let screen = Screen {
        text: &job.text,
        columns: facts.columns,
        rows: facts.rows,
        cursor: facts.cursor(),
        tabs: &facts.tabs,
        wide_emoji: job.wide_emoji,
        fg: &facts.fg,
        bg: &facts.bg,
    };
    let picture = Picture::new(&screen, theme);
    let (width, height) = picture.size();
    let file = match format {
        Format::Png => {
            picture.png().map_err(|error| ToolError::internal(format!("no picture: {error}")))?
        }
        Format::Svg => clean(&picture.svg(), false).into_bytes(),
        Format::Html => clean(&picture.html(), false).into_bytes(),
    };
    let mut shot = Screenshot {
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
    };
    match (path, format) {
        (Some(path), _) => {
            let mut draft = AtomicFile::create(&path)?;
            draft.write(&file)?;
            draft.commit()?;
            shot.path = path.display().to_string();
        }
        (None, Format::Png) => shot.png = Some(file),
        (None, Format::Svg | Format::Html) => {
            shot.text = String::from_utf8_lossy(&file).into_owned();
        }
    }
    Ok(shot)
}
