//! `serve`: MCP over stdin and stdout, until the client or a signal ends it.

use std::sync::Arc;

use rmcp::transport::stdio_pipes;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::config::Settings;
use crate::mcp::stdio;
use crate::tool::ToolError;

/// Serves, then removes what is ours.
pub(super) async fn run(settings: Settings) -> Result<(), ToolError> {
    let app = Arc::new(App::new(settings));
    if let Some(audit) = &app.audit {
        audit.open().await.map_err(|failed| {
            ToolError::from(failed)
                .hint("name another with --audit or --audit-full, or leave it out")
        })?;
    }
    let stop = CancellationToken::new();
    tokio::spawn(stop_on_signals(stop.clone()));
    let reaper = Arc::clone(&app);
    tokio::spawn(async move { reaper.reap().await });
    let (read, write) = stdio_pipes();
    stdio::serve(app.client(), read, write, stop).await;
    app.close().await;
    Ok(())
}

async fn stop_on_signals(stop: CancellationToken) {
    let kinds = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()];
    let mut signals = Vec::new();
    for kind in kinds {
        match signal(kind) {
            Ok(stream) => signals.push(stream),
            Err(error) => tracing::warn!("a signal cannot be watched: {error}"),
        }
    }
    if signals.is_empty() {
        return;
    }
    let any = signals.iter_mut().map(|stream| Box::pin(stream.recv()));
    futures::future::select_all(any).await;
    stop.cancel();
}
