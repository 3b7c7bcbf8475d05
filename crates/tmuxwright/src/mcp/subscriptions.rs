//! Tells clients that a resource has changed, in the ways of both eras: `resources/subscribe` for one
//! address at a time, or `subscriptions/listen` for as long as that request is open.

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
use crate::changes::{Changed, Subject};
use crate::context::{Cx, Request};
use crate::contract::{Code, Target, ToolError};
use crate::resources::{Found, Source};

/// How many addresses one client may follow: far more than anybody watches, and few enough that a
/// client that never unsubscribes does no harm.
const MOST: usize = 256;

/// What one client has subscribed to. All of it ends when this is dropped.
#[derive(Debug, Default)]
pub(super) struct Subscriptions(Mutex<HashMap<String, Subscription>>);

#[derive(Debug)]
struct Subscription {
    stop: DropGuard,
    task: JoinHandle<()>,
}

impl Subscriptions {
    /// Follows what has an address. Doing so twice is the same as once.
    pub(super) async fn add(
        &self,
        client: &Arc<McpClient>,
        uri: String,
        request: Request,
        peer: Peer<RoleServer>,
    ) -> Result<(), ErrorData> {
        let mut all = self.0.lock().await;
        if all.get(&uri).is_some_and(|known| !known.task.is_finished()) {
            return Ok(());
        }
        if all.len() >= MOST {
            all.retain(|_, known| !known.task.is_finished());
        }
        if all.len() >= MOST {
            let most = format!("more than {MOST} resources cannot be subscribed to at a time");
            return Err(ErrorData::invalid_params(most + "; unsubscribe from some first", None));
        }
        let mut changed = follow(client, &uri, request).await?;
        let stop = CancellationToken::new();
        let (stopped, address) = (stop.clone(), uri.clone());
        let task = tokio::spawn(async move {
            // What is being sent is sent to its end, so that nothing comes after an answer.
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

    /// Ends that. Nothing is told any more once this returns.
    pub(super) async fn remove(&self, uri: &str) {
        let removed = self.0.lock().await.remove(uri);
        if let Some(Subscription { stop, task }) = removed {
            drop(stop);
            let _ = task.await;
        }
    }
}

/// What is told of the addresses that a client wants to hear of: those that are offered. Which of
/// them are there is not known yet.
pub(super) fn accepted(app: &App, requested: &SubscriptionFilter) -> SubscriptionFilter {
    let mut accepted = SubscriptionFilter::new();
    if let Some(uris) = &requested.resource_subscriptions {
        let known = uris.iter().filter(|uri| app.resources.find(uri).is_some());
        accepted.resource_subscriptions = Some(known.take(MOST).cloned().collect());
    }
    accepted
}

/// Tells of changes until the client wants no more, or the server ends.
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
                Err(error) => return tracing::debug!("{uri} is not followed: {}", error.message),
            };
            // The client was answered before anything was followed; what changed since is unknown.
            let mut news = Some(());
            while news.is_some() && sink.notify_resource_updated(uri.clone()).await.is_ok() {
                news = changed.next().await;
            }
        });
    }
    context.cancelled().await;
}

/// Begins to follow what has an address. It is read once, so that it is there, may be seen, and the
/// audit tells of it.
async fn follow(
    client: &Arc<McpClient>,
    uri: &str,
    request: Request,
) -> Result<Changed, ErrorData> {
    let app = &client.app;
    resources::read(client, uri.to_owned(), request.clone()).await?;
    let followed = match app.resources.find(uri) {
        Some(found) => begin(client, &found, request).await,
        None => Err(app.resources.unknown(uri)),
    };
    followed.map_err(|error| resources::refused(app, error, Some(uri)))
}

async fn begin(
    client: &Arc<McpClient>,
    found: &Found,
    request: Request,
) -> Result<Changed, ToolError> {
    let app = &client.app;
    let tool = found.resource.calls.first().map_or("", |call| call.tool);
    let (entry, _) = app.registry.for_resource(tool)?;
    let cx = Cx::new(&client.engines, entry.meta, Arc::clone(&app.policy) as _, request);
    let resolve = |target: String, level| {
        let cx = &cx;
        async move { Ok::<_, ToolError>(cx.resolve_as(&Target(target), level).await?.pane) }
    };
    let subject = match found.source() {
        Source::Server => Subject::Server,
        Source::Sessions => Subject::Sessions,
        Source::Clients => Subject::Clients,
        Source::Session(name) => Subject::Session(resolve(name, Level::Session).await?.session),
        Source::Window(name) => Subject::Window(resolve(name, Level::Window).await?.window),
        Source::Pane(name) => Subject::Pane(resolve(name, Level::Pane).await?.pane),
        Source::Output(name) => {
            let pane = resolve(name, Level::Pane).await?;
            Subject::Output(pane.session, pane.pane)
        }
        Source::Command(id) => {
            let gone = || ToolError::new(Code::NotFound, format!("command {id} is gone"));
            let job = client.engines.runs.job(&id).ok_or_else(gone)?;
            cx.may_see(job.pane).await?;
            Subject::Command(job)
        }
    };
    Ok(cx.changes.follow(subject, cx.visibility()).await?)
}
