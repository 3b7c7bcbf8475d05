//! Replies of the terminal to queries, as its line discipline echoes them.
//!
//! A terminal types its reply to a query. If no program reads it, or one that has not turned the echo off,
//! the reply comes back among the output, with `^[` for an escape. No program has printed it.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// Maximum length of a reply.
pub(super) const MAX_LENGTH: usize = 256;

/// Echoed replies: cursor position, status, attributes, modes, colours, and strings such as a version.
static ECHOED_REPLY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x) \^\[ (?: \[ [?>=]? [0-9;]* (?: [Rcn] | \$y )
                      | \] [0-9;]+ ; rgba?: [0-9a-fA-F/]+ (?: \^G | \^\[\\ )
                      | P [^\^]{0,200} \^\[\\ )",
    )
    .ok()
});

/// The first echoed reply in a text.
pub(super) fn find(text: &str) -> Option<Range<usize>> {
    // Of all output, few have a caret.
    if !text.contains("^[") {
        return None;
    }
    ECHOED_REPLY.as_ref()?.find(text).map(|found| found.range())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_recognised_by_their_form() {
        for reply in [
            "^[[4;2R",
            "^[[0n",
            "^[[?1;2c",
            "^[[>84;0;0c",
            "^[[?2004;2$y",
            "^[]11;rgb:0000/0000/0000^[\\",
            "^[]10;rgb:ffff/ffff/ffff^G",
            "^[P>|tmux 3.3a^[\\",
            "^[P1+r544e=787465726d^[\\",
        ] {
            let text = format!("x{reply}y");
            assert_eq!(find(&text), Some(1..1 + reply.len()), "{reply}");
        }
        for other in ["^C", "^[", "^[[A", "^[[4;2", "[4;2R", "a^[b", "^[]0;title^G"] {
            assert_eq!(find(other), None, "{other}");
        }
    }
}
