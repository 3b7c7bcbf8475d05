//! Tests of listing and reading resources.

use rmcp::model::ResourceContents;
use serde_json::{Value, json};
use testkit::{Mcp, Person, TmuxServer, until};

use crate::protocol::RESOURCE_NOT_FOUND;
use crate::support::{at_least, exited, keys, pane, ready_pane, screen, string};
use crate::{launch, serve, serve_configured};

/// A value percent-encoded for a URI.
pub(crate) fn encoded(value: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        other => format!("%{other:02X}"),
    };
    value.bytes().map(byte).collect()
}

/// The text of a resource and its MIME type.
pub(crate) async fn read_text(mcp: &Mcp, uri: &str) -> (String, String) {
    match mcp.read(uri).await.unwrap() {
        ResourceContents::TextResourceContents { uri: of, mime_type, text, .. } => {
            assert_eq!(of, uri);
            (text, mime_type.unwrap())
        }
        other => unreachable!("{uri}: {other:?}"),
    }
}

/// The JSON of a resource.
pub(crate) async fn read_json(mcp: &Mcp, uri: &str) -> Value {
    let (text, mime) = read_text(mcp, uri).await;
    assert_eq!(mime, "application/json", "{uri}");
    serde_json::from_str(&text).unwrap()
}

/// The plain text of a resource.
async fn read_plain(mcp: &Mcp, uri: &str) -> String {
    let (text, mime) = read_text(mcp, uri).await;
    assert_eq!(mime, "text/plain", "{uri}");
    text
}

/// The error message for a URI without a resource.
async fn not_found(mcp: &Mcp, uri: &str) -> String {
    let error = mcp.read(uri).await.unwrap_err();
    assert_eq!(error.code.0, RESOURCE_NOT_FOUND, "{uri}: {error:?}");
    assert_eq!(error.data.unwrap()["uri"], uri);
    assert!(error.message.starts_with("not_found: "), "{uri}: {}", error.message);
    error.message.into_owned()
}

/// The listed URIs.
pub(crate) async fn listed_uris(mcp: &Mcp) -> Vec<String> {
    mcp.resources().await.into_iter().map(|resource| resource.uri).collect()
}

/// The toolset has no influence on resources.
#[tokio::test]
async fn every_resource_has_its_documented_content() {
    let tmux = TmuxServer::new();
    tmux.tmux(&["rename-window", "-t", "%0", "first"]);
    let second = tmux.open("printf 'one\\ntwo\\nthree'; exec cat");
    for toolset in ["debug", "all"] {
        let mcp = launch(&tmux).args(&["--toolset", toolset]).mcp().await;
        let server = read_json(&mcp, "tmux://server").await;
        assert_eq!((&server["running"], &server["sessions"]), (&json!(true), &json!(1)));
        let sessions = read_json(&mcp, "tmux://sessions").await;
        assert_eq!(sessions["sessions"][0]["name"], "main");
        assert_eq!(read_json(&mcp, "tmux://clients").await, json!({"clients": []}));
        for name in ["main", "$0", "%240"] {
            let session = read_json(&mcp, &format!("tmux://sessions/{name}")).await;
            assert_eq!(session["session"]["session_id"], "$0");
            assert_eq!(session["windows"][0]["name"], "first");
            let tree = read_json(&mcp, &format!("tmux://sessions/{name}/tree")).await;
            assert_eq!(tree["session"], session["session"]);
            assert_eq!(tree["windows"][0]["panes"][0]["pane_id"], "%0");
            assert_eq!(tree["windows"][1]["panes"][0]["pane_id"], *second);
        }
        for name in ["@0", "%400", "main:first", "main%3Afirst", "main:0"] {
            let window = read_json(&mcp, &format!("tmux://windows/{name}")).await;
            assert_eq!(window["window"]["window_id"], "@0", "{name}: {window}");
            assert_eq!(window["panes"].as_array().unwrap().len(), 1);
            assert_eq!(window["panes"][0]["pane_id"], "%0");
        }
        let shown = read_json(&mcp, "tmux://panes/%250").await;
        assert_eq!(shown["pane"]["pane_id"], "%0");
        for field in ["tty", "foreground", "shell", "history_limit", "input"] {
            assert!(shown["pane"].get(field).is_some(), "{field}: {shown}");
        }
        let id = encoded(&second);
        until("all lines are printed", async || {
            let content = read_plain(&mcp, &format!("tmux://panes/{id}/content")).await;
            (content == "one\ntwo\nthree").then_some(())
        })
        .await;
        assert_eq!(read_plain(&mcp, &format!("tmux://panes/{id}/tail/2")).await, "two\nthree");
        let ansi = read_plain(&mcp, &format!("tmux://panes/{id}/tail/1/ansi")).await;
        assert_eq!(ansi.trim_end(), "three");
        mcp.close().await;
    }
}

