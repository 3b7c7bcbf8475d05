//! `serve`: MCP over stdin and stdout, until the client or a signal ends it, or over HTTP, until a
//! signal does.

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
use crate::mcp::http::Door;
use crate::mcp::stdio;

/// Serves, then removes what is ours.
pub(super) async fn run(settings: Settings, logs: Logs) -> Result<(), ToolError> {
    #[cfg(feature = "http")]
    let door = Door::open(&settings.http).await?;
    let app = Arc::new(App::new(settings).with_logs(logs));
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
    #[cfg(feature = "http")]
    if let Some(door) = door {
        let _ = io::stderr().write_all(door.welcome().as_bytes());
        door.serve(Arc::clone(&app), stop).await;
        app.close().await;
        return Ok(());
    }
    let (read, write) = stdio_pipes();
    stdio::serve(app.client(), read, write, stop).await;
    app.close().await;
    Ok(())
}

/// The first signal ends the server well, the second at once.
async fn stop_on_signals(stop: CancellationToken) {
    let kinds = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()];
    let mut signals = Vec::new();
    for kind in kinds {
        match signal(kind) {
            Ok(stream) => signals.push((kind, stream)),
            Err(error) => tracing::warn!("a signal cannot be watched: {error}"),
        }
    }
    if signals.is_empty() {
        return;
    }
    for told in [false, true] {
        let any = signals.iter_mut().map(|(kind, stream)| {
            Box::pin(async move {
                stream.recv().await;
                kind.as_raw_value()
            })
        });
        let (number, ..) = futures::future::select_all(any).await;
        if told {
            std::process::exit(128 + number);
        }
        stop.cancel();
    }
}
