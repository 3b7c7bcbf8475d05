//! tmux options, hooks and environment: the catalogue of names, and the object that holds a value.
//!
//! tmux accepts the beginning of an option's name for the whole and expands the name as a format, so it
//! is given only names that it has listed itself, and names of user options.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::show_output::{self, ShownOption};
use tmux_control::target::Level;
use tmux_control::{Command, TmuxReply, escape_format};

use crate::context::{Cx, Resolved};
use crate::contract::{Code, Target, ToolError, is_reserved, nearest, not_reserved};
use crate::host::PaneState;

/// The kind of object that holds an option.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema, strum::IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub(crate) enum Scope {
    Server,
    Session,
    Window,
    Pane,
}

impl Scope {
    /// The scope's name, as arguments and answers have it.
    pub(crate) fn name(self) -> &'static str {
        self.into()
    }
}

impl From<Level> for Scope {
    fn from(level: Level) -> Self {
        match level {
            Level::Session => Self::Session,
            Level::Window => Self::Window,
            Level::Pane => Self::Pane,
        }
    }
}

/// Names of all options and hooks of the running tmux version, with their scopes.
pub(crate) struct OptionCatalogue {
    options: BTreeMap<String, Scope>,
    hooks: BTreeMap<String, Scope>,
}

impl OptionCatalogue {
    /// Reads the names from tmux.
    pub(crate) async fn read(cx: &Cx) -> Result<Self, ToolError> {
        let show = |command, flags| Command::query(command).arg(flags);
        let ask = vec![
            show("show-options", "-s"),
            show("show-options", "-g"),
            show("show-options", "-gw"),
            show("show-hooks", "-g"),
            show("show-hooks", "-gw"),
        ];
        let mut replies = cx.tmux().sequence(ask).await?.into_iter();
        let mut names = |scope| {
            let text = replies.next().map(|reply| reply.text()).unwrap_or_default();
            let lines: Vec<String> =
                text.lines().map(|line| show_output::parse_option(line).name).collect();
            lines.into_iter().map(move |name| (base(&name).to_owned(), scope))
        };
        let mut options: BTreeMap<String, Scope> = names(Scope::Server).collect();
        options.extend(names(Scope::Session));
        options.extend(names(Scope::Window));
        options.retain(|name, _| !name.starts_with('@'));
        let mut hooks: BTreeMap<String, Scope> = names(Scope::Session).collect();
        hooks.extend(names(Scope::Window));
        Ok(Self { options, hooks })
    }

    /// Looks up a name.
    pub(crate) fn find(&self, name: &str) -> Result<OptionKind, ToolError> {
        not_reserved(name)?;
        if name.starts_with('@') && name.len() > 1 && !name.contains(char::is_control) {
            return Ok(OptionKind::User);
        }
        let base = base(name);
        if let Some(scope) = self.options.get(base) {
            return Ok(OptionKind::Option(*scope));
        }
        if self.hooks.contains_key(base) {
            return Ok(OptionKind::Hook);
        }
        Err(unknown("option", "show_option", name, self.options.keys()))
    }

    /// The scope of a hook.
    pub(crate) fn hook(&self, name: &str) -> Result<Scope, ToolError> {
        let scope = self.hooks.get(base(name)).copied();
        scope.ok_or_else(|| unknown("hook", "show_hooks", name, self.hooks.keys()))
    }
}

/// The kind of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OptionKind {
    /// One of tmux's options.
    Option(Scope),
    /// A hook, which tmux stores like an option.
    Hook,
    /// A user option (`@…`), which any scope can hold.
    User,
}

fn unknown<'a>(
    noun: &str,
    tool: &str,
    name: &str,
    known: impl Iterator<Item = &'a String>,
) -> ToolError {
    let error = ToolError::new(Code::NotFound, format!("tmux has no {noun} `{name}`"));
    match nearest(base(name), known.map(String::as_str)) {
        Some(near) => error.hint(format!("did you mean `{near}`?")),
        None => error.hint(format!("{tool} without a name lists them")),
    }
}

/// The name of a list option without its index.
pub(crate) fn base(name: &str) -> &str {
    match name.split_once('[') {
        Some((base, _)) if !base.starts_with('@') => base,
        _ => name,
    }
}

/// The object that holds options, or a global table of them.
#[derive(Debug)]
pub(crate) struct OptionHolder {
    /// Kind of object.
    pub(crate) scope: Scope,
    /// The object's pane; none for server options and global options.
    pub(crate) object: Option<PaneState>,
}

/// The arguments of a call that choose a holder.
pub(crate) struct HolderQuery<'a> {
    /// The option with its scope, if it is not a user option.
    pub(crate) option: Option<(&'a str, Scope)>,
    pub(crate) scope: Option<Scope>,
    pub(crate) target: Option<&'a Target>,
    pub(crate) global: bool,
}

