//! Channel mode: what happened is also pushed, so that a client can take it up while it is at
//! something else. Facts alone: what a terminal shows is nobody's instruction.

use rmcp::Peer;
use rmcp::model::{
    CustomNotification, ExperimentalCapabilities, JsonObject, ProtocolVersion, ServerNotification,
};
use rmcp::service::RoleServer;
use serde_json::json;

use crate::contract::Notice;

const METHOD: &str = "notifications/claude/channel";

/// The newest revision in which clients know channels.
pub(super) const NEWEST: ProtocolVersion = ProtocolVersion::V_2025_11_25;

/// What is declared at `initialize`.
pub(super) fn capability() -> ExperimentalCapabilities {
    ExperimentalCapabilities::from([("claude/channel".to_owned(), JsonObject::new())])
}

/// Pushes what happened. Whether anybody takes it up is not told.
pub(super) async fn push(peer: &Peer<RoleServer>, notice: Notice) {
    let meta: serde_json::Map<_, _> =
        notice.facts.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
    let params = json!({"content": notice.text, "meta": meta});
    let note = CustomNotification::new(METHOD, Some(params));
    if let Err(error) = peer.send_notification(ServerNotification::CustomNotification(note)).await {
        tracing::debug!("a channel notice was not sent: {error}");
    }
}
