//! Processes of another system, as a shell there describes them.

use std::fmt;
use std::io;
use std::pin::Pin;

/// The output of a script, once it has run.
pub type ScriptOutput<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<u8>>> + Send + 'a>>;

/// A POSIX shell on another system that runs scripts one after the other.
pub trait RemoteShell: fmt::Debug + Send + Sync {
    /// Runs a script in the shell itself, without a subshell, so that functions it defines stay. It gets no
    /// input. Returns what it prints; its exit status does not count. Fails if the system cannot be reached.
    fn run(&self, script: String) -> ScriptOutput<'_>;
}
