//! Tests of typing and pasting: `send_keys`, `paste_text`.

use serde_json::{Value, json};
use testkit::{Mcp, TmuxServer, until};

use crate::serve;
use crate::support::{exited, list, pane, raw_reader, ready_pane, screen, shows, string};

/// Text full of key names, separators, formats and wide characters.
const KEY_LIKE_TEXT: &str = "C-c Enter ; $HOME #{pane_id} 漢字 🙂 tail;";

async fn send(mcp: &Mcp, arguments: Value) -> Value {
    mcp.call("send_keys", arguments).await.ok()
}

#[tokio::test]
async fn a_hundred_thousand_characters_arrive_byte_for_byte() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let text: String =
        format!("{KEY_LIKE_TEXT}\t\u{1}\r\n\\\"'~").chars().cycle().take(100_000).collect();
    let (pane, received) = raw_reader(&tmux, &mcp, text.len()).await;
    let answer = send(&mcp, json!({"target": pane, "text": text})).await;
    assert_eq!(answer["pane_id"], pane);
    assert!(
        received.bytes().await == text.as_bytes(),
        "the received bytes differ from the typed text"
    );
    shows(&mcp, &pane, "done").await;
    mcp.close().await;
}

#[tokio::test]
async fn concurrent_texts_do_not_mix() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let texts = ["a漢".repeat(5_000), "b\n".repeat(10_000)];
    let (pane, received) = raw_reader(&tmux, &mcp, texts[0].len() + texts[1].len()).await;
    let one = send(&mcp, json!({"target": pane, "text": texts[0]}));
    let other = send(&mcp, json!({"target": pane, "text": texts[1]}));
    tokio::join!(one, other);
    let bytes = received.bytes().await;
    let (first, second) = (texts.concat(), texts[1].clone() + &texts[0]);
    assert!(bytes == first.as_bytes() || bytes == second.as_bytes(), "the two texts are mixed");
    mcp.close().await;
}

#[tokio::test]
async fn key_names_and_formats_in_text_stay_text() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for text in [
        KEY_LIKE_TEXT,
        ";",
        "\\;",
        "-l",
        "--",
        "Enter",
        "0x1b",
        "~",
        "\u{1b}[A\u{3}\u{7f}",
        "e\u{301}",
    ] {
        let (pane, received) = raw_reader(&tmux, &mcp, text.len()).await;
        send(&mcp, json!({"target": pane, "text": text})).await;
        assert_eq!(String::from_utf8(received.bytes().await).unwrap(), text);
    }
    mcp.close().await;
}

#[tokio::test]
async fn keys_are_pressed_in_order_after_the_text() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let expected = b"ab\x03\x03\x1bx\x1b[A\x1b[15~\x1b\xff\t \x7fz\r";
    let (pane, received) = raw_reader(&tmux, &mcp, expected.len()).await;
    let keys = [
        "C-c",
        "^C",
        "M-x",
        "Up",
        "F5",
        "0x1b",
        "0xff",
        "tab",
        "Space",
        "Backspace",
        "z",
        "Return",
    ];
    send(&mcp, json!({"target": pane, "text": "ab", "keys": keys})).await;
    assert_eq!(received.bytes().await, expected);
    mcp.close().await;
}

#[tokio::test]
async fn repeat_types_everything_and_reports_progress() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let (pane, received) = raw_reader(&tmux, &mcp, 12).await;
    let arguments = json!({"target": pane, "text": "ab", "keys": ["Tab"], "enter": true, "repeat": 3, "delay_ms": 1});
    send(&mcp, arguments).await;
    assert_eq!(received.bytes().await, b"ab\t\rab\t\rab\t\r");
    let steps = until("both progress steps have arrived", async || {
        let steps = mcp.progress();
        (steps.len() == 2).then_some(steps)
    });
    let steps = steps.await;
    assert_eq!((steps[0].progress, steps[0].total), (1.0, Some(3.0)));
    assert_eq!(steps[1].progress, 2.0);
    assert!(steps[1].message.as_deref().is_some_and(|text| text.contains("2 of 3")));
    mcp.close().await;
}

