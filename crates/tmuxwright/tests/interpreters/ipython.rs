//! IPython: its line editor draws the rows of an input again, indents by itself and takes a paste.

use testkit::Step;

use crate::{fails, leads, open, prints};

#[tokio::test]
async fn ipython_answers_its_inputs() {
    let ipython = open("ipython --no-banner --no-confirm-exit", "In [1]:").await;
    let lines: Vec<String> = (0..300).map(|n| n.to_string()).collect();
    let traceback = |error: &str| format!("-----…\n{error}…Traceback (most recent call last)\n…");
    ipython
        .run(&[
            prints("6 * 7", "Out[1]: 42"),
            prints("x = 5", ""),
            prints("x\n", "Out[3]: 5"),
            prints("print('a'); print('b')", "a\nb"),
            prints("'grün 漢字 🙂'", "Out[5]: 'grün 漢字 🙂'"),
            prints("print('no end', end='')", "no end"),
            prints("print('a\\tb', end='')", "a\tb"),
            prints("'x' * 300", &format!("Out[8]: '{}'", "x".repeat(300))),
            fails("1 / 0", &traceback("ZeroDivisionError")),
            fails("x = = 1", "…SyntaxError: invalid syntax\n"),
            prints("def f(x):\n    y = x + 1\n\n    return y\n", ""),
            prints("f(1)", "Out[12]: 2"),
            prints("for i in range(3):\n    print(i)", "0\n1\n2"),
            prints("d = {\n    'a': 1,\n\n    'b': 2,\n}\nd", "Out[14]: {'a': 1, 'b': 2}"),
            prints(
                "class C:\n    a = 1\n\n    def m(self):\n        return self.a\n\nC().m()",
                "Out[15]: 1",
            ),
            prints("text = '''one\n\n  two:\nthree'''\ntext", "Out[16]: 'one\\n\\n  two:\\nthree'"),
            prints("if x:\n\tprint('tab')", "tab"),
            prints("for i in range(300): print(i)", &lines.join("\n")),
            leads("name = input('Name? ')", "", "asks: Name?"),
            Step::input("Ann").behind("Name? "),
            prints("name", "Out[20]: 'Ann'"),
            leads("y = (1 +", "", "at ...: (statement open)"),
            prints("2)", ""),
            prints("y", "Out[22]: 3"),
            leads("def g():", "", "at ...: (statement open)"),
            Step::interrupt(),
            prints("%timeit -n1 -r1 pass", "…"),
            prints("import time; time.sleep(1); print('late')", "late"),
            prints(
                "import threading; threading.Timer(0.2, print, ['async']).start(); time.sleep(1)",
                "async",
            ),
            leads("time.sleep(100)", "", "still running").within(2),
            Step::interrupt(),
            Step::no_interrupt(),
            prints("6 * 7", "Out[…]: 42"),
            leads("exit", "", "left: back in bash, exit code 0"),
        ])
        .await;
    ipython.close().await;
}
