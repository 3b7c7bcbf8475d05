//! The registry of offered tools: the list of all tools, filtered by the policy at start, with their schemas.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use rmcp::model::{MetaObject, Tool as WireTool, ToolAnnotations};
use serde_json::{Map, Value};

use crate::context::ToolEntry;
use crate::contract::{
    Code, Disclosure, Fleet, FleetEach, FleetList, Load, Tier, ToolError, nearest, schema,
};
use crate::policy::Policy;

/// The argument that chooses a tmux server, and the field that names it in answers.
pub const SERVER_ARGUMENT: &str = "server";

/// The argument of a fleet call that lists tmux servers.
pub const SERVERS_ARGUMENT: &str = "servers";

/// The argument of a fleet call that lists targets on several tmux servers.
pub const TARGETS_ARGUMENT: &str = "targets";

/// Limit of the names of servers in the description of that argument, which stands in every tool.
const MAX_LISTED_BYTES: usize = 60;

/// An offered tool.
#[derive(Debug)]
pub struct OfferedTool {
    /// The tool.
    pub entry: ToolEntry,
    /// The tool as `tools/list` shows it.
    pub wire: WireTool,
    /// The schema of its arguments.
    pub schema: Arc<Map<String, Value>>,
    /// The arguments that may be logged as they are.
    disclosure: LazyLock<Disclosure, MakeDisclosure>,
}

/// Derives a disclosure, which costs more than a call needs if no audit log is kept.
type MakeDisclosure = Box<dyn FnOnce() -> Disclosure + Send>;

/// All tools, and those that are offered, in the order of the list.
#[derive(Debug)]
pub struct Registry {
    entries: Vec<ToolEntry>,
    offered: Vec<OfferedTool>,
    policy: Arc<Policy>,
}

impl Registry {
    /// The registry of `entries`, of which the policy offers some.
    pub fn new(entries: Vec<ToolEntry>, policy: Arc<Policy>, structured: bool) -> Self {
        let offered = entries
            .iter()
            .filter(|entry| policy.offers(entry.meta))
            .map(|entry| {
                let schema = Arc::new((entry.input_schema)());
                let wire = wire(entry, Arc::clone(&schema), structured);
                OfferedTool {
                    entry: *entry,
                    wire,
                    schema,
                    disclosure: LazyLock::new(Box::new(entry.disclosure)),
                }
            })
            .collect();
        Self { entries, offered, policy }
    }

    /// The same tools with the arguments that choose among these tmux servers. With less than two nothing changes.
    #[must_use]
    pub fn with_servers(mut self, names: &[String]) -> Self {
        let [default, _, ..] = names else { return self };
        let all = names.join(", ");
        let known = if all.len() > MAX_LISTED_BYTES { "as list_servers names it" } else { &all };
        let description = format!("tmux server: {known}; without it {default}.");
        for tool in self.offered.iter_mut().filter(|tool| tool.entry.on_one_server) {
            tool.add_fleet();
            let schema = schema::with_text((*tool.schema).clone(), SERVER_ARGUMENT, &description);
            tool.schema = Arc::new(schema);
            tool.wire.input_schema = Arc::clone(&tool.schema);
            if let Some(output) = tool.wire.output_schema.take() {
                let output = schema::with_text(
                    (*output).clone(),
                    SERVER_ARGUMENT,
                    "tmux server of the answer.",
                );
                tool.wire.output_schema = Some(Arc::new(output));
            }
        }
        self
    }

    /// Whether a tool has the argument `server` if several servers can be reached. Unknown tools have none.
    pub fn is_on_one_server(&self, name: &str) -> bool {
        let known = self.entries.iter().find(|entry| entry.meta.name == name);
        known.is_some_and(|entry| entry.on_one_server)
    }

    /// The offered tools as `tools/list` shows them, in a fixed order.
    pub fn wire(&self) -> impl Iterator<Item = &WireTool> {
        self.offered.iter().map(|tool| &tool.wire)
    }

