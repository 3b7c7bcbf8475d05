//! `run_in_repl`: twenty inputs for each interpreter that the tests need anyway, with their exact answers.

use testkit::{Interpreter, Step};

use crate::PROGRAM;

/// Numbers from 0, one in each line.
fn numbers(count: usize) -> String {
    (0..count).map(|number| number.to_string()).collect::<Vec<_>>().join("\n")
}

/// Session with an interpreter that a command in bash starts.
async fn session(command: &str, prompt: &str, steps: &[Step]) {
    let interpreter = Interpreter::open(PROGRAM, command, prompt).await;
    interpreter.run(steps).await;
    interpreter.close().await;
}

fn traceback(error: &str) -> String {
    format!("Traceback (most recent call last):\n  File \"<stdin>\", line 1, in <module>\n{error}")
}

#[tokio::test]
async fn python_answers_exactly() {
    let long = "x".repeat(5000);
    // The echo ends at the right margin: output goes on in the same line of the terminal.
    let margin = format!("print('{}', end='')", "c".repeat(80 - ">>> print('', end='')".len()));
    let steps = [
        Step::input("6 * 7").prints("42"),
        Step::input("'漢字 🙂 é'").prints("'漢字 🙂 é'"),
        Step::input("def f(x):\n    y = x + 1\n\n    return y\n"),
        Step::input("f(1)").prints("2"),
        Step::input("class A:\n    def b(self):\n        return 'q'\n\n    c = 3\nA().b()")
            .prints("'q'"),
        Step::input("if 1:\n    'a'\nelse_ = 1\nelse_").prints("'a'\n1"),
        Step::input("if 1:\n\t'tab\there'").prints("'tab\\there'"),
        Step::input("1/0").fails(traceback("ZeroDivisionError: division by zero")),
        Step::input("nothing").fails(traceback("NameError: name 'nothing' is not defined")),
        Step::input("def g(:").fails("  File \"<stdin>\", line 1\n    def g(:\n…SyntaxError: …"),
        Step::input("print('\\n'.join(str(n) for n in range(3000)))").prints(numbers(3000)),
        Step::input("print('x' * 5000)").prints(&long),
        Step::input(&margin).prints("c".repeat(59)),
        Step::input("'next'").prints("'next'"),
        // Behind output without an end, the line editor leaves a full row too early.
        Step::input("print('abc', end='')").prints("abc"),
        Step::input(format!("'\"{}\"'", "v".repeat(72)))
            .prints(format!("'\"{}\"'", "v".repeat(72))),
        Step::input("print('no end', end='')").prints("no end"),
        // The prompt ends at the right margin.
        Step::input("print('x' * 76, end='')").prints("x".repeat(76)),
        Step::input("6 * 7").prints("42"),
        Step::input("print('x' * 156, end='')").prints("x".repeat(156)),
        Step::input("print('x' * 76, end='')").prints("x".repeat(76)),
        Step::input("6 * 7").prints("42"),
        Step::input("name = input('Name? ')").state("asks: Name?"),
        Step::input("Ann").behind("Name? "),
        Step::input("name").prints("'Ann'"),
        Step::input("import threading; done = threading.Event()"),
        Step::input("def late(): print('tick'); done.set()"),
        Step::input("threading.Timer(0.1, late).start(); done.wait()").prints("tick\nTrue"),
        Step::input("x = (1,").state("at ... (statement open)"),
        Step::input("2)"),
        Step::input("x").prints("(1, 2)"),
        Step::input("import sys; _ = sys.stderr.write('err\\n')").prints("err"),
        Step::input("import os; os.system('echo sub')").prints("sub\n0"),
        Step::input("def h():\n    breakpoint()\n    return 1\n\nh()\nc = 3\nprint('c is', c)")
            .prints("> <stdin>(3)h()")
            .state("at (Pdb)")
            .lines_left(2),
        Step::input("c").prints("1"),
        Step::input(""),
        Step::input("# comment"),
        Step::input("exit(3)").state("left: back in bash, exit code 3"),
    ];
    session("python3 -q", ">>>", &steps).await;
}

