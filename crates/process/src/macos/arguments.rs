//! The buffer in which macOS returns a program's arguments (`sysctl` `KERN_PROCARGS2`).
//!
//! It holds the number of arguments, the path of the executable, NUL bytes up to the next word, the
//! arguments, and often the environment; every string ends with a NUL byte.

use super::super::{MAX_ARGV_BYTES, nul_separated};

/// The arguments from the program's name on, of a very long list only the beginning.
///
/// An empty first argument is left out: it looks like the padding before it.
pub(super) fn parse(buffer: &[u8]) -> Vec<String> {
    find_arguments(buffer)
        .map(|(count, text)| nul_separated(text).take(count).collect())
        .unwrap_or_default()
}

/// The number of arguments and the bytes that begin with the first one.
fn find_arguments(buffer: &[u8]) -> Option<(usize, &[u8])> {
    let (count, text) = buffer.split_first_chunk()?;
    let count = usize::try_from(i32::from_ne_bytes(*count)).ok()?;
    let path_length = text.iter().position(|&byte| byte == 0)?;
    let padded = text.get(path_length..)?;
    let padding = padded.iter().position(|&byte| byte != 0)?;
    let arguments = padded.get(padding..)?;
    Some((count, arguments.get(..MAX_ARGV_BYTES).unwrap_or(arguments)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(count: i32, text: &[u8]) -> Vec<u8> {
        [&count.to_ne_bytes()[..], text].concat()
    }

    #[test]
    fn arguments_follow_the_padded_path() {
        for text in [
            &b"/bin/zsh\0\0\0\0-zsh\0-f\0a b\0"[..],
            b"/bin/zsh\0-zsh\0-f\0a b\0HOME=/Users/me\0PATH=/bin\0",
            b"/bin/zsh\0\0-zsh\0-f\0a b",
        ] {
            assert_eq!(parse(&buffer(3, text)), ["-zsh", "-f", "a b"]);
        }
    }

    #[test]
    fn empty_arguments_are_kept_behind_the_first() {
        let text = b"/bin/echo\0\0\0echo\0\0x\0\0HOME=/\0";
        assert_eq!(parse(&buffer(4, text)), ["echo", "", "x", ""]);
    }

    #[test]
    fn bytes_that_are_not_utf8_are_replaced() {
        assert_eq!(parse(&buffer(2, b"/bin/ls\0ls\0\xff\0")), ["ls", "\u{fffd}"]);
    }

    #[test]
    fn long_lists_are_cut() {
        let text = [b"/bin/cat\0cat\0".as_slice(), &[b'x'; 2 * MAX_ARGV_BYTES]].concat();
        let argv = parse(&buffer(2, &text));
        assert_eq!(argv.iter().map(String::len).collect::<Vec<_>>(), [3, MAX_ARGV_BYTES - 4]);
    }

    #[test]
    fn incomplete_buffers_have_no_arguments() {
        for text in [&b""[..], b"/bin/ls", b"/bin/ls\0", b"/bin/ls\0\0\0\0"] {
            assert!(parse(&buffer(1, text)).is_empty(), "{text:?}");
        }
        assert!(parse(b"").is_empty());
        assert!(parse(&[1, 0]).is_empty());
        assert!(parse(&buffer(0, b"/bin/ls\0HOME=/\0")).is_empty());
        assert!(parse(&buffer(-1, b"/bin/ls\0ls\0")).is_empty());
    }
}
