//! `tmuxwright demo`: plays an agent's calls on a private tmux server and prints requests and results.
//! It removes everything at the end.

#![expect(clippy::indexing_slicing, reason = "indexing a JSON value by a missing key gives null")]

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use tmux_control::{Command, Program, Server, Socket};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::config::Settings;
use crate::contract::Toolset;
use crate::mcp::stdio;
use crate::policy::Policy;

/// Starts a private tmux server with a person's session, plays the calls, removes the server.
pub(super) async fn run(mut settings: Settings) -> io::Result<()> {
    let dir = tempfile::Builder::new().prefix("tmuxwright-demo-").tempdir()?;
    let socket = dir.path().join("s");
    settings.socket = Some(Socket::Path(socket.clone()));
    settings.policy = Policy { toolset: Toolset::All, ..Policy::default() };
    settings.structured = true;
    let private = Program {
        path: settings.tmux.clone(),
        config_file: Some("/dev/null".into()),
        ..Program::new(Socket::Path(socket.clone()))
    };
    let tmux = Server::new(private);
    let start = Command::action("new-session")
        .args(["-d", "-s", "alice", "-x", "80", "-y", "24", "--", "exec sh"]);
    tmux.run(start).await.map_err(|error| {
        io::Error::other(format!("{error}\nhint: install tmux, or give --tmux PATH"))
    })?;
    // An empty HOME: the person's start-up files may be slow or print text.
    let home =
        Command::action("set-environment").arg("-g").arg("HOME").arg(dir.path().to_string_lossy());
    tmux.run(home).await.map_err(io::Error::other)?;
    let played = tokio::select! {
        played = play(settings, &socket) => played,
        _ = tokio::signal::ctrl_c() => Ok(()),
    };
    let ended = tmux.run(Command::action("kill-server")).await;
    played.and(match ended {
        Err(error) if !error.is_no_server() => Err(io::Error::other(error)),
        _ => Ok(()),
    })
}

async fn play(settings: Settings, socket: &Path) -> io::Result<()> {
    let mut agent = Agent::start(settings).await?;
    agent.say(&format!(
        "A private tmux server with a person's session, `alice`.\n\
         Watch with: tmux -S {} attach",
        socket.display()
    ))?;

    agent.say("The agent lists the panes.")?;
    agent.call("list_panes", json!({})).await?;

    agent.say("It runs a command and gets exactly its output and its exit code.")?;
    agent.call("run_command", json!({"command": "cd /etc && ls -1d pass* && false"})).await?;
    agent.say(
        "The directory is kept. Of 100,000 lines the model sees both ends first; all can be read.",
    )?;
    let many = json!({"command": "pwd; seq 1 100000", "max_lines": 6});
    let many = agent.call("run_command", many).await?;
    let id = many["command_id"].as_str().unwrap_or_default();
    agent
        .call("command_result", json!({"command_id": id, "grep": "^77777$", "context": 1}))
        .await?;
    agent.say("A password prompt is detected at once; C-c ends the program.")?;
    let asks = "stty -echo; printf 'Password: '; head -n 1; stty echo";
    let asks = json!({"command": format!("sh -c {}", shell_word(asks))});
    let asks = agent.call("run_command", asks).await?;
    let pane = asks["pane_id"].as_str().unwrap_or_default();
    agent.call("interrupt", json!({"target": pane})).await?;

    agent.say("It starts a server, and the call returns when the server is ready; the server keeps running.")?;
    let server = "sleep 1; echo Listening on port 8080; sleep 1000";
    let server = json!({"command": format!("sh -c {}", shell_word(server)),
        "until": ["text:Listening", "error", "exit"]});
    agent.call("start_and_watch", server).await?;

    agent.say(
        "It creates a session with a shell and types a command, exactly as written. With `until`, the same call waits.",
    )?;
    let made = agent.call("create_session", json!({"name": "demo", "command": "exec sh"})).await?;
    let pane = made["pane_id"].as_str().unwrap_or_default().to_owned();
    agent.call("wait_for", json!({"target": pane, "until": ["prompt"]})).await?;
    let line = "echo \"$((6 * 7)) is the answer; said in $PWD\"";
    let typed = json!({"target": pane, "text": line, "enter": true, "until": ["prompt"]});
    agent.call("send_keys", typed).await?;

    agent.say("It adds panes, one for a program that exits by itself.")?;
    agent.call("split_pane", json!({"target": pane, "direction": "below", "size": "30%"})).await?;
    let job =
        agent.call("create_pane", json!({"command": "seq 1 3; exit 7", "name": "job"})).await?;
    let job = job["pane_id"].as_str().unwrap_or_default();
    agent.call("wait_for", json!({"target": job, "until": ["exit"]})).await?;
    agent.call("list_panes", json!({})).await?;

    agent.say("It may kill the sessions it created, but not the person's.")?;
    agent.call("kill", json!({"target": "alice", "kind": "session"})).await?;
    agent.call("kill", json!({"target": "demo", "kind": "session"})).await?;
    agent.call("list_sessions", json!({})).await?;

    agent.say("The client disconnects, and the agent's own session is removed.")?;
    agent.finish().await
}

