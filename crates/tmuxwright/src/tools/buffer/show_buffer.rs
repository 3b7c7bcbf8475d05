//! `show_buffer`: reads a paste buffer, or a range of its bytes.

use std::ops::ControlFlow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::buffer_search::Extract;
use crate::context::{Cx, Tool, buffer_failed};
use crate::contract::{BufferName, Form, Group, Load, Meta, Output, Tier, ToolError};
use crate::results::words::{FactRow, count, field};

/// Bytes read by default.
const DEFAULT_READ_BYTES: u64 = 65536;

/// Bytes read at most: no answer can be longer.
const MAX_READ_BYTES: u64 = 2 * 1024 * 1024;

pub(super) struct ShowBuffer;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Buffer name.
    name: BufferName,
    /// First byte to read (default 0).
    offset: Option<u64>,
    /// Maximum bytes to read (default 65536).
    max_bytes: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct BufferPart {
    /// Full name of the buffer.
    name: String,
    /// Size of the buffer in bytes.
    bytes: u64,
    /// Byte offset at which the text begins.
    offset: u64,
    /// Text of this part; invalid UTF-8 is replaced.
    text: String,
    /// Offset of the next part.
    next: Option<u64>,
    /// Whether the buffer goes on behind this part.
    truncated: bool,
    /// The bytes read, before they are decoded and cut.
    #[serde(skip)]
    raw: Vec<u8>,
}

impl Output for BufferPart {
    const FORM: Form = Form::Text;

    fn text(&self) -> String {
        let Self { name, bytes, offset, text, next, .. } = self;
        let shown = match next {
            Some(next) => Some(format!("{offset} to {next} shown, continue with offset {next}")),
            None if *offset > 0 => Some(format!("{offset} to the end shown")),
            None => None,
        };
        let facts = FactRow::new(field(name)).fact(count(*bytes, "byte")).maybe(shown);
        format!("{}\n{text}", String::from(facts))
    }

    fn limit(&mut self, max: usize) {
        let is_all = self.offset + self.raw.len() as u64 >= self.bytes;
        let (text, used) = decode(&self.raw, max, is_all);
        let next = self.offset + used as u64;
        self.text = text;
        self.next = (next < self.bytes).then_some(next);
        self.truncated = self.next.is_some();
    }
}

impl Tool for ShowBuffer {
    const META: Meta = Meta {
        name: "show_buffer",
        title: "Show buffer",
        description: "Read a paste buffer, or a part of it.",
        group: Group::Buffer,
        tier: Tier::Read,
        sets: &[],
        idempotent: true,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = BufferPart;

    async fn call(cx: &Cx, args: Args) -> Result<BufferPart, ToolError> {
        let max_bytes = args.max_bytes.unwrap_or(DEFAULT_READ_BYTES).min(MAX_READ_BYTES);
        if max_bytes == 0 {
            return Err(ToolError::invalid_argument("`max_bytes` is 0, so nothing would be shown")
                .hint("leave `max_bytes` out to read 65536 bytes"));
        }
        let buffer = cx.buffer(&args.name).await?;
        let (name, bytes) = (buffer.row.name, buffer.row.bytes);
        let offset = args.offset.unwrap_or(0);
        if offset > bytes {
            return Err(ToolError::invalid_argument(format!(
                "`offset`: {offset} is past the end of the buffer, which has {bytes} bytes"
            ))
            .hint("give a smaller offset"));
        }
        let failed = |error| buffer_failed(&name, error);
        let mut extract = Extract::new(std::iter::once(offset..offset + max_bytes).collect());
        let mut reader = cx.read_masked_buffer(&name).await.map_err(failed)?;
        while let Some(piece) = reader.next().await.map_err(failed)? {
            if let ControlFlow::Break(()) = extract.push(piece) {
                break;
            }
        }
        let raw = extract.into_parts().pop().unwrap_or_default();
        let text = String::new();
        Ok(BufferPart { name, bytes, offset, text, next: None, truncated: false, raw })
    }
}

/// Decodes at most `max` characters and returns the number of bytes they took. A character cut in two
/// at the end of `raw` is left for the next call.
fn decode(raw: &[u8], max: usize, is_all: bool) -> (String, usize) {
    let mut text = String::new();
    let (mut used, mut left) = (0, max);
    for chunk in raw.utf8_chunks() {
        let valid: String = chunk.valid().chars().take(left).collect();
        left -= valid.chars().count();
        used += valid.len();
        text.push_str(&valid);
        let invalid = chunk.invalid();
        if valid.len() < chunk.valid().len() || left == 0 || invalid.is_empty() {
            break;
        }
        let is_last = used + invalid.len() == raw.len();
        let is_torn = is_last
            && !is_all
            && std::str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none());
        if is_torn && used > 0 {
            break;
        }
        text.push('\u{fffd}');
        left -= 1;
        used += invalid.len();
    }
    (text, used)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoded_bytes_are_counted_exactly() {
        assert_eq!(decode(b"abc", 9, true), ("abc".into(), 3));
        assert_eq!(decode(b"abc", 2, true), ("ab".into(), 2));
        assert_eq!(decode("éé".as_bytes(), 1, true), ("é".into(), 2));
        assert_eq!(decode(b"a\xffb\xfec", 9, true), ("a\u{fffd}b\u{fffd}c".into(), 5));
        assert_eq!(decode(b"a\xffb\xfec", 2, true), ("a\u{fffd}".into(), 2));
        assert_eq!(decode(b"", 9, true), (String::new(), 0));
        assert_eq!(decode(b"\0", 9, true), ("\0".into(), 1));
    }

    #[test]
    fn a_cut_character_waits_for_more_bytes() {
        let torn = &"aé".as_bytes()[..2];
        assert_eq!(decode(torn, 9, false), ("a".into(), 1));
        assert_eq!(decode(torn, 9, true), ("a\u{fffd}".into(), 2));
        assert_eq!(decode(&torn[1..], 9, false), ("\u{fffd}".into(), 1));
        assert_eq!(decode(b"a\xff", 9, false), ("a\u{fffd}".into(), 2));
    }
}
