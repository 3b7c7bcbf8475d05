//! Tests of `--confirm` on the wire: both eras of the protocol, stdio and HTTP, and clients that forge,
//! replay, cancel or disconnect.

use serde_json::{Value, json};
use testkit::{TmuxServer, until};

use super::confirm::{confirming, has_session, server_with};
use crate::audit::log::{audit_log, records};
use crate::protocol::cancel;
use crate::support::asking::{Asking, Step, WAYS, Way, capable};

fn accept() -> Value {
    json!({"action": "accept", "content": {}})
}

/// A tmux server with the session `dev`, and a client on this way.
async fn asked(way: Way, capabilities: Value) -> (TmuxServer, Asking) {
    let tmux = server_with(&["dev"]);
    let client = Asking::connect(confirming(&tmux), way, capabilities).await;
    (tmux, client)
}

fn kill_dev() -> Value {
    json!({"name": "kill", "arguments": {"target": "dev", "kind": "session"}})
}

/// The outcomes and answers of the recorded calls of `kill`.
fn recorded_kills(tmux: &TmuxServer) -> Vec<(String, String)> {
    let log = audit_log(tmux);
    let records = if log.exists() { records(&log) } else { Vec::new() };
    let kills = records.iter().filter(|record| record["tool"] == "kill");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    kills.map(|kill| (text(&kill["outcome"]), text(&kill["asked"][0]["answer"]))).collect()
}

#[tokio::test]
async fn every_era_and_transport_asks_and_obeys() {
    for way in WAYS {
        let (tmux, mut client) = asked(*way, capable()).await;
        let question = client.retry(kill_dev()).await.question();
        assert!(question.contains("`kill`") && question.contains("session $1"), "{question}");
        let error = client.answer(json!({"action": "decline"})).await.denied();
        assert!(error.contains("the person declined") && has_session(&tmux, "dev"), "{way:?}");
        client.retry(kill_dev()).await.question();
        assert!(has_session(&tmux, "dev"), "{way:?}");
        client.answer(accept()).await.ok();
        assert!(!has_session(&tmux, "dev"), "{way:?}");
        let expected = [("denied", "declined"), ("ok", "accepted")];
        assert_eq!(
            recorded_kills(&tmux),
            expected.map(|(o, a)| (o.to_owned(), a.to_owned())),
            "{way:?}"
        );
    }
}

#[tokio::test]
async fn malformed_answers_refuse_in_every_era() {
    for way in WAYS {
        let (tmux, mut client) = asked(*way, capable()).await;
        for answer in [json!({"action": "maybe"}), json!({}), json!({"accept": true})] {
            client.retry(kill_dev()).await.question();
            let error = client.answer(answer).await.denied();
            assert!(error.contains("could not be asked"), "{way:?}: {error}");
        }
        assert!(has_session(&tmux, "dev"), "{way:?}");
    }
}

#[tokio::test]
async fn clients_without_forms_are_refused_everywhere() {
    for way in WAYS {
        for capabilities in [json!({}), json!({"elicitation": {"url": {}}})] {
            let (tmux, mut client) = asked(*way, capabilities).await;
            let error = client.retry(kill_dev()).await.denied();
            assert!(error.contains("does not support elicitation"), "{way:?}: {error}");
            assert!(has_session(&tmux, "dev"), "{way:?}");
        }
    }
}

/// The parameters of a repeated request with an accepted answer.
fn retry(params: &Value, state: &Value) -> Value {
    let mut params = params.clone();
    params["requestState"] = state.clone();
    params["inputResponses"] = json!({"confirm": accept()});
    params
}

#[tokio::test]
async fn forged_states_are_refused() {
    let (tmux, mut client) = asked(Way::StdioStateless, capable()).await;
    for state in [json!(""), json!("x"), json!("0".repeat(64))] {
        let error = client.retry(retry(&kill_dev(), &state)).await.denied();
        assert!(error.contains("requestState"), "{error}");
    }
    client.retry(kill_dev()).await.question();
    let state = client.open_question.as_str().unwrap().to_owned();
    let forged = json!(format!("{}0", &state[..state.len() - 1]));
    if forged != json!(state) {
        client.retry(retry(&kill_dev(), &forged)).await.denied();
    }
    assert!(has_session(&tmux, "dev"));
    // Each refusal is recorded.
    assert!(recorded_kills(&tmux).iter().all(|(outcome, _)| outcome == "denied"));
}

