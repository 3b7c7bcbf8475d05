//! Tests of precedence and validation of settings.

use std::collections::HashSet;
use std::io::Write;

use clap::Command;

use super::*;
use crate::contract::Toolset;
use crate::policy::Ceiling;

fn resolve(args: &[&str]) -> Result<Settings, String> {
    let command = Command::new("x").args(flags()).no_binary_name(true);
    Settings::resolve(&command.try_get_matches_from(args).map_err(|e| e.to_string())?)
}

fn with_file(text: &str, args: &[&str]) -> Result<Settings, String> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let path = file.path().to_str().unwrap();
    resolve(&[&["--config", path], args].concat())
}

#[test]
fn settings_have_distinct_keys() {
    let mut seen = HashSet::new();
    for setting in SETTINGS {
        assert!(seen.insert(setting.key), "{} twice", setting.key);
        let has_env = setting.flag.is_some() || matches!(setting.kind, SettingKind::Secret(_));
        assert_eq!(has_env, !setting.env.is_empty(), "{}", setting.key);
        assert!(!setting.help.ends_with('.'), "{}", setting.key);
    }
}

#[test]
fn flag_beats_file_and_file_beats_default() {
    let settings =
        with_file("tier = \"readonly\"\nkeep = true\n[limits]\ntext = 200", &[]).unwrap();
    assert_eq!(settings.policy.ceiling, Ceiling::Readonly);
    assert_eq!((settings.keep, settings.text_limit), (true, 200));
    let settings = with_file("tier = \"readonly\"", &["--tier", "destructive"]).unwrap();
    assert_eq!(settings.policy.ceiling, Ceiling::Destructive);
    assert_eq!(settings.policy.toolset, Toolset::Agent);
}

#[test]
fn unknown_key_names_the_nearest() {
    let error = with_file("teir = \"readonly\"", &[]).unwrap_err();
    assert!(error.contains("`teir`") && error.contains("`tier`"), "{error}");
    let error = with_file("[limits]\ntxt = 5", &[]).unwrap_err();
    assert!(error.contains("`limits.txt`") && error.contains("`limits.text`"), "{error}");
}

#[test]
fn invalid_values_are_refused() {
    assert!(with_file("tier = \"everything\"", &[]).unwrap_err().contains("`tier`"));
    assert!(with_file("keep = \"perhaps\"", &[]).unwrap_err().contains("perhaps"));
    assert!(with_file("tier = [1]", &[]).unwrap_err().contains("tier"));
    assert!(with_file("tier = ", &[]).is_err());
    assert!(resolve(&["--tier", "everything"]).unwrap_err().contains("everything"));
    assert!(resolve(&["--config", "/nonexistent/file"]).unwrap_err().contains("/nonexistent/file"));
}

#[test]
fn lists_hold_only_strings() {
    assert!(with_file("[watch]\nerrors = [\"^oops\", \"x\"]", &[]).is_ok());
    let error = with_file("[watch]\nerrors = [\"(\"]", &[]).unwrap_err();
    assert!(error.contains("`watch.errors`") && error.contains("`(`"), "{error}");
    let error = with_file("[watch]\nerrors = [1]", &[]).unwrap_err();
    assert!(error.contains("`watch.errors`: expected a list of strings"), "{error}");
}

#[test]
fn switches_need_no_value() {
    assert!(resolve(&["--keep"]).unwrap().keep);
    assert!(!resolve(&["--keep=false"]).unwrap().keep);
}

#[test]
fn contradictory_policy_is_refused() {
    for (text, message) in [
        ("[policy.command_filter]\nmode = \"allow\"", "no `patterns`"),
        ("[policy.command_filter]\nmode = \"deny\"\npatterns = []", "no `patterns`"),
        ("[policy.command_filter]\npatterns = [\"x\"]", "without `mode`"),
        ("[policy.command_filter]\nmode = \"deny\"\npatterns = [\"a\", \"(\"]", "pattern 2"),
        ("[policy.command_filter]\nmode = \"denylist\"", "`denylist`"),
        ("[policy.command_filter]\nmod = \"deny\"", "`policy.command_filter.mode`"),
        ("[policy]\nallowed_session = [\"dev\"]", "`policy.allowed_sessions`"),
        ("[policy]\nallowed_panes = [\"dev\"]", "`dev`"),
        ("[policy]\nallowed_panes = [3]", "a list of strings"),
        ("[policy]\nreadable_paths = [\"x\"]", "`x`"),
        ("[policy]\nwritable_paths = [\"/a\\n/\"]", "newline"),
        ("[policy]\nenv = [\"A B\"]", "`A B`"),
        ("[policy]\nallowed_servers = []", "policy.allowed_servers"),
        ("tools = \"deny:@inputs\"", "`@input`"),
        ("tools = \"\"", "names no tool"),
    ] {
        let error = with_file(text, &["--socket", "work"]).unwrap_err();
        assert!(error.contains(message), "{text}: {error}");
    }
}

