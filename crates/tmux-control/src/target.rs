//! Targets: resolves `%3`, `@1`, `$0`, `dev`, `dev:2`, `dev:logs` or `dev:2.0` to a pane.
//!
//! tmux's own look-up accepts prefixes and patterns, so `dev` may resolve to `dev-long`. Here a
//! name must match exactly, and a target that matches several windows is refused with the
//! candidates.

use std::fmt;

use crate::command::Command;
use crate::error::Error;
use crate::id::{PaneId, SessionId, WindowId};
use crate::server::Server;

crate::row! {
    /// A pane with its window and its session.
    pub PaneLocation {
        /// The session.
        session: SessionId = "session_id",
        /// The session's name.
        session_name: String = "session_name",
        /// The window.
        window: WindowId = "window_id",
        /// The window's index in its session.
        window_index: u32 = "window_index",
        /// The window's name.
        window_name: String = "window_name",
        /// Whether the window is its session's current one.
        window_active: bool = "window_active",
        /// The pane.
        pane: PaneId = "pane_id",
        /// The pane's index in its window.
        pane_index: u32 = "pane_index",
        /// Whether the pane is its window's active one.
        pane_active: bool = "pane_active",
    }
}

impl PaneLocation {
    /// Every pane of the server. A pane whose window is linked into two sessions is listed twice.
    pub async fn all(server: &Server) -> Result<Vec<Self>, Error> {
        server.rows(Command::query("list-panes").arg("-a")).await
    }
}

/// The kind of object that a target names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// A session.
    Session,
    /// A window.
    Window,
    /// A pane.
    Pane,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Session => "session",
            Self::Window => "window",
            Self::Pane => "pane",
        })
    }
}

/// A target that matches no object, or more than one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// No object has this id or name.
    #[error("there is no {level} `{target}`")]
    NotFound {
        /// The target as given.
        target: String,
        /// The kind of object that was looked up.
        level: Level,
        /// The objects that exist.
        candidates: Vec<String>,
    },
    /// Several windows have this name.
    #[error("`{target}` names {} windows", candidates.len())]
    Ambiguous {
        /// The target as given.
        target: String,
        /// The windows, by id.
        candidates: Vec<String>,
    },
}

/// The id of a session, window or pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectId {
    /// `$0`
    Session(SessionId),
    /// `@0`
    Window(WindowId),
    /// `%0`
    Pane(PaneId),
}

impl ObjectId {
    /// Parses an id. `None` for text that is a name.
    pub fn parse(text: &str) -> Option<Self> {
        match text.as_bytes().first()? {
            b'$' => text.parse().ok().map(Self::Session),
            b'@' => text.parse().ok().map(Self::Window),
            b'%' => text.parse().ok().map(Self::Pane),
            _ => None,
        }
    }

    /// The kind of the object.
    pub fn level(self) -> Level {
        match self {
            Self::Session(_) => Level::Session,
            Self::Window(_) => Level::Window,
            Self::Pane(_) => Level::Pane,
        }
    }
}

/// The object that a target resolves to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TargetMatch<'a> {
    /// The kind of the object.
    pub level: Level,
    /// The pane: of a window its active one, of a session the active one of its current window.
    pub location: &'a PaneLocation,
}

/// Resolves `target` among `locations`.
pub fn find<'a>(
    target: &str,
    locations: &'a [PaneLocation],
) -> Result<TargetMatch<'a>, TargetError> {
    if let Some(id) = ObjectId::parse(target) {
        return find_id(id, target, locations);
    }
    if let Some(session) = find_session(target, locations) {
        return active_pane(Level::Session, locations, |p| p.session == session)
            .ok_or_else(|| not_found(target, Level::Session, locations));
    }
    // From tmux 3.7 a session's name may hold colons, so any colon may end the name.
    let mut known_session = None;
    for (at, _) in target.match_indices(':') {
        let (name, rest) = target.split_at(at);
        let rest = rest.get(1..).unwrap_or_default();
        if let Some(session) = find_session(name, locations) {
            known_session = Some(session);
            if let Some(found) = find_in_session(target, session, rest, locations)? {
                return Ok(found);
            }
        }
    }
    Err(match known_session {
        Some(session) => {
            let inside: Vec<PaneLocation> =
                locations.iter().filter(|p| p.session == session).cloned().collect();
            not_found(target, Level::Window, &inside)
        }
        None => not_found(target, Level::Session, locations),
    })
}

