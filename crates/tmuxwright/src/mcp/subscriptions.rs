//! Resource subscriptions: `resources/subscribe` for one URI at a time in the older revisions, and
//! `subscriptions/listen` for as long as that request is open in the newest one.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use rmcp::Peer;
use rmcp::model::{ErrorData, ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::{RoleServer, SubscriptionContext};
use tmux_control::target::Level;
use tokio::sync::Mutex;
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::resources;
use crate::app::App;
use crate::app::McpClient;
use crate::changes::{ChangeSubject, ChangeSubscription};
use crate::context::{Cx, Request};
use crate::contract::{Code, Target, ToolError};
use crate::resources::{MatchedResource, Source};

/// Subscriptions per client: more than any client needs, and few enough that one that never
/// unsubscribes does no harm.
const MAX_SUBSCRIPTIONS: usize = 256;

/// The subscriptions of one client, by URI. They end when this is dropped.
#[derive(Debug, Default)]
pub(super) struct Subscriptions(Mutex<HashMap<String, Subscription>>);

#[derive(Debug)]
struct Subscription {
    stop: DropGuard,
    task: JoinHandle<()>,
}

impl Subscriptions {
    /// Subscribes to a resource. A second subscription to the same URI changes nothing.
    pub(super) async fn add(
        &self,
        client: &Arc<McpClient>,
        uri: String,
        request: Request,
        peer: Peer<RoleServer>,
    ) -> Result<(), ErrorData> {
        if !has_room(&mut *self.0.lock().await, &uri)? {
            return Ok(());
        }
        // Not locked meanwhile: a tmux server that hangs must not delay subscriptions to others.
        let mut changed = follow(client, &uri, request).await?;
        let mut all = self.0.lock().await;
        if !has_room(&mut all, &uri)? {
            return Ok(());
        }
        let stop = CancellationToken::new();
        let (stopped, address) = (stop.clone(), uri.clone());
        let task = tokio::spawn(async move {
            // A notification that has begun is sent to its end, so none follows the answer to
            // `resources/unsubscribe`.
            while let Some(Some(())) = stopped.run_until_cancelled(changed.next()).await {
                let note = ResourceUpdatedNotificationParam::new(address.clone());
                if peer.notify_resource_updated(note).await.is_err() {
                    return;
                }
            }
        });
        all.insert(uri, Subscription { stop: stop.drop_guard(), task });
        Ok(())
    }

    /// Unsubscribes. No notification is sent after this returns.
    pub(super) async fn remove(&self, uri: &str) {
        let removed = self.0.lock().await.remove(uri);
        if let Some(Subscription { stop, task }) = removed {
            drop(stop);
            let _ = task.await;
        }
    }
}

/// Whether a subscription to a URI is still to be added. An error if there are too many.
fn has_room(all: &mut HashMap<String, Subscription>, uri: &str) -> Result<bool, ErrorData> {
    if all.get(uri).is_some_and(|known| !known.task.is_finished()) {
        return Ok(false);
    }
    if all.len() >= MAX_SUBSCRIPTIONS {
        all.retain(|_, known| !known.task.is_finished());
    }
    if all.len() >= MAX_SUBSCRIPTIONS {
        let message = format!(
            "this client has {MAX_SUBSCRIPTIONS} subscriptions, the maximum; unsubscribe from some first"
        );
        return Err(ErrorData::invalid_params(message, None));
    }
    Ok(true)
}

/// The part of a requested filter that is accepted: URIs of offered resources. Whether their objects
/// exist is checked later, in [`listen`].
pub(super) fn accepted(app: &App, requested: &SubscriptionFilter) -> SubscriptionFilter {
    let mut accepted = SubscriptionFilter::new();
    if let Some(uris) = &requested.resource_subscriptions {
        let known = uris.iter().filter(|uri| app.resources.find(uri).is_some());
        accepted.resource_subscriptions = Some(known.take(MAX_SUBSCRIPTIONS).cloned().collect());
    }
    accepted
}

/// Notifies of changes until the client closes the request or the server ends.
pub(super) async fn listen(
    client: &Arc<McpClient>,
    context: &SubscriptionContext,
    request: impl Fn(&str) -> Request,
) {
    let mut followed = JoinSet::new();
    let uris = context.accepted().resource_subscriptions.iter().flatten().cloned();
    for uri in BTreeSet::from_iter(uris) {
        let (client, sink, request) = (Arc::clone(client), context.sink().clone(), request(&uri));
        followed.spawn(async move {
            let mut changed = match follow(&client, &uri, request).await {
                Ok(changed) => changed,
                Err(error) => return tracing::debug!("cannot subscribe {uri}: {}", error.message),
            };
            // The request was acknowledged before the subscription began, so notify once for changes
            // in between.
            let mut change = Some(());
            while change.is_some() && sink.notify_resource_updated(uri.clone()).await.is_ok() {
                change = changed.next().await;
            }
        });
    }
    context.cancelled().await;
}

/// Subscribes to the changes of a resource. The resource is read once, to make sure that it exists and
/// is allowed, and to have the access in the audit log.
async fn follow(
    client: &Arc<McpClient>,
    uri: &str,
    request: Request,
) -> Result<ChangeSubscription, ErrorData> {
    let app = &client.app;
    resources::read(client, uri.to_owned(), request.clone()).await?;
    let followed = match app.resources.find(uri) {
        Some(found) => begin(client, &found, request).await,
        None => Err(app.resources.unknown(uri)),
    };
    followed.map_err(|error| resources::protocol_error(app, error, Some(uri)))
}

async fn begin(
    client: &Arc<McpClient>,
    found: &MatchedResource,
    request: Request,
) -> Result<ChangeSubscription, ToolError> {
    let app = &client.app;
    let tool = found.resource.calls.first().map_or("", |call| call.tool);
    let (entry, _) = app.registry.for_resource(tool)?;
    let server = app.servers.find(found.server.as_deref())?;
    let engines = client.engines(server);
    let cx = Cx::new(engines, entry.meta, Arc::clone(&server.policy) as _, request);
    let resolve = |target: String, level| {
        let cx = &cx;
        async move { Ok::<_, ToolError>(cx.resolve_as(&Target(target), level).await?.pane) }
    };
    let subject = match found.source() {
        Source::Server => ChangeSubject::Server,
        Source::Sessions => ChangeSubject::Sessions,
        Source::Clients => ChangeSubject::Clients,
        Source::Session(name) => {
            ChangeSubject::Session(resolve(name, Level::Session).await?.session)
        }
        Source::Window(name) => ChangeSubject::Window(resolve(name, Level::Window).await?.window),
        Source::Pane(name) => ChangeSubject::Pane(resolve(name, Level::Pane).await?.pane),
        Source::Output(name) => {
            let pane = resolve(name, Level::Pane).await?;
            ChangeSubject::Output(pane.session, pane.pane)
        }
        Source::Command(id) => {
            let gone = || ToolError::new(Code::NotFound, format!("command {id} is gone"));
            let job = engines.runs.job(&id).ok_or_else(gone)?;
            cx.may_see(job.pane).await?;
            ChangeSubject::Command(job)
        }
    };
    Ok(cx.changes.subscribe(subject, cx.visibility()).await?)
}
