//! What a model is told at the start.

use testkit::TmuxServer;
use tmuxwright::tools;

use crate::launch;

#[tokio::test]
async fn instructions_cover_each_toolset_within_two_kilobytes() {
    let tmux = TmuxServer::new();
    let variable = format!("{},{},0", tmux.socket().display(), tmux.pid());
    for toolset in ["debug", "agent", "primitives", "all"] {
        for tier in ["readonly", "mutating", "destructive"] {
            for flags in [&[][..], &["--prompts-as-tools"], &["--channel", "--structured"]] {
                let server = launch(&tmux).args(&["--toolset", toolset, "--tier", tier]);
                let server = server.env("TMUX", &variable).env("TMUX_PANE", "%10000");
                let mcp = server.args(flags).mcp().await;
                let text = mcp.instructions();
                let at = format!("{toolset} {tier} {flags:?}, {} bytes: {text}", text.len());
                assert!(text.len() < 2_000, "{at}");
                let listed = mcp.tools().await;
                for entry in tools::all().iter().filter(|entry| entry.meta.name.contains('_')) {
                    let name = entry.meta.name;
                    let is_listed = listed.iter().any(|tool| tool.name == name);
                    assert!(is_listed || !says(&text, name), "{name}: {at}");
                }
                let always = listed.iter().filter(|tool| {
                    tool.meta.as_ref().is_some_and(|m| m.0.contains_key("anthropic/alwaysLoad"))
                });
                for tool in always {
                    assert!(says(&text, &tool.name), "{}: {at}", tool.name);
                }
                assert!(text.contains(&format!("Tier {tier}: ")), "{at}");
                // The work comes first, right behind what this is.
                assert!(text.lines().nth(1).is_some_and(|line| line.starts_with("- ")), "{at}");
                mcp.close().await;
            }
        }
    }
}

fn says(text: &str, name: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == name)
}

#[tokio::test]
async fn instructions_omit_denied_tools() {
    let tmux = TmuxServer::new();
    let mcp = launch(&tmux).args(&["--tools", "deny:command_result,kill"]).mcp().await;
    let text = mcp.instructions();
    assert!(!says(&text, "command_result") && !text.contains(": kill"), "{text}");
    assert!(says(&text, "run_command"), "{text}");
    mcp.close().await;
}

#[tokio::test]
async fn instructions_name_the_callers_pane() {
    let tmux = TmuxServer::new();
    let variable = format!("{},{},0", tmux.socket().display(), tmux.pid());
    let inside = || launch(&tmux).env("TMUX", &variable).env("TMUX_PANE", "%7");
    let mcp = inside().mcp().await;
    assert!(mcp.instructions().contains("runs in pane %7:"), "{}", mcp.instructions());
    mcp.close().await;
    // Not one of another server, and not where some are hidden.
    let mcp = inside().env("TMUX", "/nowhere/else,1,0").mcp().await;
    assert!(!mcp.instructions().contains("%7"), "{}", mcp.instructions());
    mcp.close().await;
    let file = tmux.home().join("config.toml");
    std::fs::write(&file, "[policy]\nallowed_sessions = [\"own\"]\n").unwrap();
    let mcp = inside().args(&["--config", &file.to_string_lossy()]).mcp().await;
    assert!(!mcp.instructions().contains("%7"), "{}", mcp.instructions());
    mcp.close().await;
}
