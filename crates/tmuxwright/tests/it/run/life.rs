//! How commands live and end: time-outs, panes of their own, interrupts, shells and servers that go
//! away, and what is kept of all this.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use futures::future::join_all;
use serde_json::{Value, json};
use testkit::{Mcp, Shell, TmuxServer, until};

use crate::run::gate::{runs, works};
use crate::support::{shows, string};
use crate::{launch, serve, serve_configured};

/// A shell, and where its commands run: in a pane that was there, or in one of our own.
struct Site {
    tmux: TmuxServer,
    mcp: Mcp,
    target: Option<String>,
    what: String,
}

impl Site {
    /// A pane of our own.
    async fn own(shell: Shell) -> Self {
        let tmux = TmuxServer::new();
        tmux.use_shell(shell);
        let mcp = serve(&tmux).await;
        Self { tmux, mcp, target: None, what: format!("{shell:?}, own pane") }
    }

    /// A person's pane.
    async fn persons(shell: Shell) -> Self {
        let site = Self::own(shell).await;
        let target = Some(site.tmux.shell_pane(80, 24));
        Self { target, what: format!("{shell:?}, person's pane"), ..site }
    }

    /// Runs a command and waits as long for it.
    async fn run(&self, command: &str, timeout: f64) -> Value {
        let mut arguments = json!({"command": command, "timeout": timeout});
        if let Some(target) = &self.target {
            arguments["target"] = json!(target);
        }
        self.mcp.call("run_command", arguments).await.ok()
    }

    /// Starts a command that first prints this, and returns it once it has.
    async fn start(&self, command: &str, prints: &str) -> Value {
        let started = self.run(command, 0.0).await;
        assert_eq!(started["status"], "running", "{self}: {started}");
        let output = async |result: Value| string(&result["output"]).contains(prints);
        until(&format!("{command:?} prints {prints:?}, {self}"), async || {
            output(self.result(&started).await).await.then_some(())
        })
        .await;
        started
    }

    /// What is known of a command now.
    async fn result(&self, of: &Value) -> Value {
        self.mcp.call("command_result", json!({"command_id": of["command_id"]})).await.ok()
    }

    /// What became of a command. Asks again when it is told that it waits for input.
    async fn end(&self, of: &Value) -> Value {
        let arguments = json!({"command_id": of["command_id"], "wait": 10});
        until(&format!("{of} has ended, {self}"), async || {
            let result = self.mcp.call("command_result", arguments.clone()).await.ok();
            (result["status"] != "running").then_some(result)
        })
        .await
    }

    /// Runs a command where the last one ran, or would have run.
    async fn works(&self) {
        let result = self.run("echo it works", 30.0).await;
        assert_eq!(result["exit_code"], 0, "{self}: {result}");
        assert_eq!(result["output"], "it works", "{self}: {result}");
    }
}

impl std::fmt::Display for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.what)
    }
}

/// A command of any shell that prints `begun`, waits for a file, and exits with 9.
fn patient(file: &Path) -> String {
    let wait = format!("while ! test -e {}; do sleep 0.05; done", file.display());
    format!("sh -c 'echo begun; {wait}; echo done; exit 9'")
}

#[tokio::test]
async fn a_command_that_takes_too_long_goes_on_and_tells_its_end_later() {
    for shell in Shell::ALL {
        for site in [Site::own(shell).await, Site::persons(shell).await] {
            let file = site.tmux.home().join("go");
            let begun = site.run(&patient(&file), 0.5).await;
            assert_eq!(begun["status"], "running", "{site}: {begun}");
            assert_eq!(begun.get("exit_code"), None, "{site}: {begun}");
            shows(&site.mcp, begun["pane_id"].as_str().unwrap(), "\nbegun").await;
            let later = site.result(&begun).await;
            assert_eq!(later["status"], "running", "{site}: {later}");
            assert_eq!(later["output"], "begun", "{site}: {later}");
            std::fs::write(&file, "").unwrap();
            let end = site.end(&begun).await;
            assert_eq!(end["status"], "exited", "{site}: {end}");
            assert_eq!(end["exit_code"], 9, "{site}: {end}");
            assert_eq!(end["output"], "begun\ndone", "{site}: {end}");
            site.works().await;
            site.mcp.close().await;
        }
    }
}

