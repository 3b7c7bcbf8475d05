//! Events that subscribers of a server receive.

use std::time::Duration;

use testkit::TmuxServer;
use tmux_control::control::event::TmuxEvent;
use tmux_control::{Command, Server, WindowId};
use tokio::sync::broadcast::Receiver;

use crate::{connect, impatient, print, program};

/// Waits for the next event that fits and skips those before it.
async fn wait_for_event(
    events: &mut Receiver<TmuxEvent>,
    fits: impl Fn(TmuxEvent) -> bool,
) -> TmuxEvent {
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

async fn expect_event(events: &mut Receiver<TmuxEvent>, event: TmuxEvent) {
    wait_for_event(events, |received| received == event).await;
}

/// A subscriber of a server whose client is attached.
async fn subscribe(server: &Server) -> Receiver<TmuxEvent> {
    let mut events = server.events();
    expect_event(&mut events, TmuxEvent::Connected).await;
    server.run(print("x")).await.unwrap();
    events
}

#[tokio::test(flavor = "multi_thread")]
async fn window_changes_are_reported() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    let mut events = subscribe(&server).await;
    let new = ["new-window", "-P", "-F", "#{window_id}"];
    let window: WindowId = tmux.tmux(&new).parse().unwrap();
    expect_event(&mut events, TmuxEvent::WindowAdded(window)).await;
    tmux.tmux(&["rename-window", "-t", &window.to_string(), "%end 1 2 3"]);
    expect_event(&mut events, TmuxEvent::WindowRenamed(window)).await;
    tmux.tmux(&["split-window", "-t", &window.to_string()]);
    expect_event(&mut events, TmuxEvent::LayoutChanged(window)).await;
    tmux.tmux(&["kill-window", "-t", &window.to_string()]);
    expect_event(&mut events, TmuxEvent::WindowClosed(window)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn window_changes_of_other_sessions_are_reported() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    let mut events = subscribe(&server).await;
    tmux.new_session("other");
    expect_event(&mut events, TmuxEvent::SessionsChanged).await;
    let new = ["new-window", "-t", "=other:", "-P", "-F", "#{window_id}"];
    let window: WindowId = tmux.tmux(&new).parse().unwrap();
    expect_event(&mut events, TmuxEvent::WindowAdded(window)).await;
    tmux.tmux(&["rename-window", "-t", &window.to_string(), "x"]);
    expect_event(&mut events, TmuxEvent::WindowRenamed(window)).await;
    tmux.tmux(&["kill-window", "-t", &window.to_string()]);
    expect_event(&mut events, TmuxEvent::WindowClosed(window)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn session_changes_are_reported() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    let mut events = subscribe(&server).await;
    tmux.new_session("other");
    expect_event(&mut events, TmuxEvent::SessionsChanged).await;
    tmux.tmux(&["rename-session", "-t", "=other", "another"]);
    let renamed =
        |event| matches!(event, TmuxEvent::SessionRenamed(_) | TmuxEvent::SessionsChanged);
    wait_for_event(&mut events, renamed).await;
    server.run(print("x")).await.unwrap();
    events = events.resubscribe();
    tmux.tmux(&["kill-session", "-t", "=another"]);
    expect_event(&mut events, TmuxEvent::SessionsChanged).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn copy_mode_is_reported() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    let mut events = subscribe(&server).await;
    let pane = crate::first_pane(&tmux);
    server.run(Command::action("copy-mode").option("-t", pane)).await.unwrap();
    expect_event(&mut events, TmuxEvent::PaneModeChanged(pane)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn selections_and_clients_of_other_sessions_are_reported() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    let mut events = subscribe(&server).await;
    tmux.new_session("other");
    let ids = ["display-message", "-p", "-t", "=other:", "#{session_id} #{window_id}"];
    let ids = tmux.tmux(&ids);
    let (session, window) = ids.split_once(' ').unwrap();
    tmux.tmux(&["split-window", "-t", "=other:", "cat"]);
    expect_event(&mut events, TmuxEvent::PaneSelected(window.parse().unwrap())).await;
    tmux.tmux(&["new-window", "-t", "=other:", "cat"]);
    expect_event(&mut events, TmuxEvent::WindowSelected(session.parse().unwrap())).await;
    server.run(print("x")).await.unwrap();
    events = events.resubscribe();
    let person = testkit::Person::attach(&tmux, "other", 80, 24);
    expect_event(&mut events, TmuxEvent::ClientsChanged).await;
    server.run(print("x")).await.unwrap();
    events = events.resubscribe();
    drop(person);
    expect_event(&mut events, TmuxEvent::ClientsChanged).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn change_of_a_subscribed_format_is_reported() {
    let tmux = TmuxServer::new();
    let server = Server::with_timing(program(&tmux), impatient());
    let mut events = subscribe(&server).await;
    let value = "#{S:#{W:#{P:#{pane_id} #{s/\n/ /:pane_title};}}}";
    server.subscribe_format(Some(value.to_owned()));
    expect_event(&mut events, TmuxEvent::SubscriptionChanged).await;
    for title in ["one", "two"] {
        tmux.tmux(&["select-pane", "-T", title]);
        expect_event(&mut events, TmuxEvent::SubscriptionChanged).await;
    }
    // The subscription is renewed on the next connection.
    tmux.tmux(&["detach-client", "-s", "=main"]);
    expect_event(&mut events, TmuxEvent::Connected).await;
    expect_event(&mut events, TmuxEvent::SubscriptionChanged).await;
    tmux.tmux(&["select-pane", "-T", "three"]);
    expect_event(&mut events, TmuxEvent::SubscriptionChanged).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn subscriber_survives_a_server_restart() {
    let tmux = TmuxServer::new();
    let server = Server::with_timing(program(&tmux), impatient());
    let mut events = subscribe(&server).await;
    tmux.kill();
    expect_event(&mut events, TmuxEvent::Disconnected).await;
    tmux.new_session("again");
    expect_event(&mut events, TmuxEvent::Connected).await;
    server.run(print("x")).await.unwrap();
    let new = ["new-window", "-P", "-F", "#{window_id}"];
    let window: WindowId = tmux.tmux(&new).parse().unwrap();
    expect_event(&mut events, TmuxEvent::WindowAdded(window)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn subscriber_may_start_before_the_server() {
    let tmux = TmuxServer::not_started();
    let server = Server::with_timing(program(&tmux), impatient());
    let mut events = server.events();
    assert!(server.run(print("x")).await.unwrap_err().is_no_server());
    tmux.new_session("first");
    expect_event(&mut events, TmuxEvent::Connected).await;
}
