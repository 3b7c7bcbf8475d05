//! `set_buffer`: creates a paste buffer, replaces its content, or appends to it.

use std::io;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;
use tmux_control::buffer::BufferWriter;

use super::WrittenBuffer;
use crate::context::files::FileReader;
use crate::context::{Cx, Tool, buffer_failed, buffer_label};
#[cfg(feature = "files")]
use crate::contract::FilePath;
use crate::contract::{BufferName, Group, Load, Meta, Tier, ToolError, file_failed};
use crate::host::none_without_server;

/// Bytes written to tmux at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// Largest buffer. tmux has no limit of its own and holds the whole buffer in memory.
const MAX_BUFFER_BYTES: u64 = 100 * 1024 * 1024;

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
    /// Local file to read instead of `text`.
    path: Option<FilePath>,
    /// Append to the buffer.
    append: Option<bool>,
}

impl Args {
    #[cfg(feature = "files")]
    async fn file(&self, cx: &Cx) -> Result<Option<PathBuf>, ToolError> {
        match &self.path {
            Some(path) => cx.file_to_read(path, "path").await.map(Some),
            None => Ok(None),
        }
    }

    #[cfg(not(feature = "files"))]
    async fn file(&self, _: &Cx) -> Result<Option<PathBuf>, ToolError> {
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
        let file = args.file(cx).await?;
        let source = Source::of(args.text, file).await?;
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
        let writer = cx.tmux().write_buffer(&name).await.map_err(lost)?;
        let mut draft = BufferDraft { name: &name, writer, bytes: 0 };
        if existing.is_some() && args.append.unwrap_or(false) {
            let mut reader = cx.tmux().read_buffer(&name).await.map_err(lost)?;
            while let Some(piece) = reader.next().await.map_err(lost)? {
                draft.write(piece).await?;
            }
        }
        source.write_to(&mut draft).await?;
        let bytes = draft.bytes;
        draft.writer.finish().await.map_err(lost)?;
        let theirs = cx.host.restore_newest_buffer(&before, &name).await.unwrap_or_else(|error| {
            tracing::debug!("restoring the newest buffer of a person: {error}");
            false
        });
        let note = (!theirs).then_some(PASTE_KEY_NOTE);
        Ok(WrittenBuffer { name, bytes, note, verb: "stored" })
    }
}

/// A buffer that tmux installs once all of it is written.
struct BufferDraft<'a> {
    name: &'a str,
    writer: BufferWriter,
    bytes: u64,
}

impl BufferDraft<'_> {
    /// Appends bytes, up to the largest size of a buffer.
    async fn write(&mut self, piece: &[u8]) -> Result<(), ToolError> {
        self.bytes += piece.len() as u64;
        if self.bytes > MAX_BUFFER_BYTES {
            let message = format!("the buffer would exceed {MAX_BUFFER_BYTES} bytes");
            return Err(ToolError::invalid_argument(message)
                .hint("store less, or leave `append` out to replace the buffer"));
        }
        self.writer.write(piece).await.map_err(|error| buffer_failed(self.name, error))
    }
}

/// Origin of the bytes to store.
enum Source {
    Text(String),
    File(FileReader),
}

impl Source {
    async fn of(text: Option<String>, path: Option<PathBuf>) -> Result<Self, ToolError> {
        match (text, path) {
            (Some(text), None) if text.is_empty() => {
                Err(ToolError::invalid_argument("`text` is empty; tmux has no empty buffers")
                    .hint("give text, or remove the buffer with delete_buffer"))
            }
            (Some(text), None) => Ok(Self::Text(text)),
            (None, Some(path)) => Self::open(path).await,
            (Some(_), Some(_)) => {
                Err(ToolError::invalid_argument("`text` and `path` are both given")
                    .hint("give one of them"))
            }
            (None, None) => Err(ToolError::invalid_argument("neither `text` nor `path` is given")
                .hint("give `text`, or the `path` of a file")),
        }
    }

    /// Opens a file that fits into a buffer.
    async fn open(path: PathBuf) -> Result<Self, ToolError> {
        let file = FileReader::open(path).await?;
        if file.size == 0 {
            let error = io::Error::other("it is empty; tmux has no empty buffers");
            return Err(file_failed("read", file.path(), &error));
        }
        if file.size > MAX_BUFFER_BYTES {
            let (path, size) = (file.path().display(), file.size);
            let message =
                format!("`{path}` has {size} bytes, more than the {MAX_BUFFER_BYTES} of a buffer");
            return Err(ToolError::invalid_argument(message)
                .hint("run_command with head, tail or grep reads part of a large file"));
        }
        Ok(Self::File(file))
    }

    /// Writes everything to the buffer.
    async fn write_to(self, draft: &mut BufferDraft<'_>) -> Result<(), ToolError> {
        match self {
            Self::Text(text) => {
                for piece in text.as_bytes().chunks(CHUNK_BYTES) {
                    draft.write(piece).await?;
                }
            }
            Self::File(mut file) => loop {
                let (rest, piece) = file.next().await?;
                if piece.is_empty() {
                    break;
                }
                draft.write(&piece).await?;
                file = rest;
            },
        }
        Ok(())
    }
}
