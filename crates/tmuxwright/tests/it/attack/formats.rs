//! Attacks through `eval_format`, at the tier `readonly`.

use serde_json::json;
use testkit::{Mcp, TmuxServer};
use tmux_control::checked_format::FORMAT_VARIABLES;

use crate::launch;
use crate::support::random::Random;
use crate::support::server_state::{customized_server, descendants, server_state_and_text};

/// Text in a person's paste buffer, which no format may show.
const CLIPBOARD: &str = "my clipboard";

/// Formats of random parts.
const RANDOM_FORMATS: usize = 4_000;
/// Formats with a correct structure.
const NESTED_FORMATS: usize = 3_000;

/// Variables of tmux that the allow list leaves out.
const EXCLUDED_VARIABLES: &[&str] = &[
    "buffer_created",
    "buffer_full",
    "buffer_mode_format",
    "buffer_name",
    "buffer_sample",
    "buffer_size",
    "client_activity",
    "client_created",
    "client_mode_format",
    "mouse_hyperlink",
    "mouse_line",
    "mouse_pane",
    "mouse_status_line",
    "mouse_status_range",
    "mouse_word",
    "mouse_x",
    "mouse_y",
    "pane_format",
    "session_format",
    "tree_mode_format",
    "window_format",
    "command",
    "key_command",
    "option_value",
];

const MODIFIERS: &[&str] = &[
    "l",
    "m",
    "m/r",
    "m/ri",
    "C",
    "C/r",
    "a",
    "b",
    "c",
    "d",
    "n",
    "t",
    "t/p",
    "t/f/%H",
    "t/f/%p",
    "w",
    "q",
    "q/e",
    "q/h",
    "q/a",
    "E",
    "T",
    "S",
    "W",
    "P",
    "L",
    "N",
    "N/s",
    "R",
    "!",
    "!!",
    "<",
    ">",
    "==",
    "!=",
    "<=",
    ">=",
    "||",
    "&&",
    "=5",
    "=-5",
    "=/5/x",
    "=/5/#{@job}",
    "p5",
    "p-5",
    "p2147483646",
    "e|+|",
    "e|/|",
    "e|%|",
    "e|+|f",
    "e|+|f|2",
    "e|+|f|2147483647",
    "s/a/b/",
    "s/a/#{@job}/",
    "s/(.*)*/\\1\\1/",
    "s/##(x)/b/",
];

const PARTS: &[&str] = &[
    "x",
    " ",
    "%p",
    "%H",
    "%",
    "#",
    "##",
    "###",
    "#{",
    "}",
    "{",
    ",",
    ":",
    ";",
    "#,",
    "#}",
    "#[",
    "]",
    "/",
    "|",
    "E:",
    "T:",
    "l:",
    "s/a/b/:",
    "=5:",
    "p5:",
    "p99999999:",
    "m/r:(a*)*\\1,",
    "R:",
    "S:",
    "W:",
    "P:",
    "L:",
    "N:",
    "q:",
    "?",
    "==:",
    "&&:",
    "@job",
    "@evil",
    "@mcp_owner",
    "buffer_full",
    "pane_id",
    "session_name",
    "status-left",
    "HOME",
    "MINE",
    "#S",
    "#T",
    "#W",
    "0",
];

/// A tmux server with programs in options and a variable, which no format may start.
fn server_with_jobs() -> (TmuxServer, String) {
    let tmux = customized_server("other", "x");
    let touch = format!("#(touch {})", tmux.home().join("ran").display());
    for name in ["@job", "@evil", "@catppuccin_status"] {
        tmux.tmux(&["set-option", "-g", name, &touch]);
    }
    tmux.tmux(&["set-environment", "-g", "JOB", &touch]);
    tmux.tmux(&["set-buffer", CLIPBOARD]);
    (tmux, touch)
}

/// Calls `eval_format` and fails if tmux did not answer, or showed the clipboard or a token.
async fn evaluate(mcp: &Mcp, format: &str) -> bool {
    let answer = mcp.call("eval_format", json!({"format": format, "target": "%0"})).await;
    for code in ["timeout", "lost", "no_server", "tmux_failed", "internal"] {
        assert!(!answer.failed_with(code), "{format}: {answer:?}");
    }
    let result = answer.result();
    let text = format!("{:?}", result.content);
    assert!(!text.contains(CLIPBOARD), "{format}: {text}");
    result.is_error != Some(true)
}

