//! Streams of pane output: exact bytes, shared readers, gaps, ends and moved panes.

use std::io::Write;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use testkit::{TmuxServer, until, wait_until};
use tmux_control::capture::Capture;
use tmux_control::stream::ring::{Chunk, StreamEnd};
use tmux_control::stream::{PaneStream, StreamChange, StreamItem};
use tmux_control::{Command, Error, PaneId, Server, SessionId, Timing};

use crate::{connect, impatient, program};

/// How many bytes of a pane the crate keeps (`RING_BYTES`, which is private).
const RING_BYTES: usize = 1024 * 1024;

/// Opens a window whose program prints the bytes given to [`play`], unchanged.
fn open_player(tmux: &TmuxServer, session: &str) -> PaneId {
    let player = "stty raw -echo; echo ready; while read name; do cat \"$HOME/$name\"; done";
    let target = format!("={session}:");
    let new = ["new-window", "-t", &target, "-P", "-F", "#{pane_id}", player];
    let pane = tmux.tmux(&new);
    wait_until("the player is ready", || {
        tmux.tmux(&["capture-pane", "-p", "-t", &pane]).starts_with("ready").then_some(())
    });
    pane.parse().unwrap()
}

/// Makes the pane's program print exactly these bytes.
fn play(tmux: &TmuxServer, pane: PaneId, bytes: &[u8]) {
    let file = tempfile::NamedTempFile::new_in(tmux.home()).unwrap();
    let (_, path) = file.keep().unwrap();
    std::fs::write(&path, bytes).unwrap();
    let name = path.file_name().unwrap().to_str().unwrap();
    let pane = pane.to_string();
    tmux.tmux(&["send-keys", "-t", &pane, "-l", name, ";", "send-keys", "-t", &pane, "-H", "0a"]);
}

async fn next(reader: &mut PaneStream) -> Chunk {
    let next = tokio::time::timeout(Duration::from_secs(20), reader.next());
    next.await.unwrap_or_else(|_| panic!("nothing came after position {}", reader.position()))
}

/// Reads `count` bytes, in which there must be no gap.
async fn read(reader: &mut PaneStream, count: usize) -> Vec<u8> {
    let mut read = Vec::new();
    while read.len() < count {
        match next(reader).await {
            Chunk::Bytes { bytes, .. } => read.extend(bytes),
            other => panic!("after {} bytes: {other:?}", read.len()),
        }
    }
    read
}

/// Skips bytes up to the next gap or end.
async fn next_gap_or_end(reader: &mut PaneStream) -> Chunk {
    loop {
        match next(reader).await {
            Chunk::Bytes { .. } => {}
            chunk => return chunk,
        }
    }
}

/// The tmux clients that receive pane output: name and session.
fn stream_clients(tmux: &TmuxServer) -> Vec<(String, String)> {
    let format = "#{client_name} #{client_session} #{client_flags}";
    let list = tmux.tmux(&["list-clients", "-F", format]);
    list.lines()
        .filter(|line| !line.contains("no-output"))
        .map(|line| {
            let mut words = line.split(' ').map(str::to_owned);
            (words.next().unwrap(), words.next().unwrap())
        })
        .collect()
}

fn all_bytes() -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..=255).collect();
    bytes.extend_from_slice(
        b"\x1b]0;title\x07\x1b[31mred\x1b[0m\\033 \\\\ %output %0 x\r\n%end 1 2 3\n",
    );
    bytes.extend_from_slice("漢字 🙂 \u{301}".as_bytes());
    bytes.extend((0..=255).rev());
    bytes
}

#[tokio::test(flavor = "multi_thread")]
async fn every_byte_arrives_unchanged() {
    let tmux = TmuxServer::new();
    let pane = open_player(&tmux, "main");
    let server = connect(&tmux);
    let mut reader = server.stream(pane).await.unwrap();
    let start = reader.position();
    play(&tmux, pane, &all_bytes());
    assert_eq!(read(&mut reader, all_bytes().len()).await, all_bytes());
    assert_eq!(reader.position() - start, all_bytes().len() as u64);
}

