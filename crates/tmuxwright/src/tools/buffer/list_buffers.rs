//! `list_buffers`: the paste buffers that the policy allows the caller to use.

use std::cmp::Reverse;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::context::{Cx, Tool};
use crate::contract::{Form, Group, Load, Meta, Output, Tier, ToolError};
use crate::results::words::{FactRow, count, field, rows};

pub(super) struct ListBuffers;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {}

#[derive(Serialize, JsonSchema)]
pub(super) struct ListedBuffers {
    /// One entry per buffer, newest first.
    buffers: Vec<ListedBuffer>,
}

#[derive(Serialize, JsonSchema)]
struct ListedBuffer {
    /// Full name of the buffer.
    name: String,
    /// Size in bytes.
    bytes: u64,
    /// Creation time, in seconds since the epoch.
    created: u64,
    /// First characters of the content.
    sample: String,
    /// Whether this server made the buffer.
    own: bool,
}

impl Output for ListedBuffers {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        rows(&self.buffers, ListedBuffer::row, "no buffers")
    }
}

impl ListedBuffer {
    fn row(&self) -> String {
        FactRow::new(field(&self.name))
            .fact(count(self.bytes, "byte"))
            .fact(format!("created {}", self.created))
            .fact(format!("sample {}", field(&self.sample)))
            .flag(self.own, "own")
            .into()
    }
}

/// A sample without its last word, if tmux has cut it: the beginning of a token could not be recognised.
fn whole_words(sample: &str) -> &str {
    let Some(cut) = sample.strip_suffix("...") else { return sample };
    // tmux writes line ends and tabs as `\n` and `\t`.
    let end = [" ", "\\n", "\\t"].iter().filter_map(|blank| cut.rfind(blank)).max();
    cut.get(..end.unwrap_or(0)).unwrap_or_default()
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
    type Output = ListedBuffers;

    async fn call(cx: &Cx, _: Args) -> Result<ListedBuffers, ToolError> {
        let entries = cx.buffers().await?.into_iter().map(|buffer| ListedBuffer {
            own: buffer.own(),
            name: buffer.row.name,
            bytes: buffer.row.bytes,
            created: buffer.row.created,
            sample: match cx.redacts() {
                true => whole_words(&buffer.row.sample).to_owned(),
                false => buffer.row.sample,
            },
        });
        let mut buffers: Vec<ListedBuffer> = entries.collect();
        buffers.sort_by_key(|entry| (Reverse(entry.created), entry.name.clone()));
        Ok(ListedBuffers { buffers })
    }
}
