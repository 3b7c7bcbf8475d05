//! Tests of options, environment, hooks and formats: values are exact, stay in their scope, and start
//! no program.

#![expect(clippy::indexing_slicing, reason = "helpers fail like tests")]

use serde_json::{Value, json};
use testkit::{Mcp, Person, TmuxServer};

use crate::serve;
use crate::support::{keys, string};

/// Values that tmux or a shell could interpret.
const HOSTILE_VALUES: &[&str] = &[
    "plain",
    "",
    " ",
    "'",
    "\"",
    "\\",
    "~/x",
    "-v",
    "a;b ;",
    ";",
    "$HOME \\$HOME ${x} $ \\ $",
    "it's \"quoted\" `id`",
    "tab\there\nand a line",
    "#S #{pane_id} (x) 50% %d",
    "漢字 🙂 é",
    "{ 'x' } %if",
];

/// The only option in a result of `show_option`.
async fn shown_option(mcp: &Mcp, arguments: Value) -> Value {
    let answer = mcp.call("show_option", arguments).await.ok();
    assert_eq!(answer["options"].as_array().unwrap().len(), 1, "{answer}");
    answer["options"][0].clone()
}

#[tokio::test]
async fn option_values_are_set_exactly() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let long = "x y\"".repeat(5_000);
    for value in HOSTILE_VALUES.iter().copied().chain([long.as_str()]) {
        let set = json!({"name": "@mine", "value": value, "target": "main"});
        let set = mcp.call("set_option", set).await.ok();
        assert_eq!(set["value"].as_str().unwrap_or_default(), value);
        assert!(!keys(&set).contains(&"inherited"), "{set}");
        assert_eq!((&set["scope"], &set["session_id"]), (&json!("session"), &json!("$0")));
        let option = shown_option(&mcp, json!({"name": "@mine", "target": "main"})).await;
        assert_eq!(option["value"].as_str().unwrap_or_default(), value);
        let set = json!({"name": "status-left", "value": value, "global": true});
        mcp.call("set_option", set).await.ok();
        let option = shown_option(&mcp, json!({"name": "status-left", "target": "main"})).await;
        assert_eq!(option["value"].as_str().unwrap_or_default(), value);
        assert_eq!(option["inherited"], true);
    }
    mcp.close().await;
}

#[tokio::test]
async fn option_is_set_and_unset_in_its_scope() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let option = shown_option(&mcp, json!({"name": "mouse", "target": "%0"})).await;
    assert_eq!(option, json!({"name": "mouse", "value": "off", "inherited": true}));
    let set = json!({"name": "mouse", "value": "on", "target": "%0"});
    let set = mcp.call("set_option", set).await.ok();
    assert_eq!(
        set,
        json!({"name": "mouse", "value": "on", "scope": "session", "session_id": "$0"})
    );
    assert_eq!(tmux.tmux(&["show-options", "-v", "-t", "=main:", "mouse"]), "on");
    assert_eq!(tmux.tmux(&["show-options", "-gv", "mouse"]), "off");
    let unset = mcp.call("set_option", json!({"name": "mouse", "target": "main"})).await.ok();
    assert_eq!((&unset["value"], &unset["inherited"]), (&json!("off"), &json!(true)));
    assert_eq!(tmux.tmux(&["show-options", "-t", "=main:", "mouse"]), "");
    for (arguments, at) in [
        (json!({"name": "window-style", "value": "bold", "target": "%0"}), ("window_id", "@0")),
        (
            json!({"name": "window-style", "value": "bold", "target": "main", "scope": "pane"}),
            ("pane_id", "%0"),
        ),
        (json!({"name": "@u", "value": "1", "target": "%0"}), ("pane_id", "%0")),
        (json!({"name": "@u", "value": "1", "target": "@0"}), ("window_id", "@0")),
        // Without a target: the only session.
        (json!({"name": "@u", "value": "1"}), ("session_id", "$0")),
        (json!({"name": "escape-time", "value": "7"}), ("scope", "server")),
        (json!({"name": "@u", "value": "1", "global": true}), ("scope", "session")),
    ] {
        let set = mcp.call("set_option", arguments).await.ok();
        assert_eq!(set[at.0], at.1, "{set}");
    }
    assert_eq!(tmux.tmux(&["show-options", "-sv", "escape-time"]), "7");
    tmux.new_session("other");
    let set = mcp.call("set_option", json!({"name": "@u", "value": "1"})).await;
    let error = set.err("invalid_argument");
    assert!(error.contains("global: true"), "{error}");
    // With several sessions and no target, `show_option` reads the global value.
    let option = mcp.call("show_option", json!({"name": "mouse"})).await.ok();
    assert_eq!(option["global"], true);
    mcp.close().await;
}

