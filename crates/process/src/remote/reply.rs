//! The reply of a script: lines, text that other programs chose, and files. Pure.
//!
//! Lines hold only numbers and words of the kernel. All other text ends with a nonce: a program may choose
//! its name, its arguments and its directory such that they look like lines or files of a reply.

use std::collections::HashMap;

/// A reply, taken apart.
#[derive(Debug, Default)]
pub(super) struct Reply {
    lines: Vec<Vec<String>>,
    /// By its first words.
    texts: HashMap<String, Vec<u8>>,
    /// By their paths, in the order in which they were read.
    files: Vec<(String, Vec<u8>)>,
    is_complete: bool,
}

impl Reply {
    /// Parses the reply to a script that got this nonce. `None` if a text has no end.
    pub(super) fn parse(reply: &[u8], nonce: &str) -> Option<Self> {
        let end = format!("{nonce}\n");
        let mut found = Self::default();
        let mut rest = reply;
        while !rest.is_empty() {
            let line = std::str::from_utf8(until(&mut rest, b"\n")?).ok()?;
            let mut words = line.split_ascii_whitespace();
            match words.next() {
                Some("cwd" | "mode") => {
                    let text = until(&mut rest, end.as_bytes())?;
                    found.texts.insert(line.to_owned(), text.to_vec());
                }
                Some("files") => {
                    for path in words {
                        let text = until(&mut rest, end.as_bytes())?;
                        found.files.push((path.to_owned(), text.to_vec()));
                    }
                    found.is_complete = true;
                    return Some(found);
                }
                _ => found.lines.push(line.split_ascii_whitespace().map(str::to_owned).collect()),
            }
        }
        Some(found)
    }

    /// Whether the reply has its last part, the files.
    pub(super) fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// The rest of all lines that begin with a word.
    pub(super) fn lines(&self, word: &str) -> impl Iterator<Item = &[String]> {
        self.lines.iter().filter_map(move |line| {
            let (first, rest) = line.split_first()?;
            (first == word).then_some(rest)
        })
    }

    pub(super) fn text(&self, name: &str) -> Option<&[u8]> {
        self.texts.get(name).map(Vec::as_slice)
    }

    /// The files, without those that could not be read or were empty.
    pub(super) fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let files = self.files.iter().map(|(path, text)| (path.as_str(), text.as_slice()));
        files.filter(|(_, text)| !text.is_empty())
    }
}

/// Splits off the text before `end`.
fn until<'a>(rest: &mut &'a [u8], end: &[u8]) -> Option<&'a [u8]> {
    let at = rest.windows(end.len()).position(|window| window == end)?;
    let (text, behind) = rest.split_at(at);
    *rest = behind.get(end.len()..)?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reply_is_taken_apart() {
        let text = b"own 0 x86_64\ncwd 7\n/a\nfiles /x\n42\n42\nfiles /p/1 /p/2 /p/3\nfiles\n\x0042\n42\n0\xff42\n";
        let reply = Reply::parse(text, "42").unwrap();
        assert!(reply.is_complete());
        assert_eq!(reply.lines("own").collect::<Vec<_>>(), [["0", "x86_64"]]);
        assert_eq!(reply.text("cwd 7"), Some(&b"/a\nfiles /x\n"[..]));
        let files: Vec<_> = reply.files().collect();
        assert_eq!(files, [("/p/1", &b"files\n\0"[..]), ("/p/3", b"0\xff")]);
    }

    #[test]
    fn malformed_reply_is_refused() {
        for text in [&b"cwd 7\n/a"[..], b"files /p/1 /p/2\nx42\n", b"own", b"\xff\n"] {
            assert!(Reply::parse(text, "42").is_none(), "{text:?}");
        }
        assert!(!Reply::parse(b"own 0\n", "42").unwrap().is_complete());
    }
}
