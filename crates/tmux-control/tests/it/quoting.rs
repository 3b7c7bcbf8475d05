//! Quoting: text reaches tmux byte for byte, as a line of control mode and as an argument.

use testkit::TmuxServer;
use tmux_control::Command;

use crate::{connect, print};

const SPECIAL_TEXTS: &[&str] = &[
    "plain",
    " leading and trailing ",
    "tail;",
    ";",
    ";;",
    "\\;",
    "tail\\;",
    "a ; b ;",
    "$HOME ${HOME} $(id) `id`",
    "~ ~/x ~root",
    "\\ \\\\ \\n \\t \\033 \\u0041 \\e",
    "ends in a backslash\\",
    "'single' \"double\" '\"both\"'",
    "one\ntwo\n\nthree\n",
    "\r\n\t\u{b}\u{c}",
    "\u{1}\u{2}\u{3}\u{7}\u{8}\u{1b}[31m\u{1f}\u{7f}",
    "#{pane_id} #(id) #[bold] ## # comment",
    "%if 1 %begin 1 2 3 %end",
    "{ nested { braces } }",
    "-flag --",
    "漢字 🙂 e\u{301} \u{200b}\u{feff} \u{10ffff}",
    "\u{80}\u{9f}",
];

fn set(text: &str) -> Command {
    Command::action("set-buffer").option("-b", "x").arg("--").arg(text)
}

/// The content of the buffer, read through a file, which tmux writes unchanged.
fn saved(tmux: &TmuxServer) -> Vec<u8> {
    let file = tmux.home().join("buffer");
    tmux.tmux(&["save-buffer", "-b", "x", file.to_str().unwrap()]);
    std::fs::read(file).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn text_arrives_unchanged_through_the_link() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    for text in SPECIAL_TEXTS {
        server.run(set(text)).await.unwrap();
        assert_eq!(saved(&tmux), text.as_bytes(), "{text:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn text_arrives_unchanged_as_an_argument() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    for text in SPECIAL_TEXTS {
        server.spawned(&[set(text)]).await.unwrap();
        assert_eq!(saved(&tmux), text.as_bytes(), "{text:?}");
        let shown = server.spawned(&[Command::query("show-buffer").option("-b", "x")]).await;
        assert_eq!(shown.unwrap()[0].0, text.as_bytes(), "{text:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_of_a_sequence_keep_their_arguments() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    for text in SPECIAL_TEXTS {
        let commands = || vec![print("before"), set(text), print("after")];
        server.sequence(commands()).await.unwrap();
        assert_eq!(saved(&tmux), text.as_bytes(), "{text:?}");
        server.run(set("something else")).await.unwrap();
        let printed = server.spawned(&commands()).await.unwrap();
        assert_eq!(printed[0].text(), "before\nafter\n", "{text:?}");
        assert_eq!(saved(&tmux), text.as_bytes(), "{text:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn characters_of_the_first_two_planes_arrive() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    let text: String = ('\u{1}'..='\u{2fff}').chain('\u{1f000}'..='\u{1faff}').collect();
    server.run(set(&text)).await.unwrap();
    assert!(saved(&tmux) == text.as_bytes(), "some character was changed");
}

#[tokio::test(flavor = "multi_thread")]
async fn command_of_two_hundred_kilobytes_arrives() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    let text = "0123456789 \\\"$~;\n".repeat(200_000 / 17 + 1);
    server.run(set(&text)).await.unwrap();
    assert!(saved(&tmux) == text.as_bytes(), "the text was changed");
    assert_eq!(server.run(print("still here")).await.unwrap().text(), "still here\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn reply_of_two_hundred_kilobytes_arrives() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    let text = "0123456789 abcdef\n".repeat(200_000 / 18 + 1);
    server.run(set(&text)).await.unwrap();
    let shown = server.run(Command::query("show-buffer").option("-b", "x")).await.unwrap();
    assert!(shown.text().trim_end() == text.trim_end(), "the reply was changed");
}

#[tokio::test(flavor = "multi_thread")]
async fn nul_byte_is_refused_linked_and_spawned() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    assert!(refused_nul(&server.run(set("a\0b")).await));
    assert!(refused_nul(&server.spawned(&[set("a\0b")]).await));
}

fn refused_nul<T>(outcome: &Result<T, tmux_control::Error>) -> bool {
    matches!(outcome, Err(tmux_control::Error::NulByte { .. }))
}

#[tokio::test(flavor = "multi_thread")]
async fn empty_argument_is_kept() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    let empty = || Command::action("set-option").arg("-g").arg("@text").arg("");
    tmux.tmux(&["set-option", "-g", "@text", "full"]);
    server.run(empty()).await.unwrap();
    assert_eq!(tmux.tmux(&["show-options", "-gv", "@text"]), "");
    tmux.tmux(&["set-option", "-g", "@text", "full"]);
    server.spawned(&[empty()]).await.unwrap();
    assert_eq!(tmux.tmux(&["show-options", "-gv", "@text"]), "");
}
