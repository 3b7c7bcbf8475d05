//! `resources/list`, `resources/templates/list` and `resources/read`. Reading a resource makes tool
//! calls through the pipeline.

use std::sync::Arc;

use rmcp::model::{
    ErrorCode, ErrorData, ListResourcesResult, MetaObject, PaginatedRequestParams,
    ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};
use serde_json::{Map, Value, json};

use super::{pagination, pipeline, render};
use crate::app::App;
use crate::app::McpClient;
use crate::context::Request;
use crate::contract::{Code, Guard, ToolError};
use crate::resources::{self, Body, KeptCommand, ListKey, ListedResource, MatchedResource};
use crate::run::{Job, JobStatus};

/// The method, as the audit log names the reason for its tool calls.
pub(super) const LIST_METHOD: &str = "resources/list";

/// The tool from whose result the list is made.
const LISTING_TOOL: &str = "list_panes";

/// Key of the number of lines cut at the beginning in `_meta`.
const LINES_CUT_META_KEY: &str = "tmuxwright/lines_cut";

/// The templates of resources whose address has variables.
pub(super) fn templates(app: &App) -> Vec<ResourceTemplate> {
    let template = |resource: &'static resources::Resource| {
        ResourceTemplate::new(app.resources.template(resource), resource.name)
            .with_title(resource.title)
            .with_description(resource.description)
            .with_mime_type(resource.mime())
    };
    app.resources.templates().map(template).collect()
}

/// A page of the resources that can be read now.
pub(super) async fn list(
    client: &McpClient,
    page: Option<PaginatedRequestParams>,
    request: Request,
) -> Result<ListResourcesResult, ErrorData> {
    let app = &client.app;
    let after = match page.and_then(|page| page.cursor) {
        Some(cursor) => Some(
            list_key(app, &cursor)
                .ok_or_else(|| pagination::unknown_cursor(&cursor, LIST_METHOD))?,
        ),
        None => None,
    };
    let panes = match app.registry.permits(LISTING_TOOL) {
        true => pipeline::call(client, LISTING_TOOL, Map::new(), request)
            .await
            .map(|reply| reply.structured),
        false => Ok(Value::Null),
    };
    let panes = panes.map_err(|error| protocol_error(app, error, None))?;
    let others = app.servers.names().get(1..).unwrap_or_default();
    let kept = kept_commands(client, &panes);
    let items = resources::items(&app.resources, &panes, &kept, others);
    let (page, more) =
        pagination::page_after(items, |item| item.key.clone(), after, pagination::PAGE_SIZE);
    let last = page.last().filter(|_| more).map(|item| pagination::encode_cursor(&item.uri));
    let mut list = ListResourcesResult::with_all_items(
        page.into_iter().map(|item| to_wire(app, item)).collect(),
    );
    list.next_cursor = last;
    Ok(list)
}

/// The position in the list that a cursor names.
fn list_key(app: &App, cursor: &str) -> Option<ListKey> {
    ListKey::of(&app.resources.matching(&pagination::decode_cursor(cursor)?)?)
}

/// The commands whose results are kept, without those in hidden panes.
fn kept_commands(client: &McpClient, panes: &Value) -> Vec<KeptCommand> {
    let shown = |job: &Arc<Job>| {
        let panes = panes.get("panes").and_then(Value::as_array).into_iter().flatten();
        let mut ids = panes.filter_map(|pane| pane.get("pane_id")?.as_str());
        !client.app.policy.hides_panes() || ids.any(|id| id == job.pane.to_string())
    };
    let Ok(default) = client.app.servers.find(None) else { return Vec::new() };
    let runs = &client.engines(default).runs;
    let jobs = runs.job_ids().into_iter().filter_map(|id| runs.job(&id)).filter(shown);
    jobs.map(|job| KeptCommand {
        id: job.id.clone(),
        pane: job.pane.to_string(),
        command: job.command.clone(),
        state: match job.facts().status {
            JobStatus::Running => "Runs".to_owned(),
            JobStatus::Exited(code) => format!("Exited {code}"),
            JobStatus::Lost(_) => "Lost".to_owned(),
        },
    })
    .collect()
}

fn to_wire(app: &App, item: ListedResource) -> Resource {
    let ListedResource { resource, uri, name, mut title, mut description, .. } = item;
    app.settings.redact.text(&mut title);
    app.settings.redact.text(&mut description);
    Resource::new(uri, name)
        .with_title(title)
        .with_description(description)
        .with_mime_type(resource.mime())
}

/// Reads a resource.
pub(super) async fn read(
    client: &McpClient,
    uri: String,
    request: Request,
) -> Result<ReadResourceResult, ErrorData> {
    let app = &client.app;
    let content = match app.resources.matching(&uri) {
        Some(found) if app.resources.offers(found.resource) => {
            content(client, found, request).await
        }
        Some(found) => {
            // Make the call that the policy refuses, so that the audit log has it.
            let refused = found.calls().into_iter().find(|(tool, _)| !app.registry.permits(tool));
            if let Some((tool, arguments)) = refused {
                let _ = pipeline::call(client, tool, arguments, request).await;
            }
            Err(app.resources.unknown(&uri))
        }
        None => Err(app.resources.unknown(&uri)),
    };
    let Content { text, mime, meta } =
        content.map_err(|error| protocol_error(app, error, Some(&uri)))?;
    let mut content = ResourceContents::text(text, uri).with_mime_type(mime);
    if !meta.0.is_empty() {
        content = content.with_meta(meta);
    }
    Ok(ReadResourceResult::new(vec![content]))
}

struct Content {
    text: String,
    mime: &'static str,
    meta: MetaObject,
}

async fn content(
    client: &McpClient,
    found: MatchedResource,
    request: Request,
) -> Result<Content, ToolError> {
    let mut answers = Vec::new();
    let mut redacted = 0;
    for (tool, arguments) in found.calls() {
        let reply = pipeline::call(client, tool, arguments, request.clone()).await?;
        redacted += reply.redacted;
        answers.push(reply.structured);
    }
    let mut meta = MetaObject::new();
    let cut = answers.first().and_then(|answer| answer.get("lines_cut")?.as_u64());
    if let Some(lines) = cut.filter(|lines| *lines > 0 && found.resource.body == Body::Text) {
        meta.0.insert(LINES_CUT_META_KEY.to_owned(), lines.into());
    }
    if redacted > 0 {
        meta.0.insert(render::REDACTED_META_KEY.to_owned(), redacted.into());
    }
    let mime = found.resource.mime();
    Ok(Content { text: resources::body(&found, answers)?, mime, meta })
}

/// A failed call as a JSON-RPC error, because the call was made by the client and not by a model.
pub(super) fn protocol_error(app: &App, error: ToolError, uri: Option<&str>) -> ErrorData {
    let error = render::clean_error(error, &app.settings.redact);
    let code = match error.code {
        Code::NotFound | Code::Ambiguous | Code::InvalidArgument | Code::NoServer => {
            ErrorCode::RESOURCE_NOT_FOUND
        }
        Code::Denied => ErrorCode::INVALID_PARAMS,
        _ => ErrorCode::INTERNAL_ERROR,
    };
    let code_name = error.code.name();
    let data = match uri {
        Some(uri) => json!({"code": code_name, "uri": uri}),
        None => json!({"code": code_name}),
    };
    ErrorData::new(code, error.to_string(), Some(data))
}
