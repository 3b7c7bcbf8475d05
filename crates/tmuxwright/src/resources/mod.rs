//! MCP resources: results of reading tools under `tmux://` URIs. Each resource is declared once, in
//! [`RESOURCES`]; lists, templates, reading and the documentation follow.
//!
//! - `uri`: templates and encoding of URIs. `source`: the part of tmux that a resource shows.
//! - `body`: tool results as one body. `listing`: the resources that exist now.

mod body;
mod declared;
mod listing;
mod source;
mod uri;

use serde_json::{Map, Value, json};
use tmux_control::PaneId;
use tmux_control::target::ObjectId;

pub use body::{Body, body};
pub use declared::RESOURCES;
pub use listing::{KeptCommand, ListKey, ListedResource, items};
pub use source::Source;

use crate::contract::{Code, ToolError, nearest};
use crate::registry::{Registry, SERVER_ARGUMENT};
use terminal::text::inline;

/// The declaration of a resource, or of all resources with the same template.
#[derive(Debug)]
pub struct Resource {
    /// URI template, with variables as `{…}`.
    pub template: &'static str,
    /// Name for programs.
    pub name: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// Description for people.
    pub description: &'static str,
    /// Tool calls whose results make up the body.
    pub calls: &'static [ResourceCall],
    /// How the results become the body.
    pub body: Body,
    source: fn(&MatchedResource) -> Source,
}

/// A tool call that reads part of a resource.
#[derive(Debug)]
pub struct ResourceCall {
    /// Name of the tool.
    pub tool: &'static str,
    /// Arguments by name.
    pub arguments: &'static [(&'static str, ArgumentSource)],
}

/// The source of an argument's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentSource {
    /// This variable of the URI, as text.
    Text(&'static str),
    /// This variable of the URI, as a number.
    Number(&'static str),
    /// The constant `true`.
    True,
}

impl Resource {
    /// The variables of its template.
    pub fn variables(&self) -> impl Iterator<Item = &'static str> {
        uri::variables(self.template)
    }

    /// MIME type of the body.
    pub fn mime(&self) -> &'static str {
        match self.body {
            Body::Text => "text/plain",
            Body::Answer | Body::Session | Body::Tree | Body::Window | Body::Pane => {
                "application/json"
            }
        }
    }

    /// The URI with these values, in the order of the variables.
    pub fn uri(&self, values: &[&str]) -> String {
        uri::expand(self.template, values)
    }
}

/// The declaration that a URI matches, with the values of its variables. The object need not exist.
#[derive(Debug, Clone)]
pub struct MatchedResource {
    /// Declaration.
    pub resource: &'static Resource,
    /// The tmux server that the URI names, if it does.
    pub server: Option<String>,
    /// Variables with their values, decoded and in the form that tools take.
    values: Vec<(&'static str, String)>,
}

impl MatchedResource {
    /// The part of tmux that it shows.
    pub fn source(&self) -> Source {
        (self.resource.source)(self)
    }

    /// The value of a variable.
    fn value(&self, variable: &str) -> String {
        let found = self.values.iter().find(|(name, _)| *name == variable);
        found.map(|(_, value)| value.clone()).unwrap_or_default()
    }

