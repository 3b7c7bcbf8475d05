//! All that can be told of a tmux server and of the processes around it.

#![expect(clippy::unwrap_used, reason = "helpers fail like tests")]

use std::collections::BTreeSet;
use std::fs;

use testkit::TmuxServer;

const SESSION: &str = "#{session_id} #{session_name} #{session_windows} #{session_group} \
                       #{session_path} #{session_alerts}";
const WINDOW: &str = "#{session_id} #{window_id} #{window_index} #{window_name} #{window_flags} \
                      #{window_layout} #{window_visible_layout} #{window_width}x#{window_height}";
const PANE: &str = "#{window_id} #{pane_id} #{pane_index} #{pane_title} #{pane_active} #{pane_pid} \
                    #{pane_start_command} #{pane_current_command} #{pane_current_path} #{pane_dead} \
                    #{pane_dead_status} #{pane_mode} #{pane_width}x#{pane_height} #{history_size} \
                    #{history_limit} #{pane_input_off} #{pane_synchronized} #{pane_pipe} #{pane_tty} \
                    #{pane_marked} #{cursor_x} #{cursor_y} #{alternate_on} #{scroll_position}";
const CLIENT: &str = "#{client_control_mode} #{client_pid} #{client_session} #{client_readonly}";

/// The ids of sessions, windows or panes.
pub(crate) fn ids(tmux: &TmuxServer, kind: &str) -> BTreeSet<String> {
    let format = format!("#{{{kind}_id}}");
    let printed = tmux.tmux(&["list-panes", "-a", "-F", &format]);
    printed.lines().map(str::to_owned).collect()
}

/// Everything that a call could change, command by command. Our own clients are left out.
pub(crate) fn everything(tmux: &TmuxServer) -> Vec<String> {
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
    each("pane", &["capture-pane", "-p", "-e", "-S", "-"]);
    asked(tmux, &commands)
}

/// The answers to many commands, in one go, each with its command in a line before it. Lines of control
/// clients are left out.
pub(crate) fn asked(tmux: &TmuxServer, commands: &[Vec<String>]) -> Vec<String> {
    const NEXT: &str = "=== next ===";
    let mut words = Vec::new();
    for command in commands {
        words.extend(command.iter().map(String::as_str));
        words.extend([";", "display-message", "-p", NEXT, ";"]);
    }
    let printed = tmux.tmux(&words);
    let answers = printed.split(NEXT).map(|answer| {
        answer.lines().filter(|line| !line.starts_with("1 ")).collect::<Vec<_>>().join("\n")
    });
    commands.iter().zip(answers).map(|(command, answer)| format!("{command:?}\n{answer}")).collect()
}

/// The processes below one, by id and name.
pub(crate) fn below(ancestor: u32) -> BTreeSet<(u32, String)> {
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
