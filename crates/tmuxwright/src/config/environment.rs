//! Check for unknown environment variables with our prefix. A misspelt `TMUXWRIGHT_TIER` would
//! otherwise be ignored, and the server would run at a wider tier than the person asked for.

use std::ffi::OsString;

use super::{CONFIG_FLAG, SETTINGS};
use crate::contract::nearest;

/// The beginning of every variable that is a setting.
const PREFIX: &str = "TMUXWRIGHT_";

/// Refuses the first variable that begins with our prefix and is not declared in the list of settings.
pub(super) fn refuse_unknown(variables: impl Iterator<Item = OsString>) -> Result<(), String> {
    let known: Vec<&str> = known_names().collect();
    let names = variables
        .filter_map(|variable| variable.to_string_lossy().strip_prefix(PREFIX).map(str::to_owned));
    let Some(unknown) = names.filter(|name| !known.contains(&name.as_str())).min() else {
        return Ok(());
    };
    let missing = format!("there is no environment variable `{PREFIX}{unknown}`");
    Err(match nearest(&unknown, known.iter().copied()) {
        Some(near) => format!("{missing}; did you mean `{PREFIX}{near}`?"),
        None => format!("{missing}; known after `{PREFIX}` are: {}", known.join(", ")),
    })
}

/// The declared variables with the prefix removed; comparing it would make all names look similar.
fn known_names() -> impl Iterator<Item = &'static str> {
    let declared = SETTINGS.iter().flat_map(|setting| setting.env).copied();
    declared.chain([CONFIG_FLAG.1]).filter_map(|name| name.strip_prefix(PREFIX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(names: &[&str]) -> Option<String> {
        refuse_unknown(names.iter().map(OsString::from)).err()
    }

    #[test]
    fn declared_and_foreign_variables_pass() {
        for name in known_names() {
            assert_eq!(refused(&[&format!("{PREFIX}{name}")]), None, "{name}");
        }
        assert_eq!(
            refused(&["PATH", "TMUX", "TMUX_PANE", "__TMUXWRIGHT_READY", "TMUXWRIGHTER"]),
            None
        );
    }

    #[test]
    fn misspelt_variable_names_the_nearest() {
        let error = refused(&["PATH", "TMUXWRIGHT_TEIR"]).unwrap();
        assert!(
            error.contains("`TMUXWRIGHT_TEIR`") && error.contains("`TMUXWRIGHT_TIER`"),
            "{error}"
        );
    }

    #[test]
    fn unlike_variable_lists_the_known_ones() {
        let error = refused(&["TMUXWRIGHT_QQQQQQQQQQQQ"]).unwrap();
        assert!(error.contains("SOCKET, TMUX, "), "{error}");
    }
}
