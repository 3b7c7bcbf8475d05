//! `rename_buffer`: gives a paste buffer a new name.

use schemars::JsonSchema;
use serde::Deserialize;

use super::WrittenBuffer;
use crate::context::{Cx, Tool, buffer_failed, buffer_label, no_buffer};
use crate::contract::{BufferName, Code, Group, Load, Meta, Tier, ToolError};

pub(super) struct RenameBuffer;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Buffer name.
    name: BufferName,
    /// New short name.
    new_name: BufferName,
}

impl Tool for RenameBuffer {
    const META: Meta = Meta {
        name: "rename_buffer",
        title: "Rename buffer",
        description: "Rename a paste buffer.",
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
        let label = buffer_label(&args.new_name, "new_name")?;
        // A person may take long to answer, so the lock is taken afterwards.
        let buffer = cx.buffer(&args.name).await?;
        cx.may_replace(buffer).await?;
        let _alone = cx.host.lock_buffer_names().await;
        let buffer = cx.buffer(&args.name).await?;
        cx.check_consent(&buffer)?;
        let old = buffer.row.name;
        let new = match buffer.label {
            Some(_) => cx.host.renamed_buffer(&old, label).unwrap_or_else(|| label.to_owned()),
            None => label.to_owned(),
        };
        // tmux replaces a buffer that has the new name already, even one of another owner.
        let taken = |other: &crate::host::PasteBuffer| {
            let same_label = other.label.is_some() && other.label.as_deref() == Some(label);
            other.row.name != old && (other.row.name == new || same_label)
        };
        if cx.host.buffers().await?.iter().any(taken) {
            return Err(ToolError::new(Code::Exists, format!("a buffer `{label}` exists already"))
                .hint("give another `new_name`, or remove that buffer with delete_buffer"));
        }
        let lost = |error| buffer_failed(&old, error);
        cx.tmux().rename_buffer(&old, &new).await.map_err(lost)?;
        // Some tmux versions report no error if the buffer is gone.
        let now = cx.host.buffers().await?.into_iter().find(|buffer| buffer.row.name == new);
        let bytes = now.ok_or_else(|| no_buffer(&old))?.row.bytes;
        Ok(WrittenBuffer { name: new, bytes, note: None, verb: "renamed to" })
    }
}
