//! Tests of several tmux servers in one process: the choice, what keeps them apart, rules, requests of MCP.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers fail like tests")]

mod apart;
mod choice;
mod elsewhere;
mod fleet;
mod losses;
mod other_host;
mod requests;
mod rules;
mod ssh_commands;
mod ssh_tools;

use rustix::process::{Pid, Signal, kill_process};
use testkit::{Launch, Mcp, TmuxServer};

use crate::launch;

/// Three tmux servers: the default one, and two that are configured as `one` and `two`.
struct ThreeServers {
    home: TmuxServer,
    one: TmuxServer,
    two: TmuxServer,
}

impl ThreeServers {
    /// Each has a session `main` with the pane `%0`, and one that is called like the server.
    fn new() -> Self {
        let [home, one, two] = [(); 3].map(|()| TmuxServer::new());
        home.new_session("at-home");
        one.new_session("at-one");
        two.new_session("at-two");
        Self { home, one, two }
    }

    /// The config file with both servers. `top` stands before their tables, `of_one` and `of_two` in them.
    fn config(&self, top: &str, of_one: &str, of_two: &str) -> String {
        let table = |name: &str, tmux: &TmuxServer, keys: &str| {
            format!("[servers.{name}]\nsocket = \"{}\"\n{keys}\n", tmux.socket().display())
        };
        format!("{top}\n{}{}", table("one", &self.one, of_one), table("two", &self.two, of_two))
    }

    /// The program with this config file; not started yet.
    fn launch_plain(&self, config: &str) -> Launch {
        let file = self.home.home().join("config.toml");
        std::fs::write(&file, config).unwrap();
        launch(&self.home).args(&["--config", &file.to_string_lossy()])
    }

    /// The same with every tool and structured answers.
    fn launch(&self, config: &str) -> Launch {
        let args = ["--toolset", "all", "--prompts-as-tools", "--structured"];
        self.launch_plain(config).args(&args)
    }

    /// Starts the program with both servers.
    async fn serve(&self) -> Mcp {
        self.launch(&self.config("", "", "")).mcp().await
    }
}

/// A stopped tmux server, which goes on when this is dropped.
struct Stopped(Pid);

impl Stopped {
    fn new(tmux: &TmuxServer) -> Self {
        let pid = Pid::from_raw(tmux.pid().try_into().unwrap()).unwrap();
        kill_process(pid, Signal::STOP).unwrap();
        Self(pid)
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        let _ = kill_process(self.0, Signal::CONT);
    }
}
