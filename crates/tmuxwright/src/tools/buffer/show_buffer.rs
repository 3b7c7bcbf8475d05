//! `show_buffer`: a part of a paste buffer.

use std::ops::ControlFlow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::buffer_search::Extract;
use crate::context::{Cx, Tool, buffer_failed};
use crate::contract::{BufferName, Form, Group, Load, Meta, Output, Tier, ToolError};
use crate::results::words::count;
use terminal::text::inline;

/// How much is read when nothing is said, and at most: no answer can be longer.
const USUAL: u64 = 65536;
const MOST: u64 = 2 * 1024 * 1024;

pub(super) struct ShowBuffer;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Buffer.
    name: BufferName,
    /// First byte.
    offset: Option<u64>,
    /// Default 65536.
    max_bytes: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Part {
    /// The buffer.
    name: String,
    /// How large it is.
    bytes: u64,
    /// Where the text begins.
    offset: u64,
    /// The text.
    text: String,
    /// The offset to go on with.
    next: Option<u64>,
    /// Whether there is more.
    truncated: bool,
    #[serde(skip)]
    raw: Vec<u8>,
}

impl Output for Part {
    const FORM: Form = Form::Text;

    fn text(&self) -> String {
        let Self { name, bytes, offset, text, next, .. } = self;
        let mut facts = format!("{} · {}", inline(name), count(*bytes, "byte"));
        match next {
            Some(next) => {
                facts.push_str(&format!(" · {offset} to {next} shown, go on with offset {next}"));
            }
            None if *offset > 0 => facts.push_str(&format!(" · from {offset} to the end")),
            None => {}
        }
        format!("{facts}\n{text}")
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
    type Output = Part;

    async fn call(cx: &Cx, args: Args) -> Result<Part, ToolError> {
        let most = args.max_bytes.unwrap_or(USUAL).min(MOST);
        if most == 0 {
            return Err(ToolError::invalid_argument("`max_bytes`: 0 bytes would show nothing")
                .hint("leave it out for 65536"));
        }
        let buffer = cx.buffer(&args.name).await?;
        let (name, bytes) = (buffer.row.name, buffer.row.bytes);
        let offset = args.offset.unwrap_or(0);
        if offset > bytes {
            return Err(ToolError::invalid_argument(format!(
                "`offset`: {offset} is behind the end, the buffer has {bytes} bytes"
            ))
            .hint("give a smaller one"));
        }
        let failed = |error| buffer_failed(&name, error);
        let mut extract = Extract::new(std::iter::once(offset..offset + most).collect());
        let mut reader = cx.tmux().read_buffer(&name).map_err(failed)?;
        while let Some(piece) = reader.next().await.map_err(failed)? {
            if let ControlFlow::Break(()) = extract.push(piece) {
                break;
            }
        }
        let raw = extract.into_parts().pop().unwrap_or_default();
        Ok(Part { name, bytes, offset, text: String::new(), next: None, truncated: false, raw })
    }
}

/// As many characters as wanted, and how many bytes these were. A character that goes on behind the
/// bytes is left for the next call.
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
    fn bytes_are_counted_exactly_whatever_they_are() {
        assert_eq!(decode(b"abc", 9, true), ("abc".into(), 3));
        assert_eq!(decode(b"abc", 2, true), ("ab".into(), 2));
        assert_eq!(decode("éé".as_bytes(), 1, true), ("é".into(), 2));
        assert_eq!(decode(b"a\xffb\xfec", 9, true), ("a\u{fffd}b\u{fffd}c".into(), 5));
        assert_eq!(decode(b"a\xffb\xfec", 2, true), ("a\u{fffd}".into(), 2));
        assert_eq!(decode(b"", 9, true), (String::new(), 0));
        assert_eq!(decode(b"\0", 9, true), ("\0".into(), 1));
    }

    #[test]
    fn a_character_is_not_torn_if_more_comes() {
        let torn = &"aé".as_bytes()[..2];
        assert_eq!(decode(torn, 9, false), ("a".into(), 1));
        assert_eq!(decode(torn, 9, true), ("a\u{fffd}".into(), 2));
        assert_eq!(decode(&torn[1..], 9, false), ("\u{fffd}".into(), 1));
        assert_eq!(decode(b"a\xff", 9, false), ("a\u{fffd}".into(), 2));
    }
}
