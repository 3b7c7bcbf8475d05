//! scala: expressions, blocks, errors. Debian's package needs another jar in its path to edit lines.

use testkit::Step;

use crate::{fails, leads, open, prints};

#[tokio::test]
async fn scala_answers_its_inputs() {
    let options = "-Xbootclasspath/a:/usr/share/java/jansi1.jar";
    let scala = open(&format!("env JAVA_OPTS={options} scala"), "scala>").await;
    let numbers: Vec<String> = (1..=40).map(|n| n.to_string()).collect();
    scala
        .run(&[
            prints("6 * 7", "res0: Int = 42\n"),
            prints("val x = 5", "x: Int = 5\n"),
            prints("println(\"hello\")", "hello\n"),
            prints("print(\"no end\")", "no end"),
            prints("x", "res…: Int = 5\n"),
            prints("def f(n: Int): Int = {\n  val y = n + 1\n\n  y\n}", "f: (n: Int)Int\n"),
            prints("f(1)", "res…: Int = 2\n"),
            prints("\"漢字 🙂\"", "res…: String = 漢字 🙂\n"),
            prints("\"x\" * 300", &format!("res…: String = {}\n", "x".repeat(300))),
            prints("(1 to 40).foreach(println)", &format!("{}\n", numbers.join("\n"))),
            prints("List(1, 2).map { x =>\n  x * 2\n}", "res…: List[Int] = List(2, 4)\n"),
            prints("\"\"\"a\n\nb\"\"\"", "res…: String =\na\n\nb\n"),
            prints("case class P(a: Int)\nP(3)", "defined class P\n\nres…: P = P(3)\n"),
            prints("Thread.sleep(500)", ""),
            prints(":type 1", "Int\n"),
            fails(
                "nothing",
                "<console>:…: error: not found: value nothing\n       nothing\n       ^\n",
            ),
            fails("1 + )", "<console>:1: error: ';' expected but ')' found.\n1 + )\n    ^\n"),
            fails("1 / 0", "java.lang.ArithmeticException: / by zero\n  … elided\n"),
            fails("throw new Exception(\"oh\")", "java.lang.Exception: oh\n  … elided\n"),
            fails(":nosuch", "nosuch: no such command.  Type :help for help.\n"),
            leads("class C {", "", "at | (statement open)"),
            leads("  val a = 1", "", "at | (statement open)"),
            prints("}", "defined class C\n"),
            Step::no_interrupt(),
            leads(":quit", "", "left: back in bash, exit code 0"),
        ])
        .await;
    scala.close().await;
}
