//! `tmuxwright tools`: prints the tools as a model sees them, with their size.

use std::io::{self, Write};

use serde_json::json;

use crate::app::App;
use crate::config::Settings;

/// Prints each tool as a model sees it, then the total size.
pub(super) fn run(settings: Settings) -> io::Result<()> {
    let app = App::new(settings);
    let mut out = io::stdout().lock();
    let (mut count, mut bytes) = (0, 0);
    for tool in app.registry.wire() {
        let seen = json!({
            "name": tool.name,
            "description": tool.description,
            "inputSchema": *tool.input_schema,
        })
        .to_string();
        writeln!(out, "{seen}")?;
        count += 1;
        bytes += seen.len();
    }
    writeln!(out, "{count} tools, {bytes} bytes")
}