impl OptionHolder {
    /// The object; none for server options and global options.
    pub(crate) fn resolved(&self) -> Option<Resolved> {
        let level = match self.scope {
            Scope::Server | Scope::Session => Level::Session,
            Scope::Window => Level::Window,
            Scope::Pane => Level::Pane,
        };
        self.object.clone().map(|pane| Resolved { level, pane })
    }
}

impl HolderQuery<'_> {
    /// Finds the holder, if the policy allows it. Without a target this is the own session, or the only
    /// session; with several sessions a reading call gets the global options.
    pub(crate) async fn holder(self, cx: &Cx, reads: bool) -> Result<OptionHolder, ToolError> {
        let found = match self.target {
            Some(target) => Some(cx.resolve(target).await?),
            None => None,
        };
        let level = found.as_ref().map(|found| Scope::from(found.level));
        let own = self.option.map(|(_, own)| own);
        let scope = self.scope.or(own).or(level).unwrap_or(Scope::Session);
        if let Some((name, own)) = self.option
            && own != scope
            && (own, scope) != (Scope::Window, Scope::Pane)
        {
            return Err(wrong_scope(name, own, scope));
        }
        if self.global && scope == Scope::Pane {
            return Err(ToolError::invalid_argument("`global`: panes have no global options")
                .hint("give scope window, whose global options panes inherit"));
        }
        if self.global || scope == Scope::Server {
            if !reads && cx.hides_panes() {
                let message = "global options affect all sessions, and the policy limits sessions";
                return Err(ToolError::new(Code::Denied, message)
                    .hint("name a session, window or pane as `target`"));
            }
            return Ok(OptionHolder { scope, object: None });
        }
        let pane = match found {
            Some(found) if level == Some(scope) => found.pane,
            Some(found) => cx.pane(&Target(id_of(scope, &found.pane))).await?,
            None => match cx.target_or_current(None, true, scope.name()).await {
                Ok(target) => cx.pane(&target).await?,
                Err(_) if reads => return Ok(OptionHolder { scope, object: None }),
                Err(error) => {
                    return Err(error.hint("name a session, window or pane, or give global: true"));
                }
            },
        };
        let holder = OptionHolder { scope, object: Some(pane) };
        if let (Scope::Pane, Some((name, own))) = (scope, self.option) {
            // tmux would silently use the window instead.
            let has = |option: &ShownOption| base(&option.name) == base(name);
            if !holder.options(cx, None).await?.iter().any(has) {
                return Err(wrong_scope(name, own, scope));
            }
        }
        Ok(holder)
    }
}

fn wrong_scope(name: &str, own: Scope, scope: Scope) -> ToolError {
    let (own, scope) = (own.name(), scope.name());
    ToolError::invalid_argument(format!("`{name}` is a {own} option, not a {scope} option"))
        .hint(format!("leave `scope` out, or give {own}"))
}

fn id_of(scope: Scope, pane: &PaneState) -> String {
    match scope {
        Scope::Server | Scope::Session => pane.session.to_string(),
        Scope::Window => pane.window.to_string(),
        Scope::Pane => pane.pane.to_string(),
    }
}

impl OptionHolder {
    /// Whether it is a global table.
    pub(crate) fn is_global(&self) -> bool {
        self.scope != Scope::Server && self.object.is_none()
    }

    /// The object's id, if it has this scope.
    pub(crate) fn id(&self, scope: Scope) -> Option<String> {
        let object = self.object.as_ref().filter(|_| self.scope == scope)?;
        Some(id_of(scope, object))
    }

    /// Adds the flags that address this holder to a command.
    pub(crate) fn command(&self, command: Command) -> Command {
        let command = match self.scope {
            Scope::Server => command.arg("-s"),
            Scope::Session => command,
            Scope::Window => command.arg("-w"),
            Scope::Pane => command.arg("-p"),
        };
        let target = self.object.as_ref().map(|object| id_of(self.scope, object));
        command.arg_if(self.is_global(), "-g").option_if("-t", target)
    }

    /// All options, or those with this name: one, or the items of a list.
    pub(crate) async fn options(
        &self,
        cx: &Cx,
        name: Option<&str>,
    ) -> Result<Vec<ShownOption>, ToolError> {
        let show = self.command(Command::query("show-options").arg("-A"));
        let show = match name {
            Some(name) => show.arg("--").arg(escape_format(base(name))),
            None => show,
        };
        let lines = match cx.tmux().run(show).await {
            Ok(TmuxReply(bytes)) => String::from_utf8_lossy(&bytes).into_owned(),
            // From 3.3 on, a user option that is not set is an error.
            Err(tmux_control::Error::Refused { message, .. })
                if message.contains("invalid option") =>
            {
                String::new()
            }
            Err(error) => return Err(error.into()),
        };
        let mut options: Vec<ShownOption> = lines.lines().map(show_output::parse_option).collect();
        options.retain(|option| !is_reserved(&option.name));
        if let Some(name) = name.filter(|name| base(name) != *name) {
            options.retain(|option| option.name == name);
        }
        Ok(options)
    }
}
