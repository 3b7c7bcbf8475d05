//! tmux commands as values, and their two encodings: arguments of the `tmux` program and a line of
//! control mode.

use crate::error::Error;

/// One tmux command with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    name: &'static str,
    args: Vec<String>,
    repeatable: bool,
}

impl Command {
    /// A command that changes nothing. It is repeated if the connection breaks.
    pub fn query(name: &'static str) -> Self {
        Self { name, args: Vec::new(), repeatable: true }
    }

    /// A command that changes something. It is never sent twice.
    pub fn action(name: &'static str) -> Self {
        Self { name, args: Vec::new(), repeatable: false }
    }

    /// A query that fails unless the format `condition` is true for the target, with a message that
    /// contains `failure`. tmux runs a sequence without a break up to the first command that fails,
    /// so the commands after it run only in the state that was asked for.
    ///
    /// `show-options` expands its argument as a format; `failure` must not be an option's name.
    pub(crate) fn require(target: impl ToString, condition: &str, failure: &str) -> Self {
        // To tmux a bare `1` is the name of a variable that does not exist, and so false.
        let option = format!("#{{?#{{&&:1,{condition}}},status,{failure}}}");
        Self::query("show-options").option("-t", target).arg(option)
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

    /// Whether the command may be sent twice: it is a query.
    pub(crate) fn is_repeatable(&self) -> bool {
        self.repeatable
    }

    /// Whether the command must not share a connection: it runs further commands, whose replies
    /// cannot be told from the reply to the next command in the queue, or its duration is
    /// unlimited.
    pub(crate) fn needs_own_process(&self) -> bool {
        const NEED_OWN_PROCESS: [&str; 6] = [
            "if-shell",
            "run-shell",
            "source-file",
            "wait-for",
            "confirm-before",
            "command-prompt",
        ];
        NEED_OWN_PROCESS.contains(&self.name)
    }

    /// Whether the command starts a tmux server if none is running.
    pub(crate) fn starts_a_server(&self) -> bool {
        matches!(self.name, "new-session" | "start-server")
    }

    /// Refuses NUL bytes, which neither an argument nor a line can hold.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.args.iter().any(|arg| arg.contains('\0')) {
            return Err(Error::NulByte { command: self.name.to_owned() });
        }
        Ok(())
    }

    /// The command as arguments of the `tmux` program. A trailing `;` of an argument is escaped,
    /// since it would end the command.
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
/// Double quotes are used since only they can hold an escaped line end (`\n`); a bare one would end
/// the command. Within them `\`, `"`, `$` and a leading `~` are special.
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

/// Escapes text that tmux expands as a format (names, titles, start directories), so that the
/// result is the text itself and `#(…)` runs nothing.
///
/// Every `#` is doubled, except before `[`: there tmux keeps every `#` as it is.
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

/// Escapes text that `display-message` shows in a status line, so that it is shown verbatim.
///
/// tmux passes the text through `strftime`, expands it as a format, and draws the result, where
/// `##` is one `#` and `#[` a style.
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
    fn plain_words_are_not_quoted() {
        assert_eq!(line("dev:1.0"), "x dev:1.0");
        assert_eq!(line(""), "x \"\"");
    }

    #[test]
    fn special_characters_are_quoted() {
        assert_eq!(line("a b"), r#"x "a b""#);
        assert_eq!(line("$HOME ~ \"q\" \\"), r#"x "\$HOME \~ \"q\" \\""#);
        assert_eq!(line("one\ntwo\tthree\u{1b}"), r#"x "one\ntwo\011three\033""#);
        assert_eq!(line("tail;"), r#"x "tail;""#);
        assert_eq!(line("{ 'x' } # %if"), r#"x "{ 'x' } # %if""#);
    }

    #[test]
    fn line_ends_are_escaped() {
        assert!(!line("\n\r\n").contains(['\n', '\r']));
    }

    #[test]
    fn trailing_semicolon_is_escaped_in_arguments() {
        let argv = Command::action("x").arg("tail;").arg("a;b").arg(";").to_argv();
        assert_eq!(argv, ["x", "tail\\;", "a;b", "\\;"]);
    }

    #[test]
    fn nul_bytes_are_refused() {
        assert!(Command::action("x").arg("a\0b").check().is_err());
    }

    #[test]
    fn format_characters_are_escaped() {
        assert_eq!(escape_format("#(touch x) #{pane_id} 50%"), "##(touch x) ##{pane_id} 50%");
        assert_eq!(escape_format("#[bold] ##[x] ##y #"), "#[bold] ##[x] ####y ##");
        assert_eq!(escape_format("plain"), "plain");
    }

    #[test]
    fn message_characters_are_escaped() {
        assert_eq!(escape_message("#S 5%"), "####S 5%%");
        assert_eq!(escape_message("#[bold] ##[x]"), "##[bold] ####[x]");
    }
}
