//! `run_command`, `command_result`, `interrupt`, `send_signal` and `run_in_repl`.

pub(crate) mod commands;
mod configurations;
pub(crate) mod fixture;
mod forgery;
pub(crate) mod gate;
pub(crate) mod home;
pub(crate) mod input;
mod kept_lines;
mod last_words;
pub(crate) mod life;
pub(crate) mod line_editor;
pub(crate) mod output;
pub(crate) mod person;
mod places;
mod prompts;
mod remote;
mod remote_gate;
mod remote_places;
pub(crate) mod repl;
mod repl_answers;
mod repl_gate;
mod repl_hostile;
mod repl_shells;
mod shell_checks;
pub(crate) mod shell_modes;
pub(crate) mod shells;
mod width;
