//! Tests of redaction. The secrets are made up, and assembled at run time so that no scanner reports this
//! file as a leak.

mod examples;

use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;

use super::*;

pub(super) fn enabled() -> Redactor {
    let mut redactor = Redactor::default();
    redactor.set_enabled(true);
    redactor
}

fn redacted(text: &str) -> String {
    let mut text = text.to_owned();
    enabled().text(&mut text);
    text
}

/// A text of letters and digits.
pub(super) fn random(length: usize) -> String {
    "a1B2c3D4e5F6g7H8i9J0".chars().cycle().take(length).collect()
}

fn upper(length: usize) -> String {
    random(length).to_uppercase()
}

#[test]
fn tokens_are_found_wherever_they_stand() {
    let token = format!("ghp_{}", random(36));
    for (before, after) in [
        ("", ""),
        ("key is ", ", ok"),
        ("\"", "\""),
        ("x\n", "\ny"),
        ("漢", "字"),
        ("the token ", " is mine"),
        ("see password: (", ")"),
        ("curl -X POST https://x/", " -d a"),
    ] {
        assert_eq!(
            redacted(&format!("{before}{token}{after}")),
            format!("{before}[redacted:github_token]{after}")
        );
    }
    let text = format!("curl https://{token}@x -u me:pw {token}");
    assert!(!redacted(&text).contains("ghp_") && !redacted(&text).contains("me:pw"), "{text}");
}

#[test]
fn colours_do_not_hide_a_secret() {
    let (head, tail) = ("ghp_a1B2c3D4", "e5F6g7H8i9J0e5F6g7H8i9J0");
    let text = format!("\u{1b}[31mred \u{1b}[1m{head}\u{1b}[0;32m{tail}\u{1b}[0m end");
    let shown = "\u{1b}[31mred \u{1b}[1m[redacted:github_token]\u{1b}[0;32m\u{1b}[0m end";
    assert_eq!(redacted(&text), shown);
    let mut lines = json!([format!("a \u{1b}[1m{head}\u{1b}[0m{tail}"), "b"]);
    assert_eq!(enabled().value(&mut lines), 1);
    assert_eq!(lines, json!(["a \u{1b}[1m[redacted:github_token]\u{1b}[0m", "b"]));
}

