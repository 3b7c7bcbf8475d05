//! Settings: declared once in [`SETTINGS`], read from flags, environment and config file, in this
//! order of strength.
//!
//! Help, completions, `docs/config.md` and the check for unknown keys all follow from the list.

mod file;
mod flags;
#[cfg(test)]
mod tests;
mod value;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ArgMatches;
use clap::parser::ValueSource;
use tmux::{Program, Socket};

use crate::audit;
use crate::host::Host;
use crate::policy::{Ceiling, Mode, Policy};
use crate::process::ShellKind;
use crate::redact::Redactor;
use crate::run;
use crate::tool::Toolset;
use crate::watch::Patterns;
pub use flags::flags;
use value::{number, path, switch};

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
        let flag = self.flag?;
        if let Some(value) = matches.get_one::<String>(self.key) {
            let place = match (matches.value_source(self.key), self.env) {
                (Some(ValueSource::EnvVariable), [env, ..]) => (*env).to_owned(),
                _ => format!("--{flag}"),
            };
            return Some((value.clone(), place));
        }
        let mut older = self.env.iter().skip(1);
        older.find_map(|env| Some((std::env::var(env).ok()?, (*env).to_owned())))
    }
}

/// All settings there are, in the order of the documentation.
pub const SETTINGS: &[Setting] = &[
    Setting {
        key: "socket",
        flag: Some("socket"),
        env: &["TMUX_MCP_SOCKET"],
        kind: Kind::Text("PATH|NAME"),
        default: "the tmux this runs in, else tmux's default",
        help: "The tmux server: a socket path, or a name as in `tmux -L`",
        set: |s, v| Socket::parse(v).map(|v| s.socket = Some(v)).map_err(|e| e.to_string()),
    },
    Setting {
        key: "tmux",
        flag: Some("tmux"),
        env: &["TMUX_MCP_TMUX"],
        kind: Kind::Text("PATH"),
        default: "tmux in PATH",
        help: "The tmux program",
        set: |s, v| {
            s.tmux = v.into();
            Ok(())
        },
    },
    Setting {
        key: "toolset",
        flag: Some("toolset"),
        env: &["TMUX_MCP_TOOLSET"],
        kind: Kind::Choice(Toolset::CHOICES),
        default: "agent",
        help: "Which tools are offered",
        set: |s, v| v.parse().map(|v| s.policy.toolset = v),
    },
    Setting {
        key: "tier",
        flag: Some("tier"),
        env: &["TMUX_MCP_TIER"],
        kind: Kind::Choice(Ceiling::CHOICES),
        default: "mutating",
        help: "How far calls may go: at `mutating` only what this server made can be destroyed or renamed",
        set: |s, v| v.parse().map(|v| s.policy.ceiling = v),
    },
    Setting {
        key: "tools",
        flag: Some("tools"),
        env: &["TMUX_MCP_TOOLS"],
        kind: Kind::Text("EXPR"),
        default: "all of the toolset",
        help: "Only these tools, `allow:run_command,@screen`, or all but these, `deny:@input,kill`; docs/tools.md has the groups",
        set: |s, v| v.parse().map(|v| s.policy.choice = Some(v)),
    },
    Setting {
        key: "structured",
        flag: Some("structured"),
        env: &["TMUX_MCP_STRUCTURED"],
        kind: Kind::Switch,
        default: "off",
        help: "Give every tool an output schema and structured content, for programs",
        set: |s, v| switch(v).map(|v| s.structured = v),
    },
    Setting {
        key: "keep",
        flag: Some("keep"),
        env: &["TMUX_MCP_KEEP"],
        kind: Kind::Switch,
        default: "off",
        help: "Keep this server's own session and buffers when it ends",
        set: |s, v| switch(v).map(|v| s.keep = v),
    },
    Setting {
        key: "channel",
        flag: Some("channel"),
        env: &["TMUX_MCP_CHANNEL"],
        kind: Kind::Switch,
        default: "off",
        help: "Push what a watch has seen as `notifications/claude/channel` too; up to revision 2025-11-25",
        set: |s, v| switch(v).map(|v| s.channel = v),
    },
    Setting {
        key: "audit.file",
        flag: Some("audit"),
        env: &["TMUX_MCP_AUDIT", "TMUX_DEBUG_AUDIT"],
        kind: Kind::Text("FILE"),
        default: "off",
        help: "Write a line to this file for every call; see docs/audit.md",
        set: |s, v| path(v).map(|v| s.audit.file = v),
    },
    Setting {
        key: "audit.full",
        flag: Some("audit-full"),
        env: &["TMUX_MCP_AUDIT_FULL", "TMUX_DEBUG_AUDIT_FULL"],
        kind: Kind::Text("DIR"),
        default: "off",
        help: "Write every capture and every command's output to a file in this directory",
        set: |s, v| path(v).map(|v| s.audit.full = v),
    },
    Setting {
        key: "audit.plain",
        flag: None,
        env: &[],
        kind: Kind::Switch,
        default: "off",
        help: "Log typed text, commands and values as they are, secrets included",
        set: |s, v| switch(v).map(|v| s.audit.plain = v),
    },
    Setting {
        key: "audit.max_bytes",
        flag: None,
        env: &[],
        kind: Kind::Number,
        default: "10000000",
        help: "The size at which the log is rotated",
        set: |s, v| number(v, 1_000, 1_000_000_000_000).map(|v| s.audit.max_bytes = v),
    },
    Setting {
        key: "audit.files",
        flag: None,
        env: &[],
        kind: Kind::Number,
        default: "5",
        help: "How many rotated logs are kept",
        set: |s, v| number(v, 1, 1_000).map(|v| s.audit.files = v),
    },
    Setting {
        key: "log",
        flag: Some("log"),
        env: &["TMUX_MCP_LOG"],
        kind: Kind::Choice(&["off", "error", "warn", "info", "debug", "trace"]),
        default: "warn",
        help: "What is logged to stderr",
        set: |s, v| v.parse().map(|v| s.log = v).map_err(|_| format!("`{v}` is no log level")),
    },
    Setting {
        key: "shell_type",
        flag: Some("shell-type"),
        env: &["TMUX_MCP_SHELL_TYPE"],
        kind: Kind::Choice(ShellKind::NAMES),
        default: "seen from its process",
        help: "What a shell is whose name says nothing; known ones are never mistaken",
        set: |s, v| {
            s.runs.shell = Some(ShellKind::named(v).ok_or(format!("`{v}` is no shell"))?);
            Ok(())
        },
    },
    Setting {
        key: "policy.redact",
        flag: Some("redact"),
        env: &["TMUX_MCP_REDACT"],
        kind: Kind::Switch,
        default: "off",
        help: "Take secrets out of answers: tokens, keys, passwords; see docs/security.md",
        set: |s, v| switch(v).map(|v| s.redact.switch(v)),
    },
    Setting {
        key: "policy.redact_patterns",
        flag: None,
        env: &[],
        kind: Kind::List("REGEX"),
        default: "none",
        help: "What else is a secret, when secrets are taken out",
        set: |s, v| s.redact.look_for(v.lines()),
    },
    Setting {
        key: "limits.block",
        flag: None,
        env: &[],
        kind: Kind::Number,
        default: "50",
        help: "The most seconds a call blocks when its client asked for no progress",
        set: |s, v| number(v, 1, 600).map(|v| s.block = Duration::from_secs(v)),
    },
    Setting {
        key: "limits.results",
        flag: None,
        env: &[],
        kind: Kind::Number,
        default: "100",
        help: "How many results of finished commands are kept",
        set: |s, v| number(v, 1, 10_000).map(|v| s.runs.results = v),
    },
    Setting {
        key: "limits.text",
        flag: None,
        env: &[],
        kind: Kind::Number,
        default: "16000",
        help: "The most characters of terminal text in one result",
        set: |s, v| number(v, 100, 500_000).map(|v| s.text_limit = v),
    },
    Setting {
        key: "policy.all_buffers",
        flag: None,
        env: &[],
        kind: Kind::Switch,
        default: "off",
        help: "Open paste buffers that this server did not make, a person's clipboard among them",
        set: |s, v| switch(v).map(|v| s.policy.all_buffers = v),
    },
    Setting {
        key: "watch.errors",
        flag: None,
        env: &[],
        kind: Kind::List("REGEX"),
        default: "see docs/until.md",
        help: "What a line looks like that the condition `error` takes for one",
        set: |s, v| Patterns::new(v.lines()).map(|v| s.errors = v),
    },
    Setting {
        key: "policy.allowed_servers",
        flag: None,
        env: &[],
        kind: Kind::List("SOCKET"),
        default: "any",
        help: "The tmux servers that may be driven, by socket name or path",
        set: |s, v| s.policy.reach.set_servers(v.lines()),
    },
    Setting {
        key: "policy.allowed_sessions",
        flag: None,
        env: &[],
        kind: Kind::List("SESSION"),
        default: "any",
        help: "The sessions that calls can see and reach: ids such as `$1`, exact names, `own` for what this server made",
        set: |s, v| s.policy.reach.set_sessions(v.lines()),
    },
    Setting {
        key: "policy.allowed_panes",
        flag: None,
        env: &[],
        kind: Kind::List("PANE"),
        default: "any",
        help: "The panes that calls can see and reach, within the allowed sessions: ids such as `%3`, `own`",
        set: |s, v| s.policy.reach.set_panes(v.lines()),
    },
    Setting {
        key: "policy.command_filter.mode",
        flag: None,
        env: &[],
        kind: Kind::Choice(Mode::CHOICES),
        default: "off",
        help: "What the patterns are for: every line must fit one, or none may",
        set: |s, v| Mode::parse(v).map(|v| s.policy.commands.mode = Some(v)),
    },
    Setting {
        key: "policy.command_filter.patterns",
        flag: None,
        env: &[],
        kind: Kind::List("REGEX"),
        default: "none",
        help: "What a line that becomes shell input is held against, however it gets there",
        set: |s, v| s.policy.commands.set_patterns(v.lines()),
    },
    Setting {
        key: "policy.readable_paths",
        flag: None,
        env: &[],
        kind: Kind::List("PATH"),
        default: "any",
        help: "Files and directories that tools may read, after following links; a directory to start in is not read",
        set: |s, v| s.policy.files.set_readable(v.lines()),
    },
    Setting {
        key: "policy.writable_paths",
        flag: None,
        env: &[],
        kind: Kind::List("PATH"),
        default: "any; none at the tier `readonly`",
        help: "Files and directories that tools may write, after following links",
        set: |s, v| s.policy.files.set_writable(v.lines()),
    },
    Setting {
        key: "policy.env",
        flag: None,
        env: &[],
        kind: Kind::List("NAME"),
        default: "any; none with a command filter",
        help: "The environment variables that calls may set; `LC_*` stands for all that begin so",
        set: |s, v| s.policy.variables.set(v.lines()),
    },
];

/// The flag that names the config file; it cannot itself stand in that file.
const CONFIG: (&str, &str) = ("config", "TMUX_MCP_CONFIG");

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
    /// What record is kept of the calls.
    pub audit: audit::Options,
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
            audit: audit::Options::default(),
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
        let mut settings = Self::default();
        let named = matches.get_one::<String>(CONFIG.0).map(PathBuf::from);
        for (key, value) in read_file(named.as_deref())? {
            let setting = setting(&key).ok_or_else(|| file::unknown(&key))?;
            (setting.set)(&mut settings, &value)
                .map_err(|why| format!("config key `{key}`: {why}"))?;
        }
        for setting in SETTINGS {
            let Some((value, place)) = setting.given(matches) else { continue };
            (setting.set)(&mut settings, &value).map_err(|why| format!("{place}: {why}"))?;
        }
        settings.policy.check(&settings.program().socket)?;
        if settings.redact.is_idle() {
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
        Program { path: self.tmux.clone(), ..Program::new(socket) }
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
