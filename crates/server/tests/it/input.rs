//! Typing.

use serde_json::json;
use testkit::TmuxServer;

use crate::serve;

#[tokio::test]
async fn smoke() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let panes = mcp.call("list_panes", json!({})).await.ok();
    assert_eq!(panes["panes"][0]["pane_id"], "%0");
    mcp.close().await;
}
