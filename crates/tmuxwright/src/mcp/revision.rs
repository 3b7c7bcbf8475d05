//! Differences between protocol revisions that rmcp does not handle.

use rmcp::model::ProtocolVersion;
use rmcp::service::{RequestContext, RoleServer};

/// Methods that the revision without `initialize` has removed.
pub(super) const REMOVED_METHODS: &[&str] =
    &["initialize", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"];

/// Whether the request follows the revision without `initialize`, in which requests are independent.
pub(super) fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    let version = context.meta.protocol_version();
    version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}