#[tokio::test]
async fn eight_commands_without_a_target_run_at_the_same_time() {
    for shell in [Shell::Bash, Shell::Dash] {
        let site = Site::own(shell).await;
        let home = site.tmux.home().display();
        let calls = (0..8).map(|number| {
            let others = format!("test $(ls {home} | grep -c met-) -lt 8");
            let wait = format!("while {others}; do sleep 0.05; done");
            let command = format!("touch {home}/met-{number}; {wait}; echo {number} met all");
            let site = &site;
            async move { (number, site.run(&command, 60.0).await) }
        });
        let mut panes = Vec::new();
        for (number, result) in join_all(calls).await {
            assert_eq!(result["output"], format!("{number} met all"), "{result}");
            assert_eq!(result["exit_code"], 0, "{result}");
            panes.push(string(&result["pane_id"]));
        }
        panes.sort();
        panes.dedup();
        assert_eq!(panes.len(), 8, "{panes:?}");
        // All are idle now, and one of them is taken next.
        let next = site.run("true", 30.0).await;
        assert!(panes.contains(&string(&next["pane_id"])), "{next}");
        site.mcp.close().await;
    }
}

#[tokio::test]
async fn one_command_after_the_other_shares_a_shell() {
    for shell in Shell::ALL {
        let site = Site::own(shell).await;
        let first = site.run("cd /usr; export COLOUR='dark blue'", 30.0).await;
        assert_eq!(first["exit_code"], 0, "{site}: {first}");
        let second = site.run("pwd; echo $COLOUR", 30.0).await;
        assert_eq!(second["output"], "/usr\ndark blue", "{site}: {second}");
        assert_eq!(first["pane_id"], second["pane_id"], "{site}");
        site.mcp.close().await;
    }
}

#[tokio::test]
async fn a_command_runs_in_the_directory_it_is_given() {
    for shell in Shell::ALL {
        let site = Site::own(shell).await;
        let home = site.tmux.home().to_path_buf();
        std::fs::create_dir(home.join("a b'c")).unwrap();
        let odd = home.join("a b'c").display().to_string();
        for (cwd, expected) in
            [("/usr", "/usr"), (&odd, &odd), ("/usr", "/usr"), ("~", home.to_str().unwrap())]
        {
            let arguments = json!({"command": "pwd", "cwd": cwd});
            let result = site.mcp.call("run_command", arguments).await.ok();
            assert_eq!(result["output"], expected, "{site}: {result}");
        }
        site.mcp.close().await;
    }
}

#[tokio::test]
async fn an_interrupted_command_ends_with_130_and_its_pane_is_usable() {
    for shell in Shell::ALL {
        for site in [Site::own(shell).await, Site::persons(shell).await] {
            for (command, program) in
                [("echo begun; sleep 1000", "sleep"), ("sh -c 'echo begun; sleep 1000'", "sh")]
            {
                let begun = site.start(command, "begun").await;
                // A key that comes between the two would be for the shell.
                runs(&site.tmux, begun["pane_id"].as_str().unwrap(), program);
                let stopped =
                    site.mcp.call("interrupt", json!({"target": begun["pane_id"]})).await.ok();
                assert_eq!(stopped["at_prompt"], true, "{site}: {stopped}");
                assert_eq!(stopped["command_id"], begun["command_id"], "{site}: {stopped}");
                assert_eq!(stopped["exit_code"], 130, "{site}: {stopped}");
                let end = site.result(&begun).await;
                assert_eq!(end["exit_code"], 130, "{site}: {end}");
                assert_eq!(end["output"], "begun", "{site}: {end}");
                site.works().await;
            }
            site.mcp.close().await;
        }
    }
}

