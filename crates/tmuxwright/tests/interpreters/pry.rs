//! pry: numbered prompts, and a pager for long answers.

use testkit::Step;

use crate::{fails, leads, open, prints};

#[tokio::test]
async fn pry_answers_its_inputs() {
    let pry = open("pry -f --no-pager", "[1] pry(main)>").await;
    let lines: Vec<String> = (0..300).map(|n| n.to_string()).collect();
    pry.run(&[
            prints("'a\tb'.size", "=> 3"),
        prints("6 * 7", "=> 42"),
        prints("x = 5", "=> 5"),
        prints("x\n", "=> 5"),
        prints("x;", ""),
        prints("puts 'a', 'b'", "a\nb\n=> nil"),
        prints("puts \"gr\\u00fcn \\u{6f22}\"", "grün 漢\n=> nil"),
        prints("print 'no end'", "no end=> nil"),
        prints("puts 'x' * 300", &format!("{}\n=> nil", "x".repeat(300))),
        fails("1 / 0", "ZeroDivisionError: divided by 0\nfrom (pry):…"),
        fails("nothing_here", "NameError: undefined local variable or method `nothing_here' for main:Object\nfrom (pry):…"),
        fails("x = = 1", "SyntaxError: unexpected '='…"),
        prints("def f(x)\n  y = x + 1\n\n  y\nend\nf(1)", "=> :f\n=> 2"),
        prints("3.times do |i|\n  puts i\nend", "0\n1\n2\n=> 3"),
        prints("d = {\n  a: 1,\n\n  b: 2,\n}\nd[:b]", "=> {:a=>1, :b=>2}\n=> 2"),
        prints("class C\n  def m\n    1\n  end\nend\nC.new.m", "=> :m\n=> 1"),
        prints("<<~T\n  one\n\n  two\nT", "=> \"one\\n\\ntwo\\n\""),
        prints("if x == 5\n\t'tab'\nend", "=> \"tab\""),
        prints("puts (0...300).to_a", &format!("{}\n=> nil", lines.join("\n"))),
        leads("name = (print 'Name? '; gets)", "", "asks: Name?"),
        Step::input("Ann").behind("Name? ").prints("=> \"Ann\\n\""),
        leads("y = (1 +", "", "at […] pry(main)* (statement open)"),
        prints("2)", "=> 3"),
        leads("def g", "", "at […] pry(main)* (statement open)"),
        Step::interrupt(),
        prints("Thread.new { sleep 0.2; puts 'async' }; sleep 1", "async\n=> 1"),
        leads("sleep 100", "", "still running").within(2),
        Step::interrupt(),
        Step::no_interrupt(),
        leads("cd x", "", "at […] pry(5):1>"),
        leads("self", "=> 5", "at […] pry(5):1>"),
        prints("cd ..", ""),
        leads("exit", "", "left: back in bash, exit code 0"),
    ])
    .await;
    pry.close().await;
}
