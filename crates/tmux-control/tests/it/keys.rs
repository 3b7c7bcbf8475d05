//! Keys and typed text, as a program in a pane receives them.

use testkit::{TmuxServer, wait_until};
use tmux_control::PaneId;
use tmux_control::keys::{TmuxKey, type_text};
use tmux_control::paste::Paste;

use crate::{connect, first_pane};

/// Starts a program that writes the next `count` bytes of its input into a file.
fn record(tmux: &TmuxServer, count: usize) -> PaneId {
    let recorder =
        format!("stty raw -echo; echo ready; head -c {count} >~/typed; mv ~/typed ~/done");
    let pane = tmux.tmux(&["new-window", "-P", "-F", "#{pane_id}", &recorder]);
    wait_until("the recorder is ready", || {
        tmux.tmux(&["capture-pane", "-p", "-t", &pane]).starts_with("ready").then_some(())
    });
    pane.parse().unwrap()
}

/// The recorded bytes, once all have come.
fn recorded(tmux: &TmuxServer) -> Vec<u8> {
    let file = tmux.home().join("done");
    let typed = wait_until("everything was typed", || std::fs::read(&file).ok());
    std::fs::remove_file(file).unwrap();
    typed
}

#[tokio::test(flavor = "multi_thread")]
async fn hundred_thousand_characters_arrive() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    let text: String = (b' '..=b'~').cycle().take(100_000).map(char::from).collect();
    let pane = record(&tmux, text.len());
    server.sequence(type_text(pane, &text)).await.unwrap();
    assert!(recorded(&tmux) == text.as_bytes(), "the text was changed");
}

#[tokio::test(flavor = "multi_thread")]
async fn key_names_and_escapes_in_text_arrive_verbatim() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    let controls: String = ('\0'..=' ').chain(['\u{7f}', '\u{80}', '\u{9f}']).collect();
    let texts = [
        "C-c Enter ; $HOME #{pane_id} 漢字 🙂 tail;",
        "-l -- -t %0 #(id) \\ \\; ~ \"'`",
        ";",
        "line\nline\r\n\ttab\x1b[A\x1b[200~pasted\x1b[201~",
        "unassigned \u{378} \u{e000} \u{ffff} \u{10ffff} combined e\u{301} joined 👩‍👩‍👧 \u{200b}",
        &controls,
    ];
    for text in texts {
        let pane = record(&tmux, text.len());
        server.sequence(type_text(pane, text)).await.unwrap();
        assert_eq!(recorded(&tmux), text.as_bytes(), "{text:?} through the link");
        let pane = record(&tmux, text.len());
        server.spawned(&type_text(pane, text)).await.unwrap();
        assert_eq!(recorded(&tmux), text.as_bytes(), "{text:?} by a spawned tmux");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_arrive_as_a_terminal_would_send_them() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    for (name, bytes) in [
        ("Enter", b"\r".as_slice()),
        ("^D", b"\x04"),
        ("C-C", b"\x03"),
        ("Esc", b"\x1b"),
        ("Tab", b"\t"),
        ("Backspace", b"\x7f"),
        ("Up", b"\x1b[A"),
        ("M-x", b"\x1bx"),
        ("Space", b" "),
        (";", b";"),
        ("-", b"-"),
        ("~", b"~"),
        ("漢", "漢".as_bytes()),
        ("0xff", b"\xff"),
        ("0x00", b"\0"),
    ] {
        let pane = record(&tmux, bytes.len());
        server.run(TmuxKey::parse(name).unwrap().press(pane)).await.unwrap();
        assert_eq!(recorded(&tmux), bytes, "{name}");
    }
}

/// A key of a person may come between a check and a paste, unless they are one sequence.
#[tokio::test(flavor = "multi_thread")]
async fn conditional_paste_checks_and_types_at_once() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    let pane = record(&tmux, "x text".len());
    let paste = Paste { buffer: "probe", text: "text", bracketed: true };
    for (condition, typed) in [("0", false), ("1", true)] {
        let pasted = paste.into_if(&server, pane, condition, type_text(pane, "x ")).await.unwrap();
        assert_eq!(pasted, typed, "{condition}");
        assert_eq!(tmux.tmux(&["list-buffers"]), "", "{condition}");
    }
    assert_eq!(recorded(&tmux), b"x text");
}

#[tokio::test(flavor = "multi_thread")]
async fn tmux_knows_every_key_name() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    let pane = record(&tmux, 10_000);
    let typed = tmux.home().join("typed");
    for name in TmuxKey::names() {
        server.run(TmuxKey::parse(name).unwrap().press(pane)).await.unwrap();
    }
    // A name tmux does not know is typed out letter by letter.
    server.sequence(type_text(pane, &"x".repeat(10_000))).await.unwrap();
    let all = String::from_utf8(recorded(&tmux)).unwrap();
    assert!(!typed.exists());
    for name in TmuxKey::names() {
        assert!(!all.contains(name), "{name} was typed as text");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_interrupts_a_program() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    let pane = first_pane(&tmux);
    let runs = |program: &str| {
        let format = "#{pane_current_command}";
        let shown = tmux.tmux(&["display-message", "-p", "-t", &pane.to_string(), format]);
        (shown == program).then_some(())
    };
    server.sequence(type_text(pane, "sleep 1000\n")).await.unwrap();
    wait_until("sleep runs", || runs("sleep"));
    server.run(TmuxKey::parse("C-c").unwrap().press(pane)).await.unwrap();
    wait_until("the shell is back", || runs("sh"));
}