#[tokio::test]
async fn what_zsh_shows_before_a_late_prompt_is_not_an_interrupted_commands_output() {
    let set_up =
        ["", "PROMPT_EOL_MARK='<none>'", "setopt prompt_subst no_unset warn_create_global"];
    for options in set_up {
        let site = Site::own(Shell::Zsh).await;
        let start_up = format!("{options}; precmd() {{ echo hook; sleep 0.2; }}\n");
        site.tmux.write_start_up(Shell::Zsh, &start_up);
        for (before, command, output) in [
            ("true", "echo begun; sleep 1000", "begun"),
            ("true", "echo a; printf begun; sleep 1000", "a\nbegun"),
            ("PROMPT_EOL_MARK=", "echo begun; sleep 1000", "begun"),
            ("unset PROMPT_EOL_MARK", "echo begun; sleep 1000", "begun"),
        ] {
            assert_eq!(site.run(before, 30.0).await["exit_code"], 0, "{options}: {before}");
            let begun = site.start(command, "begun").await;
            runs(&site.tmux, begun["pane_id"].as_str().unwrap(), "sleep");
            site.mcp.call("interrupt", json!({"target": begun["pane_id"]})).await.ok();
            let end = site.end(&begun).await;
            let facts = (&end["exit_code"], &end["output"]);
            assert_eq!(facts, (&json!(130), &json!(output)), "{options}: {before}; {command}");
            site.works().await;
        }
        site.mcp.close().await;
    }
}

#[tokio::test]
async fn an_interrupt_that_does_not_help_says_what_goes_on() {
    let site = Site::own(Shell::Bash).await;
    let command = "sh -c 'trap \"\" INT; echo deaf; exec sleep 1000'";
    let begun = site.start(command, "deaf").await;
    let arguments = json!({"target": begun["pane_id"], "timeout": 0.5});
    let stopped = site.mcp.call("interrupt", arguments.clone()).await.ok();
    assert_eq!(stopped.get("at_prompt"), None, "{stopped}");
    assert_eq!(stopped["foreground"], "sleep 1000", "{stopped}");
    assert_eq!(stopped["command_id"], begun["command_id"], "{stopped}");
    assert_eq!(stopped.get("exit_code"), None, "{stopped}");
    let text = site.mcp.call("interrupt", arguments).await.text();
    assert!(text.contains("foreground \"sleep 1000\"") && text.contains("Next: "), "{text}");
    site.mcp.close().await;
}

#[tokio::test]
async fn an_interrupt_at_an_idle_prompt_does_no_harm() {
    for shell in Shell::ALL {
        let site = Site::persons(shell).await;
        for _ in 0..2 {
            let stopped = site.mcp.call("interrupt", json!({"target": site.target})).await.ok();
            assert_eq!(stopped["at_prompt"], true, "{site}: {stopped}");
            assert_eq!(stopped.get("command_id"), None, "{site}: {stopped}");
            site.works().await;
        }
        site.mcp.close().await;
    }
}

#[tokio::test]
async fn a_shell_of_our_own_that_exits_tells_its_code() {
    for shell in Shell::ALL {
        let site = Site::own(shell).await;
        let first = site.run("echo before", 30.0).await;
        let result = site.run("echo leaving; exit 7", 30.0).await;
        assert_eq!(result["status"], "exited", "{site}: {result}");
        assert_eq!(result["exit_code"], 7, "{site}: {result}");
        assert_eq!(result["output"], "leaving", "{site}: {result}");
        assert_eq!(result["pane_id"], first["pane_id"], "{site}");
        site.works().await;
        site.mcp.close().await;
    }
}

