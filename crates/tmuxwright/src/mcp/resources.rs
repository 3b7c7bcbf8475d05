//! Lists and reads what has an address. A read is a call, or a few, and goes the way of every call.

use std::sync::Arc;

use rmcp::model::{
    ErrorCode, ErrorData, ListResourcesResult, MetaObject, PaginatedRequestParams,
    ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};
use serde_json::{Map, Value, json};

use super::{pages, pipeline, render};
use crate::app::App;
use crate::app::McpClient;
use crate::context::Request;
use crate::contract::{Code, Guard, ToolError};
use crate::resources::{self, Body, Found, Item, Kept, Key};
use crate::run::{Job, Status};

/// What the calls are made for that look what there is.
pub(super) const LIST: &str = "resources/list";

/// The tool that says what there is.
const SHOWS: &str = "list_panes";

/// The key under which it says how many lines are left out at the start.
const CUT_KEY: &str = "tmuxwright/lines_cut";

/// What can be read where something has to be filled in.
pub(super) fn templates(app: &App) -> Vec<ResourceTemplate> {
    let template = |resource: &'static resources::Resource| {
        ResourceTemplate::new(resource.template, resource.name)
            .with_title(resource.title)
            .with_description(resource.description)
            .with_mime_type(resource.mime())
    };
    app.resources.templates().map(template).collect()
}

/// A page of what can be read now.
pub(super) async fn list(
    client: &McpClient,
    page: Option<PaginatedRequestParams>,
    request: Request,
) -> Result<ListResourcesResult, ErrorData> {
    let app = &client.app;
    let after = match page.and_then(|page| page.cursor) {
        Some(cursor) => Some(place(&cursor).ok_or_else(|| pages::refusal(&cursor, LIST))?),
        None => None,
    };
    let panes = match app.registry.permits(SHOWS) {
        true => {
            pipeline::call(client, SHOWS, Map::new(), request).await.map(|reply| reply.structured)
        }
        false => Ok(Value::Null),
    };
    let panes = panes.map_err(|error| refused(app, error, None))?;
    let items = resources::items(&app.resources, &panes, &kept(client, &panes));
    let (page, more) = pages::cut(items, |item| item.key, after, pages::SIZE);
    let last = page.last().filter(|_| more).map(|item| pages::cursor(&item.uri));
    let mut list = ListResourcesResult::with_all_items(
        page.into_iter().map(|item| listed(app, item)).collect(),
    );
    list.next_cursor = last;
    Ok(list)
}

/// The place in the list that a cursor names.
fn place(cursor: &str) -> Option<Key> {
    Key::of(&resources::find(&pages::entry(cursor)?)?)
}

/// The commands that are kept, as far as their panes are shown.
fn kept(client: &McpClient, panes: &Value) -> Vec<Kept> {
    let shown = |job: &Arc<Job>| {
        let panes = panes.get("panes").and_then(Value::as_array).into_iter().flatten();
        let mut ids = panes.filter_map(|pane| pane.get("pane_id")?.as_str());
        !client.app.policy.hides_panes() || ids.any(|id| id == job.pane.to_string())
    };
    let runs = &client.engines.runs;
    let jobs = runs.job_ids().into_iter().filter_map(|id| runs.job(&id)).filter(shown);
    jobs.map(|job| Kept {
        id: job.id.clone(),
        pane: job.pane.to_string(),
        command: job.command.clone(),
        state: match job.facts().status {
            Status::Running => "Runs".to_owned(),
            Status::Exited(code) => format!("Exited {code}"),
            Status::Lost(_) => "Lost".to_owned(),
        },
    })
    .collect()
}

fn listed(app: &App, item: Item) -> Resource {
    let Item { resource, uri, name, mut title, mut description, .. } = item;
    app.settings.redact.text(&mut title);
    app.settings.redact.text(&mut description);
    Resource::new(uri, name)
        .with_title(title)
        .with_description(description)
        .with_mime_type(resource.mime())
}

/// What stands under an address.
pub(super) async fn read(
    client: &McpClient,
    uri: String,
    request: Request,
) -> Result<ReadResourceResult, ErrorData> {
    let app = &client.app;
    let content = match resources::find(&uri) {
        Some(found) if app.resources.offers(found.resource) => {
            content(client, found, request).await
        }
        Some(found) => {
            // The call that is refused is written down like any other.
            let refused = found.calls().into_iter().find(|(tool, _)| !app.registry.permits(tool));
            if let Some((tool, arguments)) = refused {
                let _ = pipeline::call(client, tool, arguments, request).await;
            }
            Err(app.resources.unknown(&uri))
        }
        None => Err(app.resources.unknown(&uri)),
    };
    let Content { text, mime, meta } = content.map_err(|error| refused(app, error, Some(&uri)))?;
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

async fn content(client: &McpClient, found: Found, request: Request) -> Result<Content, ToolError> {
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
        meta.0.insert(CUT_KEY.to_owned(), lines.into());
    }
    if redacted > 0 {
        meta.0.insert(render::REDACTED_KEY.to_owned(), redacted.into());
    }
    let mime = found.resource.mime();
    Ok(Content { text: resources::body(&found, answers)?, mime, meta })
}

/// A failed call as an error of the protocol: the agent did not make it, its client did.
pub(super) fn refused(app: &App, error: ToolError, uri: Option<&str>) -> ErrorData {
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
