//! The list of resources that exist now, made from the result of `list_panes`. Pure.
//!
//! Objects are listed by id: an id survives a rename, and a name may have been changed by cleaning or
//! redaction.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;

use super::uri::with_server;
use super::{Catalog, MatchedResource, RESOURCES, Resource};
use crate::results::words::count;
use terminal::text::inline;

/// Sort key of the list: the tmux server, the default one first, then the index of the declaration, then the number in
/// the object's id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListKey(Option<String>, usize, u64);

/// A resource that can be read now.
#[derive(Debug, Clone)]
pub struct ListedResource {
    /// Position in the list.
    pub key: ListKey,
    /// Declaration.
    pub resource: &'static Resource,
    /// URI.
    pub uri: String,
    /// Name for programs.
    pub name: String,
    /// Name for people.
    pub title: String,
    /// Description for people.
    pub description: String,
}

/// A command whose result is kept.
#[derive(Debug, Clone)]
pub struct KeptCommand {
    /// Id, such as `c7`.
    pub id: String,
    /// Id of its pane.
    pub pane: String,
    /// Command line.
    pub command: String,
    /// State in words: running, exit code, lost.
    pub state: String,
}

/// A pane in the result of `list_panes`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PaneEntry {
    pane_id: String,
    window_id: String,
    session_id: String,
    session: String,
    window: String,
    command: String,
    path: String,
    exit_code: Option<i32>,
    status: String,
}

/// Title and description of an object.
struct Label {
    title: String,
    description: String,
}

impl ListKey {
    /// The position that a resource has, or would have, in the list. None for a resource that is never
    /// listed, such as a session by name.
    pub fn of(found: &MatchedResource) -> Option<Self> {
        let index = RESOURCES.iter().position(|known| known.template == found.resource.template)?;
        match found.values.first() {
            None => Some(Self(found.server.clone(), index, 0)),
            Some((_, id)) => number(id).map(|number| Self(found.server.clone(), index, number)),
        }
    }
}

/// The number in an id.
fn number(id: &str) -> Option<u64> {
    id.get(1..)?.parse().ok()
}

/// The resources of the default tmux server that can be read now, and those of the `others` without variables, sorted.
/// `panes` is the structured result of `list_panes`: of other servers no objects are listed, since one of them may not
/// answer.
pub fn items(
    catalog: &Catalog,
    panes: &Value,
    commands: &[KeptCommand],
    others: &[String],
) -> Vec<ListedResource> {
    let panes: Vec<PaneEntry> = panes
        .get("panes")
        .map(|panes| Vec::deserialize(panes).unwrap_or_default())
        .unwrap_or_default();
    let objects = [
        ("session", sessions(&panes)),
        ("window", windows(&panes)),
        ("pane", panes.iter().map(|pane| (pane.pane_id.clone(), pane.label())).collect()),
        ("command", commands.iter().map(|kept| (kept.id.clone(), kept.label())).collect()),
    ];
    let mut items: Vec<ListedResource> = Vec::new();
    for (index, resource) in RESOURCES.iter().enumerate() {
        if !catalog.offers(resource) {
            continue;
        }
        let variables: Vec<&str> = resource.variables().collect();
        match variables.as_slice() {
            [] => {
                items.push(plain_item(index, resource));
                items.extend(
                    others.iter().map(|server| of_server(plain_item(index, resource), server)),
                );
            }
            [variable] => {
                let of_kind = objects.iter().filter(|(kind, _)| kind == variable);
                items.extend(of_kind.flat_map(|(_, labels)| labels).filter_map(|(id, label)| {
                    Some(ListedResource {
                        key: ListKey(None, index, number(id)?),
                        resource,
                        uri: resource.uri(&[id]),
                        name: format!("{} {id}", resource.name),
                        title: format!("{} {id}: {}", resource.title, label.title),
                        description: label.description.clone(),
                    })
                }));
            }
            // A variable number of lines cannot be listed.
            _ => {}
        }
    }
    items.sort_by(|one, other| one.key.cmp(&other.key));
    items.dedup_by(|one, other| one.key == other.key);
    items
}

/// A resource without variables.
fn plain_item(index: usize, resource: &'static Resource) -> ListedResource {
    ListedResource {
        key: ListKey(None, index, 0),
        resource,
        uri: resource.template.to_owned(),
        name: resource.name.to_owned(),
        title: resource.title.to_owned(),
        description: resource.description.to_owned(),
    }
}

/// The same resource of another tmux server.
fn of_server(item: ListedResource, server: &str) -> ListedResource {
    let ListKey(_, index, number) = item.key;
    ListedResource {
        key: ListKey(Some(server.to_owned()), index, number),
        uri: with_server(&item.uri, server),
        name: format!("{} {server}", item.name),
        title: format!("{}, server {}", item.title, inline(server)),
        ..item
    }
}

fn sessions(panes: &[PaneEntry]) -> BTreeMap<String, Label> {
    let label = |panes: Vec<&PaneEntry>| {
        let windows: BTreeSet<&str> = panes.iter().map(|pane| pane.window_id.as_str()).collect();
        let windows = count(windows.len() as u64, "window");
        Label {
            title: panes.first().map(|pane| inline(&pane.session)).unwrap_or_default(),
            description: format!("{windows}, running {}", programs(&panes)),
        }
    };
    grouped(panes, |pane| &pane.session_id, label)
}

