//! Tests of own paste buffers: setting, reading, naming, pasting, saving, and removal at exit.

use serde_json::{Value, json};
use testkit::{Mcp, TmuxServer, until, wait_until};

use crate::buffers::set_buffer;
use crate::support::killing::kill_with_successor;
use crate::support::{
    at_least, exited, field, keys, list, pane, raw_reader, ready_pane, shows, string,
};
use crate::{launch, serve};

/// The names of all buffers of the tmux server.
fn buffer_names(tmux: &TmuxServer) -> Vec<String> {
    let names = tmux.try_tmux(&["list-buffers", "-F", "#{buffer_name}"]).unwrap_or_default();
    names.lines().map(str::to_owned).collect()
}

async fn text_of(mcp: &Mcp, name: &str) -> String {
    let shown = mcp.call("show_buffer", json!({"name": name})).await.ok();
    shown["text"].as_str().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn buffer_is_found_by_label_and_full_name() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    assert_eq!(mcp.call("list_buffers", json!({})).await.ok(), json!({"buffers": []}));
    let made = mcp.call("set_buffer", json!({"name": "notes", "text": "one\ntwo"})).await.ok();
    let name = string(&made["name"]);
    assert!(name.starts_with("mcp_") && name.ends_with("_notes"), "{name}");
    assert_eq!(made["bytes"], 7);
    assert_eq!(tmux.tmux(&["show-buffer", "-b", &name]), "one\ntwo");
    let listed = list(&mcp, "list_buffers", json!({})).await;
    assert_eq!(keys(&listed[0]), ["bytes", "created", "name", "own", "sample"]);
    assert_eq!((&listed[0]["name"], &listed[0]["own"]), (&json!(name), &json!(true)));
    assert!(listed[0]["created"].as_u64().unwrap() > 1_700_000_000);
    for called in ["notes", &name] {
        let shown = mcp.call("show_buffer", json!({"name": called})).await.ok();
        assert_eq!(shown, json!({"name": name, "bytes": 7, "offset": 0, "text": "one\ntwo"}));
    }
    // Setting it again replaces the text of the same buffer.
    assert_eq!(set_buffer(&mcp, "notes", "three").await, name);
    assert_eq!(set_buffer(&mcp, &name, "four").await, name);
    assert_eq!(text_of(&mcp, "notes").await, "four");
    let renamed = json!({"name": "notes", "new_name": "plan"});
    let renamed = string(&mcp.call("rename_buffer", renamed).await.ok()["name"]);
    assert_eq!(renamed.strip_suffix("_plan"), name.strip_suffix("_notes"));
    assert_eq!(text_of(&mcp, "plan").await, "four");
    mcp.call("show_buffer", json!({"name": "notes"})).await.err("not_found");
    let deleted = mcp.call("delete_buffer", json!({"name": "plan"})).await.ok();
    assert_eq!(deleted, json!({"name": renamed}));
    assert_eq!(mcp.call("list_buffers", json!({})).await.ok(), json!({"buffers": []}));
    mcp.close().await;
}

#[tokio::test]
async fn unknown_or_ambiguous_names_list_existing_buffers() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let error = mcp.call("show_buffer", json!({"name": "nots"})).await.err("not_found");
    assert!(error.contains("set_buffer makes one"), "{error}");
    set_buffer(&mcp, "notes", "x").await;
    set_buffer(&mcp, "plan", "x").await;
    let error = mcp.call("show_buffer", json!({"name": "nots"})).await.err("not_found");
    assert!(
        error.contains("`nots`") && error.contains("notes") && error.contains("plan"),
        "{error}"
    );
    let unnamed = json!({"text": "x"});
    let first = string(&mcp.call("set_buffer", unnamed.clone()).await.ok()["name"]);
    let second = string(&mcp.call("set_buffer", unnamed).await.ok()["name"]);
    assert_ne!(first, second);
    for (tool, arguments) in [
        ("delete_buffer", json!({"name": "buf"})),
        ("set_buffer", json!({"name": "buf", "text": "y"})),
    ] {
        let error = mcp.call(tool, arguments).await.err("ambiguous");
        assert!(error.contains(&first) && error.contains(&second), "{error}");
    }
    mcp.call("delete_buffer", json!({"name": first})).await.text();
    assert_eq!(text_of(&mcp, "buf").await, "x");
    let taken = json!({"name": "notes", "new_name": "plan"});
    let error = mcp.call("rename_buffer", taken).await.err("exists");
    assert!(error.contains("`plan`"), "{error}");
    mcp.close().await;
}