/// A `switch-client` of a script, without a name, takes any client while no person is attached.
#[tokio::test(flavor = "multi_thread")]
async fn output_arrives_after_the_client_was_switched() {
    let tmux = TmuxServer::new();
    let pane = open_player(&tmux, "main");
    tmux.tmux(&["new-session", "-d", "-s", "other"]);
    let server = connect(&tmux);
    let mut reader = server.stream(pane).await.unwrap();
    let (client, session) = stream_clients(&tmux).remove(0);
    assert_eq!(session, "main");
    tmux.tmux(&["switch-client", "-c", &client, "-t", "other"]);
    assert!(matches!(next_gap_or_end(&mut reader).await, Chunk::Gap { .. }));
    wait_until("a client is attached again", || {
        stream_clients(&tmux).iter().any(|(_, session)| session == "main").then_some(())
    });
    play(&tmux, pane, b"back");
    assert_eq!(read(&mut reader, 4).await, b"back");
    assert!(stream_clients(&tmux).iter().all(|(_, session)| session == "main"));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_reader_receives_twenty_thousand_lines() {
    let tmux = TmuxServer::new();
    let pane = open_player(&tmux, "main");
    let server = connect(&tmux);
    let mut readers = [server.stream(pane).await.unwrap(), server.stream(pane).await.unwrap()];
    let lines: String = (1..=20_000).map(|n| format!("{n}\r\n")).collect();
    play(&tmux, pane, lines.as_bytes());
    for reader in &mut readers {
        assert!(read(reader, lines.len()).await == lines.as_bytes(), "the lines were changed");
    }
    let mut late = server.stream(pane).await.unwrap();
    play(&tmux, pane, b"later");
    for reader in readers.iter_mut().chain([&mut late]) {
        assert_eq!(read(reader, 5).await, b"later");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_are_reported_without_the_bytes() {
    let tmux = TmuxServer::new();
    let pane = open_player(&tmux, "main");
    let server = connect(&tmux);
    let mut reader = server.stream(pane).await.unwrap();
    play(&tmux, pane, b"text");
    assert_eq!(reader.changed().await, StreamChange::Output);
    let id = pane.to_string();
    tmux.tmux(&["split-window", "-d", "-t", &id, "cat"]);
    let mut clone = reader.clone();
    while clone.changed().await != StreamChange::Layout {}
    tmux.tmux(&["kill-pane", "-t", &id]);
    for reader in [&mut reader, &mut clone] {
        while reader.changed().await != StreamChange::End(StreamEnd::PaneGone) {}
    }
}

/// A counting program: the screen in the replies and the stream after it must hold every number
/// exactly once.
#[tokio::test(flavor = "multi_thread")]
async fn query_replies_match_the_start_of_the_stream() {
    let tmux = TmuxServer::new();
    let count = "i=0; while :; do i=$((i+1)); echo $i; done";
    let ids = tmux.tmux(&["new-window", "-P", "-F", "#{pane_id} #{session_id}", count]);
    let (pane, session) = ids.split_once(' ').unwrap();
    let (pane, session): (PaneId, SessionId) = (pane.parse().unwrap(), session.parse().unwrap());
    let server = connect(&tmux);
    for _ in 0..100 {
        let screen = Capture { start: None, end: None, join: false, colors: false };
        let cursor = Command::query("display-message").arg("-p").option("-t", pane);
        let queries = vec![cursor.arg("#{cursor_y} #{cursor_x}"), screen.of(pane)];
        let (mut reader, replies) = server.stream_from(session, pane, queries).await.unwrap();
        let [cursor, screen] = &replies[..] else { panic!("{replies:?}") };
        let row: usize = cursor.text().split(' ').next().unwrap().parse().unwrap();
        let mut text: String =
            screen.text().lines().take(row).fold(String::new(), |all, line| all + line + "\n");
        text.push_str(screen.text().lines().nth(row).unwrap_or_default());
        text.push_str(&String::from_utf8(read(&mut reader, 20).await).unwrap());
        let numbers: Vec<u64> = text.lines().filter_map(|line| line.trim().parse().ok()).collect();
        let whole = &numbers[..numbers.len() - 1];
        assert!(whole.len() > 1 && whole.windows(2).all(|two| two[1] == two[0] + 1), "{text}");
    }
    let invalid = vec![Command::query("display-message").args(["-p", "a", "b"])];
    let refused = server.stream_from(session, pane, invalid).await.unwrap_err();
    assert!(matches!(refused, Error::Refused { .. }), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn all_output_is_readable_after_catch_up() {
    let tmux = TmuxServer::new();
    let pane = open_player(&tmux, "main");
    let server = connect(&tmux);
    let session = tmux.tmux(&["display-message", "-p", "#{session_id}"]).parse().unwrap();
    let mut reader = server.stream(pane).await.unwrap();
    for round in 0..50 {
        let text = format!("round {round}\r\n");
        play(&tmux, pane, text.as_bytes());
        wait_until("the text is printed", || {
            let screen = tmux.tmux(&["capture-pane", "-p", "-t", &pane.to_string()]);
            screen.lines().any(|line| line.trim() == text.trim_end()).then_some(())
        });
        server.catch_up(session, pane).await.unwrap();
        let chunk = tokio::time::timeout(Duration::ZERO, reader.next()).await;
        let Ok(Chunk::Bytes { bytes, .. }) = chunk else { panic!("{round}: {chunk:?}") };
        assert_eq!(String::from_utf8_lossy(&bytes), text);
    }
}

/// tmux reads a terminal in pieces, with our commands between them.
#[tokio::test(flavor = "multi_thread")]
async fn backlog_is_readable_after_catch_up() {
    let tmux = TmuxServer::new();
    let pane: PaneId = tmux.open("cat").parse().unwrap();
    let tty = tmux.tmux(&["display-message", "-p", "-t", &pane.to_string(), "#{pane_tty}"]);
    let server = connect(&tmux);
    let session = tmux.tmux(&["display-message", "-p", "#{session_id}"]).parse().unwrap();
    let mut reader = server.stream(pane).await.unwrap();
    let mut terminal = std::fs::File::options().write(true).open(tty).unwrap();
    let pid = Pid::from_raw(tmux.pid().try_into().unwrap()).unwrap();
    for round in 0..50 {
        kill_process(pid, Signal::STOP).unwrap();
        let text = format!("{}last {round}\n", "a line of output\n".repeat(700));
        terminal.write_all(text.as_bytes()).unwrap();
        kill_process(pid, Signal::CONT).unwrap();
        server.catch_up(session, pane).await.unwrap();
        let mut read = Vec::new();
        while let Ok(chunk) = tokio::time::timeout(Duration::ZERO, reader.next()).await {
            let Chunk::Bytes { bytes, .. } = chunk else { panic!("{round}: {chunk:?}") };
            read.extend(bytes);
        }
        let read = String::from_utf8_lossy(&read);
        assert!(read.contains(&format!("last {round}\r")), "{round}: {} bytes", read.len());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn layout_change_comes_between_the_output() {
    let tmux = TmuxServer::new();
    let pane: PaneId = tmux.open("cat").parse().unwrap();
    let tty = tmux.tmux(&["display-message", "-p", "-t", &pane.to_string(), "#{pane_tty}"]);
    let server = connect(&tmux);
    let session = tmux.tmux(&["display-message", "-p", "#{session_id}"]).parse().unwrap();
    let mut reader = server.stream(pane).await.unwrap();
    let mut terminal = std::fs::File::options().write(true).open(tty).unwrap();
    for width in ["50", "60"] {
        for text in ["before", "after"] {
            terminal.write_all(text.as_bytes()).unwrap();
            server.catch_up(session, pane).await.unwrap();
            if text == "before" {
                tmux.tmux(&["resize-window", "-t", &pane.to_string(), "-x", width]);
            }
        }
        let (mut read, mut at_change) = (String::new(), None);
        while read.len() < "beforeafter".len() {
            let item = tokio::time::timeout(Duration::from_secs(20), reader.next_item()).await;
            match item.expect("all output comes") {
                StreamItem::Chunk(Chunk::Bytes { bytes, .. }) => {
                    read.push_str(std::str::from_utf8(&bytes).unwrap());
                }
                StreamItem::Chunk(other) => panic!("{other:?}"),
                StreamItem::Layout => at_change = Some(read.clone()),
            }
        }
        assert_eq!(read, "beforeafter", "{width}");
        assert_eq!(at_change.as_deref(), Some("before"), "{width}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_reader_finds_a_counted_gap() {
    let tmux = TmuxServer::new();
    let pane = open_player(&tmux, "main");
    let server = connect(&tmux);
    let mut slow = server.stream(pane).await.unwrap();
    let mut quick = server.stream(pane).await.unwrap();
    let data: Vec<u8> = (0..300_000).flat_map(|n| format!("{n:08}\r\n").into_bytes()).collect();
    play(&tmux, pane, &data);
    let end = slow.position() + data.len() as u64;
    while quick.position() < end {
        next(&mut quick).await;
    }
    let expected = (data.len() - RING_BYTES) as u64;
    match next(&mut slow).await {
        Chunk::Gap { missed, .. } => assert_eq!(missed, Some(expected)),
        other => panic!("{other:?}"),
    }
    let rest = read(&mut slow, RING_BYTES).await;
    assert!(rest == data[data.len() - RING_BYTES..], "the rest was changed");
    play(&tmux, pane, b"continued!");
    assert_eq!(read(&mut slow, 10).await, b"continued!");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_way_a_pane_ends_is_reported() {
    let tmux = TmuxServer::new();
    tmux.new_session("other");
    let server = connect(&tmux);
    for way in ["kill-pane", "kill-window", "kill-session", "exit"] {
        let pane = open_player(&tmux, "other");
        let target = pane.to_string();
        let mut reader = server.stream(pane).await.unwrap();
        play(&tmux, pane, b"last words");
        assert_eq!(read(&mut reader, 10).await, b"last words");
        match way {
            "kill-pane" => {
                tmux.tmux(&["split-window", "-t", &target]);
                tmux.tmux(&[way, "-t", &target]);
            }
            // Ctrl-D does not end the input of a terminal in raw mode, so the program is killed.
            "exit" => {
                let pid = tmux.tmux(&["display-message", "-p", "-t", &target, "#{pane_pid}"]);
                tmux.tmux(&["run-shell", &format!("kill -9 {pid}")]);
            }
            _ => {
                tmux.tmux(&[way, "-t", &target]);
            }
        }
        assert_eq!(next_gap_or_end(&mut reader).await, Chunk::End(StreamEnd::PaneGone), "{way}");
        assert_eq!(next(&mut reader).await, Chunk::End(StreamEnd::PaneGone), "{way}, second read");
        if way == "kill-session" {
            tmux.new_session("other");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn end_of_the_server_is_reported() {
    let tmux = TmuxServer::new();
    let pane = open_player(&tmux, "main");
    let server = connect(&tmux);
    let mut reader = server.stream(pane).await.unwrap();
    tmux.kill();
    assert_eq!(next_gap_or_end(&mut reader).await, Chunk::End(StreamEnd::ServerGone));
    assert!(server.stream(pane).await.unwrap_err().is_no_server());
}

#[tokio::test(flavor = "multi_thread")]
async fn stream_ends_when_the_server_handle_is_dropped() {
    let tmux = TmuxServer::new();
    let pane = open_player(&tmux, "main");
    let server = connect(&tmux);
    let mut reader = server.stream(pane).await.unwrap();
    drop(server);
    assert_eq!(next_gap_or_end(&mut reader).await, Chunk::End(StreamEnd::ServerGone));
}

#[tokio::test(flavor = "multi_thread")]
async fn stream_of_a_missing_pane_is_refused() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    assert!(server.stream(PaneId(99)).await.unwrap_err().is_not_found());
}

#[tokio::test(flavor = "multi_thread")]
async fn stream_continues_after_its_client_was_detached() {
    let tmux = TmuxServer::new();
    let pane = open_player(&tmux, "main");
    let server = connect(&tmux);
    let mut reader = server.stream(pane).await.unwrap();
    for _ in 0..3 {
        let before = stream_clients(&tmux);
        assert_eq!(before.len(), 1);
        tmux.tmux(&["detach-client", "-t", &before[0].0]);
        match next_gap_or_end(&mut reader).await {
            Chunk::Gap { missed, .. } => assert_eq!(missed, None),
            other => panic!("{other:?}"),
        }
        wait_until("another client took over", || {
            let now = stream_clients(&tmux);
            (now.len() == 1 && now != before).then_some(())
        });
        play(&tmux, pane, b"continued!");
        assert_eq!(read(&mut reader, 10).await, b"continued!");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn stream_follows_its_pane_into_another_session() {
    let tmux = TmuxServer::new();
    let other = tmux.new_session("other");
    let pane = open_player(&tmux, "main");
    let target = pane.to_string();
    let server = connect(&tmux);
    let mut reader = server.stream(pane).await.unwrap();
    let home = tmux.tmux(&["list-panes", "-t", "=main:0", "-F", "#{pane_id}"]);
    let moves: [(&str, &[&str]); 3] = [
        ("other", &["join-pane", "-s", &target, "-t", &other]),
        ("main", &["join-pane", "-s", &target, "-t", &home]),
        ("other", &["break-pane", "-s", &target, "-t", "=other:"]),
    ];
    for (session, move_pane) in moves {
        tmux.tmux(move_pane);
        match next_gap_or_end(&mut reader).await {
            Chunk::Gap { missed, .. } => assert_eq!(missed, None),
            other => panic!("{other:?}"),
        }
        until("a stream client is attached to the pane's session", async || {
            let attached = stream_clients(&tmux).iter().any(|client| client.1 == session);
            attached.then_some(())
        })
        .await;
        play(&tmux, pane, b"continued!");
        assert_eq!(read(&mut reader, 10).await, b"continued!");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn client_is_replaced_when_an_unread_pane_leaves() {
    let tmux = TmuxServer::new();
    tmux.new_session("other");
    let (read_pane, unread_pane) = (open_player(&tmux, "main"), open_player(&tmux, "main"));
    let server = connect(&tmux);
    let mut reader = server.stream(read_pane).await.unwrap();
    play(&tmux, unread_pane, b"printed to nobody");
    // Both players print: the second output follows the first.
    play(&tmux, read_pane, b"first");
    assert_eq!(read(&mut reader, 5).await, b"first");
    let client = stream_clients(&tmux);
    let window =
        tmux.tmux(&["display-message", "-p", "-t", &unread_pane.to_string(), "#{window_id}"]);
    tmux.tmux(&["move-window", "-d", "-s", &window, "-t", "=other:"]);
    // tmux would keep all further output of the pane for the client that was sent some of it.
    until("another client follows the session", async || {
        let now = stream_clients(&tmux);
        (now.len() == 1 && now != client).then_some(())
    })
    .await;
    assert!(matches!(next_gap_or_end(&mut reader).await, Chunk::Gap { missed: None, .. }));
    play(&tmux, read_pane, b"second");
    assert_eq!(read(&mut reader, 6).await, b"second");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_stream_client_serves_a_sessions_panes() {
    let tmux = TmuxServer::new();
    tmux.new_session("other");
    let panes: Vec<PaneId> = (0..3).map(|_| open_player(&tmux, "main")).collect();
    let server =
        Server::with_timing(program(&tmux), Timing { idle: impatient().idle, ..Timing::default() });
    let mut readers = Vec::new();
    for pane in &panes {
        readers.push(server.stream(*pane).await.unwrap());
        readers.push(server.stream(*pane).await.unwrap());
    }
    assert_eq!(stream_clients(&tmux).len(), 1);
    let elsewhere = open_player(&tmux, "other");
    let _other = server.stream(elsewhere).await.unwrap();
    let mut sessions: Vec<String> = stream_clients(&tmux).into_iter().map(|c| c.1).collect();
    sessions.sort();
    assert_eq!(sessions, ["main", "other"]);
    for (pane, readers) in panes.iter().zip(readers.chunks_mut(2)) {
        let text = format!("from {pane}");
        play(&tmux, *pane, text.as_bytes());
        for reader in readers {
            assert_eq!(read(reader, text.len()).await, text.as_bytes());
        }
    }
    drop(readers);
    wait_until("only the other session has a client", || {
        let clients = stream_clients(&tmux);
        (clients.len() == 1 && clients[0].1 == "other").then_some(())
    });
    let mut again = server.stream(panes[0]).await.unwrap();
    play(&tmux, panes[0], b"again");
    assert_eq!(read(&mut again, 5).await, b"again");
}

/// Before 3.7 a tmux server crashes if a client detaches while a control client attaches.
#[tokio::test(flavor = "multi_thread")]
async fn server_survives_clients_attaching_and_detaching() {
    let tmux = TmuxServer::new();
    let panes = [open_player(&tmux, "main"), tmux.new_session("other").parse().unwrap()];
    let timing = Timing { idle: Duration::from_millis(1), ..Timing::default() };
    let server = Server::with_timing(program(&tmux), timing);
    let pid = tmux.pid();
    for _ in 0..50 {
        for pane in panes {
            drop(server.stream(pane).await.unwrap());
        }
    }
    assert_eq!(tmux.pid(), pid);
}

/// It also crashes if a session or a buffer changes meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn server_survives_actions_while_clients_attach() {
    let tmux = TmuxServer::new();
    let pane = open_player(&tmux, "main");
    let timing = Timing { idle: Duration::from_millis(1), ..Timing::default() };
    let server = Server::with_timing(program(&tmux), timing);
    // While there is a subscriber, the client for commands stays attached.
    let _subscriber = server.events();
    let pid = tmux.pid();
    let actor = server.clone();
    let acting = tokio::spawn(async move {
        loop {
            let new = Command::action("new-session").arg("-d").option("-s", "x").arg("cat");
            actor.run(new).await.unwrap();
            actor.run(Command::action("set-buffer").arg("text")).await.unwrap();
            actor.run(Command::action("kill-session").option("-t", "=x")).await.unwrap();
        }
    });
    for _ in 0..50 {
        drop(server.stream(pane).await.unwrap());
        tokio::task::yield_now().await;
    }
    assert!(!acting.is_finished(), "an action failed");
    acting.abort();
    assert_eq!(tmux.pid(), pid);
}
