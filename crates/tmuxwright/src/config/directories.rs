//! The user's directories for config and state. Three rules (XDG variable, macOS, `~`), so no crate is
//! needed for them.

use std::env;
use std::path::PathBuf;

/// Below both: our own directory.
const OURS: &str = "tmuxwright";

/// A file in the user's config directory.
pub(super) fn config_file(name: &str) -> Option<PathBuf> {
    file("XDG_CONFIG_HOME", ".config", name)
}

/// A file in the user's state directory, where programs keep what outlives a run.
pub(super) fn state_file(name: &str) -> Option<PathBuf> {
    file("XDG_STATE_HOME", ".local/state", name)
}

fn file(variable: &str, below_home: &str, name: &str) -> Option<PathBuf> {
    let home = env::var_os("HOME").map(PathBuf::from);
    let base = match env::var_os(variable).filter(|dir| !dir.is_empty()) {
        Some(dir) => PathBuf::from(dir),
        None if cfg!(target_os = "macos") => home?.join("Library/Application Support"),
        None => home?.join(below_home),
    };
    Some(base.join(OURS).join(name))
}
