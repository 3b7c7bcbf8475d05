//! What the revisions of the protocol differ in, where rmcp leaves it to us.

use rmcp::model::ProtocolVersion;
use rmcp::service::{RequestContext, RoleServer};

/// What there is no more in the revision without `initialize`.
pub(super) const REMOVED: &[&str] =
    &["initialize", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"];

/// Whether the request is of the revision without `initialize`, in which each stands for itself.
pub(super) fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    let version = context.meta.protocol_version();
    version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}
