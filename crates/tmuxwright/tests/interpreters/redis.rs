//! redis-cli: replies, transactions, errors.

use crate::database_servers::DatabaseServer;
use crate::{fails, leads, open, prints};
use testkit::Step;

#[tokio::test]
async fn redis_answers_its_inputs() {
    let server = DatabaseServer::redis();
    let socket = server.socket("s");
    let socket = socket.display();
    let redis = open(&format!("redis-cli -s {socket}"), &format!("redis {socket}>")).await;
    let in_transaction = format!("at redis {socket}(TX)>");
    let long = "x".repeat(200);
    let numbers: Vec<String> = (1..=60).map(|n| format!("{n:>2}) \"{n}\"")).collect();
    let push: Vec<String> = (1..=60).map(|n| n.to_string()).collect();
    redis
        .run(&[
            Step::input("echo \"a\tb\"").refused("takes a tab as a key"),
            prints("ping", "PONG"),
            prints("set a 1", "OK"),
            prints("get a", "\"1\""),
            prints("get nothing", "(nil)"),
            prints("incr a", "(integer) 2"),
            prints("lpush l a b c", "(integer) 3"),
            prints("lrange l 0 -1", "1) \"c\"\n2) \"b\"\n3) \"a\""),
            prints("set u '漢字 🙂'", "OK"),
            prints("get u", "\"\\xe6\\xbc\\xa2\\xe5\\xad\\x97 \\xf0\\x9f\\x99\\x82\""),
            prints("echo \"x\\ny\"", "\"x\\ny\""),
            prints(&format!("echo {long}"), &format!("\"{long}\"")),
            prints("set x 1\nget x", "OK\n\"1\""),
            prints(&format!("rpush n {}", push.join(" ")), "(integer) 60"),
            prints("lrange n 0 -1", &numbers.join("\n")),
            fails("nosuch", "(error) ERR unknown command 'nosuch', with args beginning with: "),
            fails("get", "(error) ERR wrong number of arguments for 'get' command"),
            fails("echo 'open", "Invalid argument(s)"),
            prints("hset h a 1 b 2", "(integer) 2"),
            prints("hgetall h", "1) \"a\"\n2) \"1\"\n3) \"b\"\n4) \"2\""),
            prints("eval 'return 42' 0", "(integer) 42"),
            prints("blpop nothing 1", "(nil)\n(1.…s)"),
            leads("multi", "OK", &in_transaction),
            leads("set c 3", "QUEUED", &in_transaction),
            prints("exec", "1) OK"),
            leads("select 2", "OK", &format!("at redis {socket}[2]>")),
            prints("select 0", "OK"),
            prints("", ""),
            prints(
                "help get",
                "\n  GET key\n  summary: Get the value of a key\n  since: 1.0.0\n  group: string\n",
            ),
            Step::no_interrupt(),
            leads("quit", "", "left: back in bash, exit code 0"),
        ])
        .await;
    redis.close().await;
}
