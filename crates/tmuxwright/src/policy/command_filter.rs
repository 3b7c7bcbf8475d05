//! The command filter: regular expressions that allow or deny the lines submitted to shells.

use regex::Regex;

use crate::contract::{Code, ShellLine, ToolError};

/// Programs that may get any key while a filter is on: pagers, editors and monitors, which neither are
/// shells nor carry the keys to one, as `ssh` and `tmux` do. Line editors of shells expand `$(…)` on Tab,
/// and start editors on C-x C-e or Alt keys.
const KEY_DRIVEN_PROGRAMS: &[&str] = &[
    "btop",
    "emacs",
    "git",
    "htop",
    "journalctl",
    "less",
    "man",
    "more",
    "most",
    "nano",
    "nvim",
    "systemctl",
    "tig",
    "top",
    "vi",
    "view",
    "vim",
    "vim.basic",
    "vim.tiny",
];

/// The effect of a pattern that matches a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum CommandFilterMode {
    /// No line is checked.
    Off,
    /// Only matching lines are allowed.
    Allow,
    /// Matching lines are denied.
    Deny,
}

/// Patterns for lines that a shell reads, and their mode.
#[derive(Debug, Clone, Default)]
pub struct CommandFilter {
    /// `None` if the config file sets no mode.
    pub mode: Option<CommandFilterMode>,
    patterns: Vec<Regex>,
}

impl CommandFilter {
    /// Sets the patterns. The error names the first that is invalid.
    pub fn set_patterns<'a>(&mut self, texts: impl Iterator<Item = &'a str>) -> Result<(), String> {
        let read = |(index, text): (usize, &str)| {
            Regex::new(text).map_err(|error| {
                let why = error.to_string();
                let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ");
                format!("pattern {}: `{text}` is not a valid regex: {why}", index + 1)
            })
        };
        self.patterns = texts.enumerate().map(read).collect::<Result<_, _>>()?;
        Ok(())
    }

    /// Refuses a mode without patterns, and patterns without a mode.
    pub(super) fn check(&self) -> Result<(), String> {
        let none = self.patterns.is_empty();
        match self.mode {
            Some(mode @ (CommandFilterMode::Allow | CommandFilterMode::Deny)) if none => {
                Err(format!(
                    "config key `policy.command_filter.mode` is \"{}\", but there are no `patterns`",
                    if mode == CommandFilterMode::Allow { "allow" } else { "deny" }
                ))
            }
            None if !none => {
                Err("config key `policy.command_filter.patterns` does nothing without \
                                  `mode`: set it to \"allow\", \"deny\" or \"off\""
                    .to_owned())
            }
            _ => Ok(()),
        }
    }

    pub(super) fn is_on(&self) -> bool {
        matches!(self.mode, Some(CommandFilterMode::Allow | CommandFilterMode::Deny))
    }

    /// Checks keys that do more than append to a line, edit it or submit it, for these foreground
    /// programs.
    pub(super) fn check_keys(&self, programs: &[String]) -> Result<(), ToolError> {
        let other = programs.iter().find(|name| !KEY_DRIVEN_PROGRAMS.contains(&name.as_str()));
        if !self.is_on() || (other.is_none() && !programs.is_empty()) {
            return Ok(());
        }
        let message = format!(
            "policy.command_filter: Tab, Escape, Alt, C-x, F1 and similar keys or bytes can make a shell run \
             a line before it is submitted, so `{}` may not get them; nothing was typed",
            other.map_or("an unknown program", String::as_str)
        );
        Err(ToolError::new(Code::Denied, message).hint(
            "use run_command; or type the whole line as plain text and press Enter. Arrows, C-c and \
             editing keys such as BSpace are allowed, and pagers and editors may get all keys",
        ))
    }

    /// Checks a line. The error never quotes the line, because it may contain a secret.
    pub(super) fn check_line(&self, line: ShellLine<'_>) -> Result<(), ToolError> {
        let Some(mode @ (CommandFilterMode::Allow | CommandFilterMode::Deny)) = self.mode else {
            return Ok(());
        };
        let refuse = |reason: String, hint: &str| {
            Err(ToolError::new(Code::Denied, format!("policy.command_filter: {reason}")).hint(hint))
        };
        let line = match line {
            ShellLine::Known(line) => line,
            ShellLine::Edited => {
                return refuse(
                    "the pending line was edited with keys or is not plain ASCII, so its text is unknown; \
                     nothing was typed"
                        .to_owned(),
                    "send C-c in a call of its own, then type the whole line; or use run_command",
                );
            }
            ShellLine::Lost => {
                return refuse(
                    "keys such as Tab, Escape or C-v were sent before, so the text of the pending line is \
                     unknown; nothing was typed"
                        .to_owned(),
                    "send C-c, then use run_command in this pane, which checks that the prompt is empty; or use another pane",
                );
            }
        };
        let matched = self.patterns.iter().position(|pattern| pattern.is_match(line));
        let person = "a person can change policy.command_filter in the config file";
        match (mode, matched) {
            (CommandFilterMode::Deny, Some(at)) => {
                let pattern = self.patterns.get(at).map(Regex::as_str).unwrap_or_default();
                let number = at + 1;
                refuse(
                    format!(
                        "a line matches the denied pattern {number} `{pattern}`; nothing was typed or run"
                    ),
                    &format!("use a command that the filter allows; {person}"),
                )
            }
            (CommandFilterMode::Allow, None) if !line.trim().is_empty() => {
                let patterns: Vec<String> =
                    self.patterns.iter().map(|pattern| format!("`{pattern}`")).collect();
                refuse(
                    format!(
                        "a line matches none of the allowed patterns {}; nothing was typed or run",
                        patterns.join(", ")
                    ),
                    &format!("give only lines that match one of them; {person}"),
                )
            }
            _ => Ok(()),
        }
    }
}