#[tokio::test]
async fn a_persons_shell_that_exits_takes_its_pane_along() {
    // What it printed just before is not looked at: tmux itself can lose that.
    for shell in Shell::ALL {
        let site = Site::persons(shell).await;
        let result = site.run("exit 7", 30.0).await;
        assert_eq!(result["status"], "lost", "{site}: {result}");
        assert_eq!(result.get("exit_code"), None, "{site}: {result}");
        assert!(string(&result["note"]).contains("its pane is gone"), "{site}: {result}");
        // A pane that stays tells how its shell ended.
        site.tmux.tmux(&["set-option", "-g", "remain-on-exit", "on"]);
        let stays = site.tmux.shell_pane(80, 24);
        let site = Site { target: Some(stays), ..site };
        let result = site.run("exit 7", 30.0).await;
        assert_eq!(result["exit_code"], 7, "{site}: {result}");
        site.mcp.close().await;
    }
}

#[tokio::test]
async fn a_command_whose_pane_is_taken_away_is_lost() {
    for shell in [Shell::Bash, Shell::Dash] {
        for (kill, words) in [
            ("kill-pane", "its pane is gone"),
            ("kill-session", "its pane is gone"),
            ("kill-server", "the tmux server went away"),
        ] {
            for site in [Site::own(shell).await, Site::persons(shell).await] {
                let begun = site.start("echo begun; sleep 1000", "begun").await;
                if kill == "kill-server" {
                    site.tmux.kill();
                } else {
                    site.tmux.tmux(&[kill, "-t", begun["pane_id"].as_str().unwrap()]);
                }
                let end = site.end(&begun).await;
                assert_eq!(end["status"], "lost", "{site}, {kill}: {end}");
                assert_eq!(end["output"], "begun", "{site}, {kill}: {end}");
                assert!(string(&end["note"]).contains(words), "{site}, {kill}: {end}");
                let site = Site { target: None, ..site };
                site.works().await;
                site.works().await;
                site.mcp.close().await;
            }
        }
    }
}

#[tokio::test]
async fn a_pane_that_is_given_another_program_loses_its_command() {
    let site = Site::persons(Shell::Bash).await;
    let begun = site.start("echo begun; sleep 1000", "begun").await;
    let target = site.target.as_deref().unwrap();
    site.tmux.tmux(&["respawn-pane", "-k", "-t", target, "exec bash --norc --noprofile -i"]);
    let end = site.end(&begun).await;
    assert_eq!(end["status"], "lost", "{end}");
    works(&site.mcp, target, "the new shell").await;
    site.mcp.close().await;
}

#[tokio::test]
async fn of_the_finished_commands_only_the_newest_are_kept() {
    let tmux = TmuxServer::new();
    let mcp = serve_configured(&tmux, "[limits]\nresults = 3\n").await;
    let call = async |command: &str, timeout: u32| {
        let arguments = json!({"command": command, "timeout": timeout});
        string(&mcp.call("run_command", arguments).await.ok()["command_id"])
    };
    let error = mcp.call("command_result", json!({"command_id": "c1"})).await.err("not_found");
    assert!(error.contains("no command was started"), "{error}");
    let running = call("sleep 1000", 0).await;
    let mut finished = Vec::new();
    for number in 0..6 {
        finished.push(call(&format!("echo {number}"), 30).await);
    }
    let (gone, kept) = finished.split_at(3);
    for id in gone {
        let error = mcp.call("command_result", json!({"command_id": id})).await.err("not_found");
        assert!(error.contains(&format!("`{id}`")) && error.contains(&finished[5]), "{error}");
    }
    for (number, id) in kept.iter().enumerate() {
        let result = mcp.call("command_result", json!({"command_id": id})).await.ok();
        assert_eq!(result["output"], (number + 3).to_string(), "{result}");
    }
    let result = mcp.call("command_result", json!({"command_id": running})).await.ok();
    assert_eq!(result["status"], "running", "{result}");
    mcp.close().await;
}

