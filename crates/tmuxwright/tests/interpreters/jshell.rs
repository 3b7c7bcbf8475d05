//! jshell: expressions, blocks in an editor that indents, errors.

use testkit::Step;

use crate::{fails, leads, open, prints};

#[tokio::test]
async fn jshell_answers_its_inputs() {
    let jshell = open("jshell", "jshell>").await;
    let numbers: Vec<String> = (1..=40).map(|n| n.to_string()).collect();
    jshell
        .run(&[
            prints("6 * 7", "$1 ==> 42\n"),
            prints("int x = 5", "x ==> 5\n"),
            prints("x", "x ==> 5\n"),
            prints("", ""),
            prints("System.out.println(\"hello\")", "hello\n"),
            prints("System.out.print(\"no end\")", "no end"),
            prints("\"漢字 🙂\"", "$… ==> \"漢字 🙂\"\n"),
            prints("\"x\".repeat(300)", &format!("$… ==> \"{}\"\n", "x".repeat(300))),
            prints("for (int i = 1; i <= 40; i++) System.out.println(i)", &format!("{}\n", numbers.join("\n"))),
            prints("int f(int n) {\n  int y = n + 1;\n\n  return y;\n}\nf(1)", "|  created method f(int)\n$… ==> 2\n"),
            prints("\"\"\"\n  a\n\n  b\"\"\"", "$… ==> \"a\\n\\nb\"\n"),
            prints("int y = 1; int z = 2;", "y ==> 1\nz ==> 2\n"),
            prints("Thread.sleep(1000)", ""),
            fails("nothing", "|  Error:\n|  cannot find symbol\n|    symbol:   variable nothing\n|  nothing\n|  ^-----^\n"),
            fails("1 + )", "|  Error:\n|  illegal start of expression\n|  1 + )\n|      ^\n"),
            fails("1 / 0", "|  Exception java.lang.ArithmeticException: / by zero\n|        at (#…:1)\n"),
            fails("throw new Exception(\"oh\")", "|  Exception java.lang.Exception: oh\n|        at (#…:1)\n"),
            fails("/nosuch", "|  Invalid command: /nosuch\n|  Type /help for help.\n"),
            leads("class C {", "", "at ...> (statement open)"),
            leads("  int a = 1;", "", "at ...> (statement open)"),
            prints("}", "|  created class C\n"),
            prints("new C().a", "$… ==> 1\n"),
            leads("(1 +", "", "at ...> (statement open)"),
            Step::interrupt(),
            Step::no_interrupt(),
            leads("while (true);", "", "still running").within(1),
            Step::interrupt(),
            prints("9", "$… ==> 9\n"),
            leads("/exit 3", "|  Goodbye (3)", "left: back in bash, exit code 3"),
        ])
        .await;
    jshell.close().await;
}
