//! Completion: suggestions for arguments, from the tmux objects that the policy shows.

use std::collections::{HashMap, HashSet};

use tmux_control::PaneId;

use crate::context::Cx;
use crate::contract::ToolError;
use crate::host::PaneRow;

/// The kind of value that a prompt's argument or a URI's variable takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompletionKind {
    /// An existing session.
    Session,
    /// An existing window.
    Window,
    /// An existing pane.
    Pane,
    /// A command whose result is kept.
    Command,
    /// A number of lines.
    Lines,
    /// A tmux server that can be reached.
    Server,
    /// A number of seconds.
    Seconds,
    /// Any text; nothing is suggested.
    Text,
}

impl CompletionKind {
    /// The kind of a resource template's variable, by its name.
    pub fn of_variable(name: &str) -> Option<Self> {
        match name {
            "session" => Some(Self::Session),
            "window" => Some(Self::Window),
            "pane" => Some(Self::Pane),
            "command" => Some(Self::Command),
            "lines" => Some(Self::Lines),
            "server" => Some(Self::Server),
            _ => None,
        }
    }

    /// The tool that lists such objects. If the policy denies it, nothing is suggested.
    pub fn listing_tool(self) -> Option<&'static str> {
        match self {
            Self::Session => Some("list_sessions"),
            Self::Window => Some("list_windows"),
            Self::Pane => Some("list_panes"),
            Self::Command => Some("command_result"),
            Self::Lines | Self::Seconds | Self::Server | Self::Text => None,
        }
    }
}

/// Values of the other arguments that are already filled in, by name.
pub(crate) type OtherArguments = HashMap<String, String>;

/// A value to suggest, with other names that a person may type for it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Candidate {
    value: String,
    aliases: Vec<String>,
}

impl From<String> for Candidate {
    fn from(value: String) -> Self {
        Self { value, aliases: Vec::new() }
    }
}

/// Suggests common numbers and the names of tmux servers, without asking tmux.
pub(crate) fn suggest_known(kind: CompletionKind, typed: &str, servers: &[String]) -> Vec<String> {
    if kind == CompletionKind::Server {
        return ranked_matches(servers.iter().cloned().map(Candidate::from).collect(), typed);
    }
    let numbers: &[&str] = match kind {
        CompletionKind::Lines => &["50", "200", "1000", "5000"],
        CompletionKind::Seconds => &["10", "30", "60", "300", "600"],
        _ => &[],
    };
    ranked_matches(numbers.iter().map(|number| (*number).to_owned().into()).collect(), typed)
}

/// Suggests existing objects that match the typed text, best first.
pub(crate) async fn suggest_objects(
    cx: &Cx,
    kind: CompletionKind,
    typed: &str,
    others: &OtherArguments,
) -> Result<Vec<String>, ToolError> {
    let mut panes = cx.panes().await?;
    panes.retain(|row| is_within(row, others));
    Ok(ranked_matches(
        match kind {
            CompletionKind::Session => {
                panes.into_iter().map(|row| row.session.name.into()).collect()
            }
            CompletionKind::Window => windows(&panes),
            CompletionKind::Pane => panes.iter().map(pane).collect(),
            CompletionKind::Command => commands(cx).await,
            CompletionKind::Lines
            | CompletionKind::Seconds
            | CompletionKind::Server
            | CompletionKind::Text => Vec::new(),
        },
        typed,
    ))
}

/// Whether a pane is in the session and window that the other arguments name, if they do.
fn is_within(row: &PaneRow, others: &OtherArguments) -> bool {
    let session = others.get("session").is_none_or(|session| {
        *session == row.session.name || *session == row.session.id.to_string()
    });
    let window = others
        .get("window")
        .is_none_or(|window| *window == row.window.id.to_string() || *window == window_name(row));
    session && window
}

/// The windows by id, then those with a unique name by name.
fn windows(panes: &[PaneRow]) -> Vec<Candidate> {
    let mut ids: HashMap<String, HashSet<String>> = HashMap::new();
    for row in panes {
        ids.entry(window_name(row)).or_default().insert(row.window.id.to_string());
    }
    let is_unique = |name: &String| ids.get(name).is_some_and(|ids| ids.len() == 1);
    let names = panes.iter().map(window_name).filter(is_unique);
    let by_id = panes.iter().map(|row| Candidate {
        value: row.window.id.to_string(),
        aliases: vec![row.window.name.clone()],
    });
    by_id.chain(names.map(Candidate::from)).collect()
}

fn window_name(row: &PaneRow) -> String {
    format!("{}:{}", row.session.name, row.window.name)
}

/// A pane is suggested by id, and also found by its address, window and program.
fn pane(row: &PaneRow) -> Candidate {
    let aliases = vec![row.address(), window_name(row), row.pane.command.clone()];
    Candidate { value: row.pane.id.to_string(), aliases }
}

/// The commands whose panes the policy shows, newest first.
async fn commands(cx: &Cx) -> Vec<Candidate> {
    let mut seen: HashMap<PaneId, bool> = HashMap::new();
    let mut found = Vec::new();
    for job in cx.runs.job_ids().iter().filter_map(|id| cx.runs.job(id)) {
        let may_see = match seen.get(&job.pane) {
            Some(known) => *known,
            None => cx.may_see(job.pane).await.is_ok(),
        };
        seen.insert(job.pane, may_see);
        found.extend(may_see.then(|| job.id.clone().into()));
    }
    found
}

/// Values that begin with the typed text, then those with an alias that does, then those that contain
/// it; each once. Case is ignored.
fn ranked_matches(candidates: Vec<Candidate>, typed: &str) -> Vec<String> {
    let typed = typed.to_lowercase();
    let begins = |text: &str| text.to_lowercase().starts_with(&typed);
    let holds = |text: &str| text.to_lowercase().contains(&typed);
    let rank = |it: &Candidate| match it {
        it if begins(&it.value) => Some(0),
        it if it.aliases.iter().any(|name| begins(name)) => Some(1),
        it if holds(&it.value) || it.aliases.iter().any(|name| holds(name)) => Some(2),
        _ => None,
    };
    let mut ranked: Vec<(i32, String)> =
        candidates.into_iter().filter_map(|it| Some((rank(&it)?, it.value))).collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    let mut seen = HashSet::new();
    ranked.into_iter().map(|(_, value)| value).filter(|value| seen.insert(value.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_matches_come_first_ignoring_case() {
        let named = |value: &str, aliases: &str| Candidate {
            value: value.to_owned(),
            aliases: vec![aliases.to_owned()],
        };
        let all = || {
            vec![
                named("my-dev", ""),
                named("%1", "Dev:0.0"),
                named("Dev", ""),
                named("Dev", ""),
                named("other", ""),
            ]
        };
        assert_eq!(ranked_matches(all(), "dE"), ["Dev", "%1", "my-dev"]);
        assert_eq!(ranked_matches(all(), ""), ["my-dev", "%1", "Dev", "other"]);
        assert_eq!(ranked_matches(all(), "x"), [""; 0]);
    }

    #[test]
    fn numbers_are_suggested_by_prefix() {
        assert_eq!(suggest_known(CompletionKind::Lines, "5", &[]), ["50", "5000"]);
        assert_eq!(suggest_known(CompletionKind::Seconds, "60", &[]), ["60", "600"]);
        assert_eq!(suggest_known(CompletionKind::Text, "", &[]), [""; 0]);
    }
}
