//! `list_buffers`: the paste buffers that may be touched.

use std::cmp::Reverse;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::context::{Cx, Tool};
use crate::contract::{Form, Group, Load, Meta, Output, Tier, ToolError};
use crate::results::words::count;
use terminal::text::inline;

pub(super) struct ListBuffers;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {}

#[derive(Serialize, JsonSchema)]
pub(super) struct Buffers {
    /// One entry per buffer, the newest first.
    buffers: Vec<Entry>,
}

#[derive(Serialize, JsonSchema)]
struct Entry {
    /// Its whole name.
    name: String,
    /// How large it is.
    bytes: u64,
    /// When it was made, in seconds since the epoch.
    created: u64,
    /// How it begins.
    sample: String,
    /// Whether this server made it.
    own: bool,
}

impl Output for Buffers {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        if self.buffers.is_empty() {
            return "no buffers".to_owned();
        }
        let row = |entry: &Entry| {
            let Entry { name, bytes, sample, .. } = entry;
            let own = if entry.own { " · own" } else { "" };
            format!("{} · {} · {}{own}", inline(name), count(*bytes, "byte"), inline(sample))
        };
        self.buffers.iter().map(row).collect::<Vec<_>>().join("\n")
    }
}

impl Tool for ListBuffers {
    const META: Meta = Meta {
        name: "list_buffers",
        title: "List buffers",
        description: "List the paste buffers this server made.",
        group: Group::Buffer,
        tier: Tier::Read,
        sets: &[],
        idempotent: true,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = Buffers;

    async fn call(cx: &Cx, _: Args) -> Result<Buffers, ToolError> {
        let entries = cx.buffers().await?.into_iter().map(|buffer| Entry {
            own: buffer.own(),
            name: buffer.row.name,
            bytes: buffer.row.bytes,
            created: buffer.row.created,
            sample: buffer.row.sample,
        });
        let mut buffers: Vec<Entry> = entries.collect();
        buffers.sort_by_key(|entry| (Reverse(entry.created), entry.name.clone()));
        Ok(Buffers { buffers })
    }
}