#[tokio::test]
async fn array_options_are_shown_item_by_item() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let set = json!({"name": "status-format", "value": "A", "target": "main"});
    let set = mcp.call("set_option", set).await.ok();
    assert_eq!(set["values"], json!(["A"]));
    let set = json!({"name": "status-format[7]", "value": "it's \"C\"", "target": "main"});
    assert_eq!(mcp.call("set_option", set).await.ok()["value"], "it's \"C\"");
    let all = mcp.call("show_option", json!({"name": "status-format", "target": "main"})).await;
    let all: Vec<String> =
        all.ok()["options"].as_array().unwrap().iter().map(|o| string(&o["name"])).collect();
    assert_eq!(all, ["status-format[0]", "status-format[7]"]);
    let one = json!({"name": "status-format[7]", "target": "main"});
    assert_eq!(shown_option(&mcp, one).await["value"], "it's \"C\"");
    let none = json!({"name": "status-format[5]", "target": "main"});
    mcp.call("show_option", none).await.err("not_found");
    let alias = mcp.call("show_option", json!({"name": "command-alias"})).await.text();
    assert!(alias.contains("\ncommand-alias[0]=split-pane=split-window\n"), "{alias}");
    mcp.close().await;
}

#[tokio::test]
async fn all_options_of_a_scope_are_listed() {
    let tmux = TmuxServer::new();
    tmux.tmux(&["set-option", "-g", "@with blank", "a b"]);
    let mcp = serve(&tmux).await;
    for (arguments, name) in [
        (json!({"scope": "server"}), "buffer-limit"),
        (json!({"target": "main"}), "status-left"),
        (json!({"target": "@0"}), "mode-keys"),
        (json!({"target": "%0"}), "remain-on-exit"),
        (json!({"global": true}), "@with blank"),
        (json!({"scope": "window", "global": true}), "mode-keys"),
    ] {
        let all = mcp.call("show_option", arguments.clone()).await.ok();
        let names: Vec<&str> =
            all["options"].as_array().unwrap().iter().filter_map(|o| o["name"].as_str()).collect();
        assert!(names.contains(&name), "{arguments} {names:?}");
    }
    let option = shown_option(&mcp, json!({"name": "@with blank", "global": true})).await;
    assert_eq!(option["value"], "a b");
    mcp.close().await;
}

#[tokio::test]
async fn invalid_option_names_and_values_are_named() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for (name, near) in
        [("mous", "`mouse`"), ("status-rigth", "`status-right`"), ("x", "show_option")]
    {
        for tool in ["show_option", "set_option"] {
            let error = mcp.call(tool, json!({"name": name})).await.err("not_found");
            assert!(error.contains(near) && error.contains(name), "{error}");
        }
    }
    mcp.call("show_option", json!({"name": "@nobody", "target": "main"})).await.err("not_found");
    for (arguments, words) in [
        (json!({"name": "mouse", "value": "maybe"}), "maybe"),
        (json!({"name": "mouse", "value": "on", "scope": "window"}), "is a session option"),
        (json!({"name": "mode-keys", "value": "vi", "scope": "pane"}), "is a window option"),
        (json!({"name": "mode-keys", "value": "vi", "scope": "server"}), "is a window option"),
        (
            json!({"name": "remain-on-exit", "value": "on", "scope": "pane", "global": true}),
            "panes have no global",
        ),
        (json!({"name": "mouse[1]", "value": "on"}), "not an array"),
    ] {
        let error = mcp.call("set_option", arguments).await.err("invalid_argument");
        assert!(error.contains(words) && error.contains("Next: "), "{error}");
    }
    mcp.close().await;
}

#[tokio::test]
async fn no_option_starts_a_program() {
    let tmux = TmuxServer::new();
    // An attached client, so that tmux draws the status line.
    let _person = Person::attach(&tmux, "main", 90, 30);
    let mcp = serve(&tmux).await;
    let file = tmux.home().join("ran");
    let job = format!("#(touch {})", file.display());
    for value in [
        job.clone(),
        format!("#{{?pane_active,{job},}}"),
        format!("##{job}"),
        format!("#{job}"),
        "#{E:@x}".to_owned(),
    ] {
        for name in ["status-right", "@mine", "status-style"] {
            let set = json!({"name": name, "value": value, "global": true});
            mcp.call("set_option", set).await.err("invalid_argument");
        }
    }
    for name in ["after-new-window", "after-new-window[0]", "pane-died", "session-created"] {
        let set = json!({"name": name, "value": "run-shell true", "global": true});
        let error = mcp.call("set_option", set).await.err("denied");
        assert!(error.contains("is a hook"), "{error}");
    }
    // tmux itself accepts the beginning of a name.
    let set = json!({"name": "after-new-w", "value": "run-shell true", "global": true});
    mcp.call("set_option", set).await.err("not_found");
    for name in ["@mcp_owner", "@mcp_home", "@mcp_x"] {
        let set = json!({"name": name, "value": "x", "target": "main"});
        mcp.call("set_option", set).await.err("denied");
    }
    // tmux expands names as formats, too.
    for name in [format!("@{job}"), job.clone()] {
        let set = json!({"name": name, "value": "x", "target": "main"});
        let _ = mcp.call("set_option", set).await;
        let _ = mcp.call("show_option", json!({"name": name})).await;
    }
    tmux.tmux(&["run-shell", "true"]);
    assert!(!file.exists());
    mcp.close().await;
}

