//! Rows with hostile names, titles and paths, which must not break the listing or run anything.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use testkit::{TmuxServer, until};
use tmux_control::target::PaneLocation;
use tmux_control::{Command, PaneId, Row, Server, escape_format};

use crate::{connect, first_pane, program_behind};

tmux_control::row! {
    /// A pane with all its free text.
    Texts {
        pane: PaneId = "pane_id",
        session: String = "session_name",
        window: String = "window_name",
        title: String = "pane_title",
        path: String = "pane_current_path",
    }
}

/// Text that tmux keeps unchanged in names and titles.
const NAMES: &[&str] = &[
    "two words",
    "  spaces  ",
    "it's \"quoted\" `here`",
    "#(touch ~/ran)",
    "#{pane_id} #{E}",
    "#[bold]#S ##[x] ###",
    "a;b;",
    ";",
    "$ $(touch ~/ran) ~",
    "%end 1 2 3",
    "100%d %H",
    "{ } ( ) < > | & * ? ! [x]",
    "-n",
    "=x",
    "🙂 漢字 é",
    "🇩🇪 👩‍👩‍👧 e\u{301}",
    "\u{a0}no break",
];

/// Text that some tmux version rewrites or refuses as a name.
const REWRITTEN: &[&str] = &[
    "$HOME ${x} $_",
    "\\$HOME \\\\$HOME",
    "back\\slash\\",
    "\\033 \\n",
    "tab\there",
    "line\nend",
    "a.b:c",
];

fn connect_without_locale(tmux: &TmuxServer) -> Server {
    Server::new(program_behind(tmux, "LC_ALL=C exec \"$TMUX_PROGRAM\" \"$@\""))
}

fn listing() -> Command {
    Command::query("list-panes").arg("-a")
}

/// The same rows through the link and through a spawned `tmux`.
async fn rows_linked_and_spawned<R: Row>(server: &Server) -> [Vec<R>; 2] {
    let linked = server.rows(listing()).await.unwrap();
    let query = listing().option("-F", R::format());
    let spawned = server.spawned(&[query]).await.unwrap();
    [linked, R::parse_all("list-panes", &spawned.first().unwrap().0).unwrap()]
}

/// Creates a session whose name, window name and pane title are all `text`.
async fn create_session_named(server: &Server, text: &str) -> PaneId {
    let name = escape_format(text);
    let new = Command::action("new-session").option("-s", &name).arg("-d");
    let reply = server.run(new.arg("-P").option("-F", "#{pane_id}")).await.unwrap();
    let pane: PaneId = reply.text().trim_end().parse().unwrap();
    let rename = Command::action("rename-window").option("-t", pane).arg("--").arg(&name);
    server.run(rename).await.unwrap();
    let title = Command::action("select-pane").option("-t", pane).option("-T", &name);
    server.run(title).await.unwrap();
    pane
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_names_are_read_back_and_run_nothing() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    let mut panes = Vec::new();
    for name in NAMES {
        panes.push((create_session_named(&server, name).await, *name));
    }
    for server in [server, connect_without_locale(&tmux)] {
        for rows in rows_linked_and_spawned::<Texts>(&server).await {
            assert_eq!(rows.len(), NAMES.len() + 1);
            for (pane, name) in &panes {
                let row = rows.iter().find(|row| row.pane == *pane).unwrap();
                assert_eq!([&row.session, &row.window, &row.title], [name; 3]);
            }
        }
        let [linked, spawned] = rows_linked_and_spawned::<PaneLocation>(&server).await;
        assert_eq!(linked, spawned);
        assert_eq!(linked, PaneLocation::all(&server).await.unwrap());
        for (pane, name) in &panes {
            let location = linked.iter().find(|location| location.pane == *pane).unwrap();
            assert_eq!([&location.session_name, &location.window_name], [name; 2]);
        }
    }
    // A job started by mistake would have run long before this one ends.
    tmux.tmux(&["run-shell", "true"]);
    assert!(!tmux.home().join("ran").exists(), "a name was run as a command");
}