#[tokio::test]
async fn command_is_read_during_and_after_its_run() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let call = json!({"command": "printf 'out\\n'; read x; (exit 3)", "timeout": 0.2});
    let run = mcp.call("run_command", call).await.ok();
    let uri = format!("tmux://commands/{}", string(&run["command_id"]));
    let running = read_json(&mcp, &uri).await;
    assert_eq!((&running["status"], &running["output"]), (&json!("running"), &json!("out")));
    mcp.call("send_keys", json!({"target": run["pane_id"], "keys": ["Enter"]})).await.text();
    let done = until("the command has ended", async || {
        Some(read_json(&mcp, &uri).await).filter(|command| command["status"] != "running")
    })
    .await;
    assert_eq!((&done["status"], &done["exit_code"]), (&json!("exited"), &json!(3)), "{done}");
    let resources = mcp.resources().await;
    let command = resources.iter().find(|resource| resource.uri == uri).unwrap();
    assert!(command.title.as_ref().unwrap().contains("printf 'out"), "{command:?}");
    assert!(command.description.as_ref().unwrap().starts_with("Exited 3"), "{command:?}");
    let error = not_found(&mcp, "tmux://commands/c99").await;
    assert!(error.contains("`c99`") && error.contains(run["command_id"].as_str().unwrap()));
    mcp.close().await;
}

#[tokio::test]
async fn pane_id_is_read_encoded_or_plain() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    tmux.tmux(&["rename-window", "-t", "%0", "first"]);
    // Makes panes whose ids look percent-encoded.
    for number in 1..=25 {
        assert_eq!(tmux.open("exec cat"), format!("%{number}"));
        if number % 5 == 0 && number < 25 && number != 10 {
            tmux.tmux(&["kill-pane", "-t", &format!("%{number}")]);
        }
    }
    for (uri, id) in [
        ("tmux://panes/%3", "%3"),
        ("tmux://panes/%253", "%3"),
        ("tmux://panes/%25%33", "%3"),
        ("tmux://panes/%25", "%25"),
        ("tmux://panes/%2525", "%25"),
        ("tmux://panes/%10", "%10"),
        ("tmux://panes/%2510", "%10"),
        ("TMUX://panes/%2510", "%10"),
    ] {
        assert_eq!(read_json(&mcp, uri).await["pane"]["pane_id"], id, "{uri}");
    }
    let error = not_found(&mcp, "tmux://panes/%15").await;
    assert!(error.contains("there is no pane `%15`") && error.contains("%14"), "{error}");
    mcp.close().await;
}

#[tokio::test]
async fn session_is_read_by_any_name() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let touched = tmux.home().join("touched");
    let format = format!("#(touch {})", touched.display());
    let hidden = "hid\u{202e}den";
    for name in [
        "two words",
        "q'uo\"te",
        "a/b",
        "a%2Fb",
        "%0",
        "%3",
        "@0",
        " @0",
        "100%",
        "bücher→",
        "$x",
        "=main",
        "?a=b&c#d",
        "tab\tbed",
        hidden,
        &format,
    ] {
        // tmux expands a name as a format, and changes some characters.
        let literal = name.replace('#', "##");
        let make = ["new-session", "-d", "-P", "-F", "#{session_id}", "-s", &literal, "exec cat"];
        let Ok(id) = tmux.try_tmux(&make) else {
            assert!(name.contains('\t') && at_least(&tmux, "3.7"), "{name}");
            continue;
        };
        let real = tmux.tmux(&["display-message", "-p", "-t", &id, "#{session_name}"]);
        for tree in ["", "/tree"] {
            let uri = format!("tmux://sessions/{}{tree}", encoded(&real));
            let read = read_json(&mcp, &uri).await;
            assert_eq!(read["session"]["session_id"], *id, "{uri}: {read}");
        }
        let uri = format!("tmux://sessions/{}", encoded(&id));
        assert!(listed_uris(&mcp).await.contains(&uri), "{uri}");
        assert_eq!(read_json(&mcp, &uri).await["session"]["session_id"], *id);
    }
    for resource in mcp.resources().await {
        let shown = serde_json::to_string(&resource).unwrap();
        assert!(!shown.contains('\u{202e}'), "{shown}");
        let _ = read_text(&mcp, &resource.uri).await;
    }
    assert!(!touched.exists());
    mcp.close().await;
}