#[tokio::test]
async fn state_belongs_to_one_tool_and_its_arguments() {
    for other in [
        json!({"name": "kill", "arguments": {"target": "main", "kind": "session"}}),
        json!({"name": "respawn_pane", "arguments": {"target": "%1"}}),
    ] {
        let (tmux, mut client) = asked(Way::StdioStateless, capable()).await;
        client.retry(kill_dev()).await.question();
        let state = client.open_question.clone();
        client.retry(retry(&other, &state)).await.denied();
        // The attempt has used the state up.
        client.retry(retry(&kill_dev(), &state)).await.denied();
        assert!(has_session(&tmux, "dev") && has_session(&tmux, "main"));
    }
}

#[tokio::test]
async fn state_of_an_accepted_call_works_once() {
    let (tmux, mut client) = asked(Way::StdioStateless, capable()).await;
    client.retry(kill_dev()).await.question();
    let state = client.open_question.clone();
    client.answer(accept()).await.ok();
    tmux.new_session("dev");
    client.retry(retry(&kill_dev(), &state)).await.denied();
    assert!(has_session(&tmux, "dev"));
}

#[tokio::test]
async fn retried_batch_continues_where_it_asked() {
    for way in WAYS {
        let (tmux, mut client) = asked(*way, capable()).await;
        let calls = json!([
            {"tool": "create_session", "arguments": {"name": "made"}},
            {"tool": "kill", "arguments": {"target": "$0"}},
            {"tool": "kill", "arguments": {"target": "$1"}},
            {"tool": "list_sessions"},
        ]);
        let step = client.call("batch", json!({"calls": calls})).await;
        assert!(step.question().contains("session $0"), "{way:?}");
        let step = client.answer(accept()).await;
        assert!(!has_session(&tmux, "main") && has_session(&tmux, "dev"), "{way:?}");
        assert!(step.question().contains("session $1"), "{way:?}");
        // A batch that ran again would fail to create the session.
        let done = client.answer(accept()).await.result();
        let results = &done["structuredContent"]["results"];
        let status = [0, 1, 2, 3].map(|call: usize| results[call]["status"].clone());
        assert_eq!(status, ["ok", "ok", "ok", "ok"].map(Value::from), "{way:?}: {done}");
    }
}

#[tokio::test]
async fn cancelled_call_withdraws_its_question() {
    let (tmux, mut client) = asked(Way::StdioRequests, capable()).await;
    client.retry(kill_dev()).await.question();
    let question = client.open_question.clone();
    let raw = client.raw();
    // The handshake was request 1.
    cancel(raw, 2).await;
    let note = raw.receive().await.unwrap();
    assert_eq!(note["method"], "notifications/cancelled", "{note}");
    assert_eq!(note["params"]["requestId"], question, "{note}");
    // A late answer counts for nothing.
    raw.send(&json!({"jsonrpc": "2.0", "id": question, "result": accept()})).await;
    until("the call is recorded", async || (!recorded_kills(&tmux).is_empty()).then_some(())).await;
    assert_eq!(recorded_kills(&tmux), [("cancelled".to_owned(), "none".to_owned())]);
    assert!(has_session(&tmux, "dev"));
}

#[tokio::test]
async fn disconnected_client_destroys_nothing() {
    for way in [Way::StdioRequests, Way::StdioStateless] {
        let (tmux, mut client) = asked(way, capable()).await;
        client.retry(kill_dev()).await.question();
        let raw = client.raw();
        raw.hang_up();
        assert!(raw.wait().await.success(), "{way:?}: {}", raw.stderr());
        assert!(has_session(&tmux, "dev"), "{way:?}");
        let [(outcome, _)] = &recorded_kills(&tmux)[..] else { panic!("one record") };
        assert!(["cancelled", "denied"].contains(&outcome.as_str()), "{way:?}: {outcome}");
    }
}

#[tokio::test]
async fn stateless_questions_are_limited() {
    let (tmux, mut client) = asked(Way::StdioStateless, capable()).await;
    let mut open = 0;
    let error = loop {
        match client.retry(kill_dev()).await {
            Step::Question(_) if open < 1000 => open += 1,
            step => break step.denied(),
        }
    };
    assert!(error.contains("too many questions") && open > 10, "{open}: {error}");
    assert!(has_session(&tmux, "dev"));
}
