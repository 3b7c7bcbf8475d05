//! What can be read under an address: a tool's answer, or several put together. Each resource is
//! declared once, in [`RESOURCES`]; lists, templates, reading and the documentation follow.
//!
//! - `uri`: addresses; pure. [`Source`]: what a resource shows.
//! - `body`: answers of tools as one body. `live`: what there is at the moment.

mod body;
mod declared;
mod live;
mod source;
mod uri;

use serde_json::{Map, Value, json};
use tmux_control::PaneId;
use tmux_control::target::ObjectId;

pub use body::{Body, body};
pub use declared::RESOURCES;
pub use live::{Item, Kept, Key, items};
pub use source::Source;

use crate::contract::{Code, ToolError, nearest};
use crate::registry::Registry;
use terminal::text::inline;

/// A resource, or many of one kind.
#[derive(Debug)]
pub struct Resource {
    /// The address, with `{…}` for what differs.
    pub template: &'static str,
    /// The name for programs.
    pub name: &'static str,
    /// The name for people.
    pub title: &'static str,
    /// What it shows.
    pub description: &'static str,
    /// The calls whose answers it consists of.
    pub calls: &'static [Ask],
    /// How these become one body.
    pub body: Body,
    source: fn(&Found) -> Source,
}

/// A call that a resource stands for.
#[derive(Debug)]
pub struct Ask {
    /// The tool.
    pub tool: &'static str,
    /// Its arguments.
    pub arguments: &'static [(&'static str, Given)],
}

/// Where an argument comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Given {
    /// From the address: this variable, as text.
    Text(&'static str),
    /// The same, as a number.
    Number(&'static str),
    /// It is `true`.
    Yes,
}

impl Resource {
    /// What its address leaves open.
    pub fn variables(&self) -> impl Iterator<Item = &'static str> {
        uri::variables(self.template)
    }

    /// What kind of text it is.
    pub fn mime(&self) -> &'static str {
        match self.body {
            Body::Text => "text/plain",
            Body::Answer | Body::Session | Body::Tree | Body::Window | Body::Pane => {
                "application/json"
            }
        }
    }

    /// Its address with these values, in the order of its variables.
    pub fn address(&self, values: &[&str]) -> String {
        uri::expand(self.template, values)
    }
}

/// A resource that an address names. Whether there is such an object is another matter.
#[derive(Debug, Clone)]
pub struct Found {
    /// Which one.
    pub resource: &'static Resource,
    /// What its variables stand for, as tools take it.
    values: Vec<(&'static str, String)>,
}

impl Found {
    /// What it shows.
    pub fn source(&self) -> Source {
        (self.resource.source)(self)
    }

    /// What stands in the address for a variable.
    fn value(&self, variable: &str) -> String {
        let found = self.values.iter().find(|(name, _)| *name == variable);
        found.map(|(_, value)| value.clone()).unwrap_or_default()
    }

    /// The calls whose answers it consists of.
    pub fn calls(&self) -> Vec<(&'static str, Map<String, Value>)> {
        let argument = |given: Given| match given {
            Given::Text(variable) => Value::String(self.value(variable)),
            Given::Number(variable) => json!(self.value(variable).parse::<u32>().ok()),
            Given::Yes => Value::Bool(true),
        };
        let arguments = |ask: &Ask| {
            let given = ask.arguments.iter();
            given.map(|(name, given)| ((*name).to_owned(), argument(*given))).collect()
        };
        self.resource.calls.iter().map(|ask| (ask.tool, arguments(ask))).collect()
    }
}

/// The resource under an address, whether or not it is offered.
pub fn find(uri: &str) -> Option<Found> {
    RESOURCES.iter().find_map(|resource| {
        let values = uri::fit(resource.template, uri)?.into_iter();
        let values = values.map(|(name, text)| Some((name, read(name, text)?)));
        Some(Found { resource, values: values.collect::<Option<_>>()? })
    })
}

/// The value of a variable, from how it stands in an address.
fn read(variable: &str, text: &str) -> Option<String> {
    let decoded = uri::decode(text);
    let plain = decoded.as_deref().unwrap_or(text);
    match variable {
        // `%25` and `%10` are ids as they stand, and none once they are decoded.
        "pane" => {
            let id = |text: &str| text.parse::<PaneId>().ok();
            id(plain).or_else(|| id(text)).map(|id| id.to_string())
        }
        // A session may have the name of a pane.
        "session" => Some(match (ObjectId::parse(plain), ObjectId::parse(plain.trim())) {
            (Some(ObjectId::Session(_)), _) | (_, None) => plain.to_owned(),
            _ => format!("={plain}"),
        }),
        "lines" => plain.parse::<u32>().ok().filter(|lines| *lines > 0).map(|n| n.to_string()),
        _ => Some(plain.to_owned()),
    }
}

/// The resources that are offered: those whose tools may be called. Whether a toolset has these is of
/// no account, since a resource costs a model nothing until somebody reads it.
#[derive(Debug)]
pub struct Catalog {
    offered: Vec<&'static Resource>,
}

impl Catalog {
    /// The part of [`RESOURCES`] that the policy lets be read.
    pub fn new(registry: &Registry) -> Self {
        let may =
            |resource: &&Resource| resource.calls.iter().all(|ask| registry.permits(ask.tool));
        Self { offered: RESOURCES.iter().filter(may).collect() }
    }

