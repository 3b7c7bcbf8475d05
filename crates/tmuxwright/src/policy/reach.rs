//! Rules for the tmux servers, sessions and panes that calls may see and use.

use tmux_control::{PaneId, Route, SessionId, Socket};

use crate::contract::{Code, CreateLocation, PaneIdentity, ToolError};

/// Names of the rules in the config file.
const SESSIONS: &str = "policy.allowed_sessions";
const PANES: &str = "policy.allowed_panes";

/// The word in a rule for everything that this server made.
const OWN: &str = "own";

/// Allow lists of tmux servers, sessions and panes; `None` allows all.
#[derive(Debug, Clone, Default)]
pub struct ReachRules {
    servers: Option<Vec<ServerRule>>,
    /// The way to the system whose sockets are judged; `None` for this one.
    route: Option<Route>,
    sessions: Option<Vec<SessionRule>>,
    panes: Option<Vec<PaneRule>>,
}

/// The place of a tmux server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerPlace {
    /// Its name in the config file.
    pub name: String,
    /// Its socket.
    pub socket: Socket,
    /// The way to its system; `None` for this one.
    pub route: Option<Route>,
}

impl ServerPlace {
    /// Whether both are the same server. Links of sockets are resolved on this system only.
    pub fn is_same_as(&self, other: &Self) -> bool {
        is_same(&self.route, &self.socket, &other.route, &other.socket)
    }
}

/// A word of the list of servers: a socket, or a server that the config file names.
#[derive(Debug, Clone)]
struct ServerRule {
    word: String,
    socket: Socket,
    route: Option<Route>,
    is_name: bool,
}

fn is_same(route: &Option<Route>, socket: &Socket, other: &Option<Route>, theirs: &Socket) -> bool {
    route == other && (socket == theirs || (route.is_none() && socket.is_same_as(theirs)))
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum SessionRule {
    Id(SessionId),
    Name(String),
    Own,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum PaneRule {
    Id(PaneId),
    Own,
}

impl ReachRules {
    /// Limits the tmux servers to these: names of the config file, and sockets, each a name or a path.
    pub fn set_servers<'a>(&mut self, words: impl Iterator<Item = &'a str>) -> Result<(), String> {
        let rule = |word: &str| {
            let socket = Socket::parse(word).map_err(|error| error.to_string())?;
            Ok(ServerRule { word: word.to_owned(), socket, route: None, is_name: false })
        };
        self.servers = Some(words.map(rule).collect::<Result<_, String>>()?);
        Ok(())
    }

    /// Makes the words that are names of servers in the config file stand for these.
    pub fn name_servers(&mut self, places: impl Iterator<Item = ServerPlace>) {
        for ServerPlace { name, socket, route } in places {
            for rule in self.servers.iter_mut().flatten().filter(|rule| rule.word == name) {
                (rule.socket, rule.route) = (socket.clone(), route.clone());
                rule.is_name = true;
            }
        }
    }

    /// These rules for the sockets of another system.
    #[must_use]
    pub fn on_system(&self, route: Option<Route>) -> Self {
        Self { route, ..self.clone() }
    }

    /// Whether a server may be used.
    pub fn admits(&self, place: &ServerPlace) -> bool {
        self.lists(&place.route, &place.socket)
    }

    /// The listed sockets that are not names of servers in the config file, with the words for them.
    pub fn sockets(&self) -> impl Iterator<Item = (&str, &Socket)> {
        let rules = self.servers.iter().flatten().filter(|rule| !rule.is_name);
        rules.map(|rule| (rule.word.as_str(), &rule.socket))
    }

    fn lists(&self, route: &Option<Route>, socket: &Socket) -> bool {
        let is_it = |rule: &ServerRule| is_same(&rule.route, &rule.socket, route, socket);
        self.servers.as_ref().is_none_or(|rules| rules.iter().any(is_it))
    }

    /// Limits the sessions to these names and ids.
    pub fn set_sessions<'a>(&mut self, words: impl Iterator<Item = &'a str>) -> Result<(), String> {
        let read = |word: &str| match word {
            "" => Err("the name of a session is empty".to_owned()),
            OWN => Ok(SessionRule::Own),
            _ => Ok(match word.strip_prefix('$').is_some().then(|| word.parse()) {
                Some(Ok(id)) => SessionRule::Id(id),
                _ => SessionRule::Name(word.to_owned()),
            }),
        };
        self.sessions = Some(words.map(read).collect::<Result<_, _>>()?);
        Ok(())
    }

    /// Limits the panes to these ids.
    pub fn set_panes<'a>(&mut self, words: impl Iterator<Item = &'a str>) -> Result<(), String> {
        let read = |word: &str| match word {
            OWN => Ok(PaneRule::Own),
            _ => match word.parse() {
                Ok(id) if word.starts_with('%') => Ok(PaneRule::Id(id)),
                _ => Err(format!("`{word}` is neither a pane id such as %3 nor `{OWN}`")),
            },
        };
        self.panes = Some(words.map(read).collect::<Result<_, _>>()?);
        Ok(())
    }

    /// Whether the tmux server at a socket of the system may be used.
    pub fn admits_socket(&self, socket: &Socket) -> bool {
        self.lists(&self.route, socket)
    }

    pub(super) fn limits_panes(&self) -> bool {
        self.sessions.is_some() || self.panes.is_some()
    }

    /// The rule that hides a pane, if one does.
    pub(super) fn hides(&self, identity: &PaneIdentity<'_>) -> Option<&'static str> {
        let session = |rule: &SessionRule| match rule {
            SessionRule::Id(id) => *id == identity.session,
            SessionRule::Name(name) => name == identity.session_name,
            SessionRule::Own => identity.own,
        };
        let pane = |rule: &PaneRule| match rule {
            PaneRule::Id(id) => *id == identity.pane,
            PaneRule::Own => identity.own,
        };
        let in_session = self.sessions.as_ref().is_none_or(|rules| rules.iter().any(session));
        let in_pane = self.panes.as_ref().is_none_or(|rules| rules.iter().any(pane));
        match (in_session, in_pane) {
            (false, _) => Some(SESSIONS),
            (_, false) => Some(PANES),
            _ => None,
        }
    }

    pub(super) fn check_creation(&self, location: CreateLocation<'_>) -> Result<(), ToolError> {
        let named = |name: &str| {
            let named = SessionRule::Name(name.to_owned());
            self.sessions.as_ref().is_none_or(|rules| rules.contains(&named))
        };
        let own_sessions =
            self.sessions.as_ref().is_none_or(|rules| rules.contains(&SessionRule::Own));
        let in_session = match location {
            CreateLocation::Existing => true,
            CreateLocation::NewSession(Some(name)) => own_sessions || named(name),
            CreateLocation::NewSession(None) | CreateLocation::OwnSession => own_sessions,
        };
        let in_pane = self.panes.as_ref().is_none_or(|rules| rules.contains(&PaneRule::Own));
        let rule = match (in_session, in_pane) {
            (true, true) => return Ok(()),
            (false, _) => SESSIONS,
            _ => PANES,
        };
        let object = match location {
            CreateLocation::OwnSession => "a pane in the own session".to_owned(),
            CreateLocation::NewSession(Some(name)) => format!("a session `{name}`"),
            CreateLocation::NewSession(None) => "a session without a name".to_owned(),
            CreateLocation::Existing => "a pane".to_owned(),
        };
        Err(ToolError::new(Code::Denied, format!("{object} would be outside `{rule}`")).hint(format!(
            "use the panes that list_panes shows; a person can add `{OWN}` to `{rule}` in the config file"
        )))
    }
}