#[tokio::test]
async fn hostile_names_are_kept_or_refused() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for label in [
        "#(touch pwned)",
        "#S #{pane_id}",
        "%d",
        "a;b",
        "end;",
        "it's \"q\"",
        "$HOME",
        "~",
        "漢 é",
        "-x",
        "a@7",
        "a_b",
    ] {
        let name = set_buffer(&mcp, label, "data").await;
        assert!(name.ends_with(&format!("_{label}")), "{name}");
        assert!(buffer_names(&tmux).contains(&name), "{name}");
        assert_eq!(text_of(&mcp, label).await, "data", "{label}");
        let plain = json!({"name": label, "new_name": "plain"});
        mcp.call("rename_buffer", plain).await.text();
        let back = json!({"name": "plain", "new_name": label});
        assert_eq!(mcp.call("rename_buffer", back).await.ok()["name"], json!(name));
        let found = mcp.call("search_buffer", json!({"pattern": "data"})).await.ok();
        let again = json!({"pattern": "at", "near": found["matches"][0]["id"]});
        assert_eq!(mcp.call("search_buffer", again).await.ok()["matches"][0]["offset"], 1);
        mcp.call("delete_buffer", json!({"name": label})).await.text();
    }
    let long = "x".repeat(65);
    for label in ["", " ", "a\tb", "a\nb", "a\u{1b}b", "a\u{202e}b", "a\0b", &long, "mcp_x_y_z"] {
        let error = mcp
            .call("set_buffer", json!({"name": label, "text": "x"}))
            .await
            .err("invalid_argument");
        assert!(error.contains("`name`"), "{error}");
    }
    assert_eq!(buffer_names(&tmux), Vec::<String>::new());
    assert!(!tmux.home().join("pwned").exists());
    mcp.close().await;
}

#[tokio::test]
async fn buffer_bytes_are_kept_exactly() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let (from, to) = (tmux.home().join("from #S %d"), tmux.home().join("to"));
    let mut bytes: Vec<u8> = (0..=255).collect();
    bytes.extend(b"\n\n\xc3\x28 end\r\n\n\n");
    std::fs::write(&from, &bytes).unwrap();
    let made = mcp.call("set_buffer", json!({"name": "bin", "path": from})).await.ok();
    assert_eq!(made["bytes"], bytes.len());
    let saved = mcp.call("save_buffer", json!({"name": "bin", "path": to})).await.ok();
    assert_eq!(saved, json!({"name": made["name"], "path": to, "bytes": bytes.len()}));
    assert_eq!(std::fs::read(&to).unwrap(), bytes);
    // Text is appended, then the file once more.
    let append = json!({"name": "bin", "text": "é\0\n", "append": true});
    mcp.call("set_buffer", append).await.text();
    let append = json!({"name": "bin", "path": from, "append": true});
    let made = mcp.call("set_buffer", append).await.ok();
    let all = [&bytes[..], "é\0\n".as_bytes(), &bytes].concat();
    assert_eq!(made["bytes"], all.len());
    mcp.call("save_buffer", json!({"name": "bin", "path": to})).await.text();
    assert_eq!(std::fs::read(&to).unwrap(), all);
    // Invalid UTF-8 is shown as replacement characters; offsets count the original bytes.
    let offset = bytes.len() - 12;
    let shown = json!({"name": "bin", "offset": offset, "max_bytes": 12});
    let shown = mcp.call("show_buffer", shown).await.ok();
    assert_eq!(shown["text"], "\n\n\u{fffd}( end\n\n\n");
    assert_eq!(shown["next"], bytes.len());
    mcp.close().await;
}

