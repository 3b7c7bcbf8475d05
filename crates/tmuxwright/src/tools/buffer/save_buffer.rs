//! `save_buffer`: writes a paste buffer to a file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::context::files::AtomicFile;
use crate::context::{Cx, Tool, buffer_failed};
use crate::contract::{BufferName, FilePath, Form, Group, Load, Meta, Output, Tier, ToolError};
use crate::results::words::{FactRow, count, field};

pub(super) struct SaveBuffer;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Buffer name.
    name: BufferName,
    /// Absolute local path; an existing file is replaced.
    path: FilePath,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct SavedBuffer {
    /// Full name of the buffer.
    name: String,
    /// File that was written.
    path: String,
    /// Bytes written.
    bytes: u64,
}

impl Output for SavedBuffer {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        FactRow::new(format!("saved {}", field(&self.name)))
            .fact(count(self.bytes, "byte"))
            .fact(format!("path {}", field(&self.path)))
            .into()
    }
}

impl Tool for SaveBuffer {
    const META: Meta = Meta {
        name: "save_buffer",
        title: "Save buffer",
        description: "Write a paste buffer to a file, byte for byte.",
        group: Group::Buffer,
        tier: Tier::Mutate,
        sets: &[],
        idempotent: true,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = SavedBuffer;

    async fn call(cx: &Cx, args: Args) -> Result<SavedBuffer, ToolError> {
        let path = cx.file_to_write(&args.path, "path").await?;
        let name = cx.buffer(&args.name).await?.row.name;
        let lost = |error| buffer_failed(&name, error);
        let mut reader = cx.tmux().read_buffer(&name).await.map_err(lost)?;
        let mut draft = AtomicFile::create(path.clone()).await?;
        let mut bytes = 0;
        while let Some(piece) = reader.next().await.map_err(lost)? {
            bytes += piece.len() as u64;
            draft = draft.write(piece.to_vec()).await?;
        }
        draft.commit().await?;
        Ok(SavedBuffer { name, path: path.to_string_lossy().into_owned(), bytes })
    }
}
