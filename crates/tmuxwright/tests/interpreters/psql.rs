//! psql: tables, transactions, questions, and each kind of open statement.

use testkit::Step;

use crate::database_servers::DatabaseServer;
use crate::{fails, leads, open, prints};

const TABLE: &str = " a |  b  \n---+-----\n 1 | one\n 2 | \n(2 rows)\n";

async fn psql(server: &DatabaseServer) -> testkit::Interpreter {
    let command = format!("psql -X -h {} -U me postgres", server.directory().display());
    open(&command, "postgres=#").await
}

#[tokio::test]
async fn psql_answers_its_inputs() {
    let server = DatabaseServer::postgres();
    let psql = psql(&server).await;
    let numbers: Vec<String> = (1..=60).map(|n| format!("{n:>16}")).collect();
    let numbers =
        format!(" generate_series \n-----------------\n{}\n(60 rows)\n", numbers.join("\n"));
    psql.run(&[
        prints("select 6 * 7;", " ?column? \n----------\n       42\n(1 row)\n"),
        prints("\\pset pager off", "Pager usage is off."),
        prints("create table t(a int, b text);", "CREATE TABLE"),
        prints(
            "insert into t values (1, 'one'), (2, null);\nselect *\n  from t\n  order by a;",
            &format!("INSERT 0 2\n{TABLE}"),
        ),
        prints("select 2;\nselect 3;", concat!(
            " ?column? \n----------\n        2\n(1 row)\n\n",
            " ?column? \n----------\n        3\n(1 row)\n"
        )),
        prints("select '漢字 🙂' as x;", "    x    \n---------\n 漢字 🙂\n(1 row)\n"),
        prints("select E'a\\tb' as x;", "     x     \n-----------\n a       b\n(1 row)\n"),
        prints("select repeat('x', 200) as x;", "…\n(1 row)\n"),
        prints("select generate_series(1, 60);", &numbers),
        prints("\\echo -n no end", "no end"),
        prints("select 'a\tb' = E'a\\tb' as x \\gx", "-[ RECORD 1 ]\nx | t\n"),
        prints("\\! printf 'no end'", "no end"),
        fails(
            "select nothing;",
            "ERROR:  column \"nothing\" does not exist\nLINE 1: select nothing;\n               ^",
        ),
        fails("selec 1;", "ERROR:  syntax error at or near \"selec\"\nLINE 1: selec 1;\n        ^"),
        fails("\\nosuch", "invalid command \\nosuch\nTry \\? for help."),
        prints("\\i /nonexistent", "/nonexistent: No such file or directory"),
        prints("do $$\nbegin\n  raise notice 'hello';\nend\n$$;", "NOTICE:  hello\nDO"),
        prints("create function f(x int) returns int language sql as $$\n  select x + 1\n$$;", "CREATE FUNCTION"),
        prints("select f(1) as x \\gx", "-[ RECORD 1 ]\nx | 2\n"),
        prints("select pg_sleep(0.5);", " pg_sleep \n----------\n \n(1 row)\n"),
        prints("listen channel;", "LISTEN"),
        prints(
            "notify channel, 'text';",
            "NOTIFY\nAsynchronous notification \"channel\" with payload \"text\" received from server \
             process with PID ….",
        ),
        leads("\\q", "", "left: back in bash, exit code 0"),
    ])
    .await;
    psql.close().await;
}

#[tokio::test]
async fn psql_says_where_it_stands() {
    let server = DatabaseServer::postgres();
    let psql = psql(&server).await;
    let one = " ?column? \n----------\n        1\n(1 row)\n";
    psql.run(&[
        leads("select", "", "at postgres-# (statement open)"),
        prints("1;", one),
        leads("select (1", "", "at postgres(# (statement open)"),
        prints(");", one),
        leads("select 'a", "", "at postgres'# (statement open)"),
        prints("b' as x;", " x \n---\n a+\n b\n(1 row)\n"),
        leads("select 1 as \"a", "", "at postgres\"# (statement open)"),
        prints("b\" \\g (format=unaligned)", "a\nb\n1\n(1 row)"),
        leads("/* comment", "", "at postgres*# (statement open)"),
        prints("*/ select 1;", one),
        leads("select $x$", "", "at postgres$# (statement open)"),
        Step::interrupt(),
        leads("begin;", "BEGIN", "at postgres=*#"),
        leads("select 1;", one, "at postgres=*#"),
        leads("select (", "", "at postgres(*# (statement open)"),
        leads("1);", one, "at postgres=*#"),
        fails("select 1 / 0;", "ERROR:  division by zero").state("at postgres=!#"),
        fails(
            "select 1;",
            "ERROR:  current transaction is aborted, commands ignored until end of transaction block",
        )
        .state("at postgres=!#"),
        prints("rollback;", "ROLLBACK"),
        leads("\\prompt 'New value => ' name", "", "asks: New value =>"),
        Step::input("Bob").behind("New value => "),
        leads("\\prompt 'Name? ' name", "", "asks: Name?"),
        Step::input("Ann").behind("Name? "),
        prints("\\echo :name", "Ann"),
        leads("select pg_sleep(100);", "", "still running").within(1),
        Step::interrupt(),
        Step::no_interrupt(),
        fails("copy t from stdin;", "ERROR:  relation \"t\" does not exist"),
        leads("create temp table u(a int);\ncopy u from stdin;", "CREATE TABLE\nEnter data to be copied followed by a newline.\nEnd with a backslash and a period on a line by itself, or an EOF signal.", "at >> (statement open)"),
        prints("1\n2\n\\.", "COPY 2"),
        leads("\\password", "", "asks for a password"),
    ])
    .await;
    psql.close().await;
}

#[tokio::test]
async fn psql_answers_at_a_prompt_of_a_person() {
    let server = DatabaseServer::postgres();
    let directory = server.directory().display();
    let command = format!("psql -X -v 'PROMPT1=[db] %n at %/%R%# ' -h {directory} -U me postgres");
    let psql = open(&command, "[db] me at postgres=#").await;
    psql.run(&[
        prints("\\echo 1", "1"),
        prints("\\echo -n no end", "no end"),
        prints("select 1;", " ?column? \n----------\n        1\n(1 row)\n"),
    ])
    .await;
    psql.close().await;
}

#[tokio::test]
async fn psql_shows_a_pager() {
    let server = DatabaseServer::postgres();
    let psql = psql(&server).await;
    psql.run(&[
        prints("\\setenv PAGER less", ""),
        leads("select generate_series(1, 60);", "", "psql shows a full screen"),
    ])
    .await;
    psql.tmux.presses(&psql.pane, &["q"]);
    psql.run(&[prints("select 1;", " ?column? \n----------\n        1\n(1 row)\n")]).await;
    psql.close().await;
}
