//! R: numbered answers, a question before it is left.

use testkit::Step;

use crate::{fails, leads, open, prints};

#[tokio::test]
async fn r_answers_its_inputs() {
    let r = open("R --no-save --no-restore --quiet", ">").await;
    let lines: Vec<String> = (1..=300).map(|n| n.to_string()).collect();
    r.run(&[
        prints("6 * 7", "[1] 42"),
        prints("x <- 5", ""),
        prints("x\n", "[1] 5"),
        prints("cat('a\\nb\\n')", "a\nb"),
        prints("'grün 漢字 🙂'", "[1] \"grün 漢字 🙂\""),
        prints("cat('no end')", "no end"),
        prints("6 * 7", "[1] 42"),
        prints("cat(strrep('x', 300), '\\n')", &format!("{} ", "x".repeat(300))),
        prints("cat('> \\n')", "> "),
        fails("nothing()", "Error in nothing() : could not find function \"nothing\""),
        fails("x <- <- 1", "Error: unexpected assignment in \"x <- <-\""),
        fails("stop('oh')", "Error: oh"),
        prints("f <- function(x) {\n  y <- x + 1\n\n  y\n}\nf(1)", "[1] 2"),
        prints("for (i in 1:3) {\n  print(i)\n}", "[1] 1\n[1] 2\n[1] 3"),
        prints("d <- list(\n  a = 1,\n\n  b = 2\n)\nd$b", "[1] 2"),
        prints("s <- 'one\n\n  two'\nnchar(s)", "[1] 10"),
        prints("if (TRUE) {\n\tcat('tab\\n')\n}", "tab"),
        prints("cat(1:300, sep = '\\n')", &lines.join("\n")),
        leads("name <- readline('Name? ')", "", "asks: Name?"),
        Step::input("Ann").behind("Name? "),
        prints("name", "[1] \"Ann\""),
        leads("y <- (1 +", "", "at + (statement open)"),
        prints("2)", ""),
        prints("y", "[1] 3"),
        leads("g <- function() {", "", "at + (statement open)"),
        Step::interrupt(),
        leads("Sys.sleep(100)", "", "still running").within(2),
        Step::interrupt(),
        Step::no_interrupt(),
        prints("Sys.sleep(1); cat('late\\n')", "late"),
        leads("browser()", "Called from: top level ", "at Browse[1]>"),
        leads("x", "[1] 5", "at Browse[1]>"),
        prints("c", ""),
        leads("q(save = 'ask')", "", "asks: Save workspace image? [y/n/c]:"),
        Step::input("c").behind("[y/n/c]: "),
        leads("q(status = 3)", "", "left: back in bash, exit code 3"),
    ])
    .await;
    r.close().await;
}