#[tokio::test]
async fn node_answers_exactly() {
    let steps = [
        Step::input("6 * 7").prints("42"),
        Step::input("'漢字 🙂 é'").prints("'漢字 🙂 é'"),
        Step::input("function f(x) {\n  const y = x + 1;\n\n  return y;\n}\nf(1)")
            .prints("undefined\n2"),
        Step::input("class A {\n  b() {\n    return 'q';\n  }\n}\nnew A().b()")
            .prints("undefined\n'q'"),
        Step::input("nothing()").fails("Uncaught ReferenceError: nothing is not defined"),
        Step::input("let 1x").fails("let 1x\n    ^\n\nUncaught SyntaxError: …"),
        Step::input("throw new Error('boom')").fails("Uncaught Error: boom"),
        Step::input("console.log(Array.from({length: 3000}, (_, n) => n).join('\\n'))")
            .prints(format!("{}\nundefined", numbers(3000))),
        Step::input("'x'.repeat(5000)").prints(format!("'{}'", "x".repeat(5000))),
        Step::input("process.stdout.write('no end')").prints("no endtrue"),
        Step::input("[1,").state("at ... (statement open)"),
        Step::input("2]").prints("[ 1, 2 ]"),
        Step::input("`a\nb`").prints("'a\\nb'"),
        Step::input("console.error('err')").prints("err\nundefined"),
        Step::input("await Promise.resolve(5)").prints("5"),
        // It reads keys while it waits.
        Step::input("await new Promise((r) => setTimeout(() => r('late'), 700))").prints("'late'"),
        Step::input("({a: 1,\n b: [1, 2]})").prints("{ a: 1, b: [ 1, 2 ] }"),
        Step::input("// comment").prints("undefined"),
        Step::input("process.stdout.write('\\x1b[31mred\\x1b[0m\\n')").prints("red\ntrue"),
        Step::input(""),
        Step::input("process.exit(3)").state("left: back in bash, exit code 3"),
    ];
    session("env NODE_REPL_HISTORY= node", ">", &steps).await;
}

#[tokio::test]
async fn sqlite_answers_exactly() {
    let series = "with recursive c(n) as (select 0 union all select n + 1 from c where n < 2999) select n from c;";
    let steps = [
        Step::input("select 6 * 7;").prints("42"),
        Step::input("select '漢字 🙂 é';").prints("漢字 🙂 é"),
        Step::input(
            "create table t(a,\n b);\ninsert into t values (1, 'x'), (2, 'y');\nselect * from t;",
        )
        .prints("1|x\n2|y"),
        Step::input("selec 1;").fails("Parse error: near \"selec\": syntax error\n…"),
        Step::input("select * from missing;").fails("Parse error: no such table: missing"),
        Step::input(series).prints(numbers(3000)),
        Step::input("select printf('%.*c', 5000, 'x');").prints("x".repeat(5000)),
        Step::input("select 'a\tb';").prints("a\tb"),
        Step::input("select 'a\nb';").prints("a\nb"),
        Step::input(".headers on"),
        Step::input("select a from t;").prints("a\n1\n2"),
        Step::input(".mode box"),
        Step::input("select a from t;").prints("┌───┐\n│ a │\n├───┤\n│ 1 │\n│ 2 │\n└───┘"),
        Step::input(".mode list\n.headers off"),
        Step::input("select 1").state("at ...> (statement open)"),
        Step::input("+ 1;").prints("2"),
        Step::input("create trigger r after insert on t begin\n  select 1;\nend;"),
        Step::input("select 1; select 2;").prints("1\n2"),
        Step::input("-- comment"),
        Step::input(".shell echo sub").prints("sub"),
        Step::input(".system printf 'no end'").prints("no end"),
        Step::input(".read /nonexistent").fails("Error: cannot open \"/nonexistent\""),
        Step::input("").prints(""),
        Step::input(".exit 3").state("left: back in bash, exit code 3"),
    ];
    session("sqlite3", "sqlite>", &steps).await;
}

#[tokio::test]
async fn perl_debugger_answers_exactly() {
    // The debugger prints an empty line before its prompt.
    let steps = [
        Step::input("p 6 * 7").prints("42"),
        Step::input("print 'no end'").prints("no end"),
        Step::input("p '漢字 é'").prints("漢字 é"),
        Step::input("sub f {\\\n  my $x = shift;\\\n  return $x + 1;\\\n}"),
        Step::input("p f(1)").prints("2"),
        Step::input("die 'boom'").fails("boom at …"),
        Step::input("p 1/0").fails("Illegal division by zero at …"),
        Step::input("nothing(1)").fails("Undefined subroutine &main::nothing called at …"),
        Step::input("p join \"\\n\", 0..2999").prints(numbers(3000)),
        Step::input("p 'x' x 5000").prints("x".repeat(5000)),
        Step::input("p \"a\\tb\"").prints("a\tb"),
        Step::input("p 'a\tb'").prints("a\tb"),
        Step::input("print 'Name? '; $n = <STDIN>").state("asks: Name?"),
        Step::input("Ann").behind("Name? "),
        Step::input("p length $n").prints("4"),
        Step::input("$x = 5"),
        Step::input("p $x").prints("5"),
        Step::input("x [1, {a => 2}]")
            .prints("0  ARRAY(…)\n   0  1\n   1  HASH(…)\n      'a' => 2"),
        Step::input("$SIG{ALRM} = sub { print \"tick\\n\" }; alarm 1; sleep 5").prints("tick…"),
        Step::input("p 1 + \\").state("at cont: (statement open)"),
        Step::input("2").prints("3"),
        Step::input("foreach (1..2) {\\\nprint \"$_\\n\"\\\n}").prints("1\n2…"),
        Step::input("system 'echo sub'").prints("sub…"),
        Step::input("q").state("left: back in bash, exit code 0"),
    ];
    session("perl -de 0", "DB<1>", &steps).await;
}
