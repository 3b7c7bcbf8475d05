//! `save_buffer`: a paste buffer into a file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::context::files::AtomicFile;
use crate::context::{Cx, Tool, buffer_failed};
use crate::contract::{BufferName, FilePath, Form, Group, Load, Meta, Output, Tier, ToolError};
use crate::results::words::count;
use terminal::text::inline;

pub(super) struct SaveBuffer;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Buffer.
    name: BufferName,
    /// File; replaced if there.
    path: FilePath,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Saved {
    /// The buffer.
    name: String,
    /// The file.
    path: String,
    /// How much was written.
    bytes: u64,
}

impl Output for Saved {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        let Self { name, path, bytes } = self;
        format!("saved {} in {} · {}", inline(name), inline(path), count(*bytes, "byte"))
    }
}

impl Tool for SaveBuffer {
    const META: Meta = Meta {
        name: "save_buffer",
        title: "Save buffer",
        description: "Write a paste buffer into a file, byte by byte.",
        group: Group::Buffer,
        tier: Tier::Mutate,
        sets: &[],
        idempotent: true,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = Saved;

    async fn call(cx: &Cx, args: Args) -> Result<Saved, ToolError> {
        let path = cx.file_to_write(&args.path, "path")?;
        let name = cx.buffer(&args.name).await?.row.name;
        let lost = |error| buffer_failed(&name, error);
        let mut reader = cx.tmux().read_buffer(&name).map_err(lost)?;
        let mut draft = AtomicFile::create(&path)?;
        let mut bytes = 0;
        while let Some(piece) = reader.next().await.map_err(lost)? {
            draft.write(piece)?;
            bytes += piece.len() as u64;
        }
        draft.commit()?;
        Ok(Saved { name, path: path.to_string_lossy().into_owned(), bytes })
    }
}
