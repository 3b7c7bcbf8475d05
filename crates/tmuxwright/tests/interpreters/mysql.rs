//! mysql, as MariaDB's client: tables, delimiters, each kind of open statement.

use testkit::{Interpreter, Step};

use crate::database_servers::DatabaseServer;
use crate::{fails, leads, open, prints};

async fn mysql(server: &DatabaseServer) -> Interpreter {
    let socket = server.socket("s");
    let command = format!("mariadb --no-defaults -S {} -D test", socket.display());
    let create = format!("mariadb --no-defaults -S {} -e 'create database test'", socket.display());
    open(&format!("sh -c '{}; exec {command}'", create.replace('\'', "\"")), "MariaDB [test]>")
        .await
}

/// A table of one row and one column.
fn cell(name: &str, value: &str) -> String {
    let rule = format!("+-{}-+", "-".repeat(name.len().max(value.len())));
    let width = rule.len() - 4;
    format!(
        "{rule}\n| {name:<width$} |\n{rule}\n| {value:>width$} |\n{rule}\n1 row in set (… sec)\n"
    )
}

#[tokio::test]
async fn mysql_answers_its_inputs() {
    let server = DatabaseServer::mariadb();
    let mysql = mysql(&server).await;
    let rows: Vec<String> = (1..=60).map(|n| format!("| {n:>3} |")).collect();
    let rows = format!(
        "+-----+\n| seq |\n+-----+\n{}\n+-----+\n60 rows in set (… sec)\n",
        rows.join("\n")
    );
    mysql
        .run(&[
            prints("select length('glob\tx') as x;", &cell("x", "6")),
            prints("select 6 * 7;", &cell("6 * 7", "42")),
            prints("create table t(a int, b text);", "Query OK, 0 rows affected (… sec)\n"),
            prints(
                "insert into t values (1, 'one'), (2, null);\nselect *\n  from t\n  order by a;",
                "Query OK, 2 rows affected (… sec)\nRecords: 2  Duplicates: 0  Warnings: 0\n\n\
                 +------+------+\n| a    | b    |\n+------+------+\n|    1 | one  |\n|    2 | NULL |\n\
                 +------+------+\n2 rows in set (… sec)\n",
            ),
            prints("select 2;\nselect 3;", &format!("{}\n{}", cell("2", "2"), cell("3", "3"))),
            prints("select '漢字' as x;", "+--------+\n| x      |\n+--------+\n| 漢字   |\n+--------+\n1 row in set (… sec)\n"),
            prints("select 1 as x\\G", "*************************** 1. row ***************************\nx: 1\n1 row in set (… sec)\n"),
            prints("select repeat('x', 200);", "…\n1 row in set (… sec)\n"),
            prints("select seq from seq_1_to_60;", &rows),
            prints("\\! printf 'no end'", "no end"),
            fails("select nothing;", "ERROR 1054 (42S22): Unknown column 'nothing' in 'SELECT'"),
            fails("selec 1;", "ERROR 1064 (42000): You have an error in your SQL syntax; …"),
            fails("source /nonexistent", "ERROR: Failed to open file '/nonexistent', error: 2"),
            prints("delimiter //", ""),
            prints("create procedure p()\nbegin\n  select 7;\nend//", "Query OK, 0 rows affected (… sec)\n"),
            prints("delimiter ;", ""),
            prints("call p();", &format!("{}\nQuery OK, 0 rows affected (… sec)\n", cell("7", "7"))),
            prints("select sleep(0.5);", &cell("sleep(0.5)", "0")),
            prints("begin;", "Query OK, 0 rows affected (… sec)\n"),
            prints("delete from t;", "Query OK, 2 rows affected (… sec)\n"),
            prints("rollback;", "Query OK, 0 rows affected (… sec)\n"),
            prints("select count(*) from t;", &cell("count(*)", "2")),
            prints("nopager", "PAGER set to stdout"),
            leads("use mysql", "Reading table information for completion of table and column names\nYou can turn off this feature to get a quicker startup with -A\n\nDatabase changed", "at MariaDB [mysql]>"),
            leads("exit", "Bye", "left: back in bash, exit code 0"),
        ])
        .await;
    mysql.close().await;
}

#[tokio::test]
async fn mysql_says_where_it_stands() {
    let server = DatabaseServer::mariadb();
    let mysql = mysql(&server).await;
    let one = cell("1", "1");
    mysql
        .run(&[
            leads("select", "", "at -> (statement open)"),
            prints("1;", &one),
            leads("select 'a", "", "at '> (statement open)"),
            prints("' = 'a';", "…\n1 row in set (… sec)\n"),
            leads("select 1 as \"", "", "at \"> (statement open)"),
            prints("a\" \\G", "…a: 1\n1 row in set, 1 warning (… sec)\n"),
            leads("select 1 as `", "", "at `> (statement open)"),
            prints("`;", "…\n1 row in set, 1 warning (… sec)\n"),
            leads("/* comment", "", "at /*> (statement open)"),
            prints("*/ select 1;", &one),
            leads("select (", "", "at -> (statement open)"),
            Step::interrupt(),
            leads("select 1", "", "at -> (statement open)"),
            prints("\\c", ""),
            leads("select sleep(100);", "", "still running").within(1),
            Step::interrupt(),
            Step::no_interrupt(),
            prints("select 1;", &one),
        ])
        .await;
    mysql.close().await;
}
