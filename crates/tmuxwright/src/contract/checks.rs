//! Checks of argument values that several tools make, so that each refusal has one wording.

use super::ToolError;

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
    fn blanks_are_text() {
        assert!(not_empty("text", " ", "").is_ok() && no_nul("text", "a b", "").is_ok());
    }
}
