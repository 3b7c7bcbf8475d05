//! pdb: an empty line repeats the last command; blocks of commands and of Python.

use testkit::{Interpreter, Step, TmuxServer};

use crate::{PROGRAM, fails, leads, prints};

const SCRIPT: &str = "import time

def f(x):
    y = x + 1
    return y

print(f(1))
name = input('Name? ')
print('end')
";

#[tokio::test]
async fn pdb_answers_its_inputs() {
    let tmux = TmuxServer::new();
    std::fs::write(tmux.home().join("script.py"), SCRIPT).unwrap();
    let pdb = Interpreter::open_on(tmux, PROGRAM, "python3 -m pdb script.py", "(Pdb)").await;
    let lines: Vec<String> = (0..300).map(|n| n.to_string()).collect();
    pdb.run(&[
        prints("6 * 7", "42"),
        prints("x = 5", ""),
        prints("p x\n", "5"),
        prints("", "5"),
        prints("'grün 漢字 🙂'", "'grün 漢字 🙂'"),
        prints("print('no end', end='')", "no end"),
        prints("!print('x' * 300)", &"x".repeat(300)),
        fails("1 / 0", "*** ZeroDivisionError: division by zero"),
        fails("nothing", "*** NameError: name 'nothing' is not defined"),
        fails("x = = 1", "*** SyntaxError: invalid syntax"),
        prints("for i in range(300): print(i)", &lines.join("\n")),
        prints("break f", "Breakpoint 1 at …script.py:3"),
        leads("commands 1", "", "at (com) (statement open)"),
        prints("p x\nend", ""),
        prints("tbreak 8\np 1", "Breakpoint 2 at …script.py:8\n1"),
        prints("continue", "1\n> …script.py(4)f()\n-> y = x + 1"),
        prints("where", "…-> y = x + 1"),
        prints("args", "x = 1"),
        prints("next", "> …script.py(5)f()\n-> return y"),
        prints("y", "2"),
        prints(
            "continue",
            "2\nDeleted breakpoint 2 at …\n> …script.py(8)<module>()\n-> name = input('Name? ')",
        ),
        leads("next", "", "asks: Name?"),
        Step::input("Ann").behind("Name? ").prints("> …script.py(9)<module>()\n-> print('end')"),
        prints("name", "'Ann'"),
        fails(
            "def g(x):",
            "*** IndentationError: expected an indented block after function definition on line 1",
        ),
        leads("time.sleep(100)", "", "still running").within(2),
        Step::interrupt(),
        Step::no_interrupt(),
        leads("interact", "*interactive*", "at >>>"),
        leads("def g(x):\n    return x + 2\n", "", "at >>>"),
        leads("g(1)", "3", "at >>>"),
        fails("exit()", "…").state("left: back in bash, exit code 1"),
    ])
    .await;
    pdb.close().await;
}
