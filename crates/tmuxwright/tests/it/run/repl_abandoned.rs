//! `run_in_repl` whose caller is cancelled, or whose pane a person uses, while a line is being typed.

use serde_json::{Value, json};
use testkit::{Person, Raw, TmuxServer, until, wait_until};

use crate::launch;
use crate::support::raw_call;
use crate::support::wire::Way;

/// A program with the prompt of Python that edits its line itself. At the first key which is the given one, it
/// creates a file `seen`, and reads on once there is a file `go`.
const SLOW_READER: &str = r#"
import os, sys, time, tty
slow, home, line = sys.argv[1], sys.argv[2], ''
tty.setraw(0)
def out(text): os.write(1, text.encode())
out('>>> ')
while True:
    key = os.read(0, 1).decode()
    if key == slow:
        slow = ''
        open(home + '/seen', 'w').close()
        while not os.path.exists(home + '/go'): time.sleep(0.005)
    if key == '\r':
        out('\r\nran ' + line + '\r\n>>> ')
        line = ''
    elif key == '\x7f':
        if line: out('\b \b')
        line = line[:-1]
    else:
        line += key
        out(key)
"#;

/// A pane with that program, and a client.
struct SlowReader {
    tmux: TmuxServer,
    raw: Raw,
    target: String,
}

impl SlowReader {
    async fn pausing_at(key: char) -> Self {
        let tmux = TmuxServer::new();
        let script = tmux.home().join("reader.py");
        std::fs::write(&script, SLOW_READER).unwrap();
        let (script, home) = (script.display(), tmux.home().display());
        let target = tmux.open(&format!("exec python3 {script} '{key}' {home}"));
        wait_until("the prompt is shown", || tmux.screen(&target).ends_with(">>>").then_some(()));
        let raw = raw(&tmux).await;
        Self { tmux, raw, target }
    }

    async fn start(&mut self, input: &str) -> u64 {
        let arguments = json!({"target": self.target, "input": input, "timeout": 60});
        let params = json!({"name": "run_in_repl", "arguments": arguments});
        let id = self.raw.start("tools/call", params).await;
        let seen = self.tmux.home().join("seen");
        until("the program pauses", async || seen.exists().then_some(())).await;
        id
    }

    fn go_on(&self) {
        std::fs::write(self.tmux.home().join("go"), "").unwrap();
    }

    async fn enter(&mut self, input: &str) -> Value {
        let arguments = json!({"target": self.target, "input": input, "timeout": 60});
        raw_call(&mut self.raw, "run_in_repl", arguments).await
    }
}

async fn raw(tmux: &TmuxServer) -> Raw {
    let mut raw = launch(tmux).args(&["--toolset", "all", "--structured"]).raw();
    raw.initialize("2025-11-25").await;
    raw
}

/// The blank that tries the line editor is taken back.
#[tokio::test]
async fn cancelled_call_leaves_an_empty_prompt() {
    let mut reader = SlowReader::pausing_at(' ').await;
    let id = reader.start("1").await;
    reader.raw.cancel(id).await;
    reader.go_on();
    assert_eq!(reader.enter("two").await["output"], "ran two");
    assert!(!reader.tmux.screen(&reader.target).contains("ran 1"));
}

/// Enter follows a long line once the line editor has drawn it.
#[tokio::test]
async fn line_of_a_cancelled_call_is_entered_whole() {
    let mut reader = SlowReader::pausing_at('Z').await;
    let id = reader.start(&"Z".repeat(100)).await;
    reader.raw.cancel(id).await;
    reader.go_on();
    assert_eq!(reader.enter("two").await["output"], "ran two");
    assert!(reader.tmux.screen(&reader.target).contains("ran ZZZ"));
}

#[tokio::test]
async fn question_of_a_cancelled_call_is_not_answered() {
    let tmux = TmuxServer::new();
    let target = tmux.open("exec python3 -q");
    wait_until("the prompt is shown", || tmux.screen(&target).ends_with(">>>").then_some(()));
    let mut raw = raw(&tmux).await;
    let arguments = json!({"target": target, "input": "1"});
    assert_eq!(raw_call(&mut raw, "run_in_repl", arguments).await["output"], "1");
    // A call of a minute, so that it does not end by itself.
    let arguments = json!({"target": target, "input": "import time; print('be''gun'); time.sleep(2); input()", "timeout": 60});
    let id = raw.start("tools/call", json!({"name": "run_in_repl", "arguments": arguments})).await;
    until("the input runs", async || tmux.screen(&target).contains("begun").then_some(())).await;
    raw.cancel(id).await;
    let waits = ["display-message", "-p", "-t", &target, "#{cursor_x}"];
    until("input() reads", async || (tmux.tmux(&waits) == "0").then_some(())).await;
    let before = tmux.screen(&target);
    let arguments = json!({"target": target, "input": "rm x", "timeout": 3});
    let params = json!({"name": "run_in_repl", "arguments": arguments});
    let reply = raw.request("tools/call", params).await;
    assert_eq!(reply["result"]["isError"], true, "{reply}");
    assert_eq!(tmux.screen(&target), before);
}

/// What has run is told, and what is left.
#[tokio::test]
async fn key_of_a_person_ends_the_input() {
    let mut reader = SlowReader::pausing_at('Z').await;
    reader.tmux.tmux(&["select-window", "-t", &reader.target]);
    let mut person = Person::attach(&reader.tmux, "main", 80, 24);
    let long = "Z".repeat(100);
    let id = reader.start(&format!("one\n{long}\nthree")).await;
    person.types("q");
    let activity =
        || reader.tmux.tmux(&["display-message", "-p", "-t", "main", "#{session_activity}"]);
    let before = activity();
    // tmux tells whole seconds.
    until("tmux has counted the key", async || {
        person.types("q");
        (activity() != before).then_some(())
    })
    .await;
    reader.go_on();
    let reply = loop {
        let message = reader.raw.receive().await.unwrap();
        if message["id"] == id {
            break message["result"]["structuredContent"].clone();
        }
    };
    assert_eq!((&reply["output"], &reply["lines_left"]), (&json!("ran one"), &json!(1)), "{reply}");
    assert!(reply["state"].as_str().unwrap().contains("still typed"), "{reply}");
}
