//! What can be suggested for an argument, from what is there: objects that the policy hides are not.

use std::collections::{HashMap, HashSet};

use tmux_control::PaneId;

use crate::context::Cx;
use crate::contract::ToolError;
use crate::host::PaneRow;

/// What an argument of a prompt or a variable of an address names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompletionKind {
    /// A session that is there.
    Session,
    /// A window that is there.
    Window,
    /// A pane that is there.
    Pane,
    /// A command whose result is kept.
    Command,
    /// A number of lines.
    Lines,
    /// A number of seconds.
    Seconds,
    /// Anything.
    Text,
}

impl CompletionKind {
    /// What a variable of this name in an address stands for.
    pub fn of_variable(name: &str) -> Option<Self> {
        match name {
            "session" => Some(Self::Session),
            "window" => Some(Self::Window),
            "pane" => Some(Self::Pane),
            "command" => Some(Self::Command),
            "lines" => Some(Self::Lines),
            _ => None,
        }
    }

    /// The tool that shows the same. Where a policy leaves it out, nothing is suggested.
    pub fn shown_by(self) -> Option<&'static str> {
        match self {
            Self::Session => Some("list_sessions"),
            Self::Window => Some("list_windows"),
            Self::Pane => Some("list_panes"),
            Self::Command => Some("command_result"),
            Self::Lines | Self::Seconds | Self::Text => None,
        }
    }
}

/// What else has been filled in, by name.
pub(crate) type Chosen = HashMap<String, String>;

/// Something to suggest, and what else it is known by.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Candidate {
    value: String,
    also: Vec<String>,
}

impl From<String> for Candidate {
    fn from(value: String) -> Self {
        Self { value, also: Vec::new() }
    }
}

/// Numbers that need no look.
pub(crate) fn numbers(kind: CompletionKind, typed: &str) -> Vec<String> {
    let numbers: &[&str] = match kind {
        CompletionKind::Lines => &["50", "200", "1000", "5000"],
        CompletionKind::Seconds => &["10", "30", "60", "300", "600"],
        _ => &[],
    };
    fitting(numbers.iter().map(|number| (*number).to_owned().into()).collect(), typed)
}

/// What is there and fits what was typed, the best first.
pub(crate) async fn live(
    cx: &Cx,
    kind: CompletionKind,
    typed: &str,
    chosen: &Chosen,
) -> Result<Vec<String>, ToolError> {
    let mut panes = cx.panes().await?;
    panes.retain(|row| is_within(row, chosen));
    Ok(fitting(
        match kind {
            CompletionKind::Session => {
                panes.into_iter().map(|row| row.session.name.into()).collect()
            }
            CompletionKind::Window => windows(&panes),
            CompletionKind::Pane => panes.iter().map(pane).collect(),
            CompletionKind::Command => commands(cx).await,
            CompletionKind::Lines | CompletionKind::Seconds | CompletionKind::Text => Vec::new(),
        },
        typed,
    ))
}

/// Whether a pane is in the session and window that were chosen, where any was.
fn is_within(row: &PaneRow, chosen: &Chosen) -> bool {
    let session = chosen.get("session").is_none_or(|session| {
        *session == row.session.name || *session == row.session.id.to_string()
    });
    let window = chosen
        .get("window")
        .is_none_or(|window| *window == row.window.id.to_string() || *window == window_name(row));
    session && window
}

/// The ids first, then the names, of those that one alone has.
fn windows(panes: &[PaneRow]) -> Vec<Candidate> {
    let mut ids: HashMap<String, HashSet<String>> = HashMap::new();
    for row in panes {
        ids.entry(window_name(row)).or_default().insert(row.window.id.to_string());
    }
    let is_clear = |name: &String| ids.get(name).is_some_and(|ids| ids.len() == 1);
    let names = panes.iter().map(window_name).filter(is_clear);
    let by_id = panes.iter().map(|row| Candidate {
        value: row.window.id.to_string(),
        also: vec![row.window.name.clone()],
    });
    by_id.chain(names.map(Candidate::from)).collect()
}

fn window_name(row: &PaneRow) -> String {
    format!("{}:{}", row.session.name, row.window.name)
}

/// A pane is suggested by its id, and found by its place and its program, too.
fn pane(row: &PaneRow) -> Candidate {
    let also = vec![row.address(), window_name(row), row.pane.command.clone()];
    Candidate { value: row.pane.id.to_string(), also }
}

/// The commands that the caller could ask about, newest first.
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

/// Those that begin with what was typed, then those that are known by something that does, then
/// those that have it in them; each once.
fn fitting(candidates: Vec<Candidate>, typed: &str) -> Vec<String> {
    let typed = typed.to_lowercase();
    let begins = |text: &str| text.to_lowercase().starts_with(&typed);
    let holds = |text: &str| text.to_lowercase().contains(&typed);
    let rank = |it: &Candidate| match it {
        it if begins(&it.value) => Some(0),
        it if it.also.iter().any(|name| begins(name)) => Some(1),
        it if holds(&it.value) || it.also.iter().any(|name| holds(name)) => Some(2),
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
    fn the_beginning_counts_most_and_case_not_at_all() {
        let named = |value: &str, also: &str| Candidate {
            value: value.to_owned(),
            also: vec![also.to_owned()],
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
        assert_eq!(fitting(all(), "dE"), ["Dev", "%1", "my-dev"]);
        assert_eq!(fitting(all(), ""), ["my-dev", "%1", "Dev", "other"]);
        assert_eq!(fitting(all(), "x"), [""; 0]);
    }

    #[test]
    fn numbers_are_suggested_without_a_look() {
        assert_eq!(numbers(CompletionKind::Lines, "5"), ["50", "5000"]);
        assert_eq!(numbers(CompletionKind::Seconds, "60"), ["60", "600"]);
        assert_eq!(numbers(CompletionKind::Text, ""), [""; 0]);
    }
}