#[tokio::test]
async fn long_buffer_is_read_in_parts() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let text: String = (0..20_000).map(|n| format!("é{n}\n")).collect();
    set_buffer(&mcp, "long", &text).await;
    let mut read = String::new();
    let mut offset = Some(0);
    let mut calls = 0;
    while let Some(from) = offset {
        let arguments = json!({"name": "long", "offset": from, "max_bytes": 9999});
        let part = mcp.call("show_buffer", arguments).await.ok();
        assert_eq!((&part["bytes"], &part["offset"]), (&json!(text.len()), &json!(from)));
        read.push_str(part["text"].as_str().unwrap());
        offset = part["next"].as_u64();
        calls += 1;
    }
    assert!(read == text && calls > 10, "{calls} calls");
    let plain = launch(&tmux).args(&["--toolset", "all"]).mcp().await;
    plain.call("set_buffer", json!({"name": "long", "text": text})).await.text();
    let shown = plain.call("show_buffer", json!({"name": "long"})).await.text();
    let facts = shown.lines().next().unwrap().to_owned();
    assert!(facts.contains(&format!("{} bytes · 0 to ", text.len())), "{facts}");
    assert!(facts.contains("continue with offset "), "{facts}");
    assert!(shown.chars().count() < 16_200);
    for (arguments, words) in [
        (json!({"name": "long", "offset": text.len() + 1}), "past the end"),
        (json!({"name": "long", "max_bytes": 0}), "max_bytes"),
        (json!({"name": "long", "offset": -1}), "offset"),
    ] {
        let error = mcp.call("show_buffer", arguments).await.err("invalid_argument");
        assert!(error.contains(words), "{error}");
    }
    plain.close().await;
    mcp.close().await;
}

#[tokio::test]
async fn invalid_sets_and_saves_are_reported() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    set_buffer(&mcp, "notes", "kept").await;
    let file = |name: &str, text: &str| {
        let path = tmux.home().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let (empty, full) = (file("empty", ""), file("full", "x"));
    for (arguments, code, words) in [
        (json!({"name": "notes"}), "invalid_argument", "neither"),
        (json!({"name": "notes", "text": "x", "path": full}), "invalid_argument", "both"),
        (json!({"name": "notes", "text": ""}), "invalid_argument", "delete_buffer"),
        (json!({"name": "notes", "path": "full"}), "invalid_argument", "absolute"),
        (json!({"name": "notes", "path": empty}), "file_failed", "empty"),
        (json!({"name": "notes", "path": "/nonexistent/x"}), "file_failed", "/nonexistent/x"),
        (json!({"name": "notes", "path": "/"}), "file_failed", "directory"),
        (json!({"name": "notes", "path": "/dev/zero"}), "file_failed", "not a regular file"),
    ] {
        let error = mcp.call("set_buffer", arguments).await.err(code);
        assert!(error.contains(words) && error.contains("Next: "), "{error}");
    }
    let save = json!({"name": "notes", "path": "/nonexistent/x"});
    mcp.call("save_buffer", save).await.err("file_failed");
    assert_eq!(text_of(&mcp, "notes").await, "kept");
    // Deleted by another client of tmux.
    let name = set_buffer(&mcp, "brief", "x").await;
    tmux.tmux(&["delete-buffer", "-b", &name]);
    for (tool, arguments) in [
        ("show_buffer", json!({"name": name})),
        ("delete_buffer", json!({"name": "brief"})),
        ("rename_buffer", json!({"name": "brief", "new_name": "other"})),
        ("save_buffer", json!({"name": "brief", "path": full})),
        ("paste_buffer", json!({"name": "brief", "target": "main"})),
        ("search_buffer", json!({"pattern": "x", "buffers": ["brief"]})),
    ] {
        mcp.call(tool, arguments).await.err("not_found");
    }
    assert_eq!(std::fs::read_to_string(&full).unwrap(), "x");
    mcp.close().await;
}