    /// The disclosure of a tool's arguments, whether or not the tool is offered. All arguments of an
    /// unknown tool are hidden.
    pub fn disclosure(&self, name: &str) -> Cow<'_, Disclosure> {
        if let Some(offered) = self.offered.iter().find(|tool| tool.entry.meta.name == name) {
            return Cow::Borrowed(&offered.disclosure);
        }
        let hidden = self.entries.iter().find(|entry| entry.meta.name == name);
        Cow::Owned(hidden.map_or(Disclosure::Hidden, |entry| (entry.disclosure)()))
    }

    /// Whether a resource may use a tool.
    pub fn permits(&self, name: &str) -> bool {
        let known = self.entries.iter().find(|entry| entry.meta.name == name);
        known.is_some_and(|entry| self.policy.permits(entry.meta))
    }

    /// A tool for a resource, offered or not, with the schema of its arguments.
    pub fn for_resource(
        &self,
        name: &str,
    ) -> Result<(ToolEntry, Arc<Map<String, Value>>), ToolError> {
        match self.entries.iter().find(|entry| entry.meta.name == name) {
            Some(entry) if self.policy.permits(entry.meta) => {
                let offered = self.offered.iter().find(|tool| tool.entry.meta.name == name);
                let schema = offered.map(|tool| Arc::clone(&tool.schema));
                Ok((*entry, schema.unwrap_or_else(|| Arc::new((entry.input_schema)()))))
            }
            Some(entry) => Err(self.policy.refusal(entry.meta)),
            None => self.find(name).map(|tool| (tool.entry, Arc::clone(&tool.schema))),
        }
    }

    /// The offered tool with this name, or the error for a call of it.
    pub fn find(&self, name: &str) -> Result<&OfferedTool, ToolError> {
        if let Some(found) = self.offered.iter().find(|tool| tool.entry.meta.name == name) {
            return Ok(found);
        }
        if let Some(hidden) = self.entries.iter().find(|entry| entry.meta.name == name) {
            return Err(self.policy.refusal(hidden.meta));
        }
        let names = || self.offered.iter().map(|tool| tool.entry.meta.name);
        let error = ToolError::new(Code::UnknownTool, format!("there is no tool `{name}`"));
        Err(match nearest(name, names()) {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None => {
                error.hint(format!("use one of these: {}", names().collect::<Vec<_>>().join(", ")))
            }
        })
    }
}

impl OfferedTool {
    /// Adds the argument by which a call names several tmux servers, if the tool can be called on several.
    fn add_fleet(&mut self) {
        let schema = (*self.schema).clone();
        self.schema = Arc::new(match self.entry.fleet {
            Fleet::None => return,
            Fleet::First(_) => schema::described(
                schema,
                TARGETS_ARGUMENT,
                "Several panes instead, also of other servers: NAME/TARGET.",
            ),
            Fleet::Each(FleetEach { list, .. }) => {
                let (name, description) = match list {
                    FleetList::Servers => (SERVERS_ARGUMENT, "Several servers instead, by name."),
                    FleetList::Targets => (
                        TARGETS_ARGUMENT,
                        "Several targets instead, also of other servers: NAME/TARGET, or NAME/ for all panes there.",
                    ),
                };
                let plain = self.entry.disclosure;
                self.disclosure = LazyLock::new(Box::new(move || plain().with_texts(name)));
                if let Some(output) = self.wire.output_schema.take() {
                    let results = format!(
                        "With `{name}`: an answer for each, with its `server`, or an `error`."
                    );
                    let output = schema::or_results((*output).clone(), &results);
                    self.wire.output_schema = Some(Arc::new(output));
                }
                schema::with_texts(schema, name, description)
            }
        });
    }
}

fn wire(entry: &ToolEntry, schema: Arc<Map<String, Value>>, structured: bool) -> WireTool {
    let meta = entry.meta;
    let mut tool = WireTool::default();
    tool.name = meta.name.into();
    tool.title = Some(meta.title.to_owned());
    tool.description = Some(meta.description.into());
    tool.input_schema = schema;
    tool.output_schema = structured.then(|| Arc::new((entry.output_schema)()));
    tool.annotations = Some(
        ToolAnnotations::new()
            .read_only(meta.tier == Tier::Read)
            .destructive(matches!(meta.tier, Tier::DestroyOwn | Tier::Destroy))
            .idempotent(meta.idempotent)
            .open_world(meta.open_world),
    );
    let mut extra = MetaObject::new();
    if meta.load == Load::Always {
        extra.0.insert("anthropic/alwaysLoad".to_owned(), Value::Bool(true));
    }
    if meta.needs_confirmation() {
        extra.0.insert("anthropic/requiresUserInteraction".to_owned(), Value::Bool(true));
    }
    tool.meta = Some(extra).filter(|extra| !extra.0.is_empty());
    tool
}
