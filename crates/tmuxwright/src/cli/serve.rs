//! `tmuxwright serve`: serves MCP over stdio until the client disconnects or a signal comes, or over
//! HTTP until a signal comes.

#[cfg(feature = "http")]
use std::io::{self, Write};
use std::sync::Arc;

use process::Successor;
use rmcp::transport::stdio_pipes;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use super::exit_deadline::ExitDeadline;
use super::{Failure, clean_up};
use crate::app::App;
use crate::config::Settings;
use crate::contract::ToolError;
use crate::log::Logs;
#[cfg(feature = "http")]
use crate::mcp::http::HttpListener;
use crate::mcp::stdio;

/// Serves, then removes the own session and buffers.
pub(super) fn run(runtime: Runtime, mut settings: Settings, logs: Logs) -> Result<(), Failure> {
    let stop = CancellationToken::new();
    let successor = clean_up::after_this_process(&settings);
    // Clean-up that takes too long is not lost if another process goes on with it.
    let unfinished = if successor.is_some() { 0 } else { 1 };
    let deadline = ExitDeadline::start(stop.clone(), unfinished)?;
    settings.process_group = successor.as_ref().map(Successor::group);
    let served = runtime.block_on(serve(settings, logs, &stop, &deadline));
    // A thread may be blocked in a file, or reading stdin; do not wait for it.
    runtime.shutdown_background();
    if let Some(successor) = successor.filter(|_| !matches!(served, Ok(Closed::Partly))) {
        successor.dismiss();
    }
    served?;
    Ok(())
}

async fn serve(
    settings: Settings,
    logs: Logs,
    stop: &CancellationToken,
    deadline: &ExitDeadline,
) -> Result<Closed, ToolError> {
    #[cfg(feature = "http")]
    let listener = HttpListener::open(&settings.http).await?;
    let app = Arc::new(App::new(settings).with_logs(logs));
    if let Some(audit) = &app.audit {
        audit.open().await.map_err(|failed| {
            ToolError::from(failed)
                .hint("choose another path with --audit or --audit-full, or leave it out")
        })?;
    }
    let reaper = Arc::clone(&app);
    tokio::spawn(async move { reaper.reap().await });
    #[cfg(feature = "http")]
    if let Some(listener) = listener {
        let _ = io::stderr().write_all(listener.connect_hint().as_bytes());
        listener.serve(Arc::clone(&app), stop.clone()).await;
        return Ok(close(&app, deadline).await);
    }
    let (read, write) = stdio_pipes();
    stdio::serve(app.client(), read, write, stop.clone()).await;
    // At the end of input, the deadline begins here.
    stop.cancel();
    Ok(close(&app, deadline).await)
}

/// How much was removed at the end.
enum Closed {
    Wholly,
    /// Some is left, since tmux did not answer in time.
    Partly,
}

async fn close(app: &App, deadline: &ExitDeadline) -> Closed {
    match app.close_until(deadline.cleanup_end()).await {
        true => Closed::Wholly,
        false => Closed::Partly,
    }
}