#[tokio::test]
async fn paste_sends_every_byte_and_keeps_the_buffer() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let file = tmux.home().join("bytes");
    let bytes = b"one\t\x01\x7f\xff\x1b[A two\n";
    std::fs::write(&file, bytes).unwrap();
    mcp.call("set_buffer", json!({"name": "bin", "path": file})).await.text();
    let (pane, received) = raw_reader(&tmux, &mcp, bytes.len() * 2).await;
    let paste = json!({"name": "bin", "target": pane});
    for _ in 0..2 {
        let pasted = mcp.call("paste_buffer", paste.clone()).await.ok();
        assert_eq!((&pasted["pane_id"], &pasted["bytes"]), (&json!(pane), &json!(bytes.len())));
    }
    // A paste sends Return for each line feed.
    let expected = [&bytes[..bytes.len() - 1], b"\r"].concat().repeat(2);
    assert_eq!(received.bytes().await, expected);
    assert_eq!(list(&mcp, "list_buffers", json!({})).await.len(), 1);
    mcp.close().await;
}

#[tokio::test]
async fn paste_is_bracketed_if_the_program_asks() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    set_buffer(&mcp, "two", "a\nb").await;
    for (bracketed, expected) in [(json!(null), "^[[200~a^Mb^[[201~"), (json!(false), "a^Mb")] {
        let command = "printf '\\033[?2004hready'; stty raw -echo; exec cat -v";
        let pane = ready_pane(&mcp, command, "ready").await;
        let paste = json!({"name": "two", "target": pane, "bracketed": bracketed});
        mcp.call("paste_buffer", paste).await.text();
        shows(&mcp, &pane, &format!("ready{expected}")).await;
    }
    let evil = json!({"name": "evil", "text": "a\u{1b}[201~rm -rf x\n"});
    mcp.call("set_buffer", evil).await.text();
    let error = mcp
        .call("paste_buffer", json!({"name": "evil", "target": "main"}))
        .await
        .err("invalid_argument");
    assert!(error.contains("ends a paste"), "{error}");
    mcp.close().await;
}

#[tokio::test]
async fn paste_is_checked_like_typing_without_echo() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    set_buffer(&mcp, "line", "echo wo\"\"rd\n").await;
    let dead = pane(&mcp, "true").await;
    exited(&mcp, &dead).await;
    tmux.tmux(&["copy-mode", "-t", "%0"]);
    for pane in [dead.as_str(), "%0"] {
        mcp.call("paste_buffer", json!({"name": "line", "target": pane})).await.err("not_ready");
    }
    tmux.tmux(&["send-keys", "-t", "%0", "-X", "cancel"]);
    let watch = mcp.call(
        "wait_for",
        json!({"target": "%0", "until": ["text:echo", "text:word"], "timeout": 20}),
    );
    let paste = async {
        until("the wait has begun", async || {
            let clients = tmux.tmux(&["list-clients", "-F", "#{client_flags}"]);
            (clients.matches("ignore-size").count() > 1).then_some(())
        })
        .await;
        mcp.call("paste_buffer", json!({"name": "line", "target": "%0"})).await.text()
    };
    let (seen, _) = tokio::join!(watch, paste);
    assert_eq!(seen.ok()["event"], "text:word");
    mcp.close().await;
}

