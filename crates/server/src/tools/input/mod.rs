//! Typing.

mod paste_text;
mod send_keys;

use crate::tool::Entry;

pub(super) const TOOLS: &[Entry] =
    &[Entry::of::<send_keys::SendKeys>(), Entry::of::<paste_text::PasteText>()];
