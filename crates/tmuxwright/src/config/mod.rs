//! Settings from flags, environment variables and the config file, in this order of precedence.
//!
//! Each setting is declared once, in [`SETTINGS`]; help, `docs/config.md` and the check for unknown
//! keys follow from the list.

pub mod authority;
mod directories;
mod environment;
mod file;
mod flags;
pub mod http;
mod interpreters;
mod list;
mod own_files;
mod servers;
#[cfg(test)]
mod tests;
mod value;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::ArgMatches;
use clap::parser::ValueSource;
use tmux_control::{Program, Route, Socket};

use crate::audit;
use crate::policy::Policy;
use crate::redact::Redactor;
use crate::run;
use crate::watch::ErrorPatterns;
pub use flags::flags;
use http::HttpSettings;
use interpreters::InterpreterTable;
pub use interpreters::{INTERPRETER_KEYS, INTERPRETERS_TABLE, InterpreterKey};
pub use list::SETTINGS;
use servers::ServerTable;
pub use servers::{DEFAULT_SERVER, SERVER_KEYS, SERVERS_TABLE, ServerKey, ServerSettings};

/// The kind of value that a setting takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingKind {
    /// Any text; the inner value is its placeholder in help.
    Text(&'static str),
    /// One of these.
    Choice(&'static [&'static str]),
    /// On or off.
    Switch,
    /// A whole number.
    Number,
    /// Any number of strings, in the config file only; the inner value is the placeholder of one.
    List(&'static str),
    /// A secret, in the environment only; the inner value is the config key to use instead.
    Secret(&'static str),
}

/// The declaration of a setting.
pub struct Setting {
    /// Dotted key in the config file; also its id.
    pub key: &'static str,
    /// Flag without the dashes.
    pub flag: Option<&'static str>,
    /// Environment variables, the current name first.
    pub env: &'static [&'static str],
    /// Kind of value.
    pub kind: SettingKind,
    /// Default, in words for people.
    pub default: &'static str,
    /// Help text, without a full stop at the end.
    pub help: &'static str,
    set: fn(&mut Settings, &str) -> Result<(), String>,
}

impl Setting {
    /// The value from the command line or the environment, and the flag or variable it came from.
    fn flag_or_env(&self, matches: &ArgMatches) -> Option<(String, String)> {
        let from = |env: &&str| Some((std::env::var(env).ok()?, (*env).to_owned()));
        let Some(flag) = self.flag else { return self.env.iter().find_map(from) };
        if let Some(value) = matches.get_one::<String>(self.key) {
            let origin = match (matches.value_source(self.key), self.env) {
                (Some(ValueSource::EnvVariable), [env, ..]) => (*env).to_owned(),
                _ => format!("--{flag}"),
            };
            return Some((value.clone(), origin));
        }
        self.env.iter().skip(1).find_map(from)
    }
}

/// Flag and environment variable that name the config file. Not a [`Setting`], because it cannot be in
/// that file.
const CONFIG_FLAG: (&str, &str) = ("config", "TMUXWRIGHT_CONFIG");