#[tokio::test]
async fn set_buffer_keeps_a_persons_default_paste() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    // The default buffer of every tmux client: on old versions the newest buffer of all.
    let default = || tmux.tmux(&["show-buffer"]);
    let made = mcp.call("set_buffer", json!({"name": "notes", "text": "ours"})).await.ok();
    assert_eq!(made["note"].is_string(), !at_least(&tmux, "3.4"), "{made}");
    tmux.tmux(&["set-buffer", "older"]);
    tmux.tmux(&["set-buffer", "the person's $(id)\n"]);
    for arguments in [
        json!({"name": "notes", "text": "ours"}),
        json!({"name": "notes", "text": "ours", "append": true}),
        json!({"name": "other", "text": "ours"}),
        json!({"text": "ours"}),
    ] {
        let made = mcp.call("set_buffer", arguments).await.ok();
        assert_eq!(made.get("note"), None);
        assert_eq!(default(), "the person's $(id)");
    }
    let renamed = json!({"name": "other", "new_name": "another"});
    mcp.call("rename_buffer", renamed).await.text();
    mcp.call("paste_buffer", json!({"name": "notes", "target": "main"})).await.text();
    assert_eq!(default(), "the person's $(id)");
    tmux.tmux(&["set-buffer", "copied later"]);
    set_buffer(&mcp, "notes", "ours again").await;
    assert_eq!(default(), "copied later");
    mcp.close().await;
    assert_eq!(buffer_names(&tmux).len(), 3);
    assert_eq!(default(), "copied later");
}

#[tokio::test]
async fn buffers_are_removed_at_exit_unless_kept() {
    let tmux = TmuxServer::new();
    tmux.tmux(&["set-buffer", "-b", "theirs", "x"]);
    let mcp = serve(&tmux).await;
    set_buffer(&mcp, "notes", "x").await;
    assert_eq!(buffer_names(&tmux).len(), 2);
    mcp.close().await;
    assert_eq!(buffer_names(&tmux), ["theirs"]);

    let mut raw = launch(&tmux).args(&["--toolset", "all"]).raw();
    raw.initialize("2025-11-25").await;
    let call = json!({"name": "set_buffer", "arguments": {"name": "lost", "text": "x"}});
    let made: Value = raw.request("tools/call", call).await;
    assert_eq!(made["result"]["isError"], false, "{made}");
    kill_with_successor(&tmux, &mut raw).await;
    assert_eq!(buffer_names(&tmux).len(), 2);
    let next = serve(&tmux).await;
    wait_until("the orphaned buffer is gone", || (buffer_names(&tmux) == ["theirs"]).then_some(()));
    // A server beside another removes only its own buffers.
    let beside = serve(&tmux).await;
    let of_next = set_buffer(&next, "notes", "x").await;
    set_buffer(&beside, "notes", "x").await;
    assert_eq!(field(&beside, "list_buffers", json!({}), "name").await.len(), 1);
    beside.close().await;
    assert!(buffer_names(&tmux).contains(&of_next));
    next.close().await;
    assert_eq!(buffer_names(&tmux), ["theirs"]);

    let kept = launch(&tmux).args(&["--toolset", "all", "--structured", "--keep"]).mcp().await;
    let name = set_buffer(&kept, "notes", "x").await;
    assert_eq!(text_of(&kept, "notes").await, "x");
    kept.close().await;
    let next = serve(&tmux).await;
    set_buffer(&next, "other", "x").await;
    next.close().await;
    assert!(buffer_names(&tmux).contains(&name));
}

#[tokio::test]
async fn buffers_are_absent_without_a_tmux_server() {
    let tmux = TmuxServer::not_started();
    let mcp = serve(&tmux).await;
    assert_eq!(mcp.call("list_buffers", json!({})).await.ok(), json!({"buffers": []}));
    let none = mcp.call("search_buffer", json!({"pattern": "x"})).await.ok();
    assert_eq!(none, json!({"matches": [], "searched": 0}));
    mcp.call("set_buffer", json!({"text": "x"})).await.err("no_server");
    assert!(!tmux.socket().exists());
    mcp.close().await;
}
