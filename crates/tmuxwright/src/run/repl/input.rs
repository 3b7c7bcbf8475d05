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

fn given(input: &str) -> impl Iterator<Item = &str> {
    let given = input.trim_end_matches(['\n', '\r']).split('\n');
    given.map(|line| line.trim_end_matches('\r'))
}

/// The lines for Python: empty lines inside a block are dropped and one is added after each block,
/// because its interpreter ends a block at an empty line.
pub(super) fn indented_lines(input: &str) -> VecDeque<String> {
    let mut lines = VecDeque::new();
    let (mut in_block, mut in_text) = (false, false);
    for line in given(input) {
        let inside = in_text;
        in_text ^= (line.matches("\"\"\"").count() + line.matches("'''").count()) % 2 == 1;
        if !inside {
            let indented = line.starts_with([' ', '\t']);
            if line.trim().is_empty() {
                continue;
            }
            if in_block && !indented && !continues(line) {
                lines.push_back(String::new());
            }
            in_block = indented || opens(line);
        }
        lines.push_back(line.to_owned());
    }
    if in_block {
        lines.push_back(String::new());
    }
    lines
}

/// Whether an input ends within a Python block, as far as its last line tells.
pub(super) fn ends_in_block(input: &str) -> bool {
    let last = given(input).last().unwrap_or_default();
    last.starts_with([' ', '\t']) || opens(last)
}

/// Whether a line that is not indented begins a Python block.
fn opens(line: &str) -> bool {
    let words = [
        "if", "for", "while", "try", "with", "def", "class", "async", "match", "else", "elif",
        "except", "finally",
    ];
    words.contains(&first_word(line))
}

/// Whether a line that is not indented continues the block above.
fn continues(line: &str) -> bool {
    matches!(first_word(line), "else" | "elif" | "except" | "finally")
        || line.starts_with([')', ']', '}'])
}

fn first_word(line: &str) -> &str {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
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
    fn python_blocks_are_ended_by_empty_lines() {
        let input = "def f(x):\n\n    if x:\n        return 1\n    else:\n        return 2\nf(1)\n";
        let expected = [
            "def f(x):",
            "    if x:",
            "        return 1",
            "    else:",
            "        return 2",
            "",
            "f(1)",
        ];
        assert_eq!(indented_lines(input), expected);
        assert_eq!(indented_lines("for x in y:\n  print(x)"), ["for x in y:", "  print(x)", ""]);
        assert_eq!(
            indented_lines("if x:\n  1\nelse:\n  2\n"),
            ["if x:", "  1", "else:", "  2", ""]
        );
        assert_eq!(indented_lines("for x in y: print(x)\nx"), ["for x in y: print(x)", "", "x"]);
        assert_eq!(indented_lines("@a\ndef f(): 1"), ["@a", "def f(): 1", ""]);
        assert_eq!(indented_lines("if x:\n  1\nelse_ = 2"), ["if x:", "  1", "", "else_ = 2"]);
        let text = "x = '''a\n\n  b:\nc'''\nx";
        assert_eq!(Vec::from(indented_lines(text)).join("\n"), text);
        assert_eq!(indented_lines("if x:\n\ty"), ["if x:", "\ty", ""]);
        assert_eq!(super::lines("a\n\nb\n"), ["a", "", "b"]);
        assert_eq!(super::lines("a\r\n\r\n"), ["a", ""]);
        assert_eq!(indented_lines("1 + 1\r\n"), ["1 + 1"]);
        assert!(super::ends_in_block("def f():\n  return 1\n") && super::ends_in_block("if x: y"));
        assert!(!super::ends_in_block("def f(): 1\n\nf()") && !super::ends_in_block("x = (1 +"));
    }
}