#[tokio::test]
async fn a_shell_of_an_unknown_name_is_what_it_is_declared_to_be() {
    let tmux = TmuxServer::new();
    let shell = tmux.home().join("mine");
    std::fs::copy(Shell::Bash.path(), &shell).unwrap();
    let target = tmux.open_shell(&format!("exec {} --norc --noprofile -i", shell.display()));
    let mcp = serve(&tmux).await;
    let arguments = json!({"command": "true", "target": target});
    let error = mcp.call("run_command", arguments).await.err("busy");
    assert!(error.contains("/mine --norc"), "{error}");
    mcp.close().await;
    let args = ["--toolset", "all", "--structured", "--shell-type", "bash"];
    let mcp = launch(&tmux).args(&args).mcp().await;
    works(&mcp, &target, "declared to be bash").await;
    mcp.close().await;
}

#[tokio::test]
async fn every_kind_of_shell_can_be_declared_and_no_other() {
    let tmux = TmuxServer::new();
    for name in tmuxwright::run::ShellKind::NAMES {
        // A shell that is known is never mistaken for the one that is declared.
        let args = ["--toolset", "all", "--structured", "--shell-type", name];
        let mcp = launch(&tmux).args(&args).mcp().await;
        works(&mcp, "%0", name).await;
        mcp.close().await;
    }
    for name in ["tcsh", "", "Bash"] {
        let output = launch(&tmux).args(&["--shell-type", name]).output().await;
        assert!(!output.status.success(), "{name}");
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(message.contains("bash, zsh, fish, sh, dash, ash, ksh"), "{message}");
    }
}

/// The directories for private files that are there.
fn private(parent: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(parent).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.to_string_lossy().contains("tmuxwright-")).collect()
}

#[tokio::test]
async fn private_files_are_the_users_alone_and_go_with_the_server() {
    for shell in Shell::ALL {
        let tmux = TmuxServer::new();
        tmux.use_shell(shell);
        let parent = tmux.home().join("temporary");
        std::fs::create_dir(&parent).unwrap();
        let args = ["--toolset", "all", "--structured"];
        let mcp = launch(&tmux).args(&args).env("TMPDIR", parent.to_str().unwrap()).mcp().await;
        assert!(private(&parent).is_empty(), "{shell:?}");
        let carried = "sh -c 'umask 0; echo secret; exec sleep 1000'";
        let begun = mcp.call("run_command", json!({"command": carried, "timeout": 0})).await.ok();
        shows(&mcp, begun["pane_id"].as_str().unwrap(), "\nsecret").await;
        let [dir] = private(&parent).try_into().unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&dir), 0o700, "{shell:?}");
        let files = std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path());
        let files: Vec<PathBuf> = files.collect();
        for file in &files {
            assert_eq!(mode(file), 0o600, "{shell:?}: {}", file.display());
        }
        let id = string(&begun["command_id"]);
        assert!(files.iter().any(|file| file.ends_with(&id)), "{shell:?}: {files:?}");
        mcp.call("interrupt", json!({"target": begun["pane_id"]})).await.text();
        // What was carried is not kept longer than it is needed.
        until("the command's file is gone", async || (!dir.join(&id).exists()).then_some(())).await;
        mcp.close().await;
        assert!(private(&parent).is_empty(), "{shell:?}");
    }
}

#[tokio::test]
async fn private_files_of_a_server_that_was_killed_go_with_the_next() {
    let tmux = TmuxServer::new();
    let parent = tmux.home().join("temporary");
    std::fs::create_dir(&parent).unwrap();
    let start = || launch(&tmux).env("TMPDIR", parent.to_str().unwrap());
    let mut raw = start().raw();
    raw.initialize("2025-11-25").await;
    let params = json!({"name": "run_command", "arguments": {"command": "echo 'carried'"}});
    raw.request("tools/call", params).await;
    let [left] = private(&parent).try_into().unwrap();
    raw.signal(rustix::process::Signal::KILL);
    raw.wait().await;
    assert!(left.exists());
    let mcp = start().mcp().await;
    mcp.call("list_panes", json!({})).await.text();
    until("it is gone", async || (!left.exists()).then_some(())).await;
    mcp.close().await;
}
