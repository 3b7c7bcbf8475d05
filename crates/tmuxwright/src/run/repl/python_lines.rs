//! The lines of a Python input, with the empty lines that end its blocks.

use std::collections::VecDeque;

use super::input::given;

/// The lines for Python: empty lines inside a block are dropped and one is added after each block,
/// because its interpreter ends a block at an empty line.
pub(super) fn indented_lines(input: &str) -> VecDeque<String> {
    let mut lines = VecDeque::new();
    let (mut in_block, mut scan) = (false, Scan::default());
    for line in given(input) {
        let inside = scan.goes_on();
        scan.read(line);
        let text = line.trim();
        if !inside && text.is_empty() {
            continue;
        }
        let is_indented = line.starts_with([' ', '\t']);
        // A comment belongs to no block, whatever its column.
        if !inside && !text.starts_with('#') {
            if in_block && !is_indented && !continues(line) {
                lines.push_back(String::new());
            }
            in_block = is_indented || opens(line);
        }
        lines.push_back(line.to_owned());
    }
    if in_block {
        lines.push_back(String::new());
    }
    lines
}

/// Whether an input ends within a block, as far as its last line tells.
pub(super) fn ends_in_block(input: &str) -> bool {
    let last = given(input).last().unwrap_or_default();
    last.starts_with([' ', '\t']) || opens(last)
}

/// Whether a line that is not indented begins a block.
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
}

fn first_word(line: &str) -> &str {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
}

/// The state of Python's tokenizer behind a line, as far as it decides whether the next line goes on.
#[derive(Debug, Default)]
struct Scan {
    /// The quotes that end the text of several lines in which the line has ended.
    quotes: Option<&'static str>,
    /// Number of open brackets.
    depth: usize,
    /// Whether a backslash has joined the next line.
    is_joined: bool,
}

impl Scan {
    fn goes_on(&self) -> bool {
        self.quotes.is_some() || self.depth > 0 || self.is_joined
    }

    fn read(&mut self, line: &str) {
        self.is_joined = false;
        let mut rest = line;
        while !rest.is_empty() {
            rest = match self.quotes {
                Some(quotes) => match behind_quotes(rest, quotes) {
                    Some(behind) => {
                        self.quotes = None;
                        behind
                    }
                    None => return,
                },
                None => self.read_code(rest),
            };
        }
    }

    /// Reads one character or one text of code, and returns the rest.
    fn read_code<'a>(&mut self, code: &'a str) -> &'a str {
        if let Some(quotes) = ["\"\"\"", "'''"].into_iter().find(|it| code.starts_with(it)) {
            self.quotes = Some(quotes);
            return code.get(quotes.len()..).unwrap_or_default();
        }
        let mut chars = code.chars();
        match chars.next() {
            Some('#') => return "",
            Some('"') => return behind_quotes(chars.as_str(), "\"").unwrap_or_default(),
            Some('\'') => return behind_quotes(chars.as_str(), "'").unwrap_or_default(),
            Some('(' | '[' | '{') => self.depth += 1,
            Some(')' | ']' | '}') => self.depth = self.depth.saturating_sub(1),
            Some('\\') => self.is_joined = chars.as_str().is_empty(),
            _ => {}
        }
        chars.as_str()
    }
}

/// The code behind the quotes that end a text. A backslash quotes the next character.
fn behind_quotes<'a>(text: &'a str, quotes: &str) -> Option<&'a str> {
    let mut rest = text;
    while !rest.is_empty() {
        if let Some(behind) = rest.strip_prefix(quotes) {
            return Some(behind);
        }
        let skipped = if rest.starts_with('\\') { 2 } else { 1 };
        rest = rest.char_indices().nth(skipped).and_then(|(at, _)| rest.get(at..))?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{ends_in_block, indented_lines};

    #[test]
    fn blocks_are_ended_by_empty_lines() {
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
        assert_eq!(indented_lines("if x:\n\ty"), ["if x:", "\ty", ""]);
        assert_eq!(indented_lines("1 + 1\r\n"), ["1 + 1"]);
        assert!(ends_in_block("def f():\n  return 1\n") && ends_in_block("if x: y"));
        assert!(!ends_in_block("def f(): 1\n\nf()") && !ends_in_block("x = (1 +"));
    }

    /// Each of these goes in as it is, but for an empty line before its last line.
    #[test]
    fn texts_brackets_and_comments_end_no_block() {
        for block in [
            "def f():\n    a = 1\n# comment\n    return a",
            "def f():\n    return [\n1,\n2]",
            "def f():\n    return (\n1)",
            "def f():\n    return '''a\n\nb'''",
            "def f():\n    '''a \"\"\"\n\nb'''\n    return 1",
            "def f():\n    return 1 + \\\n2",
            "def f():\n    return {'#': '[', \"'''\": '\\'('}",
            "def f(\n    a,\n):\n    return a  # '''",
        ] {
            let lines = Vec::from(indented_lines(&format!("{block}\nf()")));
            assert_eq!(lines.join("\n"), format!("{block}\n\nf()"), "{block}");
        }
        let dropped = indented_lines("def f():\n    x = \"'''\"\n\n    return 1 # \"\"\"\n\nf()");
        assert_eq!(dropped, ["def f():", "    x = \"'''\"", "    return 1 # \"\"\"", "", "f()"]);
        let text = "x = '''a\n\n  b:\nc'''\nx";
        assert_eq!(Vec::from(indented_lines(text)).join("\n"), text);
    }
}
