//! Attacks on ownership: the token of a pane's owner can neither be read nor claimed.

use serde_json::{Map, Value, json};
use testkit::TmuxServer;
use tmuxwright::contract::Tier;
use tmuxwright::tools;

use crate::serve;
use crate::support::made_up::{Material, arguments, is_needed};
use crate::support::{pane, string};

/// The token of a pane, read past the server.
fn token(tmux: &TmuxServer, pane: &str) -> String {
    tmux.tmux(&["show-options", "-pv", "-t", pane, "@mcp_owner"])
}

#[tokio::test]
async fn token_in_the_environment_claims_nothing() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let own = pane(&mcp, "exec sleep 1000").await;
    let token = token(&tmux, &own);
    // Neither the name as it is nor that with which rows read the option.
    for name in ["@mcp_owner", "@mcp_owner[0]", "@mcp_owner[0=0]"] {
        for place in [json!({"global": true}), json!({"target": "main"})] {
            let mut set = json!({"name": name, "value": token});
            set.as_object_mut().unwrap().extend(place.as_object().unwrap().clone());
            mcp.call("set_environment", set).await.err("invalid_argument");
        }
        let env = json!({"target": "main", "env": {name: token}});
        mcp.call("create_window", env).await.err("invalid_argument");
    }
    // Even if a program in the session has put it there.
    for name in ["@mcp_owner", "@mcp_owner[0]"] {
        tmux.tmux(&["set-environment", "-g", name, &token]);
        tmux.tmux(&["set-environment", "-t", "=main:", name, &token]);
    }
    for kill in [json!({"target": "%0"}), json!({"target": "$0"}), json!({"target": "@0"})] {
        mcp.call("kill", kill).await.err("denied");
    }
    let listed = mcp.call("list_panes", json!({})).await.ok();
    for listed in listed["panes"].as_array().unwrap() {
        let is_own = listed.get("own") == Some(&json!(true));
        assert_eq!(is_own, string(&listed["pane_id"]) == own, "{listed}");
    }
    mcp.close().await;
}

#[tokio::test]
async fn token_of_a_dead_owner_reaps_nothing() {
    let tmux = TmuxServer::new();
    let dead = serve(&tmux).await;
    let own = pane(&dead, "exec sleep 1000").await;
    let token = token(&tmux, &own);
    dead.close().await;
    // What the process would have left if it had been killed.
    let orphan = tmux.new_session("orphan");
    tmux.tmux(&["set-option", "-t", "=orphan:", "@mcp_home", &token]);
    tmux.tmux(&["set-option", "-p", "-t", &orphan, "@mcp_owner", &token]);
    for name in ["@mcp_owner", "@mcp_owner[0]", "@mcp_home", "@mcp_home[0]"] {
        tmux.tmux(&["set-environment", "-g", name, &token]);
        tmux.tmux(&["set-environment", "-t", "=main:", name, &token]);
    }
    let next = serve(&tmux).await;
    testkit::until("the orphan is removed", async || {
        let panes = tmux.tmux(&["list-panes", "-a", "-F", "#{pane_id}"]);
        (!panes.lines().any(|id| id == orphan)).then_some(())
    })
    .await;
    assert_eq!(tmux.tmux(&["list-panes", "-a", "-F", "#{pane_id}"]), "%0");
    next.close().await;
}

#[tokio::test]
async fn no_read_tool_shows_the_token() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let own = pane(&mcp, "exec sleep 1000").await;
    mcp.call("set_buffer", json!({"name": "notes", "text": "x"})).await.text();
    let token = token(&tmux, &own);
    let secret = token.rsplit('.').next().unwrap();
    assert!(secret.len() >= 32, "{token}");
    let session = tmux.tmux(&["display-message", "-p", "-t", &own, "#{session_id}"]);
    let mut targets = vec![own.as_str(), session.as_str(), "main", "%0"];
    targets.extend(["@mcp_owner", "#{@mcp_owner}", "@mcp_home"]);
    let mut material = Material::new(tmux.home(), &targets);
    let reading =
        ["@mcp_owner", "@mcp_home", "#{@mcp_owner}", "#{=99:@mcp_owner}", "#{n:@mcp_home}"];
    material.hostile.extend(reading.map(str::to_owned));
    let mut shown = 0;
    for entry in tools::all().iter().filter(|entry| entry.meta.tier == Tier::Read) {
        let schemas = arguments(entry);
        for (argument, schema) in &schemas {
            for value in material.values(argument, schema) {
                let mut call = Map::new();
                for (name, schema) in schemas.iter().filter(|(name, _)| is_needed(entry, name)) {
                    let first = material.values(name, schema).into_iter().next();
                    call.insert(name.clone(), first.unwrap_or_default());
                }
                if schemas.iter().any(|(name, _)| name == "target") {
                    call.insert("target".to_owned(), json!(own));
                }
                call.insert(argument.clone(), value);
                if ["timeout", "wait"]
                    .iter()
                    .any(|slow| schemas.iter().any(|(name, _)| name == slow))
                {
                    call.insert("timeout".to_owned(), json!(0));
                }
                let answer = mcp.call(entry.meta.name, Value::Object(call.clone())).await.result();
                let text = format!("{answer:?}");
                assert!(!text.contains(secret), "{} {call:?}: {text}", entry.meta.name);
                shown += usize::from(answer.is_error != Some(true));
            }
        }
    }
    assert!(shown > 100, "{shown}");
    for (tool, arguments) in [
        ("show_option", json!({"name": "@mcp_owner", "target": own})),
        ("show_option", json!({"name": "@mcp_home", "target": session})),
        ("eval_format", json!({"format": "#{@mcp_owner}", "target": own})),
        ("eval_format", json!({"format": "#{?pane_id,#{@mcp_owner[0]},}", "target": own})),
    ] {
        mcp.call(tool, arguments).await.err("denied");
    }
    let all = mcp.call("show_option", json!({"target": own, "scope": "pane"})).await.text();
    assert!(!all.contains("@mcp_"), "{all}");
    mcp.close().await;
}