#[tokio::test]
async fn exited_pane_is_still_read() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let pane = pane(&mcp, "echo last words; exit 3").await;
    exited(&mcp, &pane).await;
    let id = encoded(&pane);
    // Some versions of tmux add a notice at the end of the screen.
    let content = read_plain(&mcp, &format!("tmux://panes/{id}/content")).await;
    assert_eq!(content.lines().next(), Some("last words"), "{content}");
    assert_eq!(read_json(&mcp, &format!("tmux://panes/{id}")).await["pane"]["exit_code"], 3);
    let resources = mcp.resources().await;
    let content = resources.iter().find(|r| r.uri == format!("tmux://panes/{id}/content"));
    assert!(content.unwrap().description.as_ref().unwrap().contains("exited 3"), "{content:?}");
    mcp.close().await;
}

#[tokio::test]
async fn ansi_tail_keeps_only_colour_sequences() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let command = "printf '\\033[1;31mred\\033[0m \\033]8;;http://x.example\\033\\\\link\\033]8;;\\033\\\\ \
                   \\033]0;title\\007plain'; exec cat";
    let id = encoded(&ready_pane(&mcp, command, "plain").await);
    let ansi = read_plain(&mcp, &format!("tmux://panes/{id}/tail/5/ansi")).await;
    assert!(ansi.starts_with("\u{1b}[1m\u{1b}[31mred"), "{ansi:?}");
    let sgr = regex::Regex::new("\u{1b}\\[[0-9;:]*m").unwrap();
    // Some versions of tmux colour the rest of the line, too.
    assert_eq!(sgr.replace_all(&ansi, "").trim_end(), "red link plain", "{ansi:?}");
    assert_eq!(read_plain(&mcp, &format!("tmux://panes/{id}/tail/5")).await, "red link plain");
    mcp.close().await;
}

#[tokio::test]
async fn cut_tail_reports_the_missing_lines() {
    let tmux = TmuxServer::new();
    let mcp = serve_configured(&tmux, "limits.text = 200\n").await;
    let id = encoded(&ready_pane(&mcp, "seq 1 200; exec cat", "200").await);
    let read = mcp.read(&format!("tmux://panes/{id}/tail/150")).await.unwrap();
    let ResourceContents::TextResourceContents { text, meta, .. } = read else { unreachable!() };
    let cut = meta.unwrap().0["tmuxwright/lines_cut"].as_u64().unwrap();
    assert_eq!(text.lines().count() as u64 + cut, 150, "{text}");
    assert!(text.len() <= 200 && text.ends_with("\n200"), "{text}");
    mcp.close().await;
}

#[tokio::test]
async fn listed_resources_are_ordered_and_readable() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let pane = ready_pane(&mcp, "echo hello; exec cat", "hello").await;
    mcp.call("run_command", json!({"command": "echo one"})).await.text();
    tmux.tmux(&["link-window", "-s", "main:0", "-t", "main:5"]);
    let resources = mcp.resources().await;
    let uris: Vec<&str> = resources.iter().map(|resource| resource.uri.as_str()).collect();
    assert_eq!(uris[..3], ["tmux://server", "tmux://sessions", "tmux://clients"]);
    assert_eq!(uris[3..5], ["tmux://sessions/%240", "tmux://sessions/%241"]);
    assert_eq!(uris[5..7], ["tmux://sessions/%240/tree", "tmux://sessions/%241/tree"]);
    assert_eq!(uris.last(), Some(&"tmux://commands/c1"));
    let mut once = uris.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), uris.len(), "{uris:?}");
    for resource in &resources {
        assert!(resource.title.is_some() && resource.description.is_some(), "{resource:?}");
        let (_, mime) = read_text(&mcp, &resource.uri).await;
        assert_eq!(Some(mime), resource.mime_type, "{}", resource.uri);
    }
    let content = format!("tmux://panes/{}/content", encoded(&pane));
    let content = resources.iter().find(|resource| resource.uri == content).unwrap();
    let text = content.description.as_ref().unwrap();
    assert!(text.starts_with("Runs cat in "), "{text}");
    mcp.close().await;
}

