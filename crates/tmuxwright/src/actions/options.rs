//! Options, hooks and environment: where they are kept, and what is there.
//!
//! tmux finds an option by the beginning of its name and expands the name as a format, so only names
//! that it has listed itself, and those of users' own options, are handed to it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::printed::{self, PrintedOption};
use tmux_control::target::Level;
use tmux_control::{Command, Reply, escape_format};

use crate::context::{Cx, Resolved};
use crate::contract::{Code, Target, ToolError, nearest};
use crate::host::PaneState;

/// What an option belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Scope {
    Server,
    Session,
    Window,
    Pane,
}

impl Scope {
    fn name(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Session => "session",
            Self::Window => "window",
            Self::Pane => "pane",
        }
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

/// Every option and hook that this tmux knows.
pub(crate) struct Catalogue {
    options: BTreeMap<String, Scope>,
    hooks: BTreeMap<String, Scope>,
}

impl Catalogue {
    /// Asks tmux.
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
            let lines: Vec<String> = text.lines().map(|line| printed::option(line).name).collect();
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

    /// What a name means.
    pub(crate) fn find(&self, name: &str) -> Result<Known, ToolError> {
        if name.starts_with('@') && name.len() > 1 && !name.contains(char::is_control) {
            return Ok(Known::User);
        }
        let base = base(name);
        if let Some(scope) = self.options.get(base) {
            return Ok(Known::Option(*scope));
        }
        if self.hooks.contains_key(base) {
            return Ok(Known::Hook);
        }
        Err(unknown("option", "show_option", name, self.options.keys()))
    }

    /// Which scope a hook has.
    pub(crate) fn hook(&self, name: &str) -> Result<Scope, ToolError> {
        let scope = self.hooks.get(base(name)).copied();
        scope.ok_or_else(|| unknown("hook", "show_hooks", name, self.hooks.keys()))
    }
}

/// What a name can mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    /// One of tmux's options.
    Option(Scope),
    /// A hook, which tmux keeps like an option.
    Hook,
    /// An option that only users give a meaning; it can be anywhere.
    User,
}

fn unknown<'a>(
    what: &str,
    tool: &str,
    name: &str,
    known: impl Iterator<Item = &'a String>,
) -> ToolError {
    let error = ToolError::new(Code::NotFound, format!("tmux has no {what} `{name}`"));
    match nearest(base(name), known.map(String::as_str)) {
        Some(near) => error.hint(format!("did you mean `{near}`?")),
        None => error.hint(format!("{tool} without a name lists them")),
    }
}

/// A name without its index.
pub(crate) fn base(name: &str) -> &str {
    match name.split_once('[') {
        Some((base, _)) if !base.starts_with('@') => base,
        _ => name,
    }
}

/// Where an option is looked for.
#[derive(Debug)]
pub(crate) struct Holder {
    /// What it belongs to.
    pub(crate) scope: Scope,
    /// The object; none for the server's and for the global options.
    pub(crate) object: Option<PaneState>,
}

/// What a caller says about that.
pub(crate) struct Wish<'a> {
    /// The option, if it is one of tmux's, and what it belongs to.
    pub(crate) option: Option<(&'a str, Scope)>,
    pub(crate) scope: Option<Scope>,
    pub(crate) target: Option<&'a Target>,
    pub(crate) global: bool,
}

impl Holder {
    /// The object; none for the server's and for the global options.
    pub(crate) fn resolved(&self) -> Option<Resolved> {
        let level = match self.scope {
            Scope::Server | Scope::Session => Level::Session,
            Scope::Window => Level::Window,
            Scope::Pane => Level::Pane,
        };
        self.object.clone().map(|pane| Resolved { level, pane })
    }
}

impl Wish<'_> {
    /// Finds it, if the call may touch it. Without a target our own session is meant, or the only
    /// one; for who only reads, the global options if there are several.
    pub(crate) async fn holder(self, cx: &Cx, reads: bool) -> Result<Holder, ToolError> {
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
                let what =
                    "global options are everybody's, and the policy has fences around sessions";
                return Err(ToolError::new(Code::Denied, what)
                    .hint("name a session, window or pane as `target`"));
            }
            return Ok(Holder { scope, object: None });
        }
        let pane = match found {
            Some(found) if level == Some(scope) => found.pane,
            Some(found) => cx.pane(&Target(id_of(scope, &found.pane))).await?,
            None => match cx.target_or_current(None, true, scope.name()).await {
                Ok(target) => cx.pane(&target).await?,
                Err(_) if reads => return Ok(Holder { scope, object: None }),
                Err(error) => {
                    return Err(error.hint("name a session, window or pane, or say global: true"));
                }
            },
        };
        let holder = Holder { scope, object: Some(pane) };
        if let (Scope::Pane, Some((name, own))) = (scope, self.option) {
            // tmux would take the window instead.
            let has = |option: &PrintedOption| base(&option.name) == base(name);
            if !holder.options(cx, None).await?.iter().any(has) {
                return Err(wrong_scope(name, own, scope));
            }
        }
        Ok(holder)
    }
}

fn wrong_scope(name: &str, own: Scope, scope: Scope) -> ToolError {
    let (own, scope) = (own.name(), scope.name());
    ToolError::invalid_argument(format!("`{name}` is a {own} option, no {scope} has it"))
        .hint(format!("leave `scope` out, or say {own}"))
}

fn id_of(scope: Scope, pane: &PaneState) -> String {
    match scope {
        Scope::Server | Scope::Session => pane.session.to_string(),
        Scope::Window => pane.window.to_string(),
        Scope::Pane => pane.pane.to_string(),
    }
}

impl Holder {
    /// Whether it holds what is global.
    pub(crate) fn is_global(&self) -> bool {
        self.scope != Scope::Server && self.object.is_none()
    }

    /// The object's id, if it is one of this scope.
    pub(crate) fn id(&self, scope: Scope) -> Option<String> {
        let object = self.object.as_ref().filter(|_| self.scope == scope)?;
        Some(id_of(scope, object))
    }

    /// A command with the flags that lead here.
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

    /// The options here, or those of this name: one, or the items of a list.
    pub(crate) async fn options(
        &self,
        cx: &Cx,
        name: Option<&str>,
    ) -> Result<Vec<PrintedOption>, ToolError> {
        let show = self.command(Command::query("show-options").arg("-A"));
        let show = match name {
            Some(name) => show.arg("--").arg(escape_format(base(name))),
            None => show,
        };
        let lines = match cx.tmux().run(show).await {
            Ok(Reply(bytes)) => String::from_utf8_lossy(&bytes).into_owned(),
            // What is not set is an error from 3.3 on, for users' own options.
            Err(tmux_control::Error::Refused { message, .. })
                if message.contains("invalid option") =>
            {
                String::new()
            }
            Err(error) => return Err(error.into()),
        };
        let mut options: Vec<PrintedOption> = lines.lines().map(printed::option).collect();
        if let Some(name) = name.filter(|name| base(name) != *name) {
            options.retain(|option| option.name == name);
        }
        Ok(options)
    }
}