/// A full-screen program like a coding agent's prompt: an Enter within 120 ms of other bytes counts as
/// pasted, a later one submits.
const PASTE_AWARE: &str = r#"
use Time::HiRes 'time';
$| = 1;
system 'stty raw -echo';
print 'ready';
my ($line, $last) = ('', 0);
while (sysread STDIN, my $bytes, 4096) {
    my $now = time;
    for my $byte (split //, $bytes) {
        if ($byte ne "\r") { $line .= $byte; $last = $now; }
        elsif ($now - $last < 0.12) { $line .= '<newline>'; }
        else { print "\r\nsubmitted [$line]"; $line = ''; }
    }
}
"#;

#[tokio::test]
async fn enter_after_text_is_not_read_as_paste() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let file = tmux.home().join("program.pl");
    std::fs::write(&file, PASTE_AWARE).unwrap();
    let perl = format!("perl {}", file.display());
    // In the second command tmux sees only the shell that waits for the program.
    for command in [format!("exec {perl}"), format!("{perl}; true")] {
        let target = ready_pane(&mcp, &command, "ready").await;
        send(&mcp, json!({"target": target, "text": "one", "enter": true})).await;
        send(&mcp, json!({"target": target, "text": "two", "keys": ["Enter"]})).await;
        send(&mcp, json!({"target": target, "text": "three", "enter": true, "delay_ms": 5})).await;
        let paste = json!({"target": target, "text": "four", "enter": true});
        mcp.call("paste_text", paste).await.text();
        let text = shows(&mcp, &target, "four").await;
        let expected = ["one", "two", "three", "four"].map(|word| format!("submitted [{word}]"));
        assert_eq!(text, format!("ready\n{}", expected.join("\n")), "{command}");
    }
    mcp.close().await;
}

#[tokio::test]
async fn interrupt_key_reaches_the_foreground_program() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for (shell, key) in [("bash --norc --noprofile -i", "C-c"), ("sh -i", "^C")] {
        let target = ready_pane(&mcp, &format!("exec {shell}"), "$").await;
        send(&mcp, json!({"target": target, "text": "sleep 1000", "enter": true})).await;
        let runs = async |name: &str| {
            let filter = format!("pane_id={target},command={name}");
            until(&format!("{name} runs"), async || {
                list(&mcp, "list_panes", json!({"filter": filter})).await.pop()
            })
            .await
        };
        runs("sleep").await;
        send(&mcp, json!({"target": target, "keys": [key]})).await;
        runs(shell.split(' ').next().unwrap()).await;
        let check = json!({"target": target, "text": "echo $(( 6 * 7 ))", "enter": true});
        send(&mcp, check).await;
        shows(&mcp, &target, "\n42").await;
    }
    mcp.close().await;
}

#[tokio::test]
async fn typed_line_reaches_every_shell_unchanged() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for shell in ["bash --norc --noprofile -i", "zsh -f -i", "fish --no-config -i", "dash -i"] {
        let file = tmux.home().join("typed");
        let made = mcp.call(
            "create_pane",
            json!({
                "command": format!("exec {shell}"), "env": {"LC_ALL": "C.UTF-8"}
            }),
        );
        let target = string(&made.await.ok()["pane_id"]);
        until(&format!("{shell} shows its prompt"), async || {
            screen(&mcp, &target).await.ends_with(['$', '#', '>', '%']).then_some(())
        })
        .await;
        let line = format!("printf %s '{KEY_LIKE_TEXT}' > {}", file.display());
        send(&mcp, json!({"target": target, "text": line, "enter": true})).await;
        let typed = until(&format!("{shell} has run the line"), async || {
            std::fs::read_to_string(&file).ok().filter(|text| !text.is_empty())
        })
        .await;
        assert_eq!(typed, KEY_LIKE_TEXT, "{shell}");
        std::fs::remove_file(&file).unwrap();
    }
    mcp.close().await;
}