#[tokio::test]
async fn environment_is_exact_and_reaches_new_panes() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for value in HOSTILE_VALUES.iter().chain(&["#(id) ##{x} #", "50%p #"]) {
        let set = json!({"name": "MINE", "value": value, "target": "main"});
        let set = mcp.call("set_environment", set).await.ok();
        assert_eq!(set["session_id"], "$0");
        let shown = mcp.call("show_environment", json!({"name": "MINE"})).await.ok();
        let shown = &shown["variables"][0];
        assert_eq!(shown["value"].as_str().unwrap_or_default(), *value);
        assert!(!keys(shown).contains(&"inherited"), "{shown}");
    }
    let set = json!({"name": "MINE", "value": "a\nb", "target": "main"});
    mcp.call("set_environment", set).await.ok();
    let made = json!({"target": "main", "command": "printf '[%s]' \"$MINE\"; exec cat"});
    let pane = string(&mcp.call("create_window", made).await.ok()["pane_id"]);
    crate::support::shows(&mcp, &pane, "[a\nb]").await;
    let unset = mcp.call("set_environment", json!({"name": "MINE", "target": "main"})).await.ok();
    assert_eq!(unset["value"], Value::Null);
    mcp.call("show_environment", json!({"name": "MINE"})).await.err("not_found");
    mcp.close().await;
}

#[tokio::test]
async fn inherited_and_removed_variables_are_marked() {
    let tmux = TmuxServer::new();
    tmux.tmux(&["set-environment", "-g", "BOTH", "global"]);
    tmux.tmux(&["set-environment", "-t", "=main:", "BOTH", "session"]);
    tmux.tmux(&["set-environment", "-t", "=main:", "-r", "GONE"]);
    tmux.tmux(&["set-environment", "-h", "-t", "=main:", "HIDDEN", "x"]);
    let mcp = serve(&tmux).await;
    let all = mcp.call("show_environment", json!({"target": "main"})).await.ok();
    let find = |name: &str| {
        all["variables"].as_array().unwrap().iter().find(|v| v["name"] == name).cloned()
    };
    assert_eq!(find("BOTH").unwrap(), json!({"name": "BOTH", "value": "session"}));
    assert_eq!(find("GONE").unwrap(), json!({"name": "GONE", "removed": true}));
    assert_eq!(find("HOME").unwrap()["inherited"], true);
    assert_eq!(find("HIDDEN"), None);
    let global = mcp.call("show_environment", json!({"name": "BOTH", "global": true})).await.ok();
    assert_eq!(global["variables"], json!([{"name": "BOTH", "value": "global"}]));
    let text = mcp.call("show_environment", json!({"name": "GONE", "target": "main"})).await.text();
    assert_eq!(text, "session $0 · 1 variable\nGONE · removed");
    for name in ["", "A=B", "-g", "@mcp_owner", "pane_id"] {
        let set = json!({"name": name, "value": "x", "global": true});
        mcp.call("set_environment", set).await.err("invalid_argument");
    }
    let set = json!({"name": "MINE", "value": "-u", "global": true});
    mcp.call("set_environment", set).await.ok();
    assert_eq!(tmux.tmux(&["show-environment", "-g", "MINE"]), "MINE=-u");
    mcp.close().await;
}

