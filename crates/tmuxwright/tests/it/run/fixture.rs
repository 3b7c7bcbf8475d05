//! The shell in which a test runs commands: in a pane of the own session, or in one that existed
//! before.

use serde_json::{Value, json};
use testkit::{Mcp, Shell, TmuxServer, until, wait_until};

use crate::serve;
use crate::support::{command_end, screen, string};

/// A tmux server, the program on it, and the shell in which commands run.
pub(crate) struct ShellFixture {
    pub(crate) tmux: TmuxServer,
    pub(crate) mcp: Mcp,
    pub(crate) shell: Shell,
    /// The existing pane in which commands run; `None` for panes of the own session.
    pub(crate) target: Option<String>,
    /// Where the shell runs, for messages.
    pub(crate) place: String,
}

/// Output and exit code of a finished command.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finished {
    pub(crate) output: String,
    pub(crate) code: i64,
}

impl Finished {
    pub(crate) fn silent(code: i64) -> Self {
        Self { output: String::new(), code }
    }
}

impl ShellFixture {
    /// Commands run in panes of the own session.
    pub(crate) async fn own(shell: Shell) -> Self {
        let tmux = TmuxServer::new();
        tmux.use_shell(shell);
        let mcp = serve(&tmux).await;
        Self { tmux, mcp, shell, target: None, place: "an own pane".to_owned() }
    }

    /// Commands run in an existing pane of 80x24.
    pub(crate) async fn existing(shell: Shell) -> Self {
        let mut fixture = Self::own(shell).await;
        fixture.target = Some(fixture.tmux.shell_pane(80, 24));
        fixture.place = "an existing pane".to_owned();
        fixture
    }

    /// One fixture of each kind.
    pub(crate) async fn own_and_existing(shell: Shell) -> [Self; 2] {
        [Self::own(shell).await, Self::existing(shell).await]
    }

    /// Calls `run_command`; the target is added.
    async fn call(&self, mut arguments: Value) -> testkit::Outcome {
        if let Some(target) = &self.target {
            arguments["target"] = json!(target);
        }
        self.mcp.call("run_command", arguments).await
    }

    /// The structured answer to a command, with all lines of its output.
    pub(crate) async fn answer(&self, command: &str) -> Value {
        let result = self.call(json!({"command": command, "max_lines": 0})).await.result();
        result.structured_content.unwrap_or_else(|| json!({"refused": result.content}))
    }

    /// The structured answer after at most `timeout` seconds.
    pub(crate) async fn answer_within(&self, command: &str, timeout: f64) -> Value {
        self.call(json!({"command": command, "timeout": timeout})).await.ok()
    }

    /// The text of the error when `command` is refused with `code`.
    pub(crate) async fn error(&self, command: &str, code: &str) -> String {
        self.call(json!({"command": command})).await.err(code)
    }

    /// Runs a command to its end.
    pub(crate) async fn run(&self, command: &str) -> Finished {
        let answer = self.answer(command).await;
        let output = answer["output"].as_str().unwrap_or_default().to_owned();
        match answer["exit_code"].as_i64() {
            Some(code) => Finished { output, code },
            // Still running, refused or lost. No exit code is negative.
            None => Finished { output: answer.to_string(), code: -1 },
        }
    }

    /// Starts a command, and returns its answer once the command has printed `text`.
    pub(crate) async fn start(&self, command: &str, text: &str) -> Value {
        let started = self.answer_within(command, 0.0).await;
        assert_eq!(started["status"], "running", "{self}: {started}");
        until(&format!("{command:?} prints {text:?}, {self}"), async || {
            let result = self.result(&started).await;
            string(&result["output"]).contains(text).then_some(())
        })
        .await;
        started
    }

    /// The present result of a started command.
    pub(crate) async fn result(&self, started: &Value) -> Value {
        self.mcp.call("command_result", json!({"command_id": started["command_id"]})).await.ok()
    }

    /// The result of a started command at its end.
    pub(crate) async fn end(&self, started: &Value) -> Value {
        command_end(&self.mcp, started).await
    }

    /// Runs a command that must print exactly `output` and exit with 0.
    pub(crate) async fn assert_prints(&self, command: &str, output: &str) {
        let finished = self.run(command).await;
        assert_eq!((finished.output.as_str(), finished.code), (output, 0), "{self}: {command:?}");
    }

    /// Runs a command to see that the shell takes one.
    pub(crate) async fn assert_usable(&self) {
        self.assert_prints("echo it works", "it works").await;
    }

    /// Runs commands, each given with the expected output and exit code, and lists all that differ.
    pub(crate) async fn assert_all<'a>(
        &self,
        table: impl IntoIterator<Item = &'a (&'a str, &'a str, i64)>,
    ) {
        let mut wrong = Vec::new();
        for &(command, output, code) in table {
            let expected = Finished { output: output.to_owned(), code };
            let finished = self.run(command).await;
            if finished != expected {
                wrong.push(format!("{command:?}\n  is {finished:?}\n  not {expected:?}"));
            }
        }
        let screen = self.target.as_ref().map(|target| self.tmux.screen(target));
        let screen = screen.unwrap_or_default();
        assert!(wrong.is_empty(), "{self}:\n{}\n--\n{screen}", wrong.join("\n"));
    }

    pub(crate) async fn close(self) {
        self.mcp.close().await;
    }
}

impl std::fmt::Display for ShellFixture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} in {}", self.shell.name(), self.place)
    }
}

/// Runs a command in a pane that must be usable. `context` is part of the failure's message.
pub(crate) async fn assert_usable(mcp: &Mcp, target: &str, context: &str) {
    let arguments = json!({"target": target, "command": "echo it works", "timeout": 60});
    let result = mcp.call("run_command", arguments).await.ok();
    assert_eq!(
        (&result["status"], &result["exit_code"], &result["output"]),
        (&json!("exited"), &json!(0), &json!("it works")),
        "{context}: {result}\n{}",
        screen(mcp, target).await
    );
}

/// Waits until tmux names this program as the foreground program of a pane.
pub(crate) fn wait_for_foreground(tmux: &TmuxServer, pane: &str, program: &str) {
    wait_until(&format!("{program} runs in {pane}"), || {
        let name = tmux.tmux(&["display-message", "-p", "-t", pane, "#{pane_current_command}"]);
        name.starts_with(program).then_some(())
    });
}