/// An MCP client connected to our own server through a pipe.
struct Agent {
    write: WriteHalf<DuplexStream>,
    read: Lines<BufReader<ReadHalf<DuplexStream>>>,
    server: tokio::task::JoinHandle<()>,
    last_id: u64,
}

impl Agent {
    async fn start(settings: Settings) -> io::Result<Self> {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let app = Arc::new(App::new(settings));
        let server = tokio::spawn(async move {
            let (read, write) = tokio::io::split(theirs);
            stdio::serve(app.client(), read, write, CancellationToken::new()).await;
            app.close().await;
        });
        let (read, write) = tokio::io::split(ours);
        let read = BufReader::new(read).lines();
        let mut agent = Self { write, read, server, last_id: 0 };
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "demo", "version": env!("CARGO_PKG_VERSION")}});
        agent.request("initialize", hello).await?;
        agent.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await?;
        Ok(agent)
    }

    /// Prints a comment.
    fn say(&self, text: &str) -> io::Result<()> {
        writeln!(io::stdout(), "\n# {}", text.replace('\n', "\n# "))
    }

    /// Makes a call and prints request and result. Returns the structured content.
    async fn call(&mut self, tool: &str, arguments: Value) -> io::Result<Value> {
        writeln!(io::stdout(), "→ {tool} {arguments}")?;
        let call = json!({"name": tool, "arguments": arguments});
        let result = self.request("tools/call", call).await?;
        let sign = if result["isError"] == true { "✗" } else { "←" };
        for line in text_of(&result).lines() {
            writeln!(io::stdout(), "{sign} {line}")?;
        }
        Ok(result["structuredContent"].clone())
    }

    async fn request(&mut self, method: &str, params: Value) -> io::Result<Value> {
        self.last_id += 1;
        let id = self.last_id;
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await?;
        while let Some(line) = self.read.next_line().await? {
            let message: Value = serde_json::from_str(&line)?;
            if message["id"] == id {
                return Ok(message["result"].clone());
            }
        }
        Err(io::Error::other("the server closed the connection"))
    }

    async fn send(&mut self, message: Value) -> io::Result<()> {
        self.write.write_all(format!("{message}\n").as_bytes()).await
    }

    /// Disconnects and waits until the server has cleaned up.
    async fn finish(mut self) -> io::Result<()> {
        self.write.shutdown().await?;
        self.server.await.map_err(io::Error::other)
    }
}

/// Quotes a text as one word for any shell. The text must not contain double quotes, `$` or backslashes.
fn shell_word(text: &str) -> String {
    format!("\"{text}\"")
}

fn text_of(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}
