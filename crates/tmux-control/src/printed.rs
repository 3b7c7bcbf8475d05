//! Options and environment as tmux's own listings print them, read back exactly.
//!
//! `show-options` quotes a value as its config file would, so each is one line. `show-environment
//! -s` quotes for a shell, and a value may be of many lines. In both, 3.4 alone puts one more
//! backslash before a `$` that looks like a variable.

use crate::format::take_escape;

/// An option as it was printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrintedOption {
    /// Its name, with the index of an item of a list.
    pub name: String,
    /// Its value; none for a list without items.
    pub value: Option<String>,
    /// Whether it is not set there but comes from further up.
    pub inherited: bool,
}

/// Reads one line of `show-options`.
pub fn option(line: &str) -> PrintedOption {
    let (name, value) = match split_option(line) {
        Some((name, value)) => (name, Some(unquote(value))),
        None => (line, None),
    };
    let (name, inherited) = match name.strip_suffix('*') {
        Some(name) => (name, true),
        None => (name, false),
    };
    PrintedOption { name: name.to_owned(), value, inherited }
}

/// Splits name and value. The name of a user's option may hold blanks; what is quoted by `"` has
/// no bare `"` in it, and nothing else may hold a blank.
fn split_option(line: &str) -> Option<(&str, &str)> {
    if !line.starts_with('@') {
        return line.split_once(' ');
    }
    let quoted = line.strip_suffix('"').and_then(|start| start.rfind(" \""));
    let at = quoted.or_else(|| line.rfind(' '))?;
    Some((line.get(..at)?, line.get(at + 1..)?))
}

/// Reads one line of `show-hooks`: the name with its index, and the commands.
pub fn hook(line: &str) -> (String, Option<String>) {
    match line.split_once(' ') {
        Some((name, commands)) => (name.to_owned(), Some(one_backslash_less(commands))),
        None => (line.to_owned(), None),
    }
}

/// Undoes the quotes of a string. What is no string has none, and stays as it is.
fn unquote(text: &str) -> String {
    let inner = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    match inner('"').or_else(|| inner('\'')) {
        Some(inside) => unescape(inside),
        // Keys and commands are printed as they are; of strings only those without blanks are.
        None if text.contains(' ') || text.ends_with("-\\") => text.to_owned(),
        None => unescape(text),
    }
}

fn unescape(text: &str) -> String {
    let mut value: Vec<u8> = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        match byte {
            b'\\' => value.push(take_escape(&mut rest).unwrap_or(b'\\')),
            b'$' if begins_a_name(tail) && value.last() == Some(&b'\\') => {
                value.pop();
                value.push(b'$');
            }
            byte => value.push(byte),
        }
    }
    String::from_utf8_lossy(&value).into_owned()
}

/// What tmux takes for a variable behind a `$`, and so puts a backslash before it.
fn begins_a_name(rest: &[u8]) -> bool {
    rest.first().is_some_and(|b| b.is_ascii_alphabetic() || matches!(b, b'_' | b'{'))
}

/// Commands as they were: in them a `$` that looks like a variable has an odd number of backslashes
/// before it, unless one was added.
fn one_backslash_less(commands: &str) -> String {
    let mut out = String::with_capacity(commands.len());
    let mut backslashes = 0;
    for (at, c) in commands.char_indices() {
        let added = c == '$' && backslashes > 0 && backslashes % 2 == 0;
        if added && begins_a_name(commands.as_bytes().get(at + 1..).unwrap_or_default()) {
            out.pop();
        }
        backslashes = if c == '\\' { backslashes + 1 } else { 0 };
        out.push(c);
    }
    out
}

/// Reads `show-environment -s`: each variable with its value, or without one if it is removed from
/// what programs inherit. `None` if it is something else.
pub fn environment(text: &str) -> Option<Vec<(String, Option<String>)>> {
    let mut variables = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let line = rest.lines().next()?;
        if let Some(name) = line.strip_prefix("unset ").and_then(|name| name.strip_suffix(';'))
            && !name.contains('=')
        {
            variables.push((name.to_owned(), None));
            rest = rest.get(line.len()..)?.trim_start_matches('\n');
            continue;
        }
        let (name, tail) = rest.split_once("=\"")?;
        let (value, tail) = tail.split_at_checked(closing_quote(tail)?)?;
        variables.push((name.to_owned(), Some(unescape_shell(value))));
        rest = tail.strip_prefix("\"; export ")?.strip_prefix(name)?.strip_prefix(';')?;
        rest = rest.strip_prefix('\n').unwrap_or(rest);
    }
    Some(variables)
}