fn nested(random: &mut Random, names: &[&str], touch: &str, depth: usize) -> String {
    if depth == 0 {
        return match random.below(4) {
            0 => "x".to_owned(),
            1 => touch.to_owned(),
            _ => format!("#{{{}}}", random.pick(names)),
        };
    }
    let inner = |random: &mut Random| nested(random, names, touch, depth - 1);
    let (one, two) = (inner(random), inner(random));
    match random.below(4) {
        0 => format!("#{{?{},{one},{two}}}", random.pick(names)),
        1 => format!("#{{{}:{one},{two}}}", random.pick(MODIFIERS)),
        2 => format!("#{{{};{}:{one}}}", random.pick(MODIFIERS), random.pick(MODIFIERS)),
        _ => format!("{one} #{{{}:{}}}", random.pick(MODIFIERS), random.pick(names)),
    }
}

#[tokio::test]
async fn generated_formats_only_read() {
    let (tmux, touch) = server_with_jobs();
    let mcp = launch(&tmux).args(&["--tier", "readonly", "--toolset", "all"]).mcp().await;
    assert!(evaluate(&mcp, "#{pane_id}").await);
    let before = server_state_and_text(&tmux);
    let (pid, processes) = (tmux.pid(), descendants(tmux.pid()));
    let names: Vec<&str> = FORMAT_VARIABLES.iter().map(|variable| variable.name).collect();
    let names =
        [&names[..], EXCLUDED_VARIABLES, &["@job", "status-left", "JOB", "@mcp_owner"]].concat();
    let mut random = Random(14);
    let mut formats: Vec<String> = names.iter().map(|name| format!("#{{{name}}}")).collect();
    for name in &names {
        let modifier = random.pick(MODIFIERS);
        formats.push(format!("#{{{modifier}:{name}}}"));
    }
    let parts = [PARTS, &[&touch]].concat();
    formats.extend((0..RANDOM_FORMATS).map(|_| random.join(&parts, 12)));
    for number in 0..NESTED_FORMATS {
        formats.push(nested(&mut random, &names, &touch, 1 + number % 3));
    }
    let mut accepted = 0;
    for format in &formats {
        accepted += usize::from(evaluate(&mcp, format).await);
    }
    assert!(accepted > 400 && accepted < formats.len() / 2, "{accepted} of {}", formats.len());
    // tmux would have started a job before it answers the next command.
    tmux.tmux(&["run-shell", "true"]);
    assert!(!tmux.home().join("ran").exists());
    assert_eq!((tmux.pid(), descendants(tmux.pid())), (pid, processes));
    for (before, after) in before.iter().zip(server_state_and_text(&tmux)) {
        assert_eq!(&after, before);
    }
    mcp.close().await;
}

#[tokio::test]
async fn formats_cannot_hang_or_kill_tmux() {
    let tmux = TmuxServer::new();
    tmux.tmux(&["select-pane", "-t", "%0", "-T", &"a".repeat(100)]);
    let mcp = launch(&tmux).args(&["--tier", "readonly", "--toolset", "all"]).mcp().await;
    let pid = tmux.pid();
    for format in [
        "#{m/r:(a*)*(a*)*\\1\\2b,#{pane_title}}",
        "#{m/r:((((a{1,99}){1,99}){1,99}){1,99}){1,99},x}",
        "#{e|+|f|2147483647:1,2}",
        "#{p2147483646:x}",
        "#{=2147483647:x}",
        "#{R:#{R:#{R:#{R:x,10000},10000},10000},10000}",
        "#{S:#{S:#{S:#{S:#{S:#{S:#{S:x}}}}}}}",
        "#{S:x,#{pane_id}}",
        "#{client_activity}",
        "#{t/f/%2147483647H:start_time}",
        &"#{?1,".repeat(800),
    ] {
        let answer = mcp.call("eval_format", json!({"format": format, "target": "%0"})).await;
        answer.err("invalid_argument");
        assert_eq!(tmux.pid(), pid, "{format}");
    }
    mcp.close().await;
}
