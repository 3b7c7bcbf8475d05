//! An MCP server that gives coding agents a real terminal through tmux.
//!
//! # Layout
//!
//! A module uses only modules below it in this list:
//!
//! - [`cli`]: the command line.
//! - [`mcp`]: the protocol: request handler, call pipeline, transports.
//! - [`app`]: one server process and its clients.
//! - [`resources`]: results of reading tools under `tmux://` URIs.
//! - [`registry`]: the tools that are offered, with their schemas.
//! - [`tools`]: the tools, one file each.
//! - [`prompts`]: workflows that a person picks in a client.
//! - [`completion`]: suggestions for arguments.
//! - `actions`: steps that several tools share.
//! - `results`: result types that several tools share.
//! - `buffer_search`: search in a paste buffer, piece by piece.
//! - [`context`]: the call context, through which a tool reaches tmux, files and shells.
//! - [`config`]: settings from flags, environment and config file.
//! - [`policy`]: the decisions whether a call is allowed; pure.
//! - [`audit`]: the audit log.
//! - [`changes`]: change notifications for resource subscriptions.
//! - [`watch`]: waiting for conditions in panes.
//! - [`bookmark`]: places in a pane's text that outlive the process.
//! - `input_probe`: whether a program waits for input.
//! - [`run`]: commands in shells, with their exact output and exit code.
//! - [`host`]: one tmux server: ownership, own session, the caller's pane.
//! - [`redact`]: removal of secrets from results.
//! - `log`: log events for MCP clients.
//! - [`contract`]: the declaration of a tool, its arguments, result and errors.
//! - `random`: random bytes as hexadecimal text.
//! - `file_io`: file access that cannot freeze the server.
//! - `lock`: locking of mutexes.
//!
//! ARCHITECTURE.md has the map and the reasons.

#![cfg_attr(
    not(all(feature = "raw-input", feature = "files", feature = "picture")),
    expect(dead_code, reason = "helpers of tools that are not compiled in")
)]

mod actions;
pub mod app;
pub mod audit;
pub mod bookmark;
mod buffer_search;
pub mod changes;
pub mod cli;
pub mod completion;
pub mod config;
pub mod context;
pub mod contract;
mod file_io;
pub mod host;
mod input_probe;
mod lock;
mod log;
pub mod mcp;
pub mod policy;
mod private_dir;
pub mod prompts;
mod random;
pub mod redact;
pub mod registry;
pub mod resources;
mod results;
pub mod run;
pub mod tools;
pub mod watch;
