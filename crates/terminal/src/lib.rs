//! Text as terminals produce it: the screen a program draws, the transcript a command leaves, and
//! cleaning text before anybody reads it. Knows neither tmux nor MCP.
//!
//! - [`screen`]: bytes in, lines out; a terminal with or without a width.
//! - [`transcript`]: the lines of one command, in little memory, and the parts of them a caller asks for.
//! - [`text`]: removing escape sequences and invisible characters, cutting to a length.

pub mod screen;
pub mod text;
pub mod transcript;
