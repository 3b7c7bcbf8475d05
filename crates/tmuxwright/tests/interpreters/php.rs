//! php -a: C-c leaves it, also within an open statement.

use testkit::Step;

use crate::{fails, leads, open, prints};

#[tokio::test]
async fn php_answers_its_inputs() {
    let php = open("php -a", "php >").await;
    let lines: Vec<String> = (0..300).map(|n| n.to_string()).collect();
    php.run(&[
        prints("echo 6 * 7;", "42"),
        prints("$x = 5;", ""),
        prints("echo $x;\n", "5"),
        prints("echo \"a\\nb\\n\";", "a\nb"),
        prints("echo \"grün 漢字 🙂\\n\";", "grün 漢字 🙂"),
        prints("echo 'no end';", "no end"),
        prints("echo strlen('strl\tx');", "6"),
        prints("echo str_repeat('x', 300), \"\\n\";", &"x".repeat(300)),
        fails("nothing();", "PHP Warning:  Uncaught Error: Call to undefined function nothing() in php shell code:1\n…"),
        fails("$x = = 1;", "…PHP Parse error:  syntax error, unexpected token \"=\" in php shell code on line 1"),
        fails("echo $undefined;", "PHP Warning:  Undefined variable $undefined in php shell code on line 1"),
        prints("function f($x) {\n  $y = $x + 1;\n\n  return $y;\n}\necho f(1), \"\\n\";", "2"),
        prints("foreach ([1, 2] as $i) {\n  echo \"$i\\n\";\n}", "1\n2"),
        prints("$d = [\n  'a' => 1,\n\n  'b' => 2,\n];\necho $d['b'];", "2"),
        prints("class C {\n  function m() {\n    return 1;\n  }\n}\necho (new C)->m();", "1"),
        prints("$s = 'one\n\n  two';\necho strlen($s);", "10"),
        prints("/* a\n comment */ echo 7;", "7"),
        prints("if ($x) {\n\techo \"tab\\n\";\n}", "tab"),
        prints("for ($i = 0; $i < 300; $i++) echo \"$i\\n\";", &lines.join("\n")),
        leads("$name = readline('Name? ');", "", "asks: Name?"),
        Step::input("Ann").behind("Name? "),
        prints("echo $name;", "Ann"),
        leads("$y = (1 +", "", "at php ( (statement open)"),
        Step::no_interrupt().state("at php ( (statement open)"),
        prints("2);", ""),
        prints("echo $y;", "3"),
        leads("sleep(100);", "", "still running").within(2),
        // C-c always ends php.
        Step::interrupt().state(""),
    ])
    .await;
    php.close().await;
}

#[tokio::test]
async fn php_is_left_with_its_exit_code() {
    let php = open("php -a", "php >").await;
    php.run(&[
        leads("$x = [", "", "at php > (statement open)"),
        Step::no_interrupt().state("at php > (statement open)"),
        prints("1];", ""),
        Step::no_interrupt(),
    ])
    .await;
    php.tmux.types(&php.pane, "$x");
    php.run(&[Step::no_interrupt().state("asks: php > $x")]).await;
    php.tmux.presses(&php.pane, &["C-u"]);
    php.run(&[
        leads("$x = readline('Name? ');", "", "asks: Name?"),
        Step::no_interrupt().state("asks: Name?"),
        Step::input("Ann").behind("Name? "),
        leads("exit", "", "left: back in bash, exit code 0"),
    ])
    .await;
    php.close().await;
}
