//! What there is to read at the moment, from what `list_panes` shows. Pure.
//!
//! Objects are listed by their ids: an id outlives a new name, and a name may hold what had to be
//! taken out of the answer.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;

use super::{Catalog, Found, RESOURCES, Resource};
use crate::results::words::count;
use terminal::text::inline;

/// The place of a resource in the list: its declaration, then the number of its object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key(usize, u64);

/// A resource that can be read now.
#[derive(Debug, Clone)]
pub struct Item {
    /// Its place in the list.
    pub key: Key,
    /// Which one it is.
    pub resource: &'static Resource,
    /// Its address.
    pub uri: String,
    /// The name for programs.
    pub name: String,
    /// The name for people.
    pub title: String,
    /// What it shows.
    pub description: String,
}

/// A command that is kept.
#[derive(Debug, Clone)]
pub struct Kept {
    /// Its id.
    pub id: String,
    /// Where it ran.
    pub pane: String,
    /// What it is.
    pub command: String,
    /// What became of it.
    pub state: String,
}

/// A pane as `list_panes` shows it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Shown {
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

/// An object, in words for people.
struct Thing {
    title: String,
    description: String,
}

impl Key {
    /// The place that an address has or would have in the list.
    pub fn of(found: &Found) -> Option<Self> {
        let index = RESOURCES.iter().position(|known| known.template == found.resource.template)?;
        match found.values.first() {
            None => Some(Self(index, 0)),
            Some((_, id)) => number(id).map(|number| Self(index, number)),
        }
    }
}

/// The number in an id.
fn number(id: &str) -> Option<u64> {
    id.get(1..)?.parse().ok()
}

/// What can be read now, in its order. `panes` is the answer of `list_panes`.
pub fn items(catalog: &Catalog, panes: &Value, commands: &[Kept]) -> Vec<Item> {
    let panes: Vec<Shown> = panes
        .get("panes")
        .map(|panes| Vec::deserialize(panes).unwrap_or_default())
        .unwrap_or_default();
    let objects = [
        ("session", sessions(&panes)),
        ("window", windows(&panes)),
        ("pane", panes.iter().map(|pane| (pane.pane_id.clone(), pane.thing())).collect()),
        ("command", commands.iter().map(|kept| (kept.id.clone(), kept.thing())).collect()),
    ];
    let mut items: Vec<Item> = Vec::new();
    for (index, resource) in RESOURCES.iter().enumerate() {
        if !catalog.offers(resource) {
            continue;
        }
        let variables: Vec<&str> = resource.variables().collect();
        match variables.as_slice() {
            [] => items.push(Item {
                key: Key(index, 0),
                resource,
                uri: resource.template.to_owned(),
                name: resource.name.to_owned(),
                title: resource.title.to_owned(),
                description: resource.description.to_owned(),
            }),
            [variable] => {
                let of_kind = objects.iter().filter(|(kind, _)| kind == variable);
                items.extend(of_kind.flat_map(|(_, things)| things).filter_map(|(id, thing)| {
                    Some(Item {
                        key: Key(index, number(id)?),
                        resource,
                        uri: resource.address(&[id]),
                        name: format!("{} {id}", resource.name),
                        title: format!("{} {id}: {}", resource.title, thing.title),
                        description: thing.description.clone(),
                    })
                }));
            }
            // Nobody can list every number of lines.
            _ => {}
        }
    }
    items.sort_by_key(|item| item.key);
    items.dedup_by_key(|item| item.key);
    items
}

fn sessions(panes: &[Shown]) -> BTreeMap<String, Thing> {
    let thing = |panes: Vec<&Shown>| {
        let windows: BTreeSet<&str> = panes.iter().map(|pane| pane.window_id.as_str()).collect();
        let windows = count(windows.len() as u64, "window");
        Thing {
            title: panes.first().map(|pane| inline(&pane.session)).unwrap_or_default(),
            description: format!("{windows}, running {}", programs(&panes)),
        }
    };
    grouped(panes, |pane| &pane.session_id, thing)
}

fn windows(panes: &[Shown]) -> BTreeMap<String, Thing> {
    let thing = |panes: Vec<&Shown>| {
        // A window can be in several sessions.
        let inside: BTreeSet<&str> = panes.iter().map(|pane| pane.pane_id.as_str()).collect();
        let inside = count(inside.len() as u64, "pane");
        Thing {
            title: panes.first().map(|pane| pane.place()).unwrap_or_default(),
            description: format!("{inside}, running {}", programs(&panes)),
        }
    };
    grouped(panes, |pane| &pane.window_id, thing)
}

