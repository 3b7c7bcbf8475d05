//! The state of a tmux server and of the processes below it, to compare before and after a call.

#![expect(clippy::unwrap_used, reason = "helpers fail like tests")]

use std::collections::BTreeSet;
use std::fs;

use testkit::{TmuxServer, wait_until};

const SESSION: &str = "#{session_id} #{session_name} #{session_windows} #{session_group} \
                       #{session_path} #{session_alerts}";
const WINDOW: &str = "#{session_id} #{window_id} #{window_index} #{window_name} #{window_flags} \
                      #{window_layout} #{window_visible_layout} #{window_width}x#{window_height}";
const PANE: &str = "#{window_id} #{pane_id} #{pane_index} #{pane_title} #{pane_active} #{pane_pid} \
                    #{pane_start_command} #{pane_current_command} #{pane_current_path} #{pane_dead} \
                    #{pane_dead_status} #{pane_mode} #{pane_width}x#{pane_height} #{history_size} \
                    #{history_limit} #{pane_input_off} #{pane_synchronized} #{pane_pipe} #{pane_tty} \
                    #{pane_marked} #{alternate_on} #{scroll_position}";
const CLIENT: &str = "#{client_control_mode} #{client_pid} #{client_session} #{client_readonly} \
                      #{client_width}x#{client_height}";

/// A tmux server as a person may have left it: the sessions `main` and `other` with three shells,
/// options that are not tmux's defaults, and `text` as name, title, buffer, option and variable.
pub(crate) fn customized_server(other: &str, text: &str) -> TmuxServer {
    let tmux = TmuxServer::new();
    // Otherwise tmux renames a window some time after its program has started.
    tmux.tmux(&["set-option", "-gw", "automatic-rename", "off"]);
    tmux.new_session(other);
    tmux.tmux(&["split-window", "-d", "-h", "-l", "30", "-t", "%0"]);
    // tmux expands names and titles as formats.
    let literal = text.replace('#', "##");
    tmux.tmux(&["rename-window", "-t", "=main:", &literal]);
    tmux.tmux(&["rename-window", "-t", &format!("={other}:"), "mine"]);
    tmux.tmux(&["select-pane", "-t", "%0", "-T", &literal]);
    tmux.tmux(&["set-buffer", "-b", "notes", text]);
    tmux.tmux(&["set-option", "-t", "=main:", "status-left", "hello"]);
    tmux.tmux(&["set-option", "-t", "=main:", "@evil", text]);
    tmux.tmux(&["set-option", "-t", "=main:", "@mine", "hello"]);
    tmux.tmux(&["set-option", "-g", "update-environment", "DISPLAY SSH_TTY HOME"]);
    tmux.tmux(&["set-environment", "-t", "=main:", "MINE", text]);
    let named = tmux.tmux(&["display-message", "-p", "-t", "%0", "#{window_name} #{pane_title}"]);
    assert_eq!(named, format!("{text} {text}"));
    wait_until("all shells run", || {
        let names = tmux.tmux(&["list-panes", "-a", "-F", "#{pane_current_command}"]);
        (names == "sh\nsh\nsh").then_some(())
    });
    tmux
}

/// The ids of all sessions, windows or panes.
pub(crate) fn ids(tmux: &TmuxServer, kind: &str) -> BTreeSet<String> {
    let format = format!("#{{{kind}_id}}");
    let printed = tmux.tmux(&["list-panes", "-a", "-F", &format]);
    printed.lines().map(str::to_owned).collect()
}

/// The state that a call could change: objects, clients, buffers, options, hooks, environments and
/// key bindings, one entry for each tmux command. Control clients are left out.
pub(crate) fn server_state(tmux: &TmuxServer) -> Vec<String> {
    run_all(tmux, &state_commands(tmux))
}

/// The same with the cursor and the text of every pane.
pub(crate) fn server_state_and_text(tmux: &TmuxServer) -> Vec<String> {
    let mut commands = state_commands(tmux);
    let cursors = ["list-panes", "-a", "-F", "#{pane_id} #{cursor_x} #{cursor_y}"];
    commands.push(cursors.map(str::to_owned).to_vec());
    for pane in ids(tmux, "pane") {
        let capture = ["capture-pane", "-p", "-e", "-S", "-", "-t", &pane];
        commands.push(capture.map(str::to_owned).to_vec());
    }
    run_all(tmux, &commands)
}

fn state_commands(tmux: &TmuxServer) -> Vec<Vec<String>> {
    let mut commands: Vec<Vec<String>> = [
        &["list-sessions", "-F", SESSION][..],
        &["list-windows", "-a", "-F", WINDOW],
        &["list-panes", "-a", "-F", PANE],
        &["list-clients", "-F", CLIENT],
        &["list-buffers", "-F", "#{buffer_name} #{buffer_size} #{buffer_sample}"],
        &["show-options", "-s"],
        &["show-options", "-g"],
        &["show-options", "-gw"],
        &["show-hooks", "-g"],
        &["show-environment", "-g"],
        &["list-keys"],
    ]
    .map(|command| command.iter().map(|word| (*word).to_owned()).collect())
    .to_vec();
    let mut each = |kind: &str, command: &[&str]| {
        for id in ids(tmux, kind) {
            let words = command.iter().copied().chain(["-t", &id]);
            commands.push(words.map(str::to_owned).collect());
        }
    };
    each("session", &["show-options"]);
    each("session", &["show-hooks"]);
    each("session", &["show-environment"]);
    each("window", &["show-options", "-w"]);
    each("pane", &["show-options", "-p"]);
    commands
}

/// Runs many tmux commands in one process, and returns the output of each behind a line with the
/// command itself. Lines of control clients, which begin with `1 `, are left out.
pub(crate) fn run_all(tmux: &TmuxServer, commands: &[Vec<String>]) -> Vec<String> {
    const NEXT: &str = "=== next ===";
    let mut words = Vec::new();
    for command in commands {
        words.extend(command.iter().map(String::as_str));
        words.extend([";", "display-message", "-p", NEXT, ";"]);
    }
    let printed = tmux.tmux(&words);
    let outputs = printed.split(NEXT).map(|output| {
        output.lines().filter(|line| !line.starts_with("1 ")).collect::<Vec<_>>().join("\n")
    });
    commands.iter().zip(outputs).map(|(command, output)| format!("{command:?}\n{output}")).collect()
}

/// The descendants of a process, by id and name.
pub(crate) fn descendants(ancestor: u32) -> BTreeSet<(u32, String)> {
    let mut all = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
        let (name, rest) = stat.split_once('(').unwrap().1.rsplit_once(')').unwrap();
        let parent: u32 = rest.split_whitespace().nth(1).unwrap().parse().unwrap();
        all.push((pid, parent, name.to_owned()));
    }
    let mut found = BTreeSet::new();
    let mut parents = vec![ancestor];
    while let Some(parent) = parents.pop() {
        for (pid, _, name) in all.iter().filter(|(_, of, _)| *of == parent) {
            found.insert((*pid, name.clone()));
            parents.push(*pid);
        }
    }
    found
}
