//! lldb: numbered blocks, an embedded Python, questions.

use testkit::Step;

use crate::{fails, leads, open, prints};

#[tokio::test]
async fn lldb_answers_its_inputs() {
    let lldb = open("lldb --no-lldbinit --no-use-colors", "(lldb)").await;
    let lines: Vec<String> = (0..300).map(|n| n.to_string()).collect();
    lldb.run(&[
        prints("expr 6 * 7", "(int) $0 = 42"),
        prints("expr int $x = 5", ""),
        prints("expr $x\n", "(int) $x = 5"),
        prints("", "(int) $x = 5"),
        prints("expr $x\n\nexpr $x + 1", "(int) $x = 5\n(int) $1 = 6"),
        prints("platform shell echo 'grün 漢字 🙂'", "grün 漢字 🙂"),
        prints("platform shell echo a; echo b", "a\nb"),
        prints("platform shell printf %0300d 7; echo", &format!("{}7", "0".repeat(299))),
        prints("platform shell seq 0 299", &lines.join("\n")),
        fails("expr nothing", "error: expression failed to parse:\n…"),
        fails("frobnicate", "error: 'frobnicate' is not a valid command."),
        fails("expr 1 +", "error: expression failed to parse:\n…"),
        prints("command alias twice expr 2 *", ""),
        prints("twice 3", "(int) $2 = 6"),
        prints("expr sizeof(\"a\tb\")", "(unsigned long) $3 = 4"),
        prints("breakpoint set --name main", "Breakpoint 1: no locations (pending).\n…"),
        prints(
            "breakpoint command add 1\nbt\nDONE",
            "Enter your debugger command(s).  Type 'DONE' to end.",
        ),
        fails(
            "breakpoint command list 1",
            "error: invalid target, create a target using the 'target create' command",
        ),
        leads(
            "breakpoint delete",
            "",
            "asks: About to delete all breakpoints, do you want to do that?: [Y/n]",
        ),
        Step::input("n").behind("[Y/n] ").prints("Operation cancelled..."),
        leads(
            "expr",
            "Enter expressions, then terminate with an empty line to evaluate:",
            "at 1: (statement open)",
        ),
        leads("int $y = 3;", "", "at 2: (statement open)"),
        prints("$y + 1\n\n", "…"),
        leads(
            "expr",
            "Enter expressions, then terminate with an empty line to evaluate:",
            "at 1: (statement open)",
        ),
        Step::interrupt(),
        leads("platform shell sleep 100", "", "still running").within(2),
        Step::interrupt(),
        Step::no_interrupt(),
        leads("quit 3", "", "left: back in bash, exit code 3"),
    ])
    .await;
    lldb.close().await;
}