#[tokio::test]
async fn hooks_are_shown_with_their_commands() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let text = mcp.call("show_hooks", json!({"target": "main"})).await.text();
    assert_eq!(text, "no hooks");
    let command = "display-message \"a \\$x\"";
    tmux.tmux(&["set-hook", "-g", "after-rename-session", command]);
    tmux.tmux(&["set-hook", "-g", "after-rename-session[3]", "list-panes"]);
    tmux.tmux(&["set-hook", "-w", "-t", "@0", "pane-focus-in", "list-panes"]);
    let all = mcp.call("show_hooks", json!({"target": "main"})).await.ok();
    assert_eq!(
        all["hooks"],
        json!([
            {"name": "after-rename-session[0]", "command": command, "scope": "session", "global": true},
            {"name": "after-rename-session[3]", "command": "list-panes", "scope": "session", "global": true},
            {"name": "pane-focus-in[0]", "command": "list-panes", "scope": "window"},
        ])
    );
    let count = async |arguments| {
        mcp.call("show_hooks", arguments).await.ok()["hooks"].as_array().unwrap().len()
    };
    assert_eq!(count(json!({})).await, 2);
    assert_eq!(count(json!({"target": "main", "scope": "window"})).await, 1);
    assert_eq!(count(json!({"target": "main", "global": true})).await, 2);
    assert_eq!(count(json!({"name": "after-rename-session"})).await, 2);
    assert_eq!(count(json!({"name": "after-rename-session[3]"})).await, 1);
    assert_eq!(count(json!({"name": "session-created"})).await, 0);
    let error = mcp.call("show_hooks", json!({"name": "after-rename"})).await.err("not_found");
    assert!(error.contains("did you mean `after-rename-"), "{error}");
    mcp.call("show_hooks", json!({"scope": "server"})).await.err("invalid_argument");
    mcp.call("show_hooks", json!({"scope": "pane"})).await.err("invalid_argument");
    let error = mcp.call("show_option", json!({"name": "pane-died"})).await.err("invalid_argument");
    assert!(error.contains("show_hooks"), "{error}");
    mcp.close().await;
}

#[tokio::test]
async fn eval_format_expands_like_tmux() {
    let tmux = TmuxServer::new();
    tmux.tmux(&["set-option", "-g", "@mine", "line\nend $HOME \\$HOME \\ $ #{pane_id} 漢"]);
    let mcp = serve(&tmux).await;
    for (format, expected) in [
        ("#{pane_id} #S", "%0 main"),
        ("#{@mine}", "line\nend $HOME \\$HOME \\ $ #{pane_id} 漢"),
        ("a\nb; \"c\" 'd' \\ $HOME ~", "a\nb; \"c\" 'd' \\ $HOME ~"),
        ("##(touch x) ##S", "#(touch x) #S"),
        ("#{?pane_active,yes,no} #{==:a,a}", "yes 1"),
        ("-p", "-p"),
        ("", ""),
        ("100% %Y %%", "100% %Y %%"),
        ("#{e|*|:#{pane_index},2} #{=3:session_name} #{P:#{pane_id}}", "0 mai %0"),
        ("#{s/main/x/:session_name}", "x"),
    ] {
        let answer = mcp.call("eval_format", json!({"format": format, "target": "main"})).await;
        let answer = answer.ok();
        assert_eq!(answer["text"].as_str().unwrap_or_default(), expected, "{format}");
        assert_eq!(answer["pane_id"], "%0");
    }
    let year = mcp.call("eval_format", json!({"format": "#{t/f/%Y:start_time}"})).await.text();
    assert!(year.starts_with("%0\n20") && year.len() == 7, "{year}");
    let error = mcp.call("eval_format", json!({"format": "#{pane_tittle}"})).await;
    assert!(error.err("invalid_argument").contains("did you mean `pane_title`?"));
    mcp.close().await;
}

#[tokio::test]
async fn no_format_starts_a_program() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let file = tmux.home().join("ran");
    let touch = format!("touch {}", file.display());
    tmux.tmux(&["set-option", "-g", "@job", &format!("#({touch})")]);
    tmux.tmux(&["set-option", "-g", "@half", "#"]);
    for format in [
        format!("#({touch})"),
        format!("#{{?pane_active,#({touch}),}}"),
        format!("###({touch})"),
        format!("#%p({touch})"),
        format!("#{{s/##({touch})/x/:pane_id}}"),
        "#{s/#{@job}/x/:pane_id}".to_owned(),
        "#{E:@job}".to_owned(),
        "#{T:@job}".to_owned(),
        "#{T;=10:@job}".to_owned(),
        "#{=10;E:@job}".to_owned(),
        format!("#{{E:#{{l:#}}({touch})}}"),
        format!("#{{l:#}}({touch})"),
        "#{=/3/#{@job}:session_name}".to_owned(),
        "#{m:#{@job},x}".to_owned(),
    ] {
        let answer = mcp.call("eval_format", json!({"format": format, "target": "main"})).await;
        let error = answer.err("invalid_argument");
        assert!(error.contains("Next: "), "{error}");
    }
    // Accepted formats start nothing either.
    for format in [
        format!("##({touch})"),
        format!("#{{?pane_active,##({touch}),}}"),
        "#{@job}".to_owned(),
        format!("#{{@half}}({touch})"),
        "#{?#{@job},a,b} #{==:#{@job},x} #{W:#{@job}} #{=5:@job}".to_owned(),
        "#{status-left} #{@job}".to_owned(),
    ] {
        mcp.call("eval_format", json!({"format": format, "target": "main"})).await.text();
    }
    // tmux would have started a job before it answers the next command.
    tmux.tmux(&["run-shell", "true"]);
    assert!(!file.exists());
    mcp.close().await;
}
