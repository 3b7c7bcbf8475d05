//! Settings: declared once in [`SETTINGS`], read from flags, environment and config file, in this
//! order of strength.
//!
//! Help, completions, `docs/config.md` and the check for unknown keys all follow from the list.

mod directories;
mod environment;
mod file;
mod flags;
pub mod http;
mod list;
#[cfg(test)]
mod tests;
mod value;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ArgMatches;
use clap::parser::ValueSource;
use tmux_control::{Program, Socket};

use crate::audit;
use crate::host::Host;
use crate::policy::Policy;
use crate::redact::Redactor;
use crate::run;
use crate::watch::Patterns;
pub use flags::flags;
use http::Http;
pub use list::SETTINGS;

/// What kind of value a setting takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Any text.
    Text(&'static str),
    /// One of these.
    Choice(&'static [&'static str]),
    /// On or off.
    Switch,
    /// A whole number.
    Number,
    /// Any number of texts; in the config file only.
    List(&'static str),
    /// Text that nobody else may read; in the environment only.
    Secret(&'static str),
}

/// One setting.
pub struct Setting {
    /// Its key in the config file, dotted; also its id.
    pub key: &'static str,
    /// Its flag, without the dashes.
    pub flag: Option<&'static str>,
    /// Its environment variables, the present name first.
    pub env: &'static [&'static str],
    /// What it takes.
    pub kind: Kind,
    /// What holds when nothing is said, as people read it.
    pub default: &'static str,
    /// What it does.
    pub help: &'static str,
    set: fn(&mut Settings, &str) -> Result<(), String>,
}

impl Setting {
    /// What the command line or the environment says, and where.
    fn given(&self, matches: &ArgMatches) -> Option<(String, String)> {
        let from = |env: &&str| Some((std::env::var(env).ok()?, (*env).to_owned()));
        let Some(flag) = self.flag else { return self.env.iter().find_map(from) };
        if let Some(value) = matches.get_one::<String>(self.key) {
            let place = match (matches.value_source(self.key), self.env) {
                (Some(ValueSource::EnvVariable), [env, ..]) => (*env).to_owned(),
                _ => format!("--{flag}"),
            };
            return Some((value.clone(), place));
        }
        self.env.iter().skip(1).find_map(from)
    }
}

/// The flag that names the config file; it cannot itself stand in that file.
const CONFIG: (&str, &str) = ("config", "TMUXWRIGHT_CONFIG");

/// The settings in force.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The tmux server, if one was named.
    pub socket: Option<Socket>,
    /// The tmux program.
    pub tmux: OsString,
    /// What may be done.
    pub policy: Policy,
    /// Whether every tool answers with structured content.
    pub structured: bool,
    /// Whether our own session and buffers outlive us.
    pub keep: bool,
    /// Whether what a watch has seen is pushed to the client.
    pub channel: bool,
    /// How to serve over HTTP.
    pub http: Http,
    /// What record is kept of the calls.
    pub audit: audit::AuditOptions,
    /// What is logged.
    pub log: tracing::metadata::LevelFilter,
    /// How commands are run.
    pub runs: run::Options,
    /// How long a call blocks when its client asked for no progress.
    pub block: Duration,
    /// The most characters of terminal text in one result.
    pub text_limit: usize,
    /// What an error looks like.
    pub(crate) errors: Patterns,
    /// Takes secrets out of answers.
    pub(crate) redact: Redactor,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            socket: None,
            tmux: "tmux".into(),
            policy: Policy::default(),
            structured: false,
            keep: false,
            channel: false,
            http: Http::default(),
            audit: audit::AuditOptions::default(),
            log: tracing::metadata::LevelFilter::WARN,
            runs: run::Options::default(),
            block: Duration::from_secs(50),
            text_limit: 16_000,
            errors: Patterns::default(),
            redact: Redactor::default(),
        }
    }
}

impl Settings {
    /// Puts flags, environment, config file and defaults together.
    pub fn resolve(matches: &ArgMatches) -> Result<Self, String> {
        environment::refuse_unknown(std::env::vars_os().map(|(name, _)| name))?;
        let mut settings = Self::default();
        let named = matches.get_one::<String>(CONFIG.0).map(PathBuf::from);
        for (key, value) in read_file(named.as_deref())? {
            let setting = setting(&key).ok_or_else(|| file::unknown(&key))?;
            if let (Kind::Secret(instead), [env, ..]) = (setting.kind, setting.env) {
                return Err(format!(
                    "config key `{key}`: a secret does not belong here; use {env} or `{instead}`"
                ));
            }
            (setting.set)(&mut settings, &value)
                .map_err(|why| format!("config key `{key}`: {why}"))?;
        }
        for setting in SETTINGS {
            let Some((value, place)) = setting.given(matches) else { continue };
            (setting.set)(&mut settings, &value).map_err(|why| format!("{place}: {why}"))?;
        }
        settings.policy.check(&settings.program().socket)?;
        settings.http.check()?;
        if settings.redact.has_unused_patterns() {
            return Err(
                "config key `policy.redact_patterns`: does nothing without `redact = true` \
                        beside it, or --redact"
                    .to_owned(),
            );
        }
        Ok(settings)
    }

    /// The tmux program on the socket that is meant.
    pub fn program(&self) -> Program {
        let socket = self.socket.clone().unwrap_or_else(Host::default_socket);
        let secrets = SETTINGS.iter().filter(|setting| matches!(setting.kind, Kind::Secret(_)));
        let hidden = secrets.flat_map(|setting| setting.env).map(|env| (*env).into()).collect();
        Program { path: self.tmux.clone(), hidden, ..Program::new(socket) }
    }
}

fn setting(key: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.key == key)
}

/// The keys and values of the config file: the one named, which must be there, or the default one,
/// which need not.
fn read_file(named: Option<&Path>) -> Result<Vec<(String, String)>, String> {
    match named {
        Some(path) => file::read(path),
        None => match file::default_path() {
            Some(path) if path.exists() => file::read(&path),
            _ => Ok(Vec::new()),
        },
    }
}
