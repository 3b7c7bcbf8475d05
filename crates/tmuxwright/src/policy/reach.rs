//! Which servers, sessions and panes calls may reach.

use tmux_control::{PaneId, SessionId, Socket};

use crate::contract::{Code, CreateLocation, PaneIdentity, ToolError};

/// The rules' names, as they stand in the config file.
const SESSIONS: &str = "policy.allowed_sessions";
const PANES: &str = "policy.allowed_panes";

/// The word for what this server made.
const OWN: &str = "own";

/// What may be reached: where no list is given, everything.
#[derive(Debug, Clone, Default)]
pub struct ReachRules {
    servers: Option<Vec<Socket>>,
    sessions: Option<Vec<Session>>,
    panes: Option<Vec<Pane>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Session {
    Id(SessionId),
    Name(String),
    Own,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Pane {
    Id(PaneId),
    Own,
}

impl ReachRules {
    /// Limits the servers to these, a socket's name or path each.
    pub fn set_servers<'a>(&mut self, words: impl Iterator<Item = &'a str>) -> Result<(), String> {
        let sockets = words.map(|word| Socket::parse(word).map_err(|error| error.to_string()));
        self.servers = Some(sockets.collect::<Result<_, _>>()?);
        Ok(())
    }

    /// Limits the sessions to these.
    pub fn set_sessions<'a>(&mut self, words: impl Iterator<Item = &'a str>) -> Result<(), String> {
        let read = |word: &str| match word {
            "" => Err("a session has a name".to_owned()),
            OWN => Ok(Session::Own),
            _ => Ok(match word.strip_prefix('$').is_some().then(|| word.parse()) {
                Some(Ok(id)) => Session::Id(id),
                _ => Session::Name(word.to_owned()),
            }),
        };
        self.sessions = Some(words.map(read).collect::<Result<_, _>>()?);
        Ok(())
    }

    /// Limits the panes to these.
    pub fn set_panes<'a>(&mut self, words: impl Iterator<Item = &'a str>) -> Result<(), String> {
        let read = |word: &str| match word {
            OWN => Ok(Pane::Own),
            _ => match word.parse() {
                Ok(id) if word.starts_with('%') => Ok(Pane::Id(id)),
                _ => Err(format!("`{word}` is neither a pane's id, such as %3, nor `{OWN}`")),
            },
        };
        self.panes = Some(words.map(read).collect::<Result<_, _>>()?);
        Ok(())
    }

    /// Refuses a server that is not listed.
    pub fn check_server(&self, socket: &Socket) -> Result<(), String> {
        match &self.servers {
            Some(servers) if !servers.iter().any(|server| server.is_same_as(socket)) => {
                Err(format!("the tmux server {socket} is not in policy.allowed_servers"))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn is_limited(&self) -> bool {
        self.sessions.is_some() || self.panes.is_some()
    }

    pub(super) fn hides(&self, spot: &PaneIdentity<'_>) -> Option<&'static str> {
        let session = |rule: &Session| match rule {
            Session::Id(id) => *id == spot.session,
            Session::Name(name) => name == spot.session_name,
            Session::Own => spot.own,
        };
        let pane = |rule: &Pane| match rule {
            Pane::Id(id) => *id == spot.pane,
            Pane::Own => spot.own,
        };
        let in_session = self.sessions.as_ref().is_none_or(|rules| rules.iter().any(session));
        let in_pane = self.panes.as_ref().is_none_or(|rules| rules.iter().any(pane));
        match (in_session, in_pane) {
            (false, _) => Some(SESSIONS),
            (_, false) => Some(PANES),
            _ => None,
        }
    }

    pub(super) fn create(&self, place: CreateLocation<'_>) -> Result<(), ToolError> {
        let named = |name: &str| {
            let named = Session::Name(name.to_owned());
            self.sessions.as_ref().is_none_or(|rules| rules.contains(&named))
        };
        let own_sessions = self.sessions.as_ref().is_none_or(|rules| rules.contains(&Session::Own));
        let in_session = match place {
            CreateLocation::Existing => true,
            CreateLocation::NewSession(Some(name)) => own_sessions || named(name),
            CreateLocation::NewSession(None) | CreateLocation::OwnSession => own_sessions,
        };
        let in_pane = self.panes.as_ref().is_none_or(|rules| rules.contains(&Pane::Own));
        let rule = match (in_session, in_pane) {
            (true, true) => return Ok(()),
            (false, _) => SESSIONS,
            _ => PANES,
        };
        let what = match place {
            CreateLocation::OwnSession => "a pane of this server's own".to_owned(),
            CreateLocation::NewSession(Some(name)) => format!("a session `{name}`"),
            CreateLocation::NewSession(None) => "a session without a name".to_owned(),
            CreateLocation::Existing => "a pane".to_owned(),
        };
        Err(ToolError::new(Code::Denied, format!("{what} would be outside `{rule}`")).hint(format!(
            "work in what list_panes shows; a person can add `{OWN}` to `{rule}` in the config file"
        )))
    }
}
