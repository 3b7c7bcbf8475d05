//! Attacks: calls that try to run programs, to take what belongs to others, or to take tmux down. The
//! environment variable `TMUXWRIGHT_TMUX` chooses another tmux; `make test-attacks` takes several.

mod formats;
mod options;
mod ownership;
mod variables;