/// The panes by an id of what they are in.
fn grouped(
    panes: &[Shown],
    id: impl Fn(&Shown) -> &String,
    thing: impl Fn(Vec<&Shown>) -> Thing,
) -> BTreeMap<String, Thing> {
    let mut groups: BTreeMap<String, Vec<&Shown>> = BTreeMap::new();
    for pane in panes {
        groups.entry(id(pane).clone()).or_default().push(pane);
    }
    groups.into_iter().map(|(id, panes)| (id, thing(panes))).collect()
}

/// What runs in some panes, shortly.
fn programs(panes: &[&Shown]) -> String {
    const MOST: usize = 5;
    let mut names: Vec<String> = Vec::new();
    for pane in panes {
        let name = pane.doing();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let more = names.len().saturating_sub(MOST);
    names.truncate(MOST);
    match more {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

impl Shown {
    fn place(&self) -> String {
        format!("{}:{}", inline(&self.session), inline(&self.window))
    }

    fn doing(&self) -> String {
        match (self.status.as_str(), self.exit_code) {
            ("exited", Some(code)) => format!("nothing (exited {code})"),
            ("exited", None) => "nothing (exited)".to_owned(),
            _ => inline(&self.command),
        }
    }

    fn thing(&self) -> Thing {
        let mut description = format!("Runs {} in {}", self.doing(), self.place());
        if !self.path.is_empty() {
            description.push_str(&format!(", {}", inline(&self.path)));
        }
        Thing { title: format!("{} in {}", self.doing(), self.place()), description }
    }
}

impl Kept {
    fn thing(&self) -> Thing {
        let Self { pane, state, .. } = self;
        let command: String = inline(&self.command).chars().take(60).collect();
        Thing { title: command, description: format!("{state}, in {pane}") }
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
    async fn the_list_is_in_the_order_of_declarations_and_then_of_numbers() {
        let app = App::new(Settings::default());
        let pane = |id: &str, window: &str| {
            json!({"pane_id": id, "window_id": window, "session_id": "$0", "session": "a\tb",
                "window": "w", "command": "vim", "path": "/src", "status": "running"})
        };
        let panes = json!({"panes": [pane("%10", "@1"), pane("%9", "@2"), pane("%9", "@3")]});
        let kept = |id: &str| Kept {
            id: id.to_owned(),
            pane: "%9".to_owned(),
            command: "make\ntest".to_owned(),
            state: "Runs".to_owned(),
        };
        let items = items(&app.resources, &panes, &[kept("c10"), kept("c9")]);
        let uris: Vec<&str> = items.iter().map(|item| item.uri.as_str()).collect();
        let content: Vec<&&str> = uris.iter().filter(|uri| uri.ends_with("content")).collect();
        assert_eq!(content, [&"tmux://panes/%259/content", &"tmux://panes/%2510/content"]);
        assert_eq!(uris[uris.len() - 2..], ["tmux://commands/c9", "tmux://commands/c10"]);
        for item in &items {
            assert_eq!(Key::of(&find(&item.uri).unwrap()), Some(item.key), "{}", item.uri);
        }
        let said = |uri: &str| {
            let item = items.iter().find(|item| item.uri == uri).unwrap();
            format!("{} | {}", item.title, item.description)
        };
        assert_eq!(said("tmux://sessions/%240"), "Session $0: a\\tb | 3 windows, running vim");
        assert_eq!(said("tmux://windows/%402"), "Window @2: a\\tb:w | 1 pane, running vim");
        assert_eq!(
            said("tmux://panes/%259"),
            "Pane %9: vim in a\\tb:w | Runs vim in a\\tb:w, /src"
        );
        assert_eq!(said("tmux://commands/c9"), "Command c9: make\\ntest | Runs, in %9");
    }

    #[test]
    fn an_address_that_is_never_listed_has_no_place() {
        for uri in ["tmux://sessions/main", "tmux://commands/latest", "tmux://windows/a:b"] {
            assert_eq!(Key::of(&find(uri).unwrap()), None, "{uri}");
        }
    }
}