    /// The tool calls to make, with their arguments.
    pub fn calls(&self) -> Vec<(&'static str, Map<String, Value>)> {
        let argument = |given: ArgumentSource| match given {
            ArgumentSource::Text(variable) => Value::String(self.value(variable)),
            ArgumentSource::Number(variable) => json!(self.value(variable).parse::<u32>().ok()),
            ArgumentSource::True => Value::Bool(true),
        };
        let arguments = |call: &ResourceCall| {
            let given = call.arguments.iter();
            let server = self.server.iter();
            given
                .map(|(name, given)| ((*name).to_owned(), argument(*given)))
                .chain(server.map(|name| (SERVER_ARGUMENT.to_owned(), name.as_str().into())))
                .collect()
        };
        self.resource.calls.iter().map(|call| (call.tool, arguments(call))).collect()
    }
}

/// Finds the declaration that a URI without a server matches, whether or not it is offered.
pub fn find(uri: &str) -> Option<MatchedResource> {
    RESOURCES.iter().find_map(|resource| {
        let values = uri::match_template(resource.template, uri)?.into_iter();
        let values = values.map(|(name, text)| Some((name, read(name, text)?)));
        Some(MatchedResource { resource, server: None, values: values.collect::<Option<_>>()? })
    })
}

/// Decodes the value of a variable. None if it is invalid.
fn read(variable: &str, text: &str) -> Option<String> {
    let decoded = uri::decode(text);
    let plain = decoded.as_deref().unwrap_or(text);
    match variable {
        // `%25` and `%10` are pane ids only before they are decoded.
        "pane" => {
            let id = |text: &str| text.parse::<PaneId>().ok();
            id(plain).or_else(|| id(text)).map(|id| id.to_string())
        }
        // A session's name may look like the id of a pane or window; `=` forces a name.
        "session" => Some(match (ObjectId::parse(plain), ObjectId::parse(plain.trim())) {
            (Some(ObjectId::Session(_)), _) | (_, None) => plain.to_owned(),
            _ => format!("={plain}"),
        }),
        "lines" => plain.parse::<u32>().ok().filter(|lines| *lines > 0).map(|n| n.to_string()),
        _ => Some(plain.to_owned()),
    }
}

/// The resources that are offered: those whose tools the policy allows. Toolsets do not matter here:
/// they limit the text in a model's context, and a resource adds none until it is read.
#[derive(Debug)]
pub struct Catalog {
    offered: Vec<&'static Resource>,
    /// Whether URIs can name one of several tmux servers.
    names_servers: bool,
}

impl Catalog {
    /// The part of [`RESOURCES`] that the policy allows. URIs name servers if several can be reached.
    pub fn new(registry: &Registry, names_servers: bool) -> Self {
        let may =
            |resource: &&Resource| resource.calls.iter().all(|call| registry.permits(call.tool));
        Self { offered: RESOURCES.iter().filter(may).collect(), names_servers }
    }

    /// All offered resources, in the order of declaration.
    pub fn all(&self) -> impl Iterator<Item = &'static Resource> {
        self.offered.iter().copied()
    }

    /// The offered resources whose template has variables.
    pub fn templates(&self) -> impl Iterator<Item = &'static Resource> {
        self.all().filter(|resource| resource.variables().next().is_some())
    }

    /// Whether a resource is offered.
    pub fn offers(&self, resource: &Resource) -> bool {
        self.all().any(|offered| offered.template == resource.template)
    }

    /// The template of a resource as clients see it.
    pub fn template(&self, resource: &Resource) -> String {
        let query = if self.names_servers { uri::SERVER_TEMPLATE } else { "" };
        format!("{}{query}", resource.template)
    }

    /// The variables of a resource as clients see it.
    pub fn variables(&self, resource: &Resource) -> impl Iterator<Item = &'static str> {
        resource.variables().chain(self.names_servers.then_some(SERVER_ARGUMENT))
    }

    /// Finds the declaration that a URI matches, whether or not it is offered.
    pub fn matching(&self, uri: &str) -> Option<MatchedResource> {
        let Some((uri, server)) = uri::split_server(uri).filter(|_| self.names_servers) else {
            return find(uri);
        };
        Some(MatchedResource { server: Some(server), ..find(uri)? })
    }

    /// Finds the declaration that a URI matches, if it is offered.
    pub fn find(&self, uri: &str) -> Option<MatchedResource> {
        self.matching(uri).filter(|found| self.offers(found.resource))
    }

    /// The error for a URI that matches no offered resource.
    pub fn unknown(&self, uri: &str) -> ToolError {
        let shown: String = inline(uri).chars().take(200).collect();
        let error = ToolError::new(Code::NotFound, format!("there is no resource `{shown}`"));
        let firsts = self.all().map(|resource| uri::first(resource.template));
        let near = nearest(uri::first(uri), firsts);
        let templates = self.all().map(|resource| resource.template);
        let fitting = templates.filter(|known| near.is_none_or(|near| uri::first(known) == near));
        let fitting: Vec<&str> = fitting.collect();
        if fitting.is_empty() {
            return error.hint("no resources are offered; a person can change --tools");
        }
        let mut hint = format!("the URIs are: {}", fitting.join(", "));
        if fitting.iter().any(|known| known.contains("{lines}")) {
            hint.push_str("; {pane} is an id such as %3, {lines} is a number from 1");
        }
        if self.names_servers {
            hint.push_str("; with ?server=NAME for another tmux server than the default one");
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
    fn uri_determines_the_source() {
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
    fn session_named_like_an_id_is_found() {
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
    fn resource_calls_only_read_and_fit_their_schemas() {
        let tools = crate::tools::all();
        for resource in RESOURCES {
            let values = resource.variables().map(|name| match name {
                "pane" => "%3",
                "lines" => "20",
                _ => "x",
            });
            let uri = resource.uri(&values.collect::<Vec<_>>());
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
