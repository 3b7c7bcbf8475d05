//! `rename_buffer`: gives a paste buffer another name.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::context::{Cx, Tool, buffer_failed, buffer_label, no_buffer};
use crate::contract::{BufferName, Code, Form, Group, Load, Meta, Output, Tier, ToolError};
use crate::results::words::count;
use terminal::text::inline;

pub(super) struct RenameBuffer;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Buffer.
    name: BufferName,
    /// Short name.
    new_name: BufferName,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Renamed {
    /// The buffer's whole name now.
    name: String,
    /// How large it is.
    bytes: u64,
}

impl Output for Renamed {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        format!("{} · {}", inline(&self.name), count(self.bytes, "byte"))
    }
}

impl Tool for RenameBuffer {
    const META: Meta = Meta {
        name: "rename_buffer",
        title: "Rename buffer",
        description: "Give a paste buffer another short name.",
        group: Group::Buffer,
        tier: Tier::Mutate,
        sets: &[],
        idempotent: false,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = Renamed;

    async fn call(cx: &Cx, args: Args) -> Result<Renamed, ToolError> {
        let label = buffer_label(&args.new_name, "new_name")?;
        let _alone = cx.host.lock_buffer_names().await;
        let buffer = cx.buffer(&args.name).await?;
        let old = buffer.row.name;
        let new = match buffer.label {
            Some(_) => cx.host.renamed_buffer(&old, label).unwrap_or_else(|| label.to_owned()),
            None => label.to_owned(),
        };
        // tmux itself may replace what bears the name already, whoever it belongs to.
        let taken = |other: &crate::host::PasteBuffer| {
            let same_label = other.label.is_some() && other.label.as_deref() == Some(label);
            other.row.name != old && (other.row.name == new || same_label)
        };
        if cx.host.buffers().await?.iter().any(taken) {
            return Err(ToolError::new(
                Code::Exists,
                format!("there is a buffer `{label}` already"),
            )
            .hint("give another name, or delete that one first"));
        }
        let lost = |error| buffer_failed(&old, error);
        cx.tmux().rename_buffer(&old, &new).await.map_err(lost)?;
        // Some versions say nothing if the buffer has gone.
        let now = cx.host.buffers().await?.into_iter().find(|buffer| buffer.row.name == new);
        let bytes = now.ok_or_else(|| no_buffer(&old))?.row.bytes;
        Ok(Renamed { name: new, bytes })
    }
}
