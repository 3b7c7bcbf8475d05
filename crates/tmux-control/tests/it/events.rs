//! What a listener is told.

use std::time::Duration;

use testkit::TmuxServer;
use tmux_control::control::event::Event;
use tmux_control::{Command, Server, WindowId};
use tokio::sync::broadcast::Receiver;

use crate::{connect, impatient, program, say};

/// The next event that fits; those before it are passed over.
async fn hear(events: &mut Receiver<Event>, fits: impl Fn(Event) -> bool) -> Event {
    let wait = async {
        loop {
            let event = events.recv().await.unwrap();
            if fits(event) {
                return event;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(20), wait).await.unwrap()
}

async fn hear_exactly(events: &mut Receiver<Event>, event: Event) {
    hear(events, |heard| heard == event).await;
}

/// A listener whose client is attached.
async fn listen(server: &Server) -> Receiver<Event> {
    let mut events = server.events();
    hear_exactly(&mut events, Event::Connected).await;
    server.run(say("x")).await.unwrap();
    events
}

#[tokio::test(flavor = "multi_thread")]
async fn windows_that_come_are_renamed_and_go_are_heard_of() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    let mut events = listen(&server).await;
    let new = ["new-window", "-P", "-F", "#{window_id}"];
    let window: WindowId = tmux.tmux(&new).parse().unwrap();
    hear_exactly(&mut events, Event::WindowAdded(window)).await;
    tmux.tmux(&["rename-window", "-t", &window.to_string(), "%end 1 2 3"]);
    hear_exactly(&mut events, Event::WindowRenamed(window)).await;
    tmux.tmux(&["split-window", "-t", &window.to_string()]);
    hear_exactly(&mut events, Event::LayoutChanged(window)).await;
    tmux.tmux(&["kill-window", "-t", &window.to_string()]);
    hear_exactly(&mut events, Event::WindowClosed(window)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn windows_of_other_sessions_are_heard_of_too() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    let mut events = listen(&server).await;
    tmux.new_session("other");
    hear_exactly(&mut events, Event::SessionsChanged).await;
    let new = ["new-window", "-t", "=other:", "-P", "-F", "#{window_id}"];
    let window: WindowId = tmux.tmux(&new).parse().unwrap();
    hear_exactly(&mut events, Event::WindowAdded(window)).await;
    tmux.tmux(&["rename-window", "-t", &window.to_string(), "x"]);
    hear_exactly(&mut events, Event::WindowRenamed(window)).await;
    tmux.tmux(&["kill-window", "-t", &window.to_string()]);
    hear_exactly(&mut events, Event::WindowClosed(window)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_that_come_are_renamed_and_go_are_heard_of() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    let mut events = listen(&server).await;
    tmux.new_session("other");
    hear_exactly(&mut events, Event::SessionsChanged).await;
    tmux.tmux(&["rename-session", "-t", "=other", "another"]);
    let renamed = |event| matches!(event, Event::SessionRenamed(_) | Event::SessionsChanged);
    hear(&mut events, renamed).await;
    server.run(say("x")).await.unwrap();
    events = events.resubscribe();
    tmux.tmux(&["kill-session", "-t", "=another"]);
    hear_exactly(&mut events, Event::SessionsChanged).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn copy_mode_is_heard_of() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    let mut events = listen(&server).await;
    let pane = crate::first_pane(&tmux);
    server.run(Command::action("copy-mode").option("-t", pane)).await.unwrap();
    hear_exactly(&mut events, Event::PaneModeChanged(pane)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn selections_and_clients_of_other_sessions_are_heard_of() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    let mut events = listen(&server).await;
    tmux.new_session("other");
    let ids = ["display-message", "-p", "-t", "=other:", "#{session_id} #{window_id}"];
    let ids = tmux.tmux(&ids);
    let (session, window) = ids.split_once(' ').unwrap();
    tmux.tmux(&["split-window", "-t", "=other:", "cat"]);
    hear_exactly(&mut events, Event::PaneSelected(window.parse().unwrap())).await;
    tmux.tmux(&["new-window", "-t", "=other:", "cat"]);
    hear_exactly(&mut events, Event::WindowSelected(session.parse().unwrap())).await;
    server.run(say("x")).await.unwrap();
    events = events.resubscribe();
    let person = testkit::Person::attach(&tmux, "other", 80, 24);
    hear_exactly(&mut events, Event::ClientsChanged).await;
    server.run(say("x")).await.unwrap();
    events = events.resubscribe();
    drop(person);
    hear_exactly(&mut events, Event::ClientsChanged).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_compared_is_told_of_when_it_says_something_else() {
    let tmux = TmuxServer::new();
    let server = Server::with_timing(program(&tmux), impatient());
    let mut events = listen(&server).await;
    let value = "#{S:#{W:#{P:#{pane_id} #{s/\n/ /:pane_title};}}}";
    server.compare(Some(value.to_owned()));
    hear_exactly(&mut events, Event::ValueChanged).await;
    for title in ["one", "two"] {
        tmux.tmux(&["select-pane", "-T", title]);
        hear_exactly(&mut events, Event::ValueChanged).await;
    }
    // Also on another connection.
    tmux.tmux(&["detach-client", "-s", "=main"]);
    hear_exactly(&mut events, Event::Connected).await;
    hear_exactly(&mut events, Event::ValueChanged).await;
    tmux.tmux(&["select-pane", "-T", "three"]);
    hear_exactly(&mut events, Event::ValueChanged).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listener_lives_through_a_restart_of_the_server() {
    let tmux = TmuxServer::new();
    let server = Server::with_timing(program(&tmux), impatient());
    let mut events = listen(&server).await;
    tmux.kill();
    hear_exactly(&mut events, Event::Disconnected).await;
    tmux.new_session("again");
    hear_exactly(&mut events, Event::Connected).await;
    server.run(say("x")).await.unwrap();
    let new = ["new-window", "-P", "-F", "#{window_id}"];
    let window: WindowId = tmux.tmux(&new).parse().unwrap();
    hear_exactly(&mut events, Event::WindowAdded(window)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listener_may_come_before_the_server() {
    let tmux = TmuxServer::not_started();
    let server = Server::with_timing(program(&tmux), impatient());
    let mut events = server.events();
    assert!(server.run(say("x")).await.unwrap_err().is_no_server());
    tmux.new_session("first");
    hear_exactly(&mut events, Event::Connected).await;
}
