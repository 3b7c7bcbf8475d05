//! Ask, answer, collect: a command asks twice, and each answer is collected without a pause.

use serde_json::{Value, json};
use testkit::{Mcp, Shell};

use super::rounds;
use crate::run::fixture::ShellFixture;

/// Types an answer, and returns the result that is asked for right behind it.
async fn collect_after(mcp: &Mcp, asked: &Value, answer: &str) -> Value {
    let keys = json!({"target": asked["pane_id"], "text": answer, "enter": true});
    mcp.call("send_keys", keys).await.text();
    let wait = json!({"command_id": asked["command_id"], "wait": 120});
    mcp.call("command_result", wait).await.ok()
}

#[tokio::test]
async fn an_answered_question_is_never_reported_again() {
    let mut fixtures = Vec::new();
    for shell in Shell::ALL {
        fixtures.push(ShellFixture::own(shell).await);
    }
    for round in rounds() {
        let fixture = &fixtures[round % fixtures.len()];
        let command = format!(
            "sh -c 'printf \"one? \"; read x; printf \"two? \"; read y; echo {round} $x $y'"
        );
        let first = fixture.answer_within(&command, 120.0).await;
        let context = format!("round {round}, {fixture}, first {first}");
        assert_eq!(
            (&first["waiting"], &first["output"]),
            (&json!("line"), &json!("one? ")),
            "{context}"
        );
        let second = collect_after(&fixture.mcp, &first, "a b").await;
        let context = format!("{context}, second {second}");
        let output = json!("one? a b\ntwo? ");
        assert_eq!((&second["waiting"], &second["output"]), (&json!("line"), &output), "{context}");
        let last = collect_after(&fixture.mcp, &first, "c").await;
        let output = format!("one? a b\ntwo? c\n{round} a b c");
        assert_eq!(
            (&last["exit_code"], &last["output"]),
            (&json!(0), &json!(output)),
            "{context}, last {last}"
        );
    }
    for fixture in fixtures {
        fixture.close().await;
    }
}
