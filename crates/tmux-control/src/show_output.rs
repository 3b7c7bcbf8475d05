//! Parsers for the output of `show-options`, `show-hooks` and `show-environment -s`.
//!
//! `show-options` quotes a value as in a config file, so each value is one line. `show-environment
//! -s` quotes for a shell, and a value may have several lines. In both, 3.4 (and no other version)
//! prints one more backslash before a `$` that could begin a variable.

use crate::format::take_escape;

/// One option in the output of `show-options`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownOption {
    /// The name, with an index if the option is an item of a list: `command-alias[2]`.
    pub name: String,
    /// The value; none for a list without items.
    pub value: Option<String>,
    /// Whether the value is inherited from a wider scope.
    pub inherited: bool,
}

/// Parses one line of `show-options`.
pub fn parse_option(line: &str) -> ShownOption {
    let (name, value) = match split_option(line) {
        Some((name, value)) => (name, Some(unquote(value))),
        None => (line, None),
    };
    let (name, inherited) = match name.strip_suffix('*') {
        Some(name) => (name, true),
        None => (name, false),
    };
    ShownOption { name: name.to_owned(), value, inherited }
}

/// Splits name and value. The name of a user option (`@…`) may hold blanks. A value holds blanks
/// only if it is quoted by `"`, and then no bare `"`.
fn split_option(line: &str) -> Option<(&str, &str)> {
    if !line.starts_with('@') {
        return line.split_once(' ');
    }
    let quoted = line.strip_suffix('"').and_then(|start| start.rfind(" \""));
    let at = quoted.or_else(|| line.rfind(' '))?;
    Some((line.get(..at)?, line.get(at + 1..)?))
}

/// Parses one line of `show-hooks`: the name with its index, and the commands.
pub fn parse_hook(line: &str) -> (String, Option<String>) {
    match line.split_once(' ') {
        Some((name, commands)) => (name.to_owned(), Some(drop_extra_backslashes(commands))),
        None => (line.to_owned(), None),
    }
}

/// Removes the quoting of a string value. Values of other types are not quoted and stay unchanged.
fn unquote(text: &str) -> String {
    let inner = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    match inner('"').or_else(|| inner('\'')) {
        Some(inside) => unescape(inside, begins_variable),
        // Keys and commands are never quoted; a string is unquoted only if it has no blanks.
        None if text.contains(' ') || text.ends_with("-\\") => text.to_owned(),
        None => unescape(text, begins_variable),
    }
}

/// Undoes the backslash escapes, and the extra backslash of 3.4 before each `$` that tmux always
/// escapes; `escapes_dollar` decides that from the bytes after the `$`.
fn unescape(text: &str, escapes_dollar: impl Fn(&[u8]) -> bool) -> String {
    let mut value: Vec<u8> = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        match byte {
            b'\\' => value.push(take_escape(&mut rest).unwrap_or(b'\\')),
            b'$' if escapes_dollar(tail) && value.last() == Some(&b'\\') => {
                value.pop();
                value.push(b'$');
            }
            byte => value.push(byte),
        }
    }
    String::from_utf8_lossy(&value).into_owned()
}

/// Whether the bytes after a `$` begin the name of a variable; tmux then escapes the `$`.
fn begins_variable(rest: &[u8]) -> bool {
    rest.first().is_some_and(|b| b.is_ascii_alphabetic() || matches!(b, b'_' | b'{'))
}

/// Removes the backslashes that 3.4 adds to commands. In the output of the other versions, a `$`
/// that begins a variable follows an odd number of backslashes.
fn drop_extra_backslashes(commands: &str) -> String {
    let mut out = String::with_capacity(commands.len());
    let mut backslashes = 0;
    for (at, c) in commands.char_indices() {
        let added = c == '$' && backslashes > 0 && backslashes % 2 == 0;
        if added && begins_variable(commands.as_bytes().get(at + 1..).unwrap_or_default()) {
            out.pop();
        }
        backslashes = if c == '\\' { backslashes + 1 } else { 0 };
        out.push(c);
    }
    out
}

/// Parses `show-environment -s`: each variable with its value, or without one if it is removed from
/// the environment of programs. `None` if the text is invalid.
pub fn parse_environment(text: &str) -> Option<Vec<(String, Option<String>)>> {
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
        // In shell quotes every `$` is escaped.
        variables.push((name.to_owned(), Some(unescape(value, |_| true))));
        rest = tail.strip_prefix("\"; export ")?.strip_prefix(name)?.strip_prefix(';')?;
        rest = rest.strip_prefix('\n').unwrap_or(rest);
    }
    Some(variables)
}

/// The offset of the first `"` that is not escaped.
fn closing_quote(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.bytes().position(|byte| {
        let closes = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        closes
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> (String, String, bool) {
        let read = parse_option(line);
        (read.name, read.value.unwrap_or_else(|| "nothing".to_owned()), read.inherited)
    }

    #[test]
    fn option_values_of_every_type_are_parsed() {
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
    fn extra_backslash_of_3_4_is_removed() {
        let value = "x \"q\" $HOME \\$HOME \\ $ 's'";
        for line in [
            r#"@a "x \"q\" \$HOME \\\$HOME \\ $ 's'""#,
            r#"@a "x \"q\" \\$HOME \\\\$HOME \\ $ 's'""#,
        ] {
            assert_eq!(read(line).1, value, "{line}");
        }
        for line in [r#"h[0] display "a \$x" ; run b"#, r#"h[0] display "a \\$x" ; run b"#] {
            assert_eq!(parse_hook(line).1.unwrap(), r#"display "a \$x" ; run b"#, "{line}");
        }
        assert_eq!(parse_hook("after-x"), ("after-x".to_owned(), None));
    }

    #[test]
    fn environment_values_may_hold_any_character() {
        let value = "a\"b$HOME\\$x\nl2 `id`\u{1b}";
        for printed in [
            "V=\"a\\\"b\\$HOME\\\\\\$x\nl2 \\`id\\`\u{1b}\"; export V;\nunset GONE;\nF%%=\"() {\n}\"; export F%%;\n",
            "V=\"a\\\"b\\\\$HOME\\\\\\\\$x\nl2 \\`id\\`\\033\"; export V;\nunset GONE;\nF%%=\"() {\n}\"; export F%%;\n",
        ] {
            let read = parse_environment(printed).unwrap();
            assert_eq!(
                read,
                [
                    ("V".to_owned(), Some(value.to_owned())),
                    ("GONE".to_owned(), None),
                    ("F%%".to_owned(), Some("() {\n}".to_owned())),
                ]
            );
        }
        assert_eq!(parse_environment("").unwrap(), []);
        assert_eq!(parse_environment("unterminated=\"x"), None);
    }
}
