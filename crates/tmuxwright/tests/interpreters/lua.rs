//! lua: C-c leaves it, also within an open statement.

use testkit::Step;

use crate::{fails, leads, open, prints};

#[tokio::test]
async fn lua_answers_its_inputs() {
    let lua = open("lua", ">").await;
    let lines: Vec<String> = (1..=300).map(|n| n.to_string()).collect();
    lua.run(&[
        prints("6 * 7", "42"),
        prints("x = 5", ""),
        prints("x\n", "5"),
        prints("print('a') print('b')", "a\nb"),
        prints("'grün 漢字 🙂'", "grün 漢字 🙂"),
        prints("io.write('no end')", "no endfile (0x…)"),
        prints("io.write('no end') return", "no end"),
        prints("6 * 7", "42"),
        prints("('x'):rep(300)", &"x".repeat(300)),
        prints("print('> ')", "> "),
        fails(
            "nothing()",
            "stdin:1: attempt to call a nil value (global 'nothing')\nstack traceback:\n…",
        ),
        fails("x = = 1", "stdin:1: unexpected symbol near '='"),
        fails("error('oh')", "stdin:1: oh\nstack traceback:\n…"),
        prints("function f(x)\n  local y = x + 1\n\n  return y\nend\nf(1)", "2"),
        prints("for i = 1, 3 do\n  print(i)\nend", "1\n2\n3"),
        prints("t = {\n  a = 1,\n\n  b = 2,\n}\nt.b", "2"),
        prints("s = [[one\n\n  two]]\n#s", "10"),
        prints("if x then\n\tprint('tab')\nend", "tab"),
        prints("for i = 1, 300 do print(i) end", &lines.join("\n")),
        leads("io.write('Name? ') name = io.read()", "", "asks: Name?"),
        Step::input("Ann").behind("Name? "),
        prints("name", "Ann"),
        leads("y = (1 +", "", "at >> (statement open)"),
        Step::no_interrupt().state("at >> (statement open)"),
        prints("2)", ""),
        prints("y", "3"),
        leads("while true do end", "", "still running").within(2),
        Step::interrupt(),
        Step::no_interrupt(),
        prints("6 * 7", "42"),
        // Its end is that of the prompt.
        leads("io.write('Name> ') name = io.read()\nprint(2)", "", "asks: Name>").lines_left(1),
        Step::input("Bob").behind("Name> "),
        prints("name", "Bob"),
    ])
    .await;
    lua.tmux.types(&lua.pane, "pri");
    lua.run(&[Step::no_interrupt().state("asks: > pri")]).await;
    lua.tmux.presses(&lua.pane, &["C-u"]);
    lua.run(&[leads("os.exit(3)", "", "left: back in bash, exit code 3")]).await;
    lua.close().await;
}
