//! `completion/complete`: what can be suggested while a person fills in arguments.

use std::sync::Arc;

use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, ErrorData, Reference};
use tokio_util::sync::CancellationToken;

use super::{pipeline, prompts};
use crate::app::App;
use crate::app::McpClient;
use crate::completion::{self, Chosen, Kind};
use crate::context::{Cx, Progress};
use crate::contract::{Code, ToolError, nearest};
use terminal::text;

/// Suggests values. What cannot be looked up is no error: there is nothing to suggest then.
pub(super) async fn complete(
    client: &Arc<McpClient>,
    request: CompleteRequestParams,
    cancel: CancellationToken,
) -> Result<CompleteResult, ErrorData> {
    let app = &client.app;
    let kind = kind(app, &request.r#ref, &request.argument.name).map_err(prompts::refusal)?;
    let mut chosen = request.context.and_then(|it| it.arguments).unwrap_or_default();
    chosen.remove(&request.argument.name);
    let mut values = match kind.shown_by() {
        None => completion::numbers(kind, &request.argument.value),
        Some(tool) => live(client, tool, kind, &request.argument.value, &chosen, cancel).await,
    };
    // A name with anything in it that would be taken out could not be found by what is left.
    values.retain(|value| text::inline(value) == *value && !is_secret(app, value));
    let total = values.len();
    values.truncate(CompletionInfo::MAX_VALUES);
    let mut info = CompletionInfo::default();
    info.has_more = Some(values.len() < total);
    info.total = u32::try_from(total).ok();
    info.values = values;
    Ok(CompleteResult::new(info))
}

/// What the argument names.
fn kind(app: &Arc<App>, reference: &Reference, argument: &str) -> Result<Kind, ToolError> {
    match reference {
        Reference::Prompt(prompt) => {
            let has = prompts::has(app);
            Ok(crate::prompts::find(&prompt.name, &has)?.argument(argument)?.kind)
        }
        Reference::Resource(resource) => variable(app, &resource.uri, argument),
        _ => Err(ToolError::invalid_argument("`ref` is neither a prompt nor a template")),
    }
}

/// What a variable in the address of a resource names.
fn variable(app: &App, template: &str, name: &str) -> Result<Kind, ToolError> {
    let Some(resource) = app.resources.templates().find(|it| it.template == template) else {
        let what = format!("there is no resource template `{template}`");
        let known: Vec<&str> = app.resources.templates().map(|it| it.template).collect();
        let error = ToolError::new(Code::NotFound, what);
        return Err(match nearest(template, known.iter().copied()) {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None => error.hint(format!("the templates are: {}", known.join(", "))),
        });
    };
    let found = resource.variables().find(|variable| *variable == name);
    found.and_then(Kind::of_variable).ok_or_else(|| {
        let known: Vec<&str> = resource.variables().collect();
        ToolError::invalid_argument(format!("`{template}` has no variable `{name}`"))
            .hint(format!("it has: {}", known.join(", ")))
    })
}

async fn live(
    client: &Arc<McpClient>,
    tool: &str,
    kind: Kind,
    typed: &str,
    chosen: &Chosen,
    cancel: CancellationToken,
) -> Vec<String> {
    let app = &client.app;
    let Ok((entry, _)) = app.registry.for_resource(tool) else { return Vec::new() };
    let request = pipeline::request(client, cancel.clone(), Progress::default());
    let guard = Arc::clone(&app.policy);
    let cx = Cx::new(&client.engines, entry.meta, guard, request);
    tokio::select! {
        biased;
        () = cancel.cancelled() => Vec::new(),
        found = completion::live(&cx, kind, typed, chosen) => found.unwrap_or_else(|error| {
            tracing::debug!("nothing is suggested: {error}");
            Vec::new()
        }),
    }
}

fn is_secret(app: &App, value: &str) -> bool {
    app.settings.redact.text(&mut value.to_owned()) > 0
}
