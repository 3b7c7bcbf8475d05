//! duckdb: tables, open statements without a prompt, errors.

use testkit::Step;

use crate::{fails, leads, open, prints};

#[tokio::test]
async fn duckdb_answers_its_inputs() {
    let duckdb = open("duckdb -no-init", "memory D").await;
    let numbers: Vec<String> = (0..40).map(|n| n.to_string()).collect();
    let long = "x".repeat(60);
    duckdb
        .run(&[
            Step::input("select length('a\tb');").refused("takes a tab as a key"),
            prints("select 6 * 7;", "┌─────────┐\n│ (6 * 7) │\n│  int32  │\n├─────────┤\n│      42 │\n└─────────┘"),
            prints(".mode list", ""),
            prints(".headers off", ""),
            prints("create table t(a int, b text);", ""),
            prints("insert into t values (1, 'one'), (2, null);\nselect *\n  from t\n\n  order by a;", "1|one\n2|NULL"),
            prints("select 2;\nselect 3;", "2\n3"),
            prints("select '漢字 🙂';", "漢字 🙂"),
            prints(&format!("select '{long}';"), &long),
            prints("from range(40);", &numbers.join("\n")),
            prints(".print hello", "hello"),
            prints(".shell printf noend", "noend"),
            fails(
                "select nothing;",
                "Binder Error:\nReferenced column \"nothing\" was not found because the FROM clause is missing\n\n\
                 LINE 1: select nothing;\n               ^",
            ),
            fails("selec 1;", "Parser Error:\nsyntax error at or near \"selec\"\n\nLINE 1: selec 1;\n        ^"),
            fails(".nosuch", "Unknown Command Error:\nUnrecognized command 'nosuch'…"),
            leads("select", "", "statement open"),
            prints("4;", "4"),
            leads("select 'a", "", "statement open"),
            prints("b';", "a\nb"),
            leads("select (1,", "", "statement open"),
            Step::interrupt(),
            leads("/* comment", "", "statement open"),
            prints("*/ select 5;", "5"),
            prints("begin;", ""),
            prints("delete from t;", "…"),
            prints("rollback;", ""),
            prints("select count(*) from t;", "2"),
            leads("attach ':memory:' as other;\nuse other;", "", "at other D"),
            // A failed statement decides the exit code.
            leads(".quit", "", "left: back in bash, exit code 1"),
        ])
        .await;
    duckdb.close().await;
}
