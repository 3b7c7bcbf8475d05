//! `delete_buffer`: deletes a paste buffer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::buffer::delete_buffer;

use crate::context::{Cx, Tool, buffer_failed};
use crate::contract::{BufferName, Form, Group, Load, Meta, Output, Tier, ToolError};
use crate::results::words::field;

pub(super) struct DeleteBuffer;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Buffer name.
    name: BufferName,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct DeletedBuffer {
    /// Full name of the deleted buffer.
    name: String,
}

impl Output for DeletedBuffer {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        format!("deleted {}", field(&self.name))
    }
}

impl Tool for DeleteBuffer {
    const META: Meta = Meta {
        name: "delete_buffer",
        title: "Delete buffer",
        description: "Delete a paste buffer.",
        group: Group::Buffer,
        tier: Tier::Mutate,
        sets: &[],
        idempotent: false,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = DeletedBuffer;

    async fn call(cx: &Cx, args: Args) -> Result<DeletedBuffer, ToolError> {
        let buffer = cx.buffer(&args.name).await?;
        let name = cx.may_replace(buffer).await?.row.name;
        let deleted = cx.tmux().run(delete_buffer(&name)).await;
        deleted.map_err(|error| buffer_failed(&name, error))?;
        Ok(DeletedBuffer { name })
    }
}
