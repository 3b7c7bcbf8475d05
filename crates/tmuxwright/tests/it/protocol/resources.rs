//! What can be read under an address.

use rmcp::model::ResourceContents;
use serde_json::{Value, json};
use testkit::{Mcp, Person, TmuxServer, until};

use crate::support::{at_least, exited, keys, pane, ready_pane, screen, string};
use crate::{launch, serve, serve_configured};

/// A value as it stands in an address.
pub(crate) fn encoded(value: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        other => format!("%{other:02X}"),
    };
    value.bytes().map(byte).collect()
}

/// The text under an address, and what kind of text it is.
pub(crate) async fn text(mcp: &Mcp, uri: &str) -> (String, String) {
    match mcp.read(uri).await.unwrap() {
        ResourceContents::TextResourceContents { uri: of, mime_type, text, .. } => {
            assert_eq!(of, uri);
            (text, mime_type.unwrap())
        }
        other => unreachable!("{uri}: {other:?}"),
    }
}

/// The JSON under an address.
pub(crate) async fn data(mcp: &Mcp, uri: &str) -> Value {
    let (text, mime) = text(mcp, uri).await;
    assert_eq!(mime, "application/json", "{uri}");
    serde_json::from_str(&text).unwrap()
}

/// The text of a terminal under an address.
async fn plain(mcp: &Mcp, uri: &str) -> String {
    let (text, mime) = text(mcp, uri).await;
    assert_eq!(mime, "text/plain", "{uri}");
    text
}

/// Why there is nothing under an address.
async fn not_found(mcp: &Mcp, uri: &str) -> String {
    let error = mcp.read(uri).await.unwrap_err();
    assert_eq!(error.code.0, -32002, "{uri}: {error:?}");
    assert_eq!(error.data.unwrap()["uri"], uri);
    assert!(error.message.starts_with("not_found: "), "{uri}: {}", error.message);
    error.message.into_owned()
}

/// The addresses that are listed.
pub(crate) async fn listed(mcp: &Mcp) -> Vec<String> {
    mcp.resources().await.into_iter().map(|resource| resource.uri).collect()
}

/// What stands under every address of a small server, whatever the toolset is.
#[tokio::test]
async fn every_resource_shows_what_it_says() {
    let tmux = TmuxServer::new();
    tmux.tmux(&["rename-window", "-t", "%0", "first"]);
    let second = tmux.open("printf 'one\\ntwo\\nthree'; exec cat");
    for toolset in ["debug", "all"] {
        let mcp = launch(&tmux).args(&["--toolset", toolset]).mcp().await;
        let server = data(&mcp, "tmux://server").await;
        assert_eq!((&server["running"], &server["sessions"]), (&json!(true), &json!(1)));
        let sessions = data(&mcp, "tmux://sessions").await;
        assert_eq!(sessions["sessions"][0]["name"], "main");
        assert_eq!(data(&mcp, "tmux://clients").await, json!({"clients": []}));
        for name in ["main", "$0", "%240"] {
            let session = data(&mcp, &format!("tmux://sessions/{name}")).await;
            assert_eq!(session["session"]["session_id"], "$0");
            assert_eq!(session["windows"][0]["name"], "first");
            let tree = data(&mcp, &format!("tmux://sessions/{name}/tree")).await;
            assert_eq!(tree["session"], session["session"]);
            assert_eq!(tree["windows"][0]["panes"][0]["pane_id"], "%0");
            assert_eq!(tree["windows"][1]["panes"][0]["pane_id"], *second);
        }
        for name in ["@0", "%400", "main:first", "main%3Afirst", "main:0"] {
            let window = data(&mcp, &format!("tmux://windows/{name}")).await;
            assert_eq!(window["window"]["window_id"], "@0", "{name}: {window}");
            assert_eq!(window["panes"].as_array().unwrap().len(), 1);
            assert_eq!(window["panes"][0]["pane_id"], "%0");
        }
        let shown = data(&mcp, "tmux://panes/%250").await;
        assert_eq!(shown["pane"]["pane_id"], "%0");
        for field in ["tty", "foreground", "shell", "history_limit", "input"] {
            assert!(shown["pane"].get(field).is_some(), "{field}: {shown}");
        }
        let id = encoded(&second);
        until("all is printed", async || {
            let content = plain(&mcp, &format!("tmux://panes/{id}/content")).await;
            (content == "one\ntwo\nthree").then_some(())
        })
        .await;
        assert_eq!(plain(&mcp, &format!("tmux://panes/{id}/tail/2")).await, "two\nthree");
        let ansi = plain(&mcp, &format!("tmux://panes/{id}/tail/1/ansi")).await;
        assert_eq!(ansi.trim_end(), "three");
        mcp.close().await;
    }
}

#[tokio::test]
async fn a_command_is_read_while_it_runs_and_after() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let call = json!({"command": "printf 'out\\n'; read x; (exit 3)", "timeout": 0.2});
    let run = mcp.call("run_command", call).await.ok();
    let uri = format!("tmux://commands/{}", string(&run["command_id"]));
    let running = data(&mcp, &uri).await;
    assert_eq!((&running["status"], &running["output"]), (&json!("running"), &json!("out")));
    mcp.call("send_keys", json!({"target": run["pane_id"], "keys": ["Enter"]})).await.text();
    let done = until("it has ended", async || {
        Some(data(&mcp, &uri).await).filter(|command| command["status"] != "running")
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
async fn a_pane_is_meant_whether_or_not_it_is_encoded() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    tmux.tmux(&["rename-window", "-t", "%0", "first"]);
    // So that there are panes whose ids look encoded.
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
        assert_eq!(data(&mcp, uri).await["pane"]["pane_id"], id, "{uri}");
    }
    let error = not_found(&mcp, "tmux://panes/%15").await;
    assert!(error.contains("there is no pane `%15`") && error.contains("%14"), "{error}");
    mcp.close().await;
}