#[tokio::test]
async fn unknown_key_is_named_and_nothing_is_typed() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let (pane, received) = raw_reader(&tmux, &mcp, 1).await;
    for (key, suggestion) in [
        ("Entr", "`Enter`"),
        ("Ctrl-C", "C-c"),
        ("hello", "`text`"),
        ("C-", "C-c"),
        ("0x100", "0x1b"),
    ] {
        let arguments = json!({"target": pane, "text": "x", "keys": ["Up", key]});
        let error = mcp.call("send_keys", arguments).await.err("invalid_argument");
        assert!(error.contains("`keys[1]`") && error.contains(suggestion), "{error}");
    }
    send(&mcp, json!({"target": pane, "text": "!"})).await;
    assert_eq!(received.bytes().await, b"!");
    mcp.close().await;
}

#[tokio::test]
async fn invalid_send_keys_arguments_are_named() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for (arguments, words) in [
        (json!({"target": "main"}), "nothing to type"),
        (json!({"target": "main", "text": "", "keys": [], "enter": false}), "nothing to type"),
        (json!({"target": "main", "text": "x", "repeat": 0}), "`repeat`"),
        (json!({"target": "main", "text": "x", "repeat": 1001}), "`repeat`"),
        (json!({"target": "main", "text": "x", "delay_ms": 60_000}), "`delay_ms`"),
        (json!({"target": "main", "text": "a\u{0}b", "keys": ["Enterr"]}), "`keys[0]`"),
        (json!({"target": "main", "keys": "Enter"}), "`keys`"),
        (json!({"target": "main", "literal": "x"}), "no argument `literal`"),
        (json!({"text": "x"}), "`target` is missing"),
    ] {
        let error = mcp.call("send_keys", arguments.clone()).await.err("invalid_argument");
        assert!(error.contains(words) && error.contains("Next: "), "{arguments}: {error}");
    }
    assert_eq!(screen(&mcp, "main").await, "$");
    mcp.close().await;
}

#[tokio::test]
async fn pane_without_input_is_not_typed_into() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let gone = pane(&mcp, "exit 1").await;
    exited(&mcp, &gone).await;
    tmux.tmux(&["select-pane", "-d", "-t", "%0"]);
    for (target, words) in [(gone.as_str(), "has exited"), ("%0", "switched off")] {
        for (tool, arguments) in [
            ("send_keys", json!({"target": target, "text": "x"})),
            ("send_keys", json!({"target": target, "enter": true})),
            ("paste_text", json!({"target": target, "text": "x"})),
        ] {
            let error = mcp.call(tool, arguments).await.err("not_ready");
            assert!(error.contains(words) && error.contains("Next: "), "{error}");
        }
    }
    assert_eq!(tmux.tmux(&["list-buffers"]), "");
    mcp.close().await;
}

#[tokio::test]
async fn copy_mode_accepts_keys_but_not_text() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let (target, received) = raw_reader(&tmux, &mcp, 2).await;
    let mode = || tmux.tmux(&["display-message", "-p", "-t", &target, "#{pane_mode}"]);
    tmux.tmux(&["copy-mode", "-t", &target]);
    for (tool, arguments) in [
        ("send_keys", json!({"target": target, "text": "x"})),
        ("send_keys", json!({"target": target, "text": "x", "enter": true})),
        ("paste_text", json!({"target": target, "text": "x", "enter": true})),
    ] {
        let error = mcp.call(tool, arguments).await.err("not_ready");
        assert!(error.contains("copy-mode") && error.contains("[\"q\"]"), "{error}");
    }
    assert_eq!(mode(), "copy-mode");
    send(&mcp, json!({"target": target, "keys": ["q"]})).await;
    assert_eq!(mode(), "");
    send(&mcp, json!({"target": target, "text": "ok"})).await;
    assert_eq!(received.bytes().await, b"ok");
    mcp.close().await;
}

