//! ghci: expressions, definitions of several lines, errors, threads.

use testkit::Step;

use crate::{fails, leads, open, prints};

#[tokio::test]
async fn ghci_answers_its_inputs() {
    let ghci = open("env LC_ALL=C.UTF-8 ghci -ignore-dot-ghci", "ghci>").await;
    let numbers: Vec<String> = (1..=40).map(|n| n.to_string()).collect();
    let factorial = "fac :: Integer -> Integer\nfac 0 = 1\nfac n = n * fac (n - 1)\n\nfac 20";
    ghci.run(&[
            Step::input("length \"a\tb\"").refused("takes a tab as a key"),
        prints("6 * 7", "42"),
        prints("let x = 5", ""),
        prints("x", "5"),
        prints("putStrLn \"hello\"", "hello"),
        prints("putStr \"no end\"", "no end"),
        prints("6 * 7", "42"),
        prints(":t map", "map :: (a -> b) -> [a] -> [b]"),
        prints(factorial, "2432902008176640000"),
        prints("let f y =\n      y + 1\nf 1", "2"),
        prints("data T = A\n       | B\n  deriving Show\nA\nB", "A\nB"),
        prints("import Data.List\nsort [3, 1, 2]", "[1,2,3]"),
        prints(":{\ny = 7\n:}\ny", "7"),
        prints("putStrLn \"漢字 🙂\"", "漢字 🙂"),
        prints("mapM_ print [1 .. 40]", &numbers.join("\n")),
        prints("replicate 300 'x'", &format!("\"{}\"", "x".repeat(300))),
        prints("putStrLn \"ghci> \"", "ghci> "),
        fails(
            "nothing",
            "\n<interactive>:…:1: error:\n    • Variable not in scope: nothing\n    • Perhaps you meant data \
             constructor ‘Nothing’ (imported from Prelude)",
        ),
        fails("1 + )", "\n<interactive>:…:5: error: parse error on input ‘)’"),
        fails("1 `div` 0", "*** Exception: divide by zero"),
        fails(":nosuch", "unknown command ':nosuch'\nuse :? for help."),
        leads(":{", "", "at ghci| (statement open)"),
        leads("z = 8", "", "at ghci| (statement open)"),
        prints(":}", ""),
        prints("z", "8"),
        prints("import Control.Concurrent\nthreadDelay 500000", ""),
        Step::no_interrupt(),
        leads("last [1 ..]", "", "still running").within(1),
        Step::interrupt(),
        leads(":quit", "Leaving GHCi.", "left: back in bash, exit code 0"),
    ])
    .await;
    ghci.close().await;
}
