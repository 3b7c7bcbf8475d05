//! bc: no prompt at all, so that its reading of the terminal alone ends an answer.

use testkit::Step;

use crate::{fails, leads, open, prints};

#[tokio::test]
async fn bc_answers_its_inputs() {
    let bc = open("bc -q", "").await;
    let long = "7".repeat(200);
    let lines: Vec<String> = (1..=300).map(|n| n.to_string()).collect();
    bc.run(&[
        prints("6 * 7", "42"),
        prints("x = 5", ""),
        prints("x", "5"),
        prints("x\n", "5"),
        prints("scale = 3\n1 / 3", ".333"),
        prints("print \"no end\"", "no end"),
        prints("6 * 7", "42"),
        prints("print \"a\\nb\\n\"", "a\nb"),
        prints("\"grün 漢字\n\"", "grün 漢字"),
        prints("define f(n) {\n  auto y\n\n  y = n + 1\n  return (y)\n}\nf(1)", "2"),
        prints("for (i = 0; i < 3; i++) {\n  i\n}", "0\n1\n2"),
        prints("if (x == 5) {\n  \"five\n\"\n}", "five"),
        prints("for (i = 1; i <= 300; i++) i", &lines.join("\n")),
        prints("print \"long\\n\"; length(7 ^ 236)", "long\n200"),
        fails("1 / 0", "Runtime error (func=(main), adr=…): Divide by zero"),
        fails("1 +", "(standard_in) …: syntax error"),
        fails("g(1)", "Runtime error (func=(main), adr=…): Function g not defined."),
        prints("x = read()\n12\nx", "12"),
        prints("6 * 7 # ☃", "42"),
        prints("a[1] = 4; a[1]", "4"),
        prints(&format!("print {long}, \"\\n\""), "…"),
        Step::no_interrupt(),
        prints("while (1) {\n  1\n  break\n}", "1"),
        leads("quit", "", "left: back in bash, exit code 0"),
    ])
    .await;
    bc.close().await;
}
