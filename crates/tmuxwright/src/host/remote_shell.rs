//! The shell on another system through which processes are inspected and files are written there, over the
//! connection that also carries tmux.

use std::io;
use std::sync::Arc;

use process::{Processes, REMOTE_PRELUDE, RemoteShell, ScriptOutput};
use tmux_control::remote::{Remote, RemoteOptions};
use tmux_control::{Program, Route};

use crate::private_dir::LocalDir;

/// The lasting shell of a [`Remote`].
#[derive(Debug)]
struct ScriptShell(Remote);

impl RemoteShell for ScriptShell {
    fn run(&self, script: String) -> ScriptOutput<'_> {
        Box::pin(async move { self.0.run(&script).await.map_err(io::Error::other) })
    }
}

/// Another system, not connected yet.
pub(super) struct OtherSystem {
    pub(super) remote: Remote,
    pub(super) processes: Processes,
    pub(super) shell: Arc<dyn RemoteShell>,
}

impl OtherSystem {
    /// The system behind a route. The control socket of ssh is in `dir`, on this system.
    pub(super) fn new(route: Route, program: &Program, dir: Arc<LocalDir>) -> Self {
        let options = RemoteOptions {
            process_group: program.process_group,
            hidden: program.hidden.clone(),
            prelude: REMOTE_PRELUDE.to_owned(),
            ..RemoteOptions::new(dir)
        };
        let remote = Remote::new(route, options);
        let shell: Arc<dyn RemoteShell> = Arc::new(ScriptShell(remote.clone()));
        Self { processes: Processes::remote(Arc::clone(&shell)), remote, shell }
    }
}
