//! `tmuxwright serve`: serves MCP over stdio until the client disconnects or a signal comes, or over
//! HTTP until a signal comes.

#[cfg(feature = "http")]
use std::io::{self, Write};
use std::sync::Arc;

use rmcp::transport::stdio_pipes;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::config::Settings;
use crate::contract::ToolError;
use crate::log::Logs;
#[cfg(feature = "http")]
use crate::mcp::http::HttpListener;
use crate::mcp::stdio;

/// Serves, then removes the own session and buffers.
pub(super) async fn run(settings: Settings, logs: Logs) -> Result<(), ToolError> {
    #[cfg(feature = "http")]
    let listener = HttpListener::open(&settings.http).await?;
    let app = Arc::new(App::new(settings).with_logs(logs));
    if let Some(audit) = &app.audit {
        audit.open().await.map_err(|failed| {
            ToolError::from(failed)
                .hint("choose another path with --audit or --audit-full, or leave it out")
        })?;
    }
    let stop = CancellationToken::new();
    tokio::spawn(stop_on_signals(stop.clone()));
    let reaper = Arc::clone(&app);
    tokio::spawn(async move { reaper.reap().await });
    #[cfg(feature = "http")]
    if let Some(listener) = listener {
        let _ = io::stderr().write_all(listener.connect_hint().as_bytes());
        listener.serve(Arc::clone(&app), stop).await;
        app.close().await;
        return Ok(());
    }
    let (read, write) = stdio_pipes();
    stdio::serve(app.client(), read, write, stop).await;
    app.close().await;
    Ok(())
}

/// Cancels `stop` on the first signal and exits the process on the second.
async fn stop_on_signals(stop: CancellationToken) {
    let kinds = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()];
    let mut signals = Vec::new();
    for kind in kinds {
        match signal(kind) {
            Ok(stream) => signals.push((kind, stream)),
            Err(error) => tracing::warn!("cannot handle a signal: {error}"),
        }
    }
    if signals.is_empty() {
        return;
    }
    for is_second in [false, true] {
        let any = signals.iter_mut().map(|(kind, stream)| {
            Box::pin(async move {
                stream.recv().await;
                kind.as_raw_value()
            })
        });
        let (number, ..) = futures::future::select_all(any).await;
        if is_second {
            std::process::exit(128 + number);
        }
        stop.cancel();
    }
}
