//! Evidence that a program waits for input: programs that read their terminal while they work, and
//! programs that ask.

use serde_json::json;
use testkit::{Mcp, Shell, TmuxServer};

use crate::serve;
use crate::support::string;

/// Programs that read their terminal and work for a second. Each prints `done` last.
fn working_programs(tmux: &TmuxServer) -> Vec<String> {
    let thread = "import sys, threading, time\n\
        threading.Thread(target=sys.stdin.readline, daemon=True).start()\n\
        time.sleep(1)\nprint('done', flush=True)\nimport os; os._exit(0)\n";
    // As ssh does: poll the terminal and a connection, in raw mode or not.
    let relay = "import os, select, subprocess, sys, tty, termios\n\
        mode = termios.tcgetattr(0)\n\
        if len(sys.argv) > 1: tty.setraw(0)\n\
        far = subprocess.Popen(['sh', '-c', 'sleep 1; echo done'], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)\n\
        while True:\n  \
          ready = select.select([0, far.stdout], [], [])[0]\n  \
          if far.stdout in ready:\n    \
            text = os.read(far.stdout.fileno(), 100)\n    \
            if not text: break\n    \
            os.write(1, text)\n\
        termios.tcsetattr(0, termios.TCSANOW, mode)\n";
    for (name, text) in [("thread.py", thread), ("relay.py", relay)] {
        std::fs::write(tmux.home().join(name), text).unwrap();
    }
    [
        "script -qc 'sleep 1; echo done' /dev/null",
        "node -e 'process.stdin.resume(); setTimeout(() => { console.log(\"done\"); process.exit() }, 1000)'",
        "python3 thread.py",
        "python3 relay.py",
        "python3 relay.py raw",
    ]
    .map(str::to_owned)
    .into()
}

async fn event(mcp: &Mcp, command: &str, until: &[&str]) -> serde_json::Value {
    let call = json!({"command": command, "until": until, "timeout": 60});
    mcp.call("start_and_watch", call).await.ok()
}

#[tokio::test]
async fn working_programs_do_not_wait_for_input() {
    let tmux = TmuxServer::new();
    tmux.use_shell(Shell::Bash);
    let mcp = serve(&tmux).await;
    for command in working_programs(&tmux) {
        let result = event(&mcp, &command, &["input", "text:done"]).await;
        assert_eq!(result["event"], "text:done", "{command}: {result}");
        let call = json!({"command": command, "timeout": 60});
        let result = mcp.call("run_command", call).await.ok();
        assert_eq!(result["status"], "exited", "{command}: {result}");
        assert!(string(&result["output"]).contains("done"), "{command}: {result}");
    }
    mcp.close().await;
}

#[tokio::test]
async fn timeout_names_a_program_that_reads() {
    let tmux = TmuxServer::new();
    tmux.use_shell(Shell::Bash);
    let mcp = serve(&tmux).await;
    let call = json!({"command": "script -qc 'echo begun; sleep 1000' /dev/null", "timeout": 2});
    let result = mcp.call("run_command", call).await.ok();
    let note = "`script` passes keys on to another terminal";
    let without = json!(format!("{note} but shows no question"));
    assert_eq!((result.get("waiting"), &result["note"]), (None, &without), "{result}");
    let wait = json!({"target": result["pane_id"], "until": ["input"], "timeout": 1});
    let result = mcp.call("wait_for", wait).await.ok();
    assert_eq!((&result["event"], &result["note"]), (&json!("timeout"), &json!(note)), "{result}");
    mcp.close().await;
}

#[tokio::test]
async fn programs_that_ask_wait_for_input() {
    let tmux = TmuxServer::new();
    tmux.use_shell(Shell::Bash);
    let mcp = serve(&tmux).await;
    let thread = "import threading\nthreading.Thread(target=lambda: input('Name: ')).start()\n";
    std::fs::write(tmux.home().join("asks.py"), thread).unwrap();
    for (command, kind) in [
        ("cat", "line"),
        ("read -s secret", "password"),
        ("script -qc 'printf \"Name: \"; read x' /dev/null", "keys"),
        (
            "node -e 'require(\"readline\").createInterface(process.stdin, process.stdout).question(\"Name? \", () => process.exit())'",
            "keys",
        ),
        (
            "node -e 'process.stdout.write(\"Name? \"); process.stdin.once(\"data\", () => process.exit())'",
            "line",
        ),
        ("python3 asks.py", "line"),
    ] {
        let result = event(&mcp, command, &["input", "exit"]).await;
        assert_eq!(result["event"], "input", "{command}: {result}");
        let keys = json!({"target": result["pane_id"], "keys": ["Enter", "C-d"]});
        mcp.call("send_keys", keys).await.ok();
        let call = json!({"command": command, "timeout": 60});
        let result = mcp.call("run_command", call).await.ok();
        assert_eq!(result["waiting"], kind, "{command}: {result}");
        let keys = json!({"target": result["pane_id"], "keys": ["Enter", "C-d"]});
        mcp.call("send_keys", keys).await.ok();
    }
    mcp.close().await;
}

#[tokio::test]
async fn busy_pager_is_left_with_a_key() {
    let tmux = TmuxServer::new();
    tmux.use_shell(Shell::Bash);
    let mcp = serve(&tmux).await;
    let target = tmux.shell_pane(80, 24);
    let call = json!({"target": target, "command": "less /etc/passwd", "timeout": 60});
    let result = mcp.call("run_command", call).await.ok();
    assert_eq!(result["waiting"], "keys", "{result}");
    let error = mcp.call("run_command", json!({"target": target, "command": "true"})).await;
    let error = error.err("busy");
    assert!(error.contains("`q` leaves a pager") && !error.contains("interrupt"), "{error}");
    mcp.call("send_keys", json!({"target": target, "text": "q"})).await.ok();
    mcp.close().await;
}
