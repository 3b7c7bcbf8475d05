//! Background job, watch: a job prints its last line and exits at once, after its shell is back at the
//! prompt.

use serde_json::json;
use testkit::Shell;

use super::rounds;
use crate::run::fixture::ShellFixture;
use crate::support::random::Random;
use crate::support::string;

#[tokio::test]
async fn last_lines_of_background_jobs_are_seen() {
    let mut fixtures = Vec::new();
    for shell in Shell::ALL {
        fixtures.push(ShellFixture::own(shell).await);
    }
    let mut random = Random(1);
    for round in rounds() {
        let fixture = &fixtures[round % fixtures.len()];
        let pause = random.below(300);
        let command = format!("sh -c 'sleep 0.{pause:03}; seq 100; echo LA\"ST {round}\"' & true");
        for (until, event) in [("text:LAST", "text:LAST"), ("text:NEVER", "exit")] {
            let call = json!({"command": command, "until": [until], "timeout": 120});
            let result = fixture.mcp.call("start_and_watch", call).await.ok();
            let context = format!("round {round}, {fixture}, {until}: {result}");
            assert_eq!(result["event"], event, "{context}");
            assert!(string(&result["output"]).contains(&format!("\nLAST {round}")), "{context}");
        }
    }
    for fixture in fixtures {
        fixture.close().await;
    }
}
