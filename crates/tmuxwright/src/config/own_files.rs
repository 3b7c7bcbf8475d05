//! The files of the server itself, which no tool may write at any tier: with them a call could change
//! the rules, remove its traces, or have its text run by a shell.

use std::path::{Path, PathBuf, absolute};

use super::Settings;
use super::directories::{config_file, state_file};
use crate::policy::ProtectedPath;
use crate::private_dir;

/// The files of a server with these settings, read from this config file.
pub(super) fn own_files(settings: &Settings, config: Option<&Path>) -> Vec<ProtectedPath> {
    let directory = |file: Option<PathBuf>| file?.parent().map(Path::to_owned);
    let trees = [
        ("the config file", config.and_then(|path| absolute(path).ok())),
        ("the config directory", directory(config_file("config.toml"))),
        ("the state directory", directory(state_file("http-token"))),
        ("the token file of --http", settings.http.token_file.clone()),
        ("the full answers of the audit log", settings.audit.full.clone()),
    ];
    let trees = trees.into_iter().filter_map(|(what, path)| Some(ProtectedPath::tree(what, path?)));
    let log = settings.audit.file.clone();
    let log = log.map(|path| ProtectedPath::rotated("the audit log", path, settings.audit.files));
    let scripts = ProtectedPath::prefix("the server's scripts", private_dir::prefix());
    trees.chain(log).chain([scripts]).collect()
}
