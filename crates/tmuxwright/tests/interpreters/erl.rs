//! erl: expressions, open statements at the same prompt, an exit that is late.

use testkit::Step;

use crate::{fails, leads, open, prints};

#[tokio::test]
async fn erl_answers_its_inputs() {
    let erl = open("env LC_ALL=C.UTF-8 erl", "1>").await;
    let numbers: Vec<String> = (1..=40).map(|n| n.to_string()).collect();
    let list = "lists:foreach(fun(I) -> io:format(\"~p~n\", [I]) end, lists:seq(1, 40)).";
    erl.run(&[
            Step::input("length(\"a\tb\").").refused("takes a tab as a key"),
        prints("6 * 7.", "42"),
        prints("X = 5.", "5"),
        prints("X.", "5"),
        prints("io:format(\"hello~n\").", "hello\nok"),
        prints("io:format(\"no end\").", "no endok"),
        prints("io:format(\"~ts~n\", [\"漢字 🙂\"]).", "漢字 🙂\nok"),
        prints("lists:duplicate(300, $x).", &format!("\"{}\"", "x".repeat(300))),
        prints(list, &format!("{}\nok", numbers.join("\n"))),
        fails("1 + ).", "* 1:5: syntax error before: ')'"),
        fails(
            "1 / 0.",
            "** exception error: an error occurred when evaluating an arithmetic expression\n     in operator  \
             '/'/2\n        called as 1 / 0",
        ),
        fails("throw(oh).", "** exception throw: oh"),
        prints("F = fun(N) ->\n  N + 1\nend.", "#Fun<erl_eval.…>"),
        prints("F(1).\nF(2).", "2\n3"),
        leads("lists:map(fun(Y) -> Y * 2 end,", "", "at 14> (statement open)"),
        prints("[1, 2]).", "[2,4]"),
        prints("\"a\nb\".", "\"a\\nb\""),
        prints("timer:sleep(1000).", "ok"),
        leads("io:get_line(\"Name? \").", "", "asks: Name?"),
        Step::input("Ann").behind("Name? ").prints("\"Ann\\n\""),
        prints("f().", "ok"),
        prints("X = 7.", "7"),
        leads("(1 +", "", "at 20> (statement open)"),
        leads("2 +", "", "at 20> (statement open)"),
        prints("3).", "6"),
        Step::no_interrupt(),
        leads("timer:sleep(3000).", "", "still running").within(1),
        leads("q().", "ok", "left: back in bash, exit code 0"),
    ])
    .await;
    erl.close().await;
}
