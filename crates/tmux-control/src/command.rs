//! tmux commands as values, and the two ways of writing them down: as arguments of the `tmux`
//! program and as a line of control mode.

use crate::error::Error;

/// One tmux command with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    name: &'static str,
    args: Vec<String>,
    repeatable: bool,
}

impl Command {
    /// A command that changes nothing. If the connection breaks it is simply asked again.
    pub fn query(name: &'static str) -> Self {
        Self { name, args: Vec::new(), repeatable: true }
    }

    /// A command that changes something. It is never sent twice.
    pub fn action(name: &'static str) -> Self {
        Self { name, args: Vec::new(), repeatable: false }
    }

    /// Adds one argument, exactly as it is.
    #[must_use]
    pub fn arg(mut self, arg: impl ToString) -> Self {
        self.args.push(arg.to_string());
        self
    }

    /// Adds several arguments.
    #[must_use]
    pub fn args<const N: usize>(self, args: [&str; N]) -> Self {
        args.into_iter().fold(self, Self::arg)
    }

    /// Adds a flag and its value.
    #[must_use]
    pub fn option(self, flag: &str, value: impl ToString) -> Self {
        self.arg(flag).arg(value)
    }

    /// Adds a flag and its value if there is one.
    #[must_use]
    pub fn option_if(self, flag: &str, value: Option<impl ToString>) -> Self {
        match value {
            Some(value) => self.option(flag, value),
            None => self,
        }
    }

    /// Adds an argument if the condition holds.
    #[must_use]
    pub fn arg_if(self, condition: bool, arg: &str) -> Self {
        if condition { self.arg(arg) } else { self }
    }

    /// The command's name, as in `list-panes`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Whether asking twice does no harm.
    pub(crate) fn is_repeatable(&self) -> bool {
        self.repeatable
    }

    /// Whether the command must not share a connection: it runs further commands, whose answers
    /// cannot be told from those of the next in line, or it may take as long as it likes.
    pub(crate) fn needs_own_process(&self) -> bool {
        const ALONE: [&str; 6] = [
            "if-shell",
            "run-shell",
            "source-file",
            "wait-for",
            "confirm-before",
            "command-prompt",
        ];
        ALONE.contains(&self.name)
    }

    /// Refuses what neither an argument nor a line can carry.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.args.iter().any(|arg| arg.contains('\0')) {
            return Err(Error::NulByte { command: self.name.to_owned() });
        }
        Ok(())
    }

    /// The command as arguments of the `tmux` program, where an argument that ends in `;` would
    /// otherwise end the command.
    pub(crate) fn to_argv(&self) -> Vec<String> {
        let mut argv = vec![self.name.to_owned()];
        argv.extend(self.args.iter().map(|arg| match arg.strip_suffix(';') {
            Some(start) => format!("{start}\\;"),
            None => arg.clone(),
        }));
        argv
    }

    /// The command as text for control mode, without a line end.
    pub(crate) fn to_line(&self) -> String {
        let mut line = self.name.to_owned();
        for arg in &self.args {
            line.push(' ');
            quote_into(arg, &mut line);
        }
        line
    }
}

/// Writes `arg` so that tmux's own parser reads it back unchanged.
///
/// Double quotes are used since only they can hold a line end (`\n`), which would otherwise end the
/// command. Within them `\`, `"`, `$` and a leading `~` have a meaning.
fn quote_into(arg: &str, line: &mut String) {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_./:=@,+".contains(&b);
    if !arg.is_empty() && arg.bytes().all(plain) {
        line.push_str(arg);
        return;
    }
    line.push('"');
    for c in arg.chars() {
        match c {
            '\n' => line.push_str("\\n"),
            '\\' | '"' | '$' | '~' => {
                line.push('\\');
                line.push(c);
            }
            c if c.is_ascii_control() => {
                let byte = u32::from(c);
                line.push('\\');
                for shift in [6, 3, 0] {
                    line.push(char::from_digit((byte >> shift) & 7, 8).unwrap_or('0'));
                }
            }
            c => line.push(c),
        }
    }
    line.push('"');
}

/// Protects text that tmux will expand as a format (names, titles, start directories), so that it
/// comes out unchanged and `#(…)` runs nothing.
///
/// Doubling every `#` does it, except before `[`: there tmux keeps all the `#` it sees.
pub fn escape_format(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('#') {
        let (before, from) = rest.split_at(start);
        let run = from.bytes().take_while(|&b| b == b'#').count();
        let (hashes, after) = from.split_at(run);
        out.push_str(before);
        out.push_str(hashes);
        if !after.starts_with('[') {
            out.push_str(hashes);
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Protects text that `display-message` is to show in a status line, so that it looks as it is.
///
/// It goes through `strftime`, then through a format, and is then drawn, where `##` is one `#` and
/// `#[` a style.
pub fn escape_message(text: &str) -> String {
    escape_format(&text.replace('#', "##")).replace('%', "%%")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(arg: &str) -> String {
        Command::action("x").arg(arg).to_line()
    }

    #[test]
    fn plain_words_stay_plain() {
        assert_eq!(line("dev:1.0"), "x dev:1.0");
        assert_eq!(line(""), "x \"\"");
    }

    #[test]
    fn everything_with_a_meaning_is_quoted() {
        assert_eq!(line("a b"), r#"x "a b""#);
        assert_eq!(line("$HOME ~ \"q\" \\"), r#"x "\$HOME \~ \"q\" \\""#);
        assert_eq!(line("one\ntwo\tthree\u{1b}"), r#"x "one\ntwo\011three\033""#);
        assert_eq!(line("tail;"), r#"x "tail;""#);
        assert_eq!(line("{ 'x' } # %if"), r#"x "{ 'x' } # %if""#);
    }

    #[test]
    fn a_line_never_holds_a_line_end() {
        assert!(!line("\n\r\n").contains(['\n', '\r']));
    }

    #[test]
    fn a_trailing_semicolon_does_not_end_the_command() {
        let argv = Command::action("x").arg("tail;").arg("a;b").arg(";").to_argv();
        assert_eq!(argv, ["x", "tail\\;", "a;b", "\\;"]);
    }

    #[test]
    fn nul_bytes_are_refused() {
        assert!(Command::action("x").arg("a\0b").check().is_err());
    }

    #[test]
    fn formats_are_disarmed() {
        assert_eq!(escape_format("#(touch x) #{pane_id} 50%"), "##(touch x) ##{pane_id} 50%");
        assert_eq!(escape_format("#[bold] ##[x] ##y #"), "#[bold] ##[x] ####y ##");
        assert_eq!(escape_format("plain"), "plain");
    }

    #[test]
    fn messages_look_as_they_are() {
        assert_eq!(escape_message("#S 5%"), "####S 5%%");
        assert_eq!(escape_message("#[bold] ##[x]"), "##[bold] ####[x]");
    }
}