fn find_id<'a>(
    id: ObjectId,
    target: &str,
    locations: &'a [PaneLocation],
) -> Result<TargetMatch<'a>, TargetError> {
    let level = id.level();
    active_pane(level, locations, |p| match id {
        ObjectId::Session(id) => p.session == id,
        ObjectId::Window(id) => p.window == id,
        ObjectId::Pane(id) => p.pane == id,
    })
    .ok_or_else(|| not_found(target, level, locations))
}

fn find_session(name: &str, locations: &[PaneLocation]) -> Option<SessionId> {
    let exact = |name: &str| locations.iter().find(|p| p.session_name == name).map(|p| p.session);
    match ObjectId::parse(name) {
        Some(ObjectId::Session(id)) => {
            locations.iter().find(|p| p.session == id).map(|p| p.session)
        }
        // `=dev` is tmux's notation for an exact match.
        _ => exact(name).or_else(|| exact(name.strip_prefix('=')?)),
    }
}

/// Resolves the part of a target after the session: nothing, `window`, or `window.pane`.
fn find_in_session<'a>(
    target: &str,
    session: SessionId,
    rest: &str,
    locations: &'a [PaneLocation],
) -> Result<Option<TargetMatch<'a>>, TargetError> {
    if rest.is_empty() {
        return Ok(active_pane(Level::Session, locations, |p| p.session == session));
    }
    if let Some(window) = find_window(target, session, rest, locations)? {
        let inside = |p: &PaneLocation| p.session == session && p.window == window;
        return Ok(active_pane(Level::Window, locations, inside));
    }
    let Some((window, pane)) = rest.rsplit_once('.') else {
        return Ok(None);
    };
    let Some(window) = find_window(target, session, window, locations)? else {
        return Ok(None);
    };
    let is_pane = |p: &PaneLocation| match ObjectId::parse(pane) {
        Some(ObjectId::Pane(id)) => p.pane == id,
        _ => pane.parse() == Ok(p.pane_index),
    };
    let fits = |p: &PaneLocation| p.session == session && p.window == window && is_pane(p);
    Ok(active_pane(Level::Pane, locations, fits))
}

/// Finds a window by id, by index, or by its exact name, in this order.
fn find_window(
    target: &str,
    session: SessionId,
    text: &str,
    locations: &[PaneLocation],
) -> Result<Option<WindowId>, TargetError> {
    let inside = || locations.iter().filter(|p| p.session == session);
    if let Some(ObjectId::Window(id)) = ObjectId::parse(text) {
        return Ok(inside().find(|p| p.window == id).map(|p| p.window));
    }
    if let Some(location) = inside().find(|p| text.parse() == Ok(p.window_index)) {
        return Ok(Some(location.window));
    }
    let mut named: Vec<&PaneLocation> = inside().filter(|p| p.window_name == text).collect();
    named.dedup_by_key(|p| p.window);
    match named.as_slice() {
        [] => Ok(None),
        [only] => Ok(Some(only.window)),
        several => Err(TargetError::Ambiguous {
            target: target.to_owned(),
            candidates: several
                .iter()
                .map(|p| format!("{} ({}:{})", p.window, p.session_name, p.window_index))
                .collect(),
        }),
    }
}

/// The active pane among those that fit, in the current window if there is one.
fn active_pane(
    level: Level,
    locations: &[PaneLocation],
    fits: impl Fn(&PaneLocation) -> bool,
) -> Option<TargetMatch<'_>> {
    locations
        .iter()
        .filter(|p| fits(p))
        .max_by_key(|p| (p.window_active, p.pane_active))
        .map(|location| TargetMatch { level, location })
}