#[tokio::test]
async fn only_static_resources_exist_without_a_server() {
    let tmux = TmuxServer::not_started();
    let mcp = serve(&tmux).await;
    assert_eq!(listed_uris(&mcp).await, ["tmux://server", "tmux://sessions", "tmux://clients"]);
    assert_eq!(read_json(&mcp, "tmux://server").await["running"], Value::Null);
    assert_eq!(read_json(&mcp, "tmux://sessions").await, json!({"sessions": []}));
    for uri in ["tmux://panes/%250", "tmux://sessions/main", "tmux://panes/%250/content"] {
        let error = mcp.read(uri).await.unwrap_err();
        assert_eq!(error.code.0, RESOURCE_NOT_FOUND, "{error:?}");
    }
    assert!(!tmux.socket().exists(), "a read started a tmux server");
    mcp.close().await;
}

#[tokio::test]
async fn missing_resource_error_suggests_a_uri() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for (uri, words) in [
        ("tmux://pane/%250", "tmux://panes/{pane}/content"),
        ("tmux://sesions", "tmux://sessions"),
        ("http://example.org/", "tmux://server"),
        ("", "tmux://server"),
        ("tmux://panes/main", "{pane} is an id such as %3"),
        ("tmux://panes/%250/tail/0", "a number from 1"),
        ("tmux://panes/%250/tail/many", "a number from 1"),
        ("tmux://panes/%250/tail/-5", "a number from 1"),
        ("tmux://panes/%2599", "%0"),
        ("tmux://windows/%4099", "main:0"),
        ("tmux://windows/main", "`main` is a session"),
        ("tmux://sessions/nope", "main"),
        ("tmux://sessions/mai", "main"),
        ("tmux://sessions/main:0", "`main:0` is a window"),
        ("tmux://sessions/main:0/tree", "`main:0` is a window"),
        ("tmux://sessions/x%0A%1B%5B31m", "there is no session `x"),
    ] {
        let error = not_found(&mcp, uri).await;
        assert!(error.contains(words), "{uri}: {error}");
        assert!(error.contains("\nNext: ") && !error.contains('\u{1b}'), "{uri}: {error:?}");
    }
    // The server still answers.
    assert_eq!(screen(&mcp, "%0").await, read_plain(&mcp, "tmux://panes/%0/content").await);
    mcp.close().await;
}

#[tokio::test]
async fn templates_are_listed_with_all_fields() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let templates = serde_json::to_value(mcp.templates().await).unwrap();
    let all: Vec<String> =
        templates.as_array().unwrap().iter().map(|t| string(&t["uriTemplate"])).collect();
    assert_eq!(
        all,
        [
            "tmux://sessions/{session}",
            "tmux://sessions/{session}/tree",
            "tmux://windows/{window}",
            "tmux://panes/{pane}",
            "tmux://panes/{pane}/content",
            "tmux://panes/{pane}/tail/{lines}",
            "tmux://panes/{pane}/tail/{lines}/ansi",
            "tmux://commands/{command}",
        ]
    );
    for template in templates.as_array().unwrap() {
        let all = ["description", "mimeType", "name", "title", "uriTemplate"];
        assert_eq!(keys(template), all);
    }
    mcp.close().await;
}

#[tokio::test]
async fn attached_person_is_among_the_clients() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let _person = Person::attach(&tmux, "main", 80, 24);
    let clients = read_json(&mcp, "tmux://clients").await;
    assert_eq!(clients["clients"][0]["session"], "main", "{clients}");
    mcp.close().await;
}
