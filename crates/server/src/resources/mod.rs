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
use tmux::PaneId;
use tmux::target::Id;

pub use body::{Body, body};
pub use declared::RESOURCES;
pub use live::{Item, Kept, Key, items};
pub use source::Source;

use crate::registry::Registry;
use crate::text::inline;
use crate::tool::{Code, ToolError, nearest};

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
        "session" => Some(match (Id::parse(plain), Id::parse(plain.trim())) {
            (Some(Id::Session(_)), _) | (_, None) => plain.to_owned(),
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
