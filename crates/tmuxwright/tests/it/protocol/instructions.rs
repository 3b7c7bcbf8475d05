//! Tests of the instructions that a model gets with `initialize`.

use testkit::TmuxServer;
use tmuxwright::tools;

use crate::launch;
use crate::objects::in_pane;
use crate::protocol::configured;

#[tokio::test]
async fn instructions_cover_each_toolset_within_two_kilobytes() {
    let tmux = TmuxServer::new();
    for toolset in ["debug", "agent", "primitives", "all"] {
        for tier in ["readonly", "mutating", "destructive"] {
            for flags in [&[][..], &["--prompts-as-tools"], &["--channel", "--structured"]] {
                let server = launch(&tmux).args(&["--toolset", toolset, "--tier", tier]);
                let mcp = in_pane(server.args(flags), &tmux, "%10000").mcp().await;
                let text = mcp.instructions();
                let at = format!("{toolset} {tier} {flags:?}, {} bytes: {text}", text.len());
                assert!(text.len() < 2_000, "{at}");
                let listed = mcp.tools().await;
                for entry in tools::all().iter().filter(|entry| entry.meta.name.contains('_')) {
                    let name = entry.meta.name;
                    let is_listed = listed.iter().any(|tool| tool.name == name);
                    assert!(is_listed || !mentions(&text, name), "{name}: {at}");
                }
                let always = listed.iter().filter(|tool| {
                    tool.meta.as_ref().is_some_and(|m| m.0.contains_key("anthropic/alwaysLoad"))
                });
                for tool in always {
                    assert!(mentions(&text, &tool.name), "{}: {at}", tool.name);
                }
                assert!(text.contains(&format!("Tier {tier}: ")), "{at}");
                // The second line already tells how to work: the first introduces the server.
                assert!(text.lines().nth(1).is_some_and(|line| line.starts_with("- ")), "{at}");
                mcp.close().await;
            }
        }
    }
}

/// Whether a text has a tool's name as a word.
fn mentions(text: &str, name: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == name)
}

#[tokio::test]
async fn instructions_omit_denied_tools() {
    let tmux = TmuxServer::new();
    let mcp = launch(&tmux).args(&["--tools", "deny:command_result,kill"]).mcp().await;
    let text = mcp.instructions();
    assert!(!mentions(&text, "command_result") && !text.contains(": kill"), "{text}");
    assert!(mentions(&text, "run_command"), "{text}");
    mcp.close().await;
}

#[tokio::test]
async fn instructions_name_the_callers_pane() {
    let tmux = TmuxServer::new();
    let mcp = in_pane(launch(&tmux), &tmux, "%7").mcp().await;
    assert!(mcp.instructions().contains("runs in pane %7:"), "{}", mcp.instructions());
    mcp.close().await;
    // A pane of another tmux server is not named, nor is any where the policy hides some.
    let mcp = in_pane(launch(&tmux), &tmux, "%7").env("TMUX", "/nowhere/else,1,0").mcp().await;
    assert!(!mcp.instructions().contains("%7"), "{}", mcp.instructions());
    mcp.close().await;
    let config = "[policy]\nallowed_sessions = [\"own\"]\n";
    let mcp = in_pane(configured(&tmux, config), &tmux, "%7").mcp().await;
    assert!(!mcp.instructions().contains("%7"), "{}", mcp.instructions());
    mcp.close().await;
}
