//! gdb: answers, questions, blocks of commands.

use testkit::Step;

use crate::{fails, leads, open, prints};

#[tokio::test]
async fn gdb_answers_its_inputs() {
    let gdb = open("gdb -q -nx", "(gdb)").await;
    gdb.run(&[
        prints("print 6 * 7", "$1 = 42"),
        prints("set $x = 5", ""),
        prints("print $x", "$2 = 5"),
        prints("print \"grün 漢字\"", "$3 = \"grün 漢字\""),
        fails("print y", "No symbol table is loaded.  Use the \"file\" command."),
        fails("frobnicate", "Undefined command: \"frobnicate\".  Try \"help\"."),
        fails("break main", "No symbol table is loaded.  Use the \"file\" command.")
            .state("asks: Make breakpoint pending on future shared library load? (y or [n])"),
        Step::input("n").behind("(y or [n]) "),
        leads("quit", "", "left: back in bash, exit code 0"),
    ])
    .await;
    gdb.close().await;
}
