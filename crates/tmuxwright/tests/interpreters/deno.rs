//! deno: expressions, blocks in one editor, open statements without a prompt.

use testkit::Step;

use crate::{fails, leads, open, prints};

#[tokio::test]
async fn deno_answers_its_inputs() {
    let deno = open("env NO_COLOR=1 DENO_NO_UPDATE_CHECK=1 deno", ">").await;
    let numbers: Vec<String> = (0..40).map(|n| n.to_string()).collect();
    deno.run(&[
        prints("6 * 7", "42"),
        prints("console.log('hello')", "hello\nundefined"),
        prints("function f(x) {\n  const y = x + 1;\n\n  return y;\n}\nf(1)", "2"),
        prints("'x'.repeat(300)", &format!("\"{}\"", "x".repeat(300))),
        prints("[1, 2].map((x) => {\n\treturn x * 2;\n})", "[ 2, 4 ]"),
        prints("`a\n\tb`", "\"a\\n\\tb\""),
        prints("'漢字 🙂'", "\"漢字 🙂\""),
        prints("let q: number = 1", "undefined"),
        prints("q", "1"),
        prints("await new Promise(r => setTimeout(() => r(7), 500))", "7"),
        prints(
            "for (let i = 0; i < 40; i++) console.log(i)",
            &format!("{}\nundefined", numbers.join("\n")),
        ),
        prints("Deno.stdout.writeSync(new TextEncoder().encode('no end'))", "no end6"),
        prints("Promise.resolve(1)", "Promise { 1 }"),
        fails(
            "nothing()",
            "Uncaught ReferenceError: nothing is not defined\n    at <anonymous>:1:…",
        ),
        fails("throw new Error('oh')", "Uncaught Error: oh\n    at <anonymous>:1:…"),
        fails("1 +* 2", "parse error: Expression expected at 1:4"),
        leads("function g(", "", "statement open"),
        prints("x) { return x }", "undefined"),
        prints("g(3)", "3"),
        leads("(1 +", "", "statement open"),
        leads("2 +", "", "statement open"),
        prints("3)", "6"),
        Step::no_interrupt(),
        leads("(1 +", "", "statement open"),
        Step::interrupt(),
        prints("9", "9"),
        leads("prompt('Name?')", "", "asks: Name?"),
        Step::input("Ann").behind("Name? ").prints("\"Ann\""),
        leads("close()", "", "left: back in bash, exit code 0"),
    ])
    .await;
    deno.close().await;
}