    /// All of them, in a fixed order.
    pub fn all(&self) -> impl Iterator<Item = &'static Resource> {
        self.offered.iter().copied()
    }

    /// Those whose address leaves something open.
    pub fn templates(&self) -> impl Iterator<Item = &'static Resource> {
        self.all().filter(|resource| resource.variables().next().is_some())
    }

    /// Whether this one is offered.
    pub fn offers(&self, resource: &Resource) -> bool {
        self.all().any(|offered| offered.template == resource.template)
    }

    /// The resource under an address, if it is offered.
    pub fn find(&self, uri: &str) -> Option<Found> {
        find(uri).filter(|found| self.offers(found.resource))
    }

    /// Why there is nothing under an address.
    pub fn unknown(&self, uri: &str) -> ToolError {
        let shown: String = inline(uri).chars().take(200).collect();
        let error = ToolError::new(Code::NotFound, format!("there is no resource `{shown}`"));
        let firsts = self.all().map(|resource| uri::first(resource.template));
        let near = nearest(uri::first(uri), firsts);
        let templates = self.all().map(|resource| resource.template);
        let fitting = templates.filter(|known| near.is_none_or(|near| uri::first(known) == near));
        let fitting: Vec<&str> = fitting.collect();
        if fitting.is_empty() {
            return error.hint("this server offers no resources; a person can change --tools");
        }
        let mut hint = format!("the addresses are: {}", fitting.join(", "));
        if fitting.iter().any(|known| known.contains("{lines}")) {
            hint.push_str("; a pane is an id such as %3, lines are a number from 1");
        }
        error.hint(hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Tier;

    fn source(uri: &str) -> Option<Source> {
        find(uri).map(|found| found.source())
    }

    #[test]
    fn an_address_says_what_it_shows() {
        let pane = || "%3".to_owned();
        for (uri, shown) in [
            ("tmux://server", Source::Server),
            ("tmux://sessions", Source::Sessions),
            ("tmux://clients", Source::Clients),
            ("tmux://sessions/dev", Source::Session("dev".to_owned())),
            ("tmux://sessions/dev/tree", Source::Session("dev".to_owned())),
            ("tmux://windows/%401", Source::Window("@1".to_owned())),
            ("tmux://panes/%253", Source::Pane(pane())),
            ("tmux://panes/%3/content", Source::Output(pane())),
            ("tmux://panes/%3/tail/20", Source::Output(pane())),
            ("tmux://panes/%3/tail/20/ansi", Source::Output(pane())),
            ("tmux://commands/c7", Source::Command("c7".to_owned())),
        ] {
            assert_eq!(source(uri), Some(shown), "{uri}");
        }
        for uri in ["tmux://panes/3", "tmux://panes/dev", "tmux://panes/%3/tail/x", "tmux://"] {
            assert_eq!(source(uri), None, "{uri}");
        }
    }

    #[test]
    fn a_session_that_has_the_name_of_something_else_is_meant_by_name() {
        for (uri, target) in [
            ("tmux://sessions/%253", "=%3"),
            ("tmux://sessions/%3", "=%3"),
            ("tmux://sessions/%20%401", "= @1"),
            ("tmux://sessions/%240", "$0"),
            ("tmux://sessions/$0", "$0"),
            ("tmux://sessions/a%252Fb", "a%2Fb"),
            ("tmux://sessions/%FF", "%FF"),
        ] {
            assert_eq!(source(uri), Some(Source::Session(target.to_owned())), "{uri}");
        }
    }

    #[test]
    fn every_call_of_a_resource_reads_and_has_arguments_that_exist() {
        let tools = crate::tools::all();
        for resource in RESOURCES {
            let values = resource.variables().map(|name| match name {
                "pane" => "%3",
                "lines" => "20",
                _ => "x",
            });
            let uri = resource.address(&values.collect::<Vec<_>>());
            for (tool, arguments) in find(&uri).unwrap().calls() {
                let entry = tools.iter().find(|entry| entry.meta.name == tool).unwrap();
                assert_eq!(entry.meta.tier, Tier::Read, "{tool}");
                let schema = (entry.input_schema)();
                for (name, value) in arguments {
                    let kind = &schema["properties"][&name]["type"];
                    let fits = match value {
                        Value::String(_) => kind == "string",
                        Value::Number(_) => kind == "integer",
                        Value::Bool(_) => kind == "boolean",
                        _ => false,
                    };
                    assert!(fits, "{uri}: {tool} {name} {kind} {value}");
                }
            }
        }
    }
}
