//! The command filter: what may become a line for a shell.

use regex::Regex;

use crate::contract::{Code, ShellLine, ToolError};

/// What the patterns say of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum CommandFilterMode {
    /// Nothing.
    Off,
    /// That it may be run.
    Allow,
    /// That it may not.
    Deny,
}

/// Patterns for lines that become shell input.
#[derive(Debug, Clone, Default)]
pub struct CommandFilter {
    /// What they are for.
    pub mode: Option<CommandFilterMode>,
    patterns: Vec<Regex>,
}

impl CommandFilter {
    /// Sets the patterns.
    pub fn set_patterns<'a>(&mut self, texts: impl Iterator<Item = &'a str>) -> Result<(), String> {
        let read = |(index, text): (usize, &str)| {
            Regex::new(text).map_err(|error| {
                let why = error.to_string();
                let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ");
                format!("pattern {}: `{text}` is no regex: {why}", index + 1)
            })
        };
        self.patterns = texts.enumerate().map(read).collect::<Result<_, _>>()?;
        Ok(())
    }

    /// Refuses what cannot be meant.
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
                                  `mode`: say \"allow\", \"deny\" or \"off\""
                    .to_owned())
            }
            _ => Ok(()),
        }
    }

    pub(super) fn is_on(&self) -> bool {
        matches!(self.mode, Some(CommandFilterMode::Allow | CommandFilterMode::Deny))
    }

    /// Judges a line. What it says stays out of the answer: it may hold a secret.
    pub(super) fn enter(&self, line: ShellLine<'_>) -> Result<(), ToolError> {
        let Some(mode @ (CommandFilterMode::Allow | CommandFilterMode::Deny)) = self.mode else {
            return Ok(());
        };
        let refuse = |what: String, hint: &str| {
            Err(ToolError::new(Code::Denied, format!("policy.command_filter: {what}")).hint(hint))
        };
        let line = match line {
            ShellLine::Known(line) => line,
            ShellLine::Edited => {
                return refuse(
                    "the line was edited with keys or holds more than ASCII, so nobody can tell what it says; \
                     nothing was typed"
                        .to_owned(),
                    "send C-c in a call of its own, then type the whole line; or use run_command",
                );
            }
            ShellLine::Lost => {
                return refuse(
                    "keys such as Tab, Escape or C-v came before, so nobody can tell what the line says; \
                     nothing was typed"
                        .to_owned(),
                    "send C-c, then use run_command there, which makes sure that nothing stands typed; or use another pane",
                );
            }
        };
        let fits = self.patterns.iter().position(|pattern| pattern.is_match(line));
        let person = "a person can change policy.command_filter in the config file";
        match (mode, fits) {
            (CommandFilterMode::Deny, Some(at)) => {
                let pattern = self.patterns.get(at).map(Regex::as_str).unwrap_or_default();
                let number = at + 1;
                refuse(
                    format!(
                        "a line fits the denied pattern {number} `{pattern}`; nothing was typed or run"
                    ),
                    &format!("do it in another way that is allowed; {person}"),
                )
            }
            (CommandFilterMode::Allow, None) if !line.trim().is_empty() => {
                let patterns: Vec<String> =
                    self.patterns.iter().map(|pattern| format!("`{pattern}`")).collect();
                refuse(
                    format!(
                        "a line fits none of the allowed patterns {}; nothing was typed or run",
                        patterns.join(", ")
                    ),
                    &format!("give lines that fit one of them; {person}"),
                )
            }
            _ => Ok(()),
        }
    }
}