#[test]
fn values_of_telling_names_are_redacted() {
    let table = [
        ("DB_PASSWORD=hunter", "DB_PASSWORD=[redacted:password]"),
        ("password=a,b&x=1", "password=[redacted:password]&x=1"),
        ("password: hunter", "password: [redacted:password]"),
        ("  password: hunter  # db", "  password: [redacted:password]  # db"),
        (r#"{"password":"p w","n":1}"#, r#"{"password":"[redacted:password]","n":1}"#),
        (r#""{\"api_key\": \"abc\"}""#, r#""{\"api_key\": \"[redacted:key]\"}""#),
        (r#"PASSWORD="a\"b \\" x"#, r#"PASSWORD="[redacted:password]" x"#),
        ("api-key: 'k'", "api-key: '[redacted:key]'"),
        ("aws_secret_access_key = wJalr+K7/x", "aws_secret_access_key = [redacted:secret]"),
        ("client_secret => \"x y\"", "client_secret => \"[redacted:secret]\""),
        ("export TOKEN='$x'; GH_TOKEN=\"abc\"", "export TOKEN='$x'; GH_TOKEN=\"[redacted:token]\""),
        ("login --password s3cr3t! now", "login --password [redacted:password] now"),
        ("login --db-token=abc now", "login --db-token=[redacted:token] now"),
        ("SECRET_KEY=a(b", "SECRET_KEY=[redacted:secret]"),
        ("https://x/?access_token=abc&n=1", "https://x/?access_token=[redacted:token]&n=1"),
        ("Authorization: Bearer abc", "Authorization: Bearer [redacted:authorization]"),
        ("authorization: basic dXNlcjpw", "authorization: basic [redacted:authorization]"),
        ("-H 'Authorization: token x' u", "-H 'Authorization: token [redacted:authorization]' u"),
        ("postgres://me:p@ss:w@db/x", "postgres://me:[redacted:url_password]@db/x"),
        ("redis://:pw@h", "redis://:[redacted:url_password]@h"),
        ("{token: abc123def456ghi7, n: 1}", "{token: [redacted:token], n: 1}"),
        ("-H 'X-Api-Key: k3y9z8' https://x", "-H 'X-Api-Key: [redacted:key]' https://x"),
        ("X-Auth-Token:abc123def456ghi7", "X-Auth-Token:[redacted:token]"),
        ("login --password hunter! now", "login --password [redacted:password] now"),
        ("Cookie: a=b; c=d", "Cookie: a=[redacted:cookie]"),
        ("curl -u 'me:p w' x", "curl -u 'me:[redacted:command_password]' x"),
        ("curl --user=me:pw x", "curl --user=me:[redacted:command_password] x"),
        ("curl a \\\n -u me:pw", "curl a \\\n -u me:[redacted:command_password]"),
        ("htpasswd -nb me pw", "htpasswd -nb me [redacted:command_password]"),
        ("machine x login me password pw", "machine x login me password [redacted:netrc_password]"),
    ];
    for (text, expected) in table {
        assert_eq!(redacted(text), expected);
    }
    let bearer = format!("sent bearer {}", random(20));
    assert_eq!(redacted(&bearer), "sent bearer [redacted:authorization]");
    let url = format!("https://{}@host/", random(40));
    assert_eq!(redacted(&url), "https://[redacted:url_password]@host/");
}

#[test]
fn text_about_secrets_is_left_alone() {
    for text in [
        "Password: ",
        "Password:\n$ ",
        "[sudo] password for me: ",
        "Enter passphrase for key '/home/me/.ssh/id_ed25519': ",
        "password:",
        "PASSWORD=\nX=1",
        "PASSWORD=$DB_PASSWORD",
        "PASSWORD=\"${X}\" TOKEN=<token>",
        "password: ********",
        "password = None",
        "/etc/passwd:root:x:0:0",
        "PWD=/home/me",
        "OLDPWD=/tmp",
        "let token = lexer.next_token();",
        "fn f(token: &str, password: Option<String>) -> Token {",
        "token: String,",
        "password: str",
        "connect(password=password, token=self.token)",
        "max_tokens=4096",
        "tokens: 512",
        "\"tokenizer\": \"gpt2\"",
        "token_type: bearer1",
        "SECRET_NAME=db",
        "password_file=/run/secrets/db",
        "syntax error: unexpected token: foo",
        "use --password to set one, or --token FILE",
        "the secret of x is y",
        "https://example.com:8080/a@b",
        "ssh://git@github.com/x",
        "git@github.com:me/x.git",
        "sk-learn-something-quite-long-as-a-name",
        "task-1234567890abcdefghijkl",
        "eyJ is how it begins: eyJhbGciOiJ9",
        "commit 3f1c9e0d4b5a69788796a5b4c3d2e1f001234567",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "-----BEGIN CERTIFICATE-----\nMIIBIjANBgkqhkiG9w0BAQ\n-----END CERTIFICATE-----",
        "grep 'BEGIN RSA PRIVATE KEY'",
        "-----BEGIN RSA PRIVATE KEY-----\n$ ls",
        "Authorization: required",
        "[redacted:token] and password=[redacted:password]",
        "550e8400-e29b-41d4-a716-446655440000",
        "VGhpcyBpcyBvcmRpbmFyeSB0ZXh0IGluIGJhc2U2NA==",
        "curl -u me https://x",
        "curl --user-agent me:1 https://x",
        "wget --password-file=/run/pw",
        "sort -u a:b",
    ] {
        assert_eq!(redacted(text), text);
    }
}

fn pem(lines: usize) -> String {
    let body: String = (0..lines).map(|_| format!("{}\n", random(64))).collect();
    format!("-----BEGIN RSA PRIVATE KEY-----\n{body}{}==\n-----END RSA PRIVATE KEY-----", random(6))
}

#[test]
fn private_key_is_redacted_whole_or_in_part() {
    let expected = "-----BEGIN RSA PRIVATE KEY-----[redacted:private_key]";
    let lines = |number: usize| format!("{expected}{}", "\n".repeat(number));
    assert_eq!(redacted(&format!("a\n{}\nb", pem(5))), format!("a\n{}\nb", lines(7)));
    assert_eq!(redacted(&pem(5).replace('\n', "\r\n")), lines(7));
    assert_eq!(redacted(&pem(5).replace('\n', "\\n")), expected);
    assert_eq!(redacted(&pem(5).replace('\n', " ")), expected);
    let numbered: Vec<String> =
        pem(3).lines().zip(1..).map(|(line, n)| format!("     {n}\t{line}")).collect();
    assert_eq!(redacted(&numbered.join("\n")), format!("     1\t{}", lines(5)));
    let encrypted = pem(2).replacen('\n', "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES,1F\n\n", 1);
    assert_eq!(redacted(&encrypted), lines(7));

    let whole = pem(5);
    let (head, tail) = whole.split_at(200);
    assert_eq!(redacted(&format!("{head}\n$ ls")), format!("{}\n$ ls", lines(3)));
    assert_eq!(
        redacted(&format!("$ cat key\n{tail}\n$")),
        "$ cat key\n[redacted:private_key]\n\n\n\n-----END RSA PRIVATE KEY-----\n$"
    );
}

#[test]
fn json_values_are_searched_with_their_names() {
    let token = format!("ghp_{}", random(36));
    let mut value = json!({
        "environment": {"DB_PASSWORD": "hunter", "HOME": "/root", "EMPTY_TOKEN": ""},
        "variables": [{"name": "API_KEY", "value": "x"}, {"name": "EDITOR", "value": "vi"}],
        "output": format!("a\n{token}\n"),
        "n": 1,
        "cursor": "0.1.2",
    });
    assert_eq!(enabled().value(&mut value), 3);
    assert_eq!(
        value,
        json!({
            "environment": {"DB_PASSWORD": "[redacted:password]", "HOME": "/root", "EMPTY_TOKEN": ""},
            "variables": [{"name": "API_KEY", "value": "[redacted:key]"}, {"name": "EDITOR", "value": "vi"}],
            "output": "a\n[redacted:github_token]\n",
            "n": 1,
            "cursor": "0.1.2",
        })
    );

    let lines: Vec<String> =
        format!("a 漢\n{}\nb {token} c", pem(2)).lines().map(str::to_owned).collect();
    let mut value = json!(lines);
    assert_eq!(enabled().value(&mut value), 2);
    let expected = [
        "a 漢",
        "-----BEGIN RSA PRIVATE KEY-----[redacted:private_key]",
        "",
        "",
        "",
        "",
        "b [redacted:github_token] c",
    ];
    assert_eq!(value, json!(expected));
}

#[test]
fn own_patterns_apply_and_invalid_ones_are_named() {
    let mut redactor = enabled();
    redactor.set_patterns(["ACME-[0-9]+", "hunter"]).unwrap();
    let mut text = "ACME-12 password=hunter2 huntermost".to_owned();
    assert_eq!(redactor.text(&mut text), 3);
    assert_eq!(text, "[redacted:own] password=[redacted:password] [redacted:own]most");
    assert!(redactor.set_patterns(["("]).unwrap_err().contains("`(`"));
    assert!(redactor.set_patterns(["x*"]).unwrap_err().contains("`x*`"));
}

#[test]
fn disabled_redactor_changes_nothing() {
    let mut text = format!("ghp_{}", random(36));
    let before = text.clone();
    assert_eq!(Redactor::default().text(&mut text), 0);
    assert_eq!(text, before);
    assert_eq!(Redactor::default().value(&mut json!({"password": "x"})), 0);
}

/// Texts for which a careless search takes quadratic time.
fn hostile(length: usize) -> Vec<String> {
    let pieces = [
        "token=$",
        "token: a ",
        "token=\"$",
        "eyJ-",
        "eyJaaaaaaa.",
        "://a:",
        "authorization:",
        "bearer ",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "SG.aaaaaaaaaaaaaaaaa-",
        "--token ",
        "password",
        "sk-aaaaaaaaaaaaaaaaaaaa-",
        " \t",
        "漢token=$",
        "password: ((",
        "aaaaaaaaaaaaaaaaaaaa\n-----END PRIVATE KEY-----",
        "authorization: a ",
        "cookie:",
        "cookie: a=",
        "curl -u ",
        "curl a -u b:",
        "machine a login b password $",
        "REDISCLI_AUTH=$",
        "<password>$",
        ";password=$",
        "&sig=a",
        "$6$",
        "\u{1b}[1m",
        "\u{1b}[1",
        "\u{1b}[1mtoken=a1b2c3 ",
    ];
    pieces.map(|piece| piece.repeat(length / piece.len())).to_vec()
}

/// The CPU time of this thread to search a text, so that other load does not count. The least of three: a
/// cold cache counts as well.
fn search_time(text: &str) -> Duration {
    let now = || {
        let now = clock_gettime(ClockId::ThreadCPUTime);
        Duration::try_from(now).unwrap()
    };
    let times = [(); 3].map(|()| {
        let started = now();
        enabled().find(text);
        now() - started
    });
    times.into_iter().min().unwrap()
}

#[test]
fn search_time_is_linear_for_hostile_text() {
    search_time("x");
    for (little, much) in hostile(500).into_iter().zip(hostile(8_000)) {
        let (once, more) = (search_time(&little), search_time(&much));
        let limit = once * 60 + Duration::from_millis(10);
        assert!(more < limit, "{:?} {once:?} {more:?}", little.get(..16));
    }
}

fn piece() -> impl Strategy<Value = String> {
    let pieces = select(vec![
        "password",
        "token",
        "=",
        ": ",
        "\"",
        "\\\"",
        "'",
        "\n",
        " ",
        "://",
        "@",
        ":",
        "eyJhbGciOiJ9",
        ".",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "MIIEvQIBADANBgkqhkiG9w0",
        "ghp_",
        "a1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F6g7H8i9J0",
        "Authorization",
        "Bearer ",
        "[redacted:",
        "]",
        "漢",
        "--",
        "&",
        "sk-",
        "x",
        "\\n",
    ]);
    prop_oneof![4 => pieces.prop_map(str::to_owned), 1 => ".{0,4}"]
}

proptest! {
    #[test]
    fn replacement_is_never_redacted_again(pieces in vec(piece(), 0..24)) {
        let mut text = pieces.concat();
        let before = text.clone();
        let count = enabled().text(&mut text);
        prop_assert_eq!(count == 0, text == before);
        enabled().text(&mut text);
        prop_assert!(!text.contains("[redacted:[redacted:") || before.contains("[redacted:"), "{}", text);
    }

    #[test]
    fn list_is_searched_like_its_joined_text(lines in vec(vec(piece(), 0..6), 0..8)) {
        let lines: Vec<String> = lines.iter().map(|pieces| pieces.concat().replace('\n', " ")).collect();
        let mut text = lines.join("\n");
        let mut value = json!(lines);
        prop_assert_eq!(enabled().value(&mut value), enabled().text(&mut text));
        prop_assert_eq!(value.as_array().unwrap().len(), lines.len());
    }

    /// Cursors and ids never change, whatever their digits are.
    #[test]
    fn cursor_is_not_a_secret(cursor in "[0-9]{1,3}(\\.[0-9a-z]{1,6}){5}\\.[0-9a-zA-Z_~.-]{0,200}", id in "c[0-9]{1,9}|%[0-9]{1,4}") {
        let text = format!("text:x · 2.3 s · {id} prompt · command {id} · cursor {cursor}\n");
        prop_assert_eq!(redacted(&text), text.clone());
        let mut value = json!({"cursor": &cursor, "command_id": &id, "next": {"cursor": [&cursor]}});
        prop_assert_eq!(enabled().value(&mut value), 0);
    }
}
