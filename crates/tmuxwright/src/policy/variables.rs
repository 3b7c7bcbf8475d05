//! Rules for the environment variables that calls may set.

use crate::contract::{Code, ToolError};

/// Names that may be set, `None` for all. `LC_*` stands for every name that begins with `LC_`.
#[derive(Debug, Clone, Default)]
pub struct VariableRules(Option<Vec<String>>);

impl VariableRules {
    /// Limits the variables to these names.
    pub fn set<'a>(&mut self, names: impl Iterator<Item = &'a str>) -> Result<(), String> {
        let read = |name: &str| {
            let plain = name.strip_suffix('*').unwrap_or(name);
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            match name.is_empty() || !plain.chars().all(is_name) {
                true => Err(format!(
                    "`{name}` is not the name of a variable, with or without a final *"
                )),
                false => Ok(name.to_owned()),
            }
        };
        self.0 = Some(names.map(read).collect::<Result<_, _>>()?);
        Ok(())
    }

    /// Checks a name. While commands are filtered and no names are listed, no variable may be set: a
    /// shell runs the values of `ENV`, `PROMPT_COMMAND`, `PS1`, `PAGER` and many more.
    pub(super) fn check(&self, name: &str, filtered: bool) -> Result<(), ToolError> {
        let matches = |rule: &String| match rule.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => rule == name,
        };
        let why = match &self.0 {
            None if !filtered => return Ok(()),
            None => "while policy.command_filter is on, it must be in `policy.env`",
            Some(names) if names.iter().any(matches) => return Ok(()),
            Some(_) => "it is not in `policy.env`",
        };
        let message = format!("the environment variable `{name}` may not be set: {why}");
        Err(ToolError::new(Code::Denied, message)
            .hint("leave it out of `env`; a person can add it to `policy.env` in the config file"))
    }
}
