//! irb: its line editor draws earlier rows again while a line is typed.

use serde_json::json;
use testkit::Step;

use crate::{fails, leads, open, prints};

fn session() -> Vec<Step> {
    let lines: Vec<String> = (0..300).map(|n| n.to_string()).collect();
    vec![
        prints("6 * 7", "=> 42"),
        prints("x = 5", "=> 5"),
        prints("x\n", "=> 5"),
        prints("puts 'a', 'b'", "a\nb\n=> nil"),
        Step::input("if x\n\tputs 2\nend").refused("takes a tab as a key"),
        prints("\"gr\\u00fcn \\u{6f22}\"", "=> \"grün 漢\""),
        prints("print 'no end'", "no end=> nil"),
        prints("puts 'x' * 300", &format!("{}\n=> nil", "x".repeat(300))),
        fails("1 / 0", "(irb):…:in `/': divided by 0 (ZeroDivisionError)\n…"),
        fails(
            "nothing_here",
            "(irb):…:in `<main>': undefined local variable or method `nothing_here' for main:Object (NameError)\n…",
        ),
        fails("x = = 1", "…syntax error, unexpected '='…"),
        prints("def f(x)\n  y = x + 1\n\n  y\nend\nf(1)", "=> 2"),
        prints("3.times do |i|\n  puts i\nend", "0\n1\n2\n=> 3"),
        prints("d = {\n  a: 1,\n\n  b: 2,\n}\nd[:b]", "=> 2"),
        prints("class C\n  def m\n    1\n  end\nend\nC.new.m", "=> 1"),
        prints("<<~T\n  one\n\n  two\nT", "=> \"one\\n\\ntwo\\n\""),
        prints("if x == 5\n  'five'\nend", "=> \"five\""),
        prints("puts (0...300).to_a", &format!("{}\n=> nil", lines.join("\n"))),
        leads("name = (print 'Name? '; gets)", "", "asks: Name?"),
        Step::input("Ann").behind("Name? ").prints("=> \"Ann\\n\""),
        leads("y = (1 +", "", "at irb(main):…* (statement open)"),
        prints("2)", "=> 3"),
        leads("def zzz", "", "at irb(main):… (statement open)"),
        Step::interrupt(),
        prints("Thread.new { sleep 0.2; puts 'async' }; sleep 1", "async\n=> 1"),
        leads("sleep 100", "", "still running").within(2),
        Step::interrupt(),
        Step::no_interrupt(),
        prints("6 * 7", "=> 42"),
        leads("exit", "", "left: back in bash, exit code 0"),
    ]
}

#[tokio::test]
async fn irb_answers_its_inputs() {
    let irb = open("irb -f", "irb(main):001:0>").await;
    irb.run(&session()).await;
    irb.close().await;
}

/// A while after its last key irb shows another prompt behind a blank.
#[tokio::test]
async fn irb_answers_after_a_pause() {
    let irb = open("irb -f", "irb(main):001:0>").await;
    for _ in 0..3 {
        let arguments = json!({"target": irb.pane, "until": ["idle:1"], "timeout": 30});
        irb.mcp.call("wait_for", arguments).await.ok();
        irb.run(&[prints("6 * 7", "=> 42")]).await;
    }
    irb.close().await;
}
