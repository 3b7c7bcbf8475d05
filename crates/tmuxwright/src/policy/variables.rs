//! Rules for the environment variables that calls may set.

use crate::contract::{Code, ToolError, VariableReach};

/// A variable, or with a final `*` all that begin so, through which a program loads code.
#[derive(Debug, Clone, Copy)]
pub struct LoadingVariable {
    /// Its name.
    pub name: &'static str,
    /// The effect of its value.
    pub effect: &'static str,
    /// Whether calls may set it for programs that they start, but not for those of others.
    pub own_programs: bool,
}

const fn never(name: &'static str, effect: &'static str) -> LoadingVariable {
    LoadingVariable { name, effect, own_programs: false }
}

const fn own(name: &'static str, effect: &'static str) -> LoadingVariable {
    LoadingVariable { name, effect, own_programs: true }
}

/// Variables that only `policy.env` allows. The first part changes what a shell or the linker runs
/// before and between the commands of a call, so that results would no longer be exact. The second part
/// chooses programs and files; a call may set it for its own programs.
pub const LOADING_VARIABLES: &[LoadingVariable] = &[
    never("BASHOPTS", "options of bash"),
    never("BASH_*", "bash: file or functions to run at the start, and its state"),
    never("DYLD_*", "macOS linker: libraries to load"),
    never("ENV", "sh: file to run at the start"),
    never("FPATH", "zsh, ksh: directories of functions"),
    never("GCONV_PATH", "C library: modules to load"),
    never("HISTFILE", "shells: file to overwrite at the end"),
    never("IFS", "shells: how words are split"),
    never("INPUTRC", "readline: keys that run commands"),
    never("LD_*", "linker: libraries to load"),
    never("LOCPATH", "C library: locales to load"),
    never("PROMPT", "zsh: commands in the prompt"),
    never("PROMPT_COMMAND", "bash: command before each prompt"),
    never("PS*", "shells: commands in the prompt"),
    never("RPROMPT", "zsh: commands in the prompt"),
    never("RPS*", "zsh: commands in the prompt"),
    never("SHELLOPTS", "options of bash"),
    never("TMUX*", "tmux: the server and pane a program belongs to; settings of this server"),
    never("ZDOTDIR", "zsh: directory of the files to run at the start"),
    never("_*", "state of shells and of this server"),
    own("BROWSER", "program to run"),
    own("CARGO*", "cargo: programs to run, directories"),
    own("CDPATH", "shells: where `cd` goes"),
    own("EDITOR", "program to run"),
    own("GIT_*", "git: programs to run, configuration"),
    own("HOME", "directory of start-up files"),
    own("JAVA_TOOL_OPTIONS", "java: code to load"),
    own("LESS*", "less: programs to run"),
    own("MANPAGER", "program to run"),
    own("NODE_*", "node: code to load"),
    own("PAGER", "program to run"),
    own("PATH", "directories of programs"),
    own("PERL5*", "perl: code to load"),
    own("PYTHON*", "python: code to load"),
    own("RUBY*", "ruby: code to load"),
    own("RUSTC_*", "cargo: programs to run"),
    own("SHELL", "program to run"),
    own("SSH_*", "ssh: programs to run, keys"),
    own("SUDO_*", "sudo: programs to run"),
    own("TERMINFO*", "terminal descriptions to load"),
    own("VISUAL", "program to run"),
    own("XDG_*", "directories of start-up files"),
];

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

    /// Checks a name. Without a list, everything may be set that loads no code; while commands are
    /// filtered, nothing may, because many programs run what they find in a variable.
    pub(super) fn check(
        &self,
        name: &str,
        reach: VariableReach,
        filtered: bool,
    ) -> Result<(), ToolError> {
        let loads = LOADING_VARIABLES.iter().find(|variable| matches(variable.name, name));
        let why = match (&self.0, loads) {
            (Some(names), _) if names.iter().any(|rule| matches(rule, name)) => return Ok(()),
            (Some(_), _) => "it is not in `policy.env`".to_owned(),
            (None, _) if filtered => {
                "while policy.command_filter is on, it must be in `policy.env`".to_owned()
            }
            (None, None) => return Ok(()),
            (None, Some(loads)) if loads.own_programs && reach == VariableReach::OwnPrograms => {
                return Ok(());
            }
            (None, Some(loads)) => {
                let others = match loads.own_programs {
                    true => " for programs that this server does not start",
                    false => "",
                };
                format!("it loads code ({}){others}", loads.effect)
            }
        };
        let message = format!("the environment variable `{name}` may not be set: {why}");
        Err(ToolError::new(Code::Denied, message)
            .hint("leave it out; a person can add it to `policy.env` in the config file"))
    }
}

/// Whether a name is the rule's, or begins with it if the rule ends in `*`.
fn matches(rule: &str, name: &str) -> bool {
    match rule.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => rule == name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use VariableReach::{OwnPrograms, Session};

    #[test]
    fn variables_that_load_code_are_refused() {
        let rules = VariableRules::default();
        for name in ["BASH_ENV", "ENV", "LD_PRELOAD", "PS1", "PROMPT_COMMAND", "ZDOTDIR", "TMUX"] {
            for reach in [OwnPrograms, Session] {
                let error = rules.check(name, reach, false).unwrap_err();
                assert!(error.message.contains(name) && error.hint.is_some(), "{error}");
            }
        }
        for name in ["PATH", "PAGER", "GIT_PAGER", "HOME"] {
            assert!(rules.check(name, OwnPrograms, false).is_ok(), "{name}");
            assert!(rules.check(name, Session, false).is_err(), "{name}");
        }
        assert!(rules.check("RUST_LOG", Session, false).is_ok());
    }

    #[test]
    fn listed_variables_are_allowed() {
        let mut rules = VariableRules::default();
        rules.set(["LD_*", "PS1"].into_iter()).unwrap();
        for name in ["LD_PRELOAD", "PS1"] {
            assert!(rules.check(name, Session, true).is_ok(), "{name}");
        }
        assert!(rules.check("RUST_LOG", OwnPrograms, false).is_err());
    }
}