fn windows(panes: &[PaneEntry]) -> BTreeMap<String, Label> {
    let label = |panes: Vec<&PaneEntry>| {
        // A window linked to several sessions has its panes listed once for each.
        let inside: BTreeSet<&str> = panes.iter().map(|pane| pane.pane_id.as_str()).collect();
        let inside = count(inside.len() as u64, "pane");
        Label {
            title: panes.first().map(|pane| pane.window_name()).unwrap_or_default(),
            description: format!("{inside}, running {}", programs(&panes)),
        }
    };
    grouped(panes, |pane| &pane.window_id, label)
}

/// A label for each group of panes with the same `id`.
fn grouped(
    panes: &[PaneEntry],
    id: impl Fn(&PaneEntry) -> &String,
    label: impl Fn(Vec<&PaneEntry>) -> Label,
) -> BTreeMap<String, Label> {
    let mut groups: BTreeMap<String, Vec<&PaneEntry>> = BTreeMap::new();
    for pane in panes {
        groups.entry(id(pane).clone()).or_default().push(pane);
    }
    groups.into_iter().map(|(id, panes)| (id, label(panes))).collect()
}

/// The names of the programs in some panes, shortened.
fn programs(panes: &[&PaneEntry]) -> String {
    const MAX_PROGRAM_NAMES: usize = 5;

    let mut names: Vec<String> = Vec::new();
    for pane in panes {
        let name = pane.program();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let more = names.len().saturating_sub(MAX_PROGRAM_NAMES);
    names.truncate(MAX_PROGRAM_NAMES);
    match more {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

impl PaneEntry {
    fn window_name(&self) -> String {
        format!("{}:{}", inline(&self.session), inline(&self.window))
    }

    fn program(&self) -> String {
        match (self.status.as_str(), self.exit_code) {
            ("exited", Some(code)) => format!("nothing (exited {code})"),
            ("exited", None) => "nothing (exited)".to_owned(),
            _ => inline(&self.command),
        }
    }

    fn label(&self) -> Label {
        let mut description = format!("Runs {} in {}", self.program(), self.window_name());
        if !self.path.is_empty() {
            description.push_str(&format!(", {}", inline(&self.path)));
        }
        Label { title: format!("{} in {}", self.program(), self.window_name()), description }
    }
}

/// Limit of a command in the title of its resource.
const MAX_TITLE_CHARS: usize = 60;

/// The first words of a command. A word is not cut: the beginning of a token could not be recognised as
/// a secret.
fn first_words(command: &str) -> String {
    let Some((end, _)) = command.char_indices().nth(MAX_TITLE_CHARS) else {
        return command.to_owned();
    };
    let words =
        command.get(..end).and_then(|cut| cut.rsplit_once(' ')).map_or("", |(words, _)| words);
    format!("{words} …")
}

impl KeptCommand {
    fn label(&self) -> Label {
        let Self { pane, state, .. } = self;
        Label {
            title: first_words(&inline(&self.command)),
            description: format!("{state}, in {pane}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::find;
    use super::*;
    use crate::app::App;
    use crate::config::Settings;

    #[tokio::test]
    async fn list_is_sorted_by_declaration_and_number() {
        let app = App::new(Settings::default());
        let pane = |id: &str, window: &str| {
            json!({"pane_id": id, "window_id": window, "session_id": "$0", "session": "a\tb",
                "window": "w", "command": "vim", "path": "/src", "status": "running"})
        };
        let panes = json!({"panes": [pane("%10", "@1"), pane("%9", "@2"), pane("%9", "@3")]});
        let kept = |id: &str| KeptCommand {
            id: id.to_owned(),
            pane: "%9".to_owned(),
            command: "make\ntest".to_owned(),
            state: "Runs".to_owned(),
        };
        let items = items(&app.resources, &panes, &[kept("c10"), kept("c9")], &[]);
        let uris: Vec<&str> = items.iter().map(|item| item.uri.as_str()).collect();
        let content: Vec<&&str> = uris.iter().filter(|uri| uri.ends_with("content")).collect();
        assert_eq!(content, [&"tmux://panes/%259/content", &"tmux://panes/%2510/content"]);
        assert_eq!(uris[uris.len() - 2..], ["tmux://commands/c9", "tmux://commands/c10"]);
        for item in &items {
            assert_eq!(
                ListKey::of(&find(&item.uri).unwrap()),
                Some(item.key.clone()),
                "{}",
                item.uri
            );
        }
        let label = |uri: &str| {
            let item = items.iter().find(|item| item.uri == uri).unwrap();
            format!("{} | {}", item.title, item.description)
        };
        assert_eq!(label("tmux://sessions/%240"), "Session $0: a\\tb | 3 windows, running vim");
        assert_eq!(label("tmux://windows/%402"), "Window @2: a\\tb:w | 1 pane, running vim");
        assert_eq!(
            label("tmux://panes/%259"),
            "Pane %9: vim in a\\tb:w | Runs vim in a\\tb:w, /src"
        );
        assert_eq!(label("tmux://commands/c9"), "Command c9: make\\ntest | Runs, in %9");
    }

    #[test]
    fn uri_that_is_never_listed_has_no_key() {
        for uri in ["tmux://sessions/main", "tmux://commands/latest", "tmux://windows/a:b"] {
            assert_eq!(ListKey::of(&find(uri).unwrap()), None, "{uri}");
        }
    }
}