/// The settings in force.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Socket of the tmux server, if one was named.
    pub socket: Option<Socket>,
    /// tmux program.
    pub tmux: OsString,
    /// The way to the system of that server by ssh, if it is another.
    pub ssh: Option<Route>,
    /// The same by a command.
    pub via: Option<Route>,
    /// Further tmux servers, from the config file.
    pub servers: Vec<ServerSettings>,
    /// Process group of the tmux processes. Not set by people, but by `serve`.
    pub process_group: Option<u32>,
    /// This program, to run as keeper of the programs in own panes. Not set by people, but by the
    /// command line.
    pub keeper: Option<PathBuf>,
    /// Policy of all calls.
    pub policy: Policy,
    /// Whether every tool returns structured content.
    pub structured: bool,
    /// Whether the own session and buffers outlive the process.
    pub keep: bool,
    /// Whether events of watches are pushed to the client.
    pub channel: bool,
    /// HTTP transport.
    pub http: HttpSettings,
    /// Audit log.
    pub audit: audit::AuditOptions,
    /// Log level on stderr.
    pub log: tracing::metadata::LevelFilter,
    /// Run engine.
    pub runs: run::RunOptions,
    /// Maximum time that a call waits if its client did not ask for progress.
    pub block: Duration,
    /// Maximum characters of terminal text in one result.
    pub text_limit: usize,
    /// Patterns of the condition `error`.
    pub(crate) errors: ErrorPatterns,
    /// Removes secrets from results, if enabled.
    pub(crate) redact: Redactor,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            socket: None,
            tmux: "tmux".into(),
            ssh: None,
            via: None,
            servers: Vec::new(),
            process_group: None,
            keeper: None,
            policy: Policy::default(),
            structured: false,
            keep: false,
            channel: false,
            http: HttpSettings::default(),
            audit: audit::AuditOptions::default(),
            log: tracing::metadata::LevelFilter::WARN,
            runs: run::RunOptions::default(),
            block: Duration::from_secs(50),
            text_limit: 16_000,
            errors: ErrorPatterns::default(),
            redact: Redactor::default(),
        }
    }
}

impl Settings {
    /// Combines flags, environment, config file and defaults.
    pub fn resolve(matches: &ArgMatches) -> Result<Self, String> {
        environment::refuse_unknown(std::env::vars_os().map(|(name, _)| name))?;
        let mut settings = Self::default();
        let named = matches.get_one::<String>(CONFIG_FLAG.0).map(PathBuf::from);
        if let Some(path) = named.clone().or_else(file::default_path) {
            let in_file = |why| format!("{}: {why}", path.display());
            settings.apply(file::read(&path).map_err(in_file)?).map_err(in_file)?;
        }
        for setting in SETTINGS {
            let Some((value, origin)) = setting.flag_or_env(matches) else { continue };
            (setting.set)(&mut settings, &value).map_err(|why| format!("{origin}: {why}"))?;
        }
        let own_files = own_files::own_files(&settings, named.as_deref());
        settings.policy.files.protect(own_files);
        settings.policy.check()?;
        settings.policy.reach.name_servers(settings.servers.iter().map(ServerSettings::place));
        settings.check_servers()?;
        settings.http.check()?;
        if settings.redact.has_unused_patterns() {
            return Err(
                "config key `policy.redact_patterns`: has no effect without `redact = true` \
                        beside it, or --redact"
                    .to_owned(),
            );
        }
        Ok(settings)
    }

    /// Applies the keys and values of the config file.
    fn apply(&mut self, entries: Vec<(String, String)>) -> Result<(), String> {
        let (mut interpreters, mut servers) = (InterpreterTable::default(), ServerTable::default());
        for (key, value) in entries {
            let in_key = |why| format!("config key `{key}`: {why}");
            if interpreters.set(&key, &value).map_err(in_key)?
                || servers.set(&key, &value).map_err(in_key)?
            {
                continue;
            }
            let setting = setting(&key).ok_or_else(|| file::unknown(&key))?;
            if let (SettingKind::Secret(instead), [env, ..]) = (setting.kind, setting.env) {
                return Err(format!(
                    "config key `{key}`: secrets are not allowed in the config file; use {env} or `{instead}`"
                ));
            }
            (setting.set)(self, &value).map_err(in_key)?;
        }
        self.runs.interpreters = interpreters.finish()?;
        self.servers = servers.finish()?;
        Ok(())
    }

    /// The tmux program of a server. Secrets are hidden from its environment.
    pub fn program_of(&self, server: &ServerSettings) -> Program {
        let secrets =
            SETTINGS.iter().filter(|setting| matches!(setting.kind, SettingKind::Secret(_)));
        let hidden = secrets.flat_map(|setting| setting.env).map(|env| (*env).into()).collect();
        let local = || if server.route.is_none() { self.tmux.clone() } else { "tmux".into() };
        let path = server.tmux.clone().unwrap_or_else(local);
        let process_group = self.process_group;
        Program { path, hidden, process_group, ..Program::new(server.place().socket) }
    }
}

fn setting(key: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.key == key)
}