#[test]
fn only_listed_servers_are_allowed() {
    let listed = "[policy]\nallowed_servers = [\"work\", \"/tmp/x/sock\"]";
    for socket in ["work", "/tmp/x/sock"] {
        assert!(with_file(listed, &["--socket", socket]).is_ok(), "{socket}");
    }
    for socket in ["wor", "default", "/tmp/x/sock2"] {
        let error = with_file(listed, &["--socket", socket]).unwrap_err();
        assert!(error.contains("policy.allowed_servers"), "{error}");
    }
}

#[test]
fn redact_patterns_need_the_switch_and_valid_syntax() {
    let patterns = "[policy]\nredact_patterns = [\"ACME-[0-9]+\"]\n";
    let error = with_file(patterns, &[]).unwrap_err();
    assert!(error.contains("`redact = true`"), "{error}");
    assert!(with_file(patterns, &["--redact"]).is_ok());
    assert!(with_file(&format!("{patterns}redact = true\n"), &[]).is_ok());
    let error = with_file("[policy]\nredact = true\nredact_patterns = [\"(\"]", &[]).unwrap_err();
    assert!(error.contains("policy.redact_patterns") && error.contains("`(`"), "{error}");
}

#[test]
fn mistakes_in_an_interpreter_name_its_key() {
    assert!(with_file("[interpreters.toy]\nprompt = \"toy> \"\nprograms = [\"toy\"]", &[]).is_ok());
    assert!(with_file("[interpreters.psql]\nleave = \"bye\"", &[]).is_ok());
    for (text, key, message) in [
        ("[interpreters.toy]\nleave = \"x\"", "interpreters.toy.prompt", "missing"),
        ("[interpreters.toy]", "interpreters.toy", "`prompt`"),
        ("[interpreters.toy]\nprompt = \"(\"", "interpreters.toy.prompt", "unclosed group"),
        ("[interpreters.toy]\nprompt = \"\"", "interpreters.toy.prompt", "empty row"),
        ("[interpreters.toy]\nprompt = \".*\"", "interpreters.toy.prompt", "empty row"),
        ("[interpreters.toy]\nerror = \"a*\"", "interpreters.toy.error", "empty row"),
        (
            "[interpreters.toy]\nentry = \"line\"",
            "interpreters.toy.entry",
            "lines, indented, paste",
        ),
        ("[interpreters.toy]\nprograms = []", "interpreters.toy.programs", "empty"),
        ("[interpreters.toy]\nprograms = [\"a/b\"]", "interpreters.toy.programs", "`a/b`"),
        ("[interpreters.toy]\nprograms = [5]", "interpreters.toy.programs", "list of strings"),
        ("[interpreters.toy]\nleave = \"a\\nb\"", "interpreters.toy.leave", "one line"),
        (
            "[interpreters.toy]\npromt = \"x\"",
            "interpreters.toy.promt",
            "`interpreters.toy.prompt`",
        ),
        (
            "[interpreters.toy]\npromts = [5]",
            "interpreters.toy.promts",
            "`interpreters.toy.prompt`",
        ),
        ("[interpreters.toy]\nqqqqqqqq = 1", "interpreters.toy.qqqqqqqq", "continuation, entry"),
        ("[interpreters]\nprompt = \"x\"", "interpreters.prompt", "`[interpreters.NAME]`"),
        ("interpreters = 5", "interpreters", "`[interpreters.NAME]`"),
        ("[interpreters.\"a b\"]\nprompt = \"x\"", "interpreters.a b.prompt", "letters, digits"),
        ("[interpreters.a.b]\nprompt = \"x\"", "interpreters.a.b.prompt", "`a.b`"),
    ] {
        let error = with_file(text, &[]).unwrap_err();
        assert!(error.contains(&format!("`{key}`")) && error.contains(message), "{text}: {error}");
    }
}

