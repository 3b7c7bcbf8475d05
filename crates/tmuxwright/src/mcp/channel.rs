//! Channel mode: events of watches as `notifications/claude/channel`, for MCP clients that show them
//! to a model that is busy with other work. A notification holds facts and terminal text as data,
//! never instructions.

use rmcp::Peer;
use rmcp::model::{
    CustomNotification, ExperimentalCapabilities, JsonObject, ProtocolVersion, ServerNotification,
};
use rmcp::service::RoleServer;
use serde_json::json;

use crate::contract::Notice;

const METHOD: &str = "notifications/claude/channel";

/// The newest MCP revision whose clients support channels.
pub(super) const NEWEST_REVISION: ProtocolVersion = ProtocolVersion::V_2025_11_25;

/// The capability declared at `initialize`.
pub(super) fn capability() -> ExperimentalCapabilities {
    ExperimentalCapabilities::from([("claude/channel".to_owned(), JsonObject::new())])
}

/// Pushes one event. MCP has no acknowledgement, so it is unknown whether the client shows it.
pub(super) async fn push(peer: &Peer<RoleServer>, notice: Notice) {
    let meta: serde_json::Map<_, _> =
        notice.facts.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
    let params = json!({"content": notice.text, "meta": meta});
    let note = CustomNotification::new(METHOD, Some(params));
    if let Err(error) = peer.send_notification(ServerNotification::CustomNotification(note)).await {
        tracing::debug!("channel notification not sent: {error}");
    }
}
