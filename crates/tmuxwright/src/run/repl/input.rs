//! Input of an interpreter, as the lines that are entered.

use std::collections::VecDeque;

/// The lines of an input. Empty ones at its end stay: they end a block in some interpreters.
pub(super) fn lines(input: &str) -> VecDeque<String> {
    let input = input.strip_suffix('\n').unwrap_or(input);
    input.split('\n').map(|line| line.trim_end_matches('\r').to_owned()).collect()
}

/// An input without line ends at its end.
pub(super) fn whole(input: &str) -> String {
    given(input).collect::<Vec<_>>().join("\n")
}

/// The lines of an input without empty ones at its end.
pub(super) fn given(input: &str) -> impl Iterator<Item = &str> {
    let given = input.trim_end_matches(['\n', '\r']).split('\n');
    given.map(|line| line.trim_end_matches('\r'))
}

/// The lines for ghci: a definition of several lines is put between `:{` and `:}`, because each line is a
/// statement of its own otherwise. An input that has such blocks is entered as it is.
pub(super) fn delimited_lines(input: &str) -> VecDeque<String> {
    if given(input).any(|line| line.trim() == ":{") {
        return lines(input);
    }
    let mut blocks: Vec<Vec<&str>> = Vec::new();
    for line in given(input) {
        match blocks.last_mut() {
            Some(block) if belongs_to(line, block) => block.push(line),
            _ => blocks.push(vec![line]),
        }
    }
    let mut lines = VecDeque::new();
    for mut block in blocks {
        while block.len() > 1 && block.last().is_some_and(|line| line.trim().is_empty()) {
            block.pop();
        }
        let is_delimited = block.len() > 1;
        lines.extend(is_delimited.then(|| ":{".to_owned()));
        lines.extend(block.into_iter().map(str::to_owned));
        lines.extend(is_delimited.then(|| ":}".to_owned()));
    }
    lines
}

/// Whether a line of Haskell belongs to the block above: it is indented or empty, or defines the same name.
fn belongs_to(line: &str, block: &[&str]) -> bool {
    let [first, ..] = block else { return false };
    let name = |line: &str| line.split_whitespace().next().unwrap_or_default().to_owned();
    let defines = |line: &str| {
        line.split_whitespace().skip(1).any(|word| matches!(word, "=" | "::" | "|"))
            && !matches!(name(line).as_str(), "let" | "data" | "type" | "newtype")
    };
    line.trim().is_empty()
        || line.starts_with([' ', '\t', ')', ']', '}'])
        || (defines(first) && defines(line) && name(first) == name(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn haskell_blocks_are_delimited() {
        let input =
            "f :: Int -> Int\nf 0 = 1\nf n =\n  n * f (n - 1)\n\nf 5\nlet x = 1\nlet y = 2\n";
        let expected = [
            ":{",
            "f :: Int -> Int",
            "f 0 = 1",
            "f n =",
            "  n * f (n - 1)",
            ":}",
            "f 5",
            "let x = 1",
            "let y = 2",
        ];
        assert_eq!(delimited_lines(input), expected);
        assert_eq!(delimited_lines("print (x == 1)\nprint 2"), ["print (x == 1)", "print 2"]);
        let delimited = ":{\nx = 1\n:}\ny =\n 2";
        assert_eq!(Vec::from(delimited_lines(delimited)).join("\n"), delimited);
    }

    #[test]
    fn line_ends_of_all_systems_are_known() {
        assert_eq!(super::lines("a\n\nb\n"), ["a", "", "b"]);
        assert_eq!(super::lines("a\r\n\r\n"), ["a", ""]);
    }
}
