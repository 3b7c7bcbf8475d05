//! Checks of argument values that several tools make, so that each refusal has one wording.

use tmux_control::checked_format::{FORMAT_VARIABLES, FormatError};

use super::{Code, ToolError, nearest};

/// Prefix of the user options in which this server keeps ownership and other state.
const RESERVED_OPTION_PREFIX: &str = "@mcp_";

/// Refuses empty text. A caller for whom blanks are not text either passes the trimmed text.
pub(crate) fn not_empty(argument: &str, text: &str, hint: &str) -> Result<(), ToolError> {
    if text.is_empty() {
        return Err(ToolError::invalid_argument(format!("`{argument}` is empty")).hint(hint));
    }
    Ok(())
}

/// Refuses text with a NUL byte, which neither paths nor arguments of a process can hold.
pub(crate) fn no_nul(argument: &str, text: &str, hint: &str) -> Result<(), ToolError> {
    if text.contains('\0') {
        let message = format!("`{argument}` contains a NUL byte");
        return Err(ToolError::invalid_argument(message).hint(hint));
    }
    Ok(())
}

/// Refuses names of environment variables that shells do not accept, and those of variables of tmux's
/// formats: where a version of tmux lacks one, it shows the environment variable instead.
pub(crate) fn variable_name(argument: &str, name: &str) -> Result<(), ToolError> {
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if name.is_empty() || !plain || name.starts_with(|c: char| c.is_ascii_digit()) {
        let message = format!("`{argument}`: `{name}` is not the name of a variable");
        return Err(ToolError::invalid_argument(message)
            .hint("use letters, digits and `_`, such as RUST_LOG"));
    }
    if FORMAT_VARIABLES.iter().any(|variable| variable.name == name) {
        let message = format!("`{argument}`: `{name}` is a variable of tmux formats");
        return Err(ToolError::invalid_argument(message).hint("choose another name"));
    }
    Ok(())
}

/// Refuses the options in which this server keeps its state: who can read the token of a pane's owner,
/// or set it, could claim the pane.
pub(crate) fn not_reserved(option: &str) -> Result<(), ToolError> {
    if !is_reserved(option) {
        return Ok(());
    }
    let message = format!("`{option}` is reserved: this server keeps its state in `@mcp_` options");
    Err(ToolError::new(Code::Denied, message)
        .hint("choose an option that does not begin with @mcp_; list_panes shows ownership"))
}

/// Whether this server keeps its state in the option.
pub(crate) fn is_reserved(option: &str) -> bool {
    option.starts_with(RESERVED_OPTION_PREFIX)
}

/// The error for a format that could do more than read.
pub(crate) fn format_refused(argument: &str, error: FormatError) -> ToolError {
    let names = FORMAT_VARIABLES.iter().map(|variable| variable.name);
    let near = error.unknown_variable.as_deref().and_then(|unknown| nearest(unknown, names));
    ToolError::invalid_argument(format!("`{argument}`: {}", error.message)).hint(match near {
        Some(near) => format!("did you mean `{near}`? {}", error.hint),
        None => error.hint,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_name_the_argument_and_the_next_step() {
        let empty = not_empty("text", "", "give text").unwrap_err();
        assert_eq!(empty.to_string(), "invalid_argument: `text` is empty\nNext: give text");
        let nul = no_nul("text", "a\0b", "remove it").unwrap_err();
        assert!(nul.to_string().contains("`text` contains a NUL byte"), "{nul}");
    }

    #[test]
    fn variable_names_are_those_of_shells() {
        for name in ["RUST_LOG", "_x", "a1"] {
            assert!(variable_name("name", name).is_ok(), "{name}");
        }
        for name in ["", "A=B", "@mcp_owner", "-g", "1A", "a b", "é", "pane_dead_signal"] {
            let error = variable_name("name", name).unwrap_err();
            assert!(error.message.contains(name) && error.hint.is_some(), "{error}");
        }
    }

    #[test]
    fn blanks_are_text() {
        assert!(not_empty("text", " ", "").is_ok() && no_nul("text", "a b", "").is_ok());
    }
}
