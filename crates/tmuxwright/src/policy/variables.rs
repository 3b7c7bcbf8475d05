//! Which environment variables calls may set.

use crate::contract::{Code, ToolError};

/// Names that may be set; `LC_*` stands for all that begin with `LC_`.
#[derive(Debug, Clone, Default)]
pub struct VariableRules(Option<Vec<String>>);

impl VariableRules {
    /// Limits them to these.
    pub fn set<'a>(&mut self, names: impl Iterator<Item = &'a str>) -> Result<(), String> {
        let read = |name: &str| {
            let plain = name.strip_suffix('*').unwrap_or(name);
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            match name.is_empty() || !plain.chars().all(is_name) {
                true => {
                    Err(format!("`{name}` is no variable's name, with or without * at its end"))
                }
                false => Ok(name.to_owned()),
            }
        };
        self.0 = Some(names.map(read).collect::<Result<_, _>>()?);
        Ok(())
    }

    /// Judges a name. While commands are filtered and nothing is listed, none may be set: a shell
    /// runs what it finds in `ENV`, `PROMPT_COMMAND`, `PS1`, `PAGER` and many more.
    pub(super) fn check(&self, name: &str, filtered: bool) -> Result<(), ToolError> {
        let fits = |rule: &String| match rule.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => rule == name,
        };
        let why = match &self.0 {
            None if !filtered => return Ok(()),
            None => "while policy.command_filter is on, only those in `policy.env` may be",
            Some(names) if names.iter().any(fits) => return Ok(()),
            Some(_) => "it is not in `policy.env`",
        };
        let what = format!("the environment variable `{name}` may not be set: {why}");
        Err(ToolError::new(Code::Denied, what)
            .hint("leave it out of `env`; a person can add it to `policy.env` in the config file"))
    }
}