#[tokio::test(flavor = "multi_thread")]
async fn rewritten_names_are_read_as_tmux_stores_them() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    let pane = first_pane(&tmux).to_string();
    // `#{q:…}` quotes for a shell, so a shell prints the value.
    let truth = |variable: &str| {
        let print = format!("printf %s #{{q:{variable}}} >~/truth");
        tmux.tmux(&["run-shell", "-t", &pane, &print]);
        std::fs::read_to_string(tmux.home().join("truth")).unwrap()
    };
    for text in REWRITTEN {
        let name = escape_format(text);
        for (rename, flag) in
            [("rename-session", "--"), ("rename-window", "--"), ("select-pane", "-T")]
        {
            let rename = Command::action(rename).option("-t", &pane).option(flag, &name);
            let outcome = server.run(rename).await;
            assert!(
                matches!(outcome, Ok(_) | Err(tmux_control::Error::Refused { .. })),
                "{outcome:?}"
            );
        }
        let truth = [truth("session_name"), truth("window_name"), truth("pane_title")];
        for rows in rows_linked_and_spawned::<Texts>(&server).await {
            let row = rows.into_iter().next().unwrap();
            assert_eq!([row.session, row.window, row.title], truth, "{text:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn escape_format_protects_every_special_character_mix() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    let window = first_pane(&tmux).to_string();
    let mut texts = vec![String::new()];
    for _ in 0..4 {
        let longer = texts.iter().flat_map(|t| "#[{(,x".chars().map(move |c| format!("{t}{c}")));
        texts = std::iter::once(String::new()).chain(longer).collect();
    }
    texts.sort();
    texts.dedup();
    texts.retain(|text| !text.is_empty());
    assert!(texts.len() > 1500);
    for text in &texts {
        let rename = Command::action("rename-window").option("-t", &window);
        let ask = Command::query("display-message").arg("-p").option("-t", &window);
        let both = vec![rename.arg(escape_format(text)), ask.arg("#{window_name}")];
        let replies = server.sequence(both).await.unwrap();
        assert_eq!(replies[1].text(), format!("{text}\n"));
    }
}

/// Directory names. Bytes that are not UTF-8 are replaced, all others kept.
const DIRECTORIES: &[&[u8]] = &[
    b"tab\there",
    b"line\nend\n",
    b"x\n%end 1 2 3\n%error 1 2 1\ny",
    b"#(cd;touch ran) #{pane_id} #[bold]",
    b"a;b; $HOME `cd;touch ran`",
    b"back\\slash \\n \\033 \\",
    b"'single' \"double\"",
    b"\x01\x1b[31m\x7f\r",
    "🙂 漢字 e\u{301}".as_bytes(),
    b"bad\xff\xfe\xc3 utf-8",
];

#[tokio::test(flavor = "multi_thread")]
async fn hostile_directory_names_are_read_back() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    let mut panes = Vec::new();
    for (number, name) in DIRECTORIES.iter().enumerate() {
        let dir = tmux.home().join(number.to_string());
        let real = dir.join(OsStr::from_bytes(name));
        std::fs::create_dir_all(&real).unwrap();
        let new = Command::action("new-window").arg("-P").option("-F", "#{pane_id}");
        let new = match real.to_str() {
            Some(path) => new.option("-c", escape_format(path)),
            // A path that is not UTF-8 cannot be an argument; a shell can still enter it.
            None => new.option("-c", dir.display()).arg("cd bad* && exec /bin/sh"),
        };
        let pane = server.run(new).await.unwrap().text();
        panes.push((pane.trim_end().parse::<PaneId>().unwrap(), real));
    }
    for server in [server, connect_without_locale(&tmux)] {
        for (pane, real) in &panes {
            let path = real.to_string_lossy();
            until("both listings show the pane in its directory", async || {
                let rows = rows_linked_and_spawned::<Texts>(&server).await;
                let found = rows.map(|rows| rows.into_iter().find(|row| row.pane == *pane));
                found.iter().flatten().all(|row| row.path == path).then_some(())
            })
            .await;
        }
    }
    assert!(!tmux.home().join("ran").exists(), "a path was run as a command");
}

#[tokio::test(flavor = "multi_thread")]
async fn row_of_a_missing_object_is_not_found() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    for target in ["%99", "@99", "$99", "=nobody:"] {
        let error = server.row::<Texts>(target).await.unwrap_err();
        assert!(error.is_not_found(), "{target}: {error}");
    }
    let pane = first_pane(&tmux);
    assert_eq!(server.row::<Texts>(&pane.to_string()).await.unwrap().pane, pane);
}
