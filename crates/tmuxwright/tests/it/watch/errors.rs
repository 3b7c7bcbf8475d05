//! The condition `error` on a corpus of lines that programs print, in colour and in a narrow pane.

use serde_json::json;
use testkit::{Shell, TmuxServer};

use crate::serve;
use crate::support::command_end;

/// The lines of a corpus, without the names of the programs.
fn lines(corpus: &str) -> Vec<&str> {
    corpus.lines().map(|row| row.split_once('\t').unwrap().1).collect()
}

/// A line with a bold red beginning, as many programs print it.
fn coloured(line: &str) -> String {
    let middle = line.char_indices().nth(line.chars().count() / 2).map_or(0, |(at, _)| at);
    let (begin, end) = line.split_at(middle);
    format!("\x1b[1;31m{begin}\x1b[0m{end}\n")
}

#[tokio::test]
async fn errors_are_found_in_colour_and_wrapped() {
    let tmux = TmuxServer::new();
    tmux.use_shell(Shell::Bash);
    let mcp = serve(&tmux).await;
    let target = tmux.shell_pane(40, 12);
    let errors = lines(include_str!("../../corpus/errors.tsv"));
    let file = tmux.home().join("errors");
    std::fs::write(&file, errors.iter().copied().map(coloured).collect::<String>()).unwrap();
    let mut missed = Vec::new();
    // A unit test tries all lines; a sample shows that colours and the width change nothing.
    let sample = errors.iter().enumerate().step_by(4);
    let tried = sample.len();
    for (index, line) in sample {
        let command = format!("sed -n {}p {}", index + 1, file.display());
        let call = json!({"command": command, "target": target, "until": ["error"]});
        let result = mcp.call("start_and_watch", call).await.ok();
        command_end(&mcp, &result).await;
        if result["event"] != "error" {
            missed.push(format!("{line}: {result}"));
        }
    }
    assert!(missed.len() * 100 <= tried * 5, "{missed:#?}");
    mcp.close().await;
}

#[tokio::test]
async fn harmless_lines_are_not_errors() {
    let tmux = TmuxServer::new();
    tmux.use_shell(Shell::Bash);
    let mcp = serve(&tmux).await;
    let target = tmux.shell_pane(40, 12);
    let harmless = lines(include_str!("../../corpus/harmless.tsv"));
    let file = tmux.home().join("harmless");
    std::fs::write(&file, harmless.iter().copied().map(coloured).collect::<String>()).unwrap();
    let command = format!("cat {}", file.display());
    let call = json!({"command": command, "target": target, "until": ["error"]});
    let result = mcp.call("start_and_watch", call).await.ok();
    assert_eq!(result["event"], "exit", "{result}");
    mcp.close().await;
}
