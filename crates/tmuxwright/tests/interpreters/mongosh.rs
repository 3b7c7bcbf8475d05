//! mongosh without a server: expressions, blocks, promises.

use testkit::Step;

use crate::{fails, leads, open, prints};

#[tokio::test]
async fn mongosh_answers_its_inputs() {
    let mongosh = open("env NO_COLOR=1 mongosh --nodb --quiet", ">").await;
    let numbers: Vec<String> = (0..40).map(|n| n.to_string()).collect();
    mongosh
        .run(&[
            prints("6 * 7", "42"),
            prints("console.log('hello')", "hello\n"),
            prints("function f(x) {\n  const y = x + 1;\n\n  return y;\n}\nf(1)", "[Function: f]\n2"),
            prints("'x'.repeat(300)", &"x".repeat(300)),
            prints("[1, 2].map((x) => {\n  return x * 2;\n})", "[ 2, 4 ]"),
            prints("`a\nb`", "a\nb"),
            prints("'漢字 🙂'", "漢字 🙂"),
            prints("let q = 1", ""),
            prints("q", "1"),
            prints("new Promise(r => setTimeout(() => r(7), 500))", "7"),
            prints("for (let i = 0; i < 40; i++) print(i)", &format!("{}\n", numbers.join("\n"))),
            prints("process.stdout.write('no end')", "no endtrue"),
            prints("EJSON.stringify({a: 1})", "{\"a\":1}"),
            prints("ObjectId('64b64b64b64b64b64b64b64b')", "ObjectId('64b64b64b64b64b64b64b64b')"),
            fails("nothing()", "ReferenceError: nothing is not defined"),
            fails("throw new Error('oh')", "Error: oh"),
            fails("1 +* 2", "Uncaught:\nSyntaxError: Unexpected token (1:3)\n\n> 1 | 1 +* 2\n    |    ^\n  2 |\n"),
            fails("db.x.find()", "MongoshInvalidInputError: [SHAPI-10004] No connected database"),
            leads("function g(", "", "at | (statement open)"),
            prints("x) { return x }", "[Function: g]"),
            leads("(1 +", "", "at | (statement open)"),
            Step::interrupt(),
            Step::no_interrupt(),
            leads("while (true);", "", "still running").within(1),
            Step::interrupt(),
            leads("exit", "", "left: back in bash, exit code 0"),
        ])
        .await;
    mongosh.close().await;
}
