//! `set_buffer`: makes, replaces or extends a paste buffer.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::buffer::BufferWriter;

use crate::context::{Cx, Tool, buffer_failed, buffer_label};
#[cfg(feature = "files")]
use crate::contract::FilePath;
use crate::contract::{BufferName, Form, Group, Load, Meta, Output, Tier, ToolError, file_failed};
use crate::host::none_without_server;
use crate::results::words::count;
use terminal::text::inline;

/// How much is written at once.
const PIECE: usize = 64 * 1024;

/// What a buffer is called that was given no name.
const NAMELESS: &str = "buf";

pub(super) struct SetBuffer;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Short name.
    name: Option<BufferName>,
    /// What to keep.
    text: Option<String>,
    #[cfg(feature = "files")]
    /// File to read instead.
    path: Option<FilePath>,
    /// Add to the end.
    append: Option<bool>,
}

impl Args {
    #[cfg(feature = "files")]
    fn file(&self, cx: &Cx) -> Result<Option<PathBuf>, ToolError> {
        self.path.as_ref().map(|path| cx.file_to_read(path, "path")).transpose()
    }

    #[cfg(not(feature = "files"))]
    fn file(&self, _: &Cx) -> Result<Option<PathBuf>, ToolError> {
        Ok(None)
    }
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Set {
    /// The buffer's whole name.
    name: String,
    /// How large it is now.
    bytes: u64,
    /// What else there is to say.
    note: Option<&'static str>,
}

/// On some versions an unnamed paste takes the newest buffer, and here it is the only one.
const NOTHING_ELSE: &str = "until a person copies something, their paste key pastes this";

impl Output for Set {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        let mut text = format!("{} · {}", inline(&self.name), count(self.bytes, "byte"));
        if let Some(note) = self.note {
            text.push_str(&format!(" · {note}"));
        }
        text
    }
}

impl Tool for SetBuffer {
    const META: Meta = Meta {
        name: "set_buffer",
        title: "Set buffer",
        description: "Keep text or a file in a paste buffer of this server's own. Gone when the server ends.",
        group: Group::Buffer,
        tier: Tier::Mutate,
        sets: &[],
        idempotent: false,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = Set;

    async fn call(cx: &Cx, args: Args) -> Result<Set, ToolError> {
        let file = args.file(cx)?;
        let source = Source::of(args.text, file)?;
        let _alone = cx.host.lock_buffer_names().await;
        let before = none_without_server(cx.tmux().buffers().await)?;
        let there = match &args.name {
            Some(name) => cx.buffer_if_any(name).await?,
            None => None,
        };
        let name = match (&there, &args.name) {
            (Some(buffer), _) => buffer.row.name.clone(),
            (None, name) => {
                let label =
                    name.as_ref().map_or(Ok(NAMELESS), |name| buffer_label(name, "name"))?;
                cx.host.new_buffer_name(label).map_err(|error| {
                    ToolError::internal(format!("no random number for a name: {error}"))
                })?
            }
        };
        let lost = |error| buffer_failed(&name, error);
        let mut writer = cx.tmux().write_buffer(&name).map_err(lost)?;
        let mut bytes = 0;
        if there.is_some() && args.append.unwrap_or(false) {
            let mut reader = cx.tmux().read_buffer(&name).map_err(lost)?;
            while let Some(piece) = reader.next().await.map_err(lost)? {
                bytes += piece.len() as u64;
                writer.write(piece).await.map_err(lost)?;
            }
        }
        bytes += source.pour(&name, &mut writer).await?;
        writer.finish().await.map_err(lost)?;
        let theirs = cx.host.restore_newest_buffer(&before, &name).await.unwrap_or_else(|error| {
            tracing::debug!("putting a person's buffer back: {error}");
            false
        });
        Ok(Set { name, bytes, note: (!theirs).then_some(NOTHING_ELSE) })
    }
}

/// Where the bytes come from.
enum Source {
    Text(String),
    File(File, PathBuf),
}

impl Source {
    fn of(text: Option<String>, path: Option<PathBuf>) -> Result<Self, ToolError> {
        match (text, path) {
            (Some(text), None) if text.is_empty() => {
                Err(ToolError::invalid_argument("`text` is empty, and no buffer can be")
                    .hint("delete_buffer removes one"))
            }
            (Some(text), None) => Ok(Self::Text(text)),
            (None, Some(path)) => Self::open(path),
            (Some(_), Some(_)) => {
                Err(ToolError::invalid_argument("`text` and `path` are both given")
                    .hint("give one of them"))
            }
            (None, None) => Err(ToolError::invalid_argument("neither `text` nor `path` is given")
                .hint("give `text`, or the `path` of a file")),
        }
    }

    /// Opens a file. Nothing else, since a pipe may never end, or even begin.
    fn open(path: PathBuf) -> Result<Self, ToolError> {
        let open = || {
            let about = path.metadata()?;
            if about.is_dir() {
                return Err(io::ErrorKind::IsADirectory.into());
            }
            if !about.is_file() {
                return Err(io::Error::other("it is no plain file"));
            }
            if about.len() == 0 {
                return Err(io::Error::other("it is empty, and no buffer can be"));
            }
            File::open(&path)
        };
        match open() {
            Ok(file) => Ok(Self::File(file, path)),
            Err(error) => Err(file_failed("read", &path, &error)),
        }
    }

    /// Writes all of it, and returns how much that was.
    async fn pour(self, name: &str, writer: &mut BufferWriter) -> Result<u64, ToolError> {
        let mut bytes = 0;
        match self {
            Self::Text(text) => {
                for piece in text.as_bytes().chunks(PIECE) {
                    writer.write(piece).await.map_err(|error| buffer_failed(name, error))?;
                }
                bytes = text.len() as u64;
            }
            Self::File(mut file, path) => {
                let mut piece = vec![0; PIECE];
                loop {
                    let read = file.read(&mut piece).map_err(|e| file_failed("read", &path, &e))?;
                    let piece = piece.get(..read).unwrap_or_default();
                    if piece.is_empty() {
                        break;
                    }
                    bytes += read as u64;
                    writer.write(piece).await.map_err(|error| buffer_failed(name, error))?;
                }
            }
        }
        Ok(bytes)
    }
}