#[test]
fn audit_paths_are_absolute_and_numbers_checked() {
    let home = PathBuf::from(std::env::var_os("HOME").unwrap());
    let audit = resolve(&["--audit", "~/a.log", "--audit-full", "b"]).unwrap().audit;
    assert_eq!(audit.file, Some(home.join("a.log")));
    assert_eq!(audit.full, Some(std::env::current_dir().unwrap().join("b")));
    let audit = with_file("[audit]\nfile = \"/a\"\nplain = true\nfiles = 2", &["--audit", ""]);
    let audit = audit.unwrap().audit;
    assert_eq!((audit.file, audit.plain, audit.files), (None, true, 2));
    for wrong in ["files = 0", "max_bytes = 10", "plain = \"perhaps\""] {
        assert!(with_file(&format!("[audit]\n{wrong}"), &[]).is_err(), "{wrong}");
    }
}

#[cfg(feature = "http")]
#[test]
fn remote_address_needs_allow_remote() {
    for address in ["127.0.0.1:1", "[::1]:1", "127.1.2.3:0", "localhost:0"] {
        assert!(resolve(&["--http", address]).unwrap().http.listen.is_some(), "{address}");
    }
    for address in ["0.0.0.0:1", "[::]:1", "192.0.2.1:1", "[::ffff:127.0.0.1]:1"] {
        let error = resolve(&["--http", address]).unwrap_err();
        assert!(error.contains(address) && error.contains("--http-allow-remote"), "{error}");
        assert!(resolve(&["--http", address, "--http-allow-remote"]).is_ok(), "{address}");
    }
    assert!(resolve(&["--http", "8080"]).unwrap_err().contains("`8080`"));
}

#[cfg(not(feature = "http"))]
#[test]
fn http_without_its_feature_is_refused() {
    let error = resolve(&["--http", "127.0.0.1:0"]).unwrap_err();
    assert!(error.contains("without the cargo feature `http`"), "{error}");
}

#[test]
fn secret_in_the_config_file_is_refused() {
    let error = with_file("[http]\ntoken = \"0123456789abcdef\"", &[]).unwrap_err();
    assert!(error.contains("`http.token_file`") && !error.contains("0123"), "{error}");
    assert!(with_file("[http]\nhosts = [\"box.lan\"]", &[]).is_ok());
    assert!(with_file("[http]\norigins = [\"box.lan\"]", &[]).unwrap_err().contains("origin"));
}

#[test]
fn servers_are_read_from_their_tables() {
    let settings = with_file(
        "[servers.build1]\nssh = \"-p 22 me@build1\"\ntier = \"readonly\"\n\
         [servers.\"a.b\"]\nvia = [\"docker\", \"exec\", \"-i\", \"box\"]\ntmux = \"/opt/tmux\"\n\
         [servers.local]\nsocket = \"work\"",
        &["--socket", "/tmp/x/sock"],
    );
    let reachable = settings.unwrap().reachable_servers();
    let names: Vec<&str> = reachable.iter().map(|server| server.name.as_str()).collect();
    assert_eq!(names[0], "default");
    assert_eq!(HashSet::from_iter(names), HashSet::from(["default", "build1", "a.b", "local"]));
    let of = |name: &str| reachable.iter().find(|server| server.name == name).unwrap();
    let destination = "me@build1".to_owned();
    let options = vec!["-p".to_owned(), "22".to_owned()];
    assert_eq!(of("build1").route, Some(Route::Ssh { options, destination }));
    assert_eq!(of("build1").ceiling, Some(Ceiling::Readonly));
    assert_eq!(of("a.b").tmux, Some("/opt/tmux".into()));
    assert!(matches!(&of("a.b").route, Some(Route::Command(words)) if words.len() == 4));
    assert_eq!(
        (&of("local").socket, &of("local").route),
        (&Some(Socket::Name("work".into())), &None)
    );
}

