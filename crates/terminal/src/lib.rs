//! Terminal output as text: a screen that joins wrapped rows, transcripts of commands, and cleaning.
//!
//! The crate knows neither tmux nor MCP.
//!
//! ```
//! use terminal::screen::Screen;
//! use terminal::text::clean;
//! use terminal::transcript::{LineSelection, Transcript, TranscriptView, excerpt};
//!
//! // An overwritten progress display leaves one line, as in a real terminal.
//! let (mut screen, mut transcript) = (Screen::new(24), Transcript::new());
//! screen.feed(b"10%\r50%\rdone\r\n\x1b[32mok\x1b[0m", &mut |line| transcript.push(line));
//! let pending = screen.pending();
//! assert_eq!(pending, ["done", "ok"]);
//!
//! let view = TranscriptView::new(&transcript, &pending);
//! let call = |arguments: &str| format!("show({arguments})");
//! let last = excerpt(&view, &LineSelection::Tail(1), 0, &call)?;
//! assert_eq!(last.text, "ok");
//!
//! assert_eq!(clean("pay\u{202e}load\x1b]0;title\x07", false), "payload");
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Layout:
//!
//! - [`screen`]: a terminal emulator; bytes in, lines out.
//! - [`transcript`]: the output lines of one command, stored in little memory, and excerpts of them.
//! - [`text`]: removal of escape sequences and invisible characters, and cutting to a length.

pub mod screen;
pub mod text;
pub mod transcript;