/// Where the first `"` without a backslash is.
fn closing_quote(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.bytes().position(|byte| {
        let closes = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        closes
    })
}

/// Here no `$` is ever bare, whatever follows.
fn unescape_shell(text: &str) -> String {
    let mut value: Vec<u8> = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        match byte {
            b'\\' => value.push(take_escape(&mut rest).unwrap_or(b'\\')),
            b'$' if value.last() == Some(&b'\\') => {
                value.pop();
                value.push(b'$');
            }
            byte => value.push(byte),
        }
    }
    String::from_utf8_lossy(&value).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> (String, String, bool) {
        let read = option(line);
        (read.name, read.value.unwrap_or_else(|| "nothing".to_owned()), read.inherited)
    }

    #[test]
    fn every_kind_of_value_is_read_back() {
        for (line, name, value) in [
            ("mouse off", "mouse", "off"),
            ("@e ''", "@e", ""),
            ("@q \\\"", "@q", "\""),
            ("@s \\'", "@s", "'"),
            ("@b c \"d e\"", "@b c", "d e"),
            ("@b c d", "@b c", "d"),
            ("@sp \" \"", "@sp", " "),
            ("@til \\~x", "@til", "~x"),
            ("@mm 'a\"b\\\\c'", "@mm", "a\"b\\c"),
            ("@n l1\\nl2\\tt\\033[m", "@n", "l1\nl2\tt\u{1b}[m"),
            ("@h \"#(touch x) #{pane_id}\"", "@h", "#(touch x) #{pane_id}"),
            ("@d \"\\\\$ a\"", "@d", "\\$ a"),
            ("command-alias[2] \"a=b -J\"", "command-alias[2]", "a=b -J"),
            ("prefix C-\\", "prefix", "C-\\"),
            (
                "default-client-command display-message \"\\$x\"",
                "default-client-command",
                "display-message \"\\$x\"",
            ),
            ("user-keys", "user-keys", "nothing"),
        ] {
            assert_eq!(read(line), (name.to_owned(), value.to_owned(), false), "{line}");
        }
        assert_eq!(read("mouse* off"), ("mouse".into(), "off".into(), true));
    }

    #[test]
    fn the_extra_backslash_of_one_version_is_taken_away() {
        let value = "x \"q\" $HOME \\$HOME \\ $ 's'";
        for line in [
            r#"@a "x \"q\" \$HOME \\\$HOME \\ $ 's'""#,
            r#"@a "x \"q\" \\$HOME \\\\$HOME \\ $ 's'""#,
        ] {
            assert_eq!(read(line).1, value, "{line}");
        }
        for line in [r#"h[0] display "a \$x" ; run b"#, r#"h[0] display "a \\$x" ; run b"#] {
            assert_eq!(hook(line).1.unwrap(), r#"display "a \$x" ; run b"#, "{line}");
        }
        assert_eq!(hook("after-x"), ("after-x".to_owned(), None));
    }

    #[test]
    fn an_environment_may_hold_anything() {
        let value = "a\"b$HOME\\$x\nl2 `id`\u{1b}";
        for printed in [
            "V=\"a\\\"b\\$HOME\\\\\\$x\nl2 \\`id\\`\u{1b}\"; export V;\nunset GONE;\nF%%=\"() {\n}\"; export F%%;\n",
            "V=\"a\\\"b\\\\$HOME\\\\\\\\$x\nl2 \\`id\\`\\033\"; export V;\nunset GONE;\nF%%=\"() {\n}\"; export F%%;\n",
        ] {
            let read = environment(printed).unwrap();
            assert_eq!(
                read,
                [
                    ("V".to_owned(), Some(value.to_owned())),
                    ("GONE".to_owned(), None),
                    ("F%%".to_owned(), Some("() {\n}".to_owned())),
                ]
            );
        }
        assert_eq!(environment("").unwrap(), []);
        assert_eq!(environment("torn=\"x"), None);
    }
}