#[test]
fn mistakes_in_a_server_name_its_table() {
    for (text, messages) in [
        ("[servers.a]", ["`servers.a`", "`socket`, `ssh` or `via`"]),
        ("[servers.a]\ntier = \"readonly\"", ["`[servers.a]`", "`socket`, `ssh` or `via`"]),
        ("[servers.a]\nssh = \"h\"\nvia = [\"x\"]", ["`[servers.a]`", "`ssh` and `via` exclude"]),
        ("[servers.a]\nsokcet = \"x\"", ["`servers.a.sokcet`", "`servers.a.socket`"]),
        ("[servers]\nsocket = \"x\"", ["`servers.socket`", "`[servers.NAME]`"]),
        ("[servers.a]\nssh = \"\"", ["`servers.a.ssh`", "no destination"]),
        ("[servers.a]\nssh = \"-v\"", ["`servers.a.ssh`", "`-v`"]),
        ("[servers.a]\nvia = []", ["`servers.a.via`", "empty"]),
        ("[servers.a]\nvia = \"docker exec\"", ["`servers.a.via`", "list"]),
        ("[servers.a]\nsocket = \"\"", ["`servers.a.socket`", "empty"]),
        ("[servers.a]\nsocket = \"auto:/nonexistent\"", ["`servers.a.socket`", "not a directory"]),
        ("[servers.a]\nsocket = \"x\"\ntier = \"root\"", ["`servers.a.tier`", "`root`"]),
        ("[servers.default]\nsocket = \"x\"", ["`servers.default.socket`", "another name"]),
        ("[servers.\"a b\"]\nsocket = \"x\"", ["`a b`", "letters, digits"]),
        ("[servers.a]\nsocket = \"x\"\n[servers.b]\nsocket = \"x\"", ["`[servers.b]`", "the same"]),
        ("ssh = \"h\"\nvia = \"x y\"", ["`ssh` and `via`", "exclude each other"]),
        ("via = \"docker 'exec\"", ["`via`", "open quote"]),
    ] {
        let read = with_file(text, &["--socket", "work"]).map(|_| text);
        let error = read.unwrap_err();
        assert!(messages.iter().all(|message| error.contains(message)), "{text}: {error}");
    }
}

#[test]
fn allowed_servers_limit_configured_ones() {
    let tables = "[servers.a]\nsocket = \"a-socket\"\n[servers.b]\nssh = \"b\"\n[policy]\nallowed_servers = ";
    let names = |list: &str, args: &[&str]| {
        let settings = with_file(&format!("{tables}{list}"), args).unwrap();
        let servers = settings.reachable_servers().into_iter();
        servers.map(|server| server.name).collect::<Vec<_>>()
    };
    let work = ["--socket", "work"];
    assert_eq!(names("[\"work\", \"b\"]", &work), ["default", "b"]);
    assert_eq!(names("[\"work\", \"a-socket\", \"/tmp/x\"]", &work), ["default", "a", "/tmp/x"]);
    assert_eq!(names("[\"work\", \"default\"]", &work).len(), 2);
    // A server that nobody named gives way to those that are listed.
    assert_eq!(names("[\"b\"]", &[]), ["b"]);
    let error = with_file(&format!("{tables}[\"b\"]"), &work).unwrap_err();
    assert!(error.contains("policy.allowed_servers"), "{error}");
    let error = with_file(&format!("{tables}[\"b\"]"), &["--ssh", "b2"]).unwrap_err();
    assert!(error.contains("b2") && error.contains("policy.allowed_servers"), "{error}");
}

#[test]
fn project_socket_follows_from_the_directory() {
    let dir = tempfile::tempdir().unwrap();
    let of = |text: &str| resolve(&["--socket", text]).map(|settings| settings.socket.unwrap());
    let named = of(&format!("auto:{}", dir.path().display())).unwrap();
    assert!(matches!(&named, Socket::Name(name) if name.len() > 16), "{named:?}");
    assert_eq!(of(&format!("auto:{}/.", dir.path().display())).unwrap(), named);
    assert_ne!(of("auto:").unwrap(), named);
    assert!(of("auto:/nonexistent").unwrap_err().contains("not a directory"));
}

#[test]
fn configured_default_has_its_own_name() {
    let text = "[servers.home]\nsocket = \"work\"\ntier = \"readonly\"";
    let servers = with_file(text, &["--socket", "work"]).unwrap().reachable_servers();
    assert_eq!(servers.len(), 1);
    assert_eq!((servers[0].name.as_str(), servers[0].ceiling), ("home", Some(Ceiling::Readonly)));
}
