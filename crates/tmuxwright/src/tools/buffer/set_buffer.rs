//! `set_buffer`: creates a paste buffer, replaces its content, or appends to it.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;
use tmux_control::buffer::BufferWriter;

use super::WrittenBuffer;
use crate::context::{Cx, Tool, buffer_failed, buffer_label};
#[cfg(feature = "files")]
use crate::contract::FilePath;
use crate::contract::{BufferName, Group, Load, Meta, Tier, ToolError, file_failed};
use crate::host::none_without_server;

/// Bytes written to tmux at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// Label of a buffer without a given name.
const DEFAULT_LABEL: &str = "buf";

pub(super) struct SetBuffer;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Short name (default: generated).
    name: Option<BufferName>,
    /// Text to store.
    text: Option<String>,
    #[cfg(feature = "files")]
    /// File to read instead of `text`.
    path: Option<FilePath>,
    /// Append to the buffer.
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

/// Note for tmux versions whose paste key takes the newest buffer, while this buffer is the only one.
const PASTE_KEY_NOTE: &str = "until a person copies something, their paste key pastes this buffer";

impl Tool for SetBuffer {
    const META: Meta = Meta {
        name: "set_buffer",
        title: "Set buffer",
        description: "Store text or a file in a paste buffer. Removed when this server exits.",
        group: Group::Buffer,
        tier: Tier::Mutate,
        sets: &[],
        idempotent: false,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = WrittenBuffer;

    async fn call(cx: &Cx, args: Args) -> Result<WrittenBuffer, ToolError> {
        let file = args.file(cx)?;
        let source = Source::of(args.text, file)?;
        // A person may take long to answer, so the lock is taken afterwards.
        if let Some(name) = &args.name
            && let Some(buffer) = cx.buffer_if_any(name).await?
        {
            cx.may_replace(buffer).await?;
        }
        let _alone = cx.host.lock_buffer_names().await;
        let before = none_without_server(cx.tmux().buffers().await)?;
        let existing = match &args.name {
            Some(name) => cx.buffer_if_any(name).await?,
            None => None,
        };
        if let Some(buffer) = &existing {
            cx.check_consent(buffer)?;
        }
        let name = match (&existing, &args.name) {
            (Some(buffer), _) => buffer.row.name.clone(),
            (None, name) => {
                let label =
                    name.as_ref().map_or(Ok(DEFAULT_LABEL), |name| buffer_label(name, "name"))?;
                cx.host.new_buffer_name(label).map_err(|error| {
                    ToolError::internal(format!(
                        "cannot draw a random number for the buffer's name: {error}"
                    ))
                })?
            }
        };
        let lost = |error| buffer_failed(&name, error);
        let mut writer = cx.tmux().write_buffer(&name).map_err(lost)?;
        let mut bytes = 0;
        if existing.is_some() && args.append.unwrap_or(false) {
            let mut reader = cx.tmux().read_buffer(&name).map_err(lost)?;
            while let Some(piece) = reader.next().await.map_err(lost)? {
                bytes += piece.len() as u64;
                writer.write(piece).await.map_err(lost)?;
            }
        }
        bytes += source.write_to(&name, &mut writer).await?;
        writer.finish().await.map_err(lost)?;
        let theirs = cx.host.restore_newest_buffer(&before, &name).await.unwrap_or_else(|error| {
            tracing::debug!("restoring the newest buffer of a person: {error}");
            false
        });
        let note = (!theirs).then_some(PASTE_KEY_NOTE);
        Ok(WrittenBuffer { name, bytes, note, verb: "stored" })
    }
}

/// Origin of the bytes to store.
enum Source {
    Text(String),
    File(File, PathBuf),
}

impl Source {
    fn of(text: Option<String>, path: Option<PathBuf>) -> Result<Self, ToolError> {
        match (text, path) {
            (Some(text), None) if text.is_empty() => {
                Err(ToolError::invalid_argument("`text` is empty; tmux has no empty buffers")
                    .hint("give text, or remove the buffer with delete_buffer"))
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

    /// Opens a regular file. A pipe is refused: opening or reading it may block forever.
    fn open(path: PathBuf) -> Result<Self, ToolError> {
        let open = || {
            let about = path.metadata()?;
            if about.is_dir() {
                return Err(io::ErrorKind::IsADirectory.into());
            }
            if !about.is_file() {
                return Err(io::Error::other("it is not a regular file"));
            }
            if about.len() == 0 {
                return Err(io::Error::other("it is empty; tmux has no empty buffers"));
            }
            File::open(&path)
        };
        match open() {
            Ok(file) => Ok(Self::File(file, path)),
            Err(error) => Err(file_failed("read", &path, &error)),
        }
    }

    /// Writes everything to the buffer and returns the number of bytes.
    async fn write_to(self, name: &str, writer: &mut BufferWriter) -> Result<u64, ToolError> {
        let mut bytes = 0;
        match self {
            Self::Text(text) => {
                for piece in text.as_bytes().chunks(CHUNK_BYTES) {
                    writer.write(piece).await.map_err(|error| buffer_failed(name, error))?;
                }
                bytes = text.len() as u64;
            }
            Self::File(mut file, path) => {
                let mut piece = vec![0; CHUNK_BYTES];
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