#[tokio::test]
async fn a_session_is_read_by_its_name_whatever_it_is() {
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
        // tmux takes a name for a format, and shows some characters in another way.
        let literal = name.replace('#', "##");
        let make = ["new-session", "-d", "-P", "-F", "#{session_id}", "-s", &literal, "exec cat"];
        let Ok(id) = tmux.try_tmux(&make) else {
            assert!(name.contains('\t') && at_least(&tmux, "3.7"), "{name}");
            continue;
        };
        let real = tmux.tmux(&["display-message", "-p", "-t", &id, "#{session_name}"]);
        for tree in ["", "/tree"] {
            let uri = format!("tmux://sessions/{}{tree}", encoded(&real));
            let read = data(&mcp, &uri).await;
            assert_eq!(read["session"]["session_id"], *id, "{uri}: {read}");
        }
        let uri = format!("tmux://sessions/{}", encoded(&id));
        assert!(listed(&mcp).await.contains(&uri), "{uri}");
        assert_eq!(data(&mcp, &uri).await["session"]["session_id"], *id);
    }
    for resource in mcp.resources().await {
        let shown = serde_json::to_string(&resource).unwrap();
        assert!(!shown.contains('\u{202e}'), "{shown}");
        let _ = text(&mcp, &resource.uri).await;
    }
    assert!(!touched.exists());
    mcp.close().await;
}

#[tokio::test]
async fn a_pane_whose_program_has_exited_is_still_read() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let pane = pane(&mcp, "echo last words; exit 3").await;
    exited(&mcp, &pane).await;
    let id = encoded(&pane);
    // Some versions of tmux say so at the end of the screen.
    let content = plain(&mcp, &format!("tmux://panes/{id}/content")).await;
    assert_eq!(content.lines().next(), Some("last words"), "{content}");
    assert_eq!(data(&mcp, &format!("tmux://panes/{id}")).await["pane"]["exit_code"], 3);
    let resources = mcp.resources().await;
    let content = resources.iter().find(|r| r.uri == format!("tmux://panes/{id}/content"));
    assert!(content.unwrap().description.as_ref().unwrap().contains("exited 3"), "{content:?}");
    mcp.close().await;
}

#[tokio::test]
async fn a_tail_in_colour_has_colours_and_nothing_else() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let command = "printf '\\033[1;31mred\\033[0m \\033]8;;http://x.example\\033\\\\link\\033]8;;\\033\\\\ \
                   \\033]0;title\\007plain'; exec cat";
    let id = encoded(&ready_pane(&mcp, command, "plain").await);
    let ansi = plain(&mcp, &format!("tmux://panes/{id}/tail/5/ansi")).await;
    assert!(ansi.starts_with("\u{1b}[1m\u{1b}[31mred"), "{ansi:?}");
    let sgr = regex::Regex::new("\u{1b}\\[[0-9;:]*m").unwrap();
    // Some versions of tmux colour the rest of the line, too.
    assert_eq!(sgr.replace_all(&ansi, "").trim_end(), "red link plain", "{ansi:?}");
    assert_eq!(plain(&mcp, &format!("tmux://panes/{id}/tail/5")).await, "red link plain");
    mcp.close().await;
}

#[tokio::test]
async fn a_long_screen_says_how_much_of_it_is_missing() {
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
async fn what_is_listed_is_in_order_and_can_all_be_read() {
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
        let (_, mime) = text(&mcp, &resource.uri).await;
        assert_eq!(Some(mime), resource.mime_type, "{}", resource.uri);
    }
    let content = format!("tmux://panes/{}/content", encoded(&pane));
    let content = resources.iter().find(|resource| resource.uri == content).unwrap();
    let said = content.description.as_ref().unwrap();
    assert!(said.starts_with("Runs cat in "), "{said}");
    mcp.close().await;
}

#[tokio::test]
async fn without_a_server_only_what_needs_none_is_there() {
    let tmux = TmuxServer::not_started();
    let mcp = serve(&tmux).await;
    assert_eq!(listed(&mcp).await, ["tmux://server", "tmux://sessions", "tmux://clients"]);
    assert_eq!(data(&mcp, "tmux://server").await["running"], Value::Null);
    assert_eq!(data(&mcp, "tmux://sessions").await, json!({"sessions": []}));
    for uri in ["tmux://panes/%250", "tmux://sessions/main", "tmux://panes/%250/content"] {
        let error = mcp.read(uri).await.unwrap_err();
        assert_eq!(error.code.0, -32002, "{error:?}");
    }
    assert!(!tmux.socket().exists(), "a server was started");
    mcp.close().await;
}

#[tokio::test]
async fn what_is_not_there_is_an_error_that_helps() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for (uri, said) in [
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
        assert!(error.contains(said), "{uri}: {error}");
        assert!(error.contains("\nNext: ") && !error.contains('\u{1b}'), "{uri}: {error:?}");
    }
    // It goes on.
    assert_eq!(screen(&mcp, "%0").await, plain(&mcp, "tmux://panes/%0/content").await);
    mcp.close().await;
}

#[tokio::test]
async fn templates_say_what_to_fill_in() {
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
async fn a_person_who_watches_is_among_the_clients() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let _person = Person::attach(&tmux, "main", 80, 24);
    let clients = data(&mcp, "tmux://clients").await;
    assert_eq!(clients["clients"][0]["session"], "main", "{clients}");
    mcp.close().await;
}
