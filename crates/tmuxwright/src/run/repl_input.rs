//! Input of an interpreter: splitting it into lines to enter, and removing their echo from the
//! output.

/// Characters with which prompts of interpreters and shells end.
const PROMPT_ENDS: &[char] = &['>', '.', ':', '|', '$', '#', '%', '*', '?', '❯', '»'];

/// The lines to enter. For Python, empty lines inside a block are dropped and one is added after
/// each block, because its interpreter ends a block at an empty line; and tabs are quoted with C-v,
/// because it completes words on a tab.
pub(super) fn lines(input: &str, program: &str) -> Vec<String> {
    let given = input.trim_end_matches(['\n', '\r']).split('\n');
    let given = given.map(|line| line.trim_end_matches('\r'));
    if !program.contains("python") {
        return given.map(str::to_owned).collect();
    }
    let mut lines: Vec<String> = Vec::new();
    let (mut in_block, mut in_text) = (false, false);
    for line in given {
        let inside = in_text;
        in_text ^= (line.matches("\"\"\"").count() + line.matches("'''").count()) % 2 == 1;
        if !inside {
            let indented = line.starts_with([' ', '\t']);
            if line.trim().is_empty() {
                continue;
            }
            if in_block && !indented && !continues(line) {
                lines.push(String::new());
            }
            in_block = indented || opens(line);
        }
        lines.push(line.replace('\t', "\u{16}\t"));
    }
    if in_block {
        lines.push(String::new());
    }
    lines
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
    line.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default()
}

/// The rows without the echo of the entered lines. The first row always is the echo of the first
/// line.
pub(super) fn without_echo(rows: Vec<String>, lines: &[String], prompt: &str) -> Vec<String> {
    let mut rest = lines.iter().skip(1).peekable();
    let mut printed = false;
    let mut kept = Vec::new();
    for row in rows.into_iter().skip(1) {
        let echo = rest.peek().is_some_and(|line| is_echo(&row, line, prompt, printed));
        if echo {
            rest.next();
        } else {
            printed = true;
            kept.push(row);
        }
    }
    kept
}

/// Whether a row is the echo of a line: after a prompt, or without one in a pasted block, as long as
/// no output was `printed`. Compares without blanks, since tabs may be rendered as blanks.
fn is_echo(row: &str, line: &str, prompt: &str, printed: bool) -> bool {
    let squeeze = |text: &str| -> String {
        text.chars().filter(|c| !c.is_whitespace() && !c.is_control()).collect()
    };
    let (row, line, prompt) = (squeeze(row), squeeze(line), squeeze(prompt));
    let Some(before) = row.strip_suffix(&line) else {
        return false;
    };
    if before.is_empty() {
        return !printed && (line.is_empty() == row.is_empty());
    }
    before == prompt
        || (before.ends_with(PROMPT_ENDS) && before.chars().count() <= prompt.chars().count() + 12)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(rows: &[&str]) -> Vec<String> {
        rows.iter().map(|row| (*row).to_owned()).collect()
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
        assert_eq!(lines(input, "python3"), expected);
        assert_eq!(
            lines("for x in y:\n  print(x)", "python3.11"),
            ["for x in y:", "  print(x)", ""]
        );
        assert_eq!(
            lines("if x:\n  1\nelse:\n  2\n", "python3"),
            ["if x:", "  1", "else:", "  2", ""]
        );
        assert_eq!(lines("for x in y: print(x)\nx", "python3"), ["for x in y: print(x)", "", "x"]);
        assert_eq!(lines("@a\ndef f(): 1", "python3"), ["@a", "def f(): 1", ""]);
        let text = "x = '''a\n\n  b:\nc'''\nx";
        assert_eq!(lines(text, "python3").join("\n"), text);
        assert_eq!(lines("if x:\n\ty", "python3"), ["if x:", "\u{16}\ty", ""]);
        assert_eq!(lines("a\n\nb", "node"), ["a", "", "b"]);
        assert_eq!(lines("1 + 1\r\n", "python3"), ["1 + 1"]);
    }

    #[test]
    fn echo_is_removed_from_the_answer() {
        let rows =
            owned(&[">>> def f():", "...   return 1", "... ", ">>> f()", "1", ">>> print(2)", "2"]);
        let lines = owned(&["def f():", "  return 1", "", "f()", "print(2)"]);
        assert_eq!(without_echo(rows, &lines, ">>> "), ["1", "2"]);
        let rows = owned(&["$ echo a", "echo b", "a", "b"]);
        let lines = owned(&["echo a", "echo b"]);
        assert_eq!(without_echo(rows, &lines, "$ "), ["a", "b"]);
        let rows = owned(&["db=> select", "db-> 1;", " ?column? ", "----------", "        1"]);
        let lines = owned(&["select", "1;"]);
        assert_eq!(without_echo(rows, &lines, "db=> "), [" ?column? ", "----------", "        1"]);
    }

    #[test]
    fn answer_is_kept_when_it_repeats_the_input() {
        let rows = owned(&["> 'x'", "'x'"]);
        assert_eq!(without_echo(rows, &owned(&["'x'"]), "> "), ["'x'"]);
        let rows = owned(&["$ cat f", "one", "echo b"]);
        assert_eq!(without_echo(rows, &owned(&["cat f", "echo b"]), "$ "), ["one", "echo b"]);
    }
}