#[tokio::test]
async fn megabyte_paste_arrives_and_leaves_no_buffer() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    tmux.tmux(&["set-buffer", "-b", "mine", "kept"]);
    tmux.tmux(&["set-buffer", "automatic"]);
    let buffers = || tmux.tmux(&["list-buffers", "-F", "#{buffer_name} #{buffer_sample}"]);
    let before = buffers();
    let line = format!("{KEY_LIKE_TEXT} \\ \" ' \t\u{1}\u{1b}[31m {}\n", "x".repeat(900));
    let text: String = line.repeat(1_048_576 / line.len() + 1);
    let (pane, received) = raw_reader(&tmux, &mcp, text.len()).await;
    mcp.call("paste_text", json!({"target": pane, "text": text})).await.text();
    // A terminal sends Return, not line feed, at the end of a pasted line.
    let expected = text.replace('\n', "\r");
    assert!(
        received.bytes().await == expected.as_bytes(),
        "the received bytes differ from the pasted text"
    );
    assert_eq!(buffers(), before);
    mcp.close().await;
}

#[tokio::test]
async fn paste_is_bracketed_only_if_the_program_asks() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for (request, bracketed, expected) in [
        ("\\033[?2004h", true, "\u{1b}[200~a\rb\u{1b}[201~"),
        ("\\033[?2004h", false, "a\rb"),
        ("", true, "a\rb"),
    ] {
        let (target, received) = raw_reader(&tmux, &mcp, expected.len()).await;
        // Written to the terminal, so that tmux takes it for the program's output.
        let tty = tmux.tmux(&["display-message", "-p", "-t", &target, "#{pane_tty}"]);
        tmux.tmux(&["run-shell", &format!("printf '{request}.' > {tty}")]);
        shows(&mcp, &target, "ready.").await;
        let paste = json!({"target": target, "text": "a\nb", "bracketed": bracketed});
        mcp.call("paste_text", paste).await.text();
        assert_eq!(String::from_utf8(received.bytes().await).unwrap(), expected);
    }
    mcp.close().await;
}

#[tokio::test]
async fn pasted_lines_run_only_after_enter() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let file = tmux.home().join("ran");
    let target = ready_pane(&mcp, "exec bash --norc --noprofile -i", "$").await;
    let lines = format!("echo 1 >> {0}\necho 2 >> {0}", file.display());
    mcp.call("paste_text", json!({"target": target, "text": lines})).await.text();
    shows(&mcp, &target, "echo 2").await;
    assert!(!file.exists(), "the first line was run before Enter");
    send(&mcp, json!({"target": target, "enter": true})).await;
    let both = until("both lines have run", async || {
        std::fs::read_to_string(&file).ok().filter(|text| text.len() == 4)
    });
    assert_eq!(both.await, "1\n2\n");
    mcp.close().await;
}

#[tokio::test]
async fn invalid_paste_text_arguments_are_named() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for (arguments, words) in [
        (json!({"target": "main", "text": ""}), "`text` is empty"),
        (json!({"target": "main"}), "`text` is missing"),
        (json!({"target": "main", "text": "a\u{1b}[201~rm -rf x"}), "ends a paste"),
        (json!({"target": "main", "text": "a", "keys": ["x"]}), "no argument `keys`"),
    ] {
        let error = mcp.call("paste_text", arguments.clone()).await.err("invalid_argument");
        assert!(error.contains(words) && error.contains("Next: "), "{arguments}: {error}");
    }
    let nul = mcp.call("paste_text", json!({"target": "main", "text": "a\u{0}b"})).await;
    assert!(nul.err("invalid_argument").contains("NUL"));
    mcp.call("paste_text", json!({"target": "%9", "text": "x"})).await.err("not_found");
    assert_eq!(screen(&mcp, "main").await, "$");
    assert_eq!(tmux.tmux(&["list-buffers"]), "");
    mcp.close().await;
}