fn not_found(target: &str, level: Level, locations: &[PaneLocation]) -> TargetError {
    let mut candidates: Vec<String> = locations
        .iter()
        .map(|p| match level {
            Level::Session => p.session_name.clone(),
            Level::Window => format!("{}:{} ({})", p.session_name, p.window_index, p.window_name),
            Level::Pane => p.pane.to_string(),
        })
        .collect();
    candidates.sort();
    candidates.dedup();
    TargetError::NotFound { target: target.to_owned(), level, candidates }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn location(s: (u32, &str), w: (u32, u32, &str, bool), p: (u32, u32, bool)) -> PaneLocation {
        PaneLocation {
            session: SessionId(s.0),
            session_name: s.1.to_owned(),
            window: WindowId(w.0),
            window_index: w.1,
            window_name: w.2.to_owned(),
            window_active: w.3,
            pane: PaneId(p.0),
            pane_index: p.1,
            pane_active: p.2,
        }
    }

    fn locations() -> Vec<PaneLocation> {
        vec![
            location((0, "dev-long"), (0, 0, "bash", true), (0, 0, true)),
            location((1, "dev"), (1, 0, "logs", false), (1, 0, true)),
            location((1, "dev"), (2, 2, "edit", true), (2, 0, false)),
            location((1, "dev"), (2, 2, "edit", true), (3, 1, true)),
            location((1, "dev"), (3, 5, "twin", false), (4, 0, true)),
            location((1, "dev"), (4, 6, "twin", false), (5, 0, true)),
            location((1, "dev"), (6, 8, "v1.2", false), (7, 0, true)),
            location((2, "a:b.c"), (5, 0, "7", true), (6, 0, true)),
        ]
    }

    fn pane(target: &str) -> (Level, u32) {
        let locations = locations();
        let found = find(target, &locations).unwrap_or_else(|e| panic!("{target}: {e}"));
        (found.level, found.location.pane.0)
    }

    #[test]
    fn every_target_form_is_resolved() {
        assert_eq!(pane("%2"), (Level::Pane, 2));
        assert_eq!(pane("@2"), (Level::Window, 3));
        assert_eq!(pane("$1"), (Level::Session, 3));
        assert_eq!(pane("dev"), (Level::Session, 3));
        assert_eq!(pane("=dev"), (Level::Session, 3));
        assert_eq!(pane("dev:"), (Level::Session, 3));
        assert_eq!(pane("dev:0"), (Level::Window, 1));
        assert_eq!(pane("dev:logs"), (Level::Window, 1));
        assert_eq!(pane("dev:2.0"), (Level::Pane, 2));
        assert_eq!(pane("dev:edit.1"), (Level::Pane, 3));
        assert_eq!(pane("dev:v1.2"), (Level::Window, 7));
        assert_eq!(pane("dev:v1.2.0"), (Level::Pane, 7));
        assert_eq!(pane("$1:@1"), (Level::Window, 1));
        assert_eq!(pane("a:b.c"), (Level::Session, 6));
        assert_eq!(pane("a:b.c:0"), (Level::Window, 6));
        assert_eq!(pane("a:b.c:7"), (Level::Window, 6));
    }

    #[test]
    fn prefixes_and_unknown_targets_are_not_found() {
        let locations = locations();
        for target in ["de", "dev-", "dev:log", "dev:2.9", "dev:edit.x", "", ":", "%99", "@x", "*"]
        {
            assert!(find(target, &locations).is_err(), "{target:?} was resolved");
        }
        let only_long = &locations[..1];
        assert!(find("dev", only_long).is_err());
    }

    #[test]
    fn unknown_name_is_refused_with_candidates() {
        let error = find("nope", &locations()).unwrap_err();
        let TargetError::NotFound { candidates, level, .. } = error else { panic!("{error}") };
        assert_eq!(
            (level, candidates),
            (Level::Session, vec!["a:b.c".to_owned(), "dev".to_owned(), "dev-long".to_owned()])
        );
        let error = find("dev:9", &locations()).unwrap_err();
        assert!(error.to_string().contains("there is no window `dev:9`"), "{error}");
    }

    #[test]
    fn name_of_two_windows_is_ambiguous() {
        let error = find("dev:twin", &locations()).unwrap_err();
        let TargetError::Ambiguous { candidates, .. } = error else { panic!("{error}") };
        assert_eq!(candidates, ["@3 (dev:5)", "@4 (dev:6)"]);
    }
}
