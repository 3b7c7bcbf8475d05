//! `completion/complete`: suggestions for the arguments of prompts and resource templates.

use std::sync::Arc;

use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, ErrorData, Reference};
use tokio_util::sync::CancellationToken;

use super::{pipeline, prompts};
use crate::app::App;
use crate::app::McpClient;
use crate::completion::{self, CompletionKind, OtherArguments};
use crate::context::{Cx, Progress};
use crate::contract::{Code, ToolError, nearest};
use crate::registry::SERVER_ARGUMENT;
use crate::resources::Resource;
use terminal::text;

/// Answers `completion/complete`. If tmux cannot be asked, the list is empty; that is not an error.
pub(super) async fn complete(
    client: &Arc<McpClient>,
    request: CompleteRequestParams,
    cancel: CancellationToken,
) -> Result<CompleteResult, ErrorData> {
    let app = &client.app;
    let kind =
        kind(app, &request.r#ref, &request.argument.name).map_err(prompts::invalid_params)?;
    let mut others = request.context.and_then(|it| it.arguments).unwrap_or_default();
    others.remove(&request.argument.name);
    let mut values = match kind.listing_tool() {
        None => completion::suggest_known(kind, &request.argument.value, app.servers.names()),
        Some(tool) => {
            suggest_objects(client, tool, kind, &request.argument.value, &others, cancel).await
        }
    };
    // A value that cleaning or redaction would change could not be used as an argument.
    values.retain(|value| text::inline(value) == *value && !is_secret(app, value));
    let total = values.len();
    values.truncate(CompletionInfo::MAX_VALUES);
    let mut info = CompletionInfo::default();
    info.has_more = Some(values.len() < total);
    info.total = u32::try_from(total).ok();
    info.values = values;
    Ok(CompleteResult::new(info))
}

/// The kind of object that an argument names.
fn kind(
    app: &Arc<App>,
    reference: &Reference,
    argument: &str,
) -> Result<CompletionKind, ToolError> {
    match reference {
        Reference::Prompt(prompt) => {
            let offers = prompts::offers_tool(app);
            let prompt = crate::prompts::find(&prompt.name, &offers)?;
            let mut arguments = prompt.all_arguments(app.servers.names());
            match arguments.find(|known| known.name == argument) {
                Some(known) => Ok(known.kind),
                None => Ok(prompt.argument(argument)?.kind),
            }
        }
        Reference::Resource(resource) => variable(app, &resource.uri, argument),
        _ => Err(ToolError::invalid_argument("`ref` is neither a prompt nor a resource template")),
    }
}

/// The kind of object that a variable of a resource template names.
fn variable(app: &App, template: &str, name: &str) -> Result<CompletionKind, ToolError> {
    let catalog = &app.resources;
    let is_it = |it: &&Resource| it.template == template || catalog.template(it) == template;
    let Some(resource) = catalog.templates().find(is_it) else {
        let what = format!("there is no resource template `{template}`");
        let known: Vec<String> = catalog.templates().map(|it| catalog.template(it)).collect();
        let error = ToolError::new(Code::NotFound, what);
        return Err(match nearest(template, known.iter().map(String::as_str)) {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None => error.hint(format!("the templates are: {}", known.join(", "))),
        });
    };
    let found = catalog.variables(resource).find(|variable| *variable == name);
    found.and_then(CompletionKind::of_variable).ok_or_else(|| {
        let known: Vec<&str> = catalog.variables(resource).collect();
        ToolError::invalid_argument(format!("`{template}` has no variable `{name}`"))
            .hint(format!("it has: {}", known.join(", ")))
    })
}

/// Suggests tmux objects that `tool` would list, with that tool's permissions.
async fn suggest_objects(
    client: &Arc<McpClient>,
    tool: &str,
    kind: CompletionKind,
    typed: &str,
    others: &OtherArguments,
    cancel: CancellationToken,
) -> Vec<String> {
    let app = &client.app;
    let Ok((entry, _)) = app.registry.for_resource(tool) else { return Vec::new() };
    let named = others.get(SERVER_ARGUMENT).filter(|_| app.servers.are_several());
    let Ok(server) = app.servers.find(named.map(String::as_str)) else { return Vec::new() };
    let request = pipeline::request(client, cancel.clone(), Progress::default());
    let cx = Cx::new(client.engines(server), entry.meta, Arc::clone(&server.policy) as _, request);
    tokio::select! {
        biased;
        () = cancel.cancelled() => Vec::new(),
        found = completion::suggest_objects(&cx, kind, typed, others) => found.unwrap_or_else(|error| {
            tracing::debug!("no completions: {error}");
            Vec::new()
        }),
    }
}

fn is_secret(app: &App, value: &str) -> bool {
    app.settings.redact.text(&mut value.to_owned()) > 0
}
