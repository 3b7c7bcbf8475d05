//! An MCP server that gives coding agents a real terminal through tmux.
//!
//! # Layout
//!
//! - [`cli`]: the command line; `main` only calls it.
//! - [`config`]: every setting, declared once.
//! - [`mcp`]: the protocol, and the pipeline that every call goes through.
//! - [`audit`]: the record of every call.
//! - [`app`]: what lives as long as the server. [`client`]: one of those it serves.
//! - [`registry`]: the tools that are offered. [`resources`]: what can be read under an address.
//! - [`policy`]: what may be done; pure.
//! - [`prompts`]: workflows for people to pick. [`completion`]: what can be suggested for their arguments.
//! - [`tool`]: what a tool is. [`tools`]: the tools, one file each.
//! - `creation`, `starting`, `outcome`, `event`, `standing`, `reading`, `lines`, `typing`, `filter`,
//!   `options`, `formats`, [`model`]: what several tools share.
//! - [`watch`]: waiting for things to happen in panes.
//! - [`run`]: commands and interpreters. `screen`, `transcript`: what they print.
//! - [`host`]: one tmux server: ownership, our own session, the pane we run in.
//! - [`mark`]: places in what a pane has printed. [`picture`]: pictures of a screen. `buffer`: finding things in
//!   much text, piece by piece.
//! - `log`: what is logged, for those who listen.
//! - `process`: what the operating system knows. `text`: cleaning and cutting. `redact`: secrets.
//!
//! Left may use right: `cli → mcp → registry → tools → tool → watch → run → host → tmux`.
//! ARCHITECTURE.md has the map and the reasons.

#![cfg_attr(
    not(all(feature = "raw-input", feature = "files", feature = "picture")),
    expect(dead_code, reason = "what only the tools use that are left out")
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
pub mod host;
mod lock;
mod log;
pub mod mcp;
pub mod policy;
pub mod prompts;
mod random;
mod redact;
pub mod registry;
pub mod resources;
mod results;
pub mod run;
pub mod tools;
pub mod watch;
