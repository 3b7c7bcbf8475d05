//! Paths of the user's config and state directories: XDG variable, macOS directory, or below `~`.

use std::env;
use std::path::PathBuf;

/// Name of our directory in each of them.
const APP_DIR: &str = "tmuxwright";

/// A file in the user's config directory.
pub(super) fn config_file(name: &str) -> Option<PathBuf> {
    file("XDG_CONFIG_HOME", ".config", name)
}

/// A file in the user's state directory, for data that outlives a process.
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
    Some(base.join(APP_DIR).join(name))
}
