//! gdb: answers, questions, blocks of commands.

use testkit::Step;

use crate::{fails, leads, open, prints};

#[tokio::test]
async fn gdb_answers_its_inputs() {
    let gdb = open("gdb -q -nx", "(gdb)").await;
    let lines: Vec<String> = (1..=300).map(|n| format!("line {n}")).collect();
    let loop_of_lines =
        "set $i = 0\nwhile $i < 300\n  set $i = $i + 1\n  printf \"line %d\\n\", $i\nend";
    gdb.run(&[
        prints("print 6 * 7", "$1 = 42"),
        prints("set $x = 5", ""),
        prints("print $x\n", "$2 = 5"),
        prints("print \"grün 漢字\"", "$3 = \"grün 漢字\""),
        prints("echo a\\nb\\n", "a\nb"),
        prints("echo no end", "no end"),
        prints("printf \"%d\\n\", 6 * 7", "42"),
        prints("", "42"),
        prints("print 6 * 7\n\nprint 6 * 8", "$4 = 42\n$5 = 48"),
        fails("print y", "No symbol table is loaded.  Use the \"file\" command."),
        fails("frobnicate", "Undefined command: \"frobnicate\".  Try \"help\"."),
        fails("print 1 +", "A syntax error in expression, near `'."),
        fails("print 1 / 0", "Division by zero"),
        prints("define twice\n  print $arg0 * 2\n\n  print $arg0 * 4\nend", "…"),
        prints("twice 3", "$6 = 6\n$7 = 12"),
        prints("set pagination off", ""),
        prints(loop_of_lines, &lines.join("\n")),
        prints("python\nfor n in range(3):\n  print(n)\n\nprint('done')\nend", "0\n1\n2\ndone"),
        prints("python print('x' * 300)", &"x".repeat(300)),
        leads("python name = input('Name? ')", "", "asks: Name?"),
        Step::input("Ann").behind("Name? "),
        prints("python print(name)", "Ann"),
        leads("if $x == 5", "", "at > (statement open)"),
        prints("print 1\nend", "$8 = 1"),
        leads("if $x == 5", "", "at > (statement open)"),
        Step::interrupt(),
        fails("break main", "No symbol table is loaded.  Use the \"file\" command.")
            .state("asks: Make breakpoint pending on future shared library load? (y or [n])"),
        Step::input("n").behind("(y or [n]) "),
        Step::no_interrupt(),
        leads("shell sleep 100", "", "still running").within(2),
        Step::interrupt(),
        prints("shell printf 'a\\nb'", "a\nb"),
        leads("quit 3", "", "left: back in bash, exit code 3"),
    ])
    .await;
    gdb.close().await;
}

#[tokio::test]
async fn gdb_asks_before_it_quits() {
    let gdb = open("gdb -q -nx --args sleep 1000", "(gdb)").await;
    gdb.run(&[
        prints("set confirm on", ""),
        leads("run", "Starting program: …", "still running").within(4),
        Step::interrupt(),
        leads(
            "quit",
            "A debugging session is active.\n\n\tInferior 1 [process …] will be killed.\n",
            "asks: Quit anyway? (y or n)",
        ),
        Step::input("n").behind("(y or n) ").prints("Not confirmed."),
        leads("kill", "", "asks: Kill the program being debugged? (y or n)"),
        Step::input("y").behind("(y or n) ").prints("[Inferior 1 (process …) killed]"),
        prints("set height 10", ""),
        leads(
            "help data",
            "…",
            "asks: --Type <RET> for more, q to quit, c to continue without paging--",
        ),
        Step::interrupt(),
        leads("quit", "", "left: back in bash, exit code 0"),
    ])
    .await;
    gdb.close().await;
}
