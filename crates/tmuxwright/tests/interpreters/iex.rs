//! iex: expressions, blocks, errors.

use testkit::Step;

use crate::{fails, leads, open, prints};

#[tokio::test]
async fn iex_answers_its_inputs() {
    let iex = open("env LC_ALL=C.UTF-8 iex --dot-iex ''", "iex(1)>").await;
    let numbers: Vec<String> = (1..=40).map(|n| n.to_string()).collect();
    iex.run(&[
            Step::input("String.length(\"a\tb\")").refused("takes a tab as a key"),
        prints("6 * 7", "42"),
        prints("x = 5", "5"),
        prints("x", "5"),
        prints("IO.puts(\"hello\")", "hello\n:ok"),
        prints("IO.write(\"no end\")", "no end:ok"),
        prints("\"漢字 🙂\"", "\"漢字 🙂\""),
        prints("String.duplicate(\"x\", 300)", &format!("\"{}\"", "x".repeat(300))),
        prints("Enum.each(1..40, &IO.puts/1)", &format!("{}\n:ok", numbers.join("\n"))),
        prints("f = fn n ->\n  n + 1\nend\nf.(1)", "#Function<…>\n2"),
        prints("defmodule M do\n  def g(n) do\n    n * 2\n  end\nend", "{:module, M,…{:g, 1}}"),
        prints("M.g(4)", "8"),
        prints("\"a\nb\"", "\"a\\nb\""),
        prints("%{a:\n1}", "%{a: 1}"),
        prints("Process.sleep(1000)", ":ok"),
        fails("1 + )", "** (SyntaxError) iex:…:5: unexpected token: )…"),
        fails("1 / 0", "** (ArithmeticError) bad argument in arithmetic expression: 1 / 0\n    :erlang./(1, 0)…"),
        fails("raise \"oh\"", "** (RuntimeError) oh…"),
        fails("throw(:oh)", "** (throw) :oh…"),
        leads("Enum.map([1, 2],", "", "at ...(…)> (statement open)"),
        prints("fn y -> y * 2 end)", "[2, 4]"),
        leads("if true do", "", "at ...(…)> (statement open)"),
        leads("1", "", "at ...(…)> (statement open)"),
        prints("end", "1"),
        leads("IO.gets(\"Name? \")", "", "asks: Name?"),
        Step::input("Ann").behind("Name? ").prints("\"Ann\\n\""),
        Step::no_interrupt(),
        leads("System.halt(3)", "", "left: back in bash, exit code 3"),
    ])
    .await;
    iex.close().await;
}
