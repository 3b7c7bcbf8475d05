//! Tests of the policy: rules against tool declarations, one table each.

use super::*;
use tmux_control::{PaneId, SessionId};

use crate::contract::{Group, Load, Target, VariableReach};

fn meta(tier: Tier, group: Group, sets: &'static [Toolset]) -> Meta {
    Meta {
        name: "sample",
        title: "",
        description: "",
        group,
        tier,
        sets,
        idempotent: false,
        open_world: false,
        load: Load::OnDemand,
    }
}

fn policy(ceiling: Ceiling) -> Policy {
    Policy { ceiling, ..Policy::default() }
}

#[test]
fn each_ceiling_offers_tiers_up_to_it() {
    let table = [
        (Ceiling::Readonly, [true, false, false, false]),
        (Ceiling::Mutating, [true, true, true, false]),
        (Ceiling::Destructive, [true, true, true, true]),
    ];
    let tiers = [Tier::Read, Tier::Mutate, Tier::DestroyOwn, Tier::Destroy];
    for (ceiling, expected) in table {
        let offered =
            tiers.map(|tier| policy(ceiling).offers(&meta(tier, Group::Pane, &[Toolset::Agent])));
        assert_eq!(offered, expected, "{ceiling}");
    }
}

#[test]
fn a_tool_outside_the_toolset_is_not_offered() {
    let tool = meta(Tier::Read, Group::Pane, &[Toolset::Primitives]);
    assert!(!policy(Ceiling::Destructive).offers(&tool));
    let all = Policy { ceiling: Ceiling::Readonly, toolset: Toolset::All, ..Policy::default() };
    assert!(all.offers(&tool));
}

#[test]
fn resources_need_tier_and_filter_but_no_toolset() {
    let tool = meta(Tier::Read, Group::Pane, &[]);
    let mut rules = policy(Ceiling::Readonly);
    assert!(rules.permits(&tool) && !rules.offers(&tool));
    assert!(!rules.permits(&meta(Tier::Mutate, Group::Pane, &[])));
    rules.tool_filter = Some("deny:@pane".parse().unwrap());
    assert!(!rules.permits(&tool));
}

#[test]
fn callers_pane_is_neither_destroyed_nor_typed_into() {
    let target = Target("%1".into());
    let object = TargetObject {
        level: Level::Pane,
        id: "%1".into(),
        foreign: vec![],
        contains_caller: true,
        target: &target,
    };
    let admits = |tier, group| {
        policy(Ceiling::Destructive).admit_object(&meta(tier, group, &[]), &object).is_ok()
    };
    assert!(!admits(Tier::DestroyOwn, Group::Pane));
    assert!(!admits(Tier::Mutate, Group::Input));
    assert!(admits(Tier::Read, Group::Screen));
    assert!(admits(Tier::Mutate, Group::Pane));
}

#[test]
fn unknown_tier_is_an_error() {
    assert!("all".parse::<Ceiling>().is_err());
    assert!("".parse::<Ceiling>().is_err());
    assert!("Destructive".parse::<Ceiling>().is_err());
}

fn identity(pane: u32, session: (u32, &str), own: bool) -> PaneIdentity<'_> {
    PaneIdentity { pane: PaneId(pane), session: SessionId(session.0), session_name: session.1, own }
}

#[test]
fn only_the_highest_tier_renames_foreign_objects() {
    let target = Target("dev".into());
    let admits = |ceiling, foreign| {
        let object = TargetObject {
            level: Level::Session,
            id: "$1".into(),
            foreign,
            contains_caller: true,
            target: &target,
        };
        policy(ceiling).admit_object(&meta(Tier::MutateOwn, Group::Object, &[]), &object)
    };
    assert!(admits(Ceiling::Mutating, vec![]).is_ok());
    assert!(admits(Ceiling::Destructive, vec![PaneId(1)]).is_ok());
    let error = admits(Ceiling::Mutating, vec![PaneId(1)]).unwrap_err();
    assert!(error.to_string().contains("%1") && error.to_string().contains("--tier"), "{error}");
}

#[test]
fn mutating_input_command_and_watch_tools_type() {
    for group in [Group::Input, Group::Command, Group::Watch] {
        assert!(meta(Tier::Mutate, group, &[]).types(), "{group}");
        assert!(!meta(Tier::Read, group, &[]).types(), "{group}");
    }
    assert!(!meta(Tier::Mutate, Group::Pane, &[]).types());
}

#[test]
fn tools_are_filtered_by_name_and_group() {
    let offers = |list: &str, tier, group| {
        list.parse::<ToolFilter>().unwrap().offers(&meta(tier, group, &[]))
    };
    for (list, offered) in [
        ("allow:sample", true),
        ("sample, other", true),
        ("other", false),
        ("allow:@pane", true),
        ("allow:@screen @read", true),
        ("allow:@mutate", false),
        ("deny:@pane", false),
        ("deny: @input,kill", true),
        ("deny:@all", false),
        ("@all", true),
    ] {
        assert_eq!(offers(list, Tier::Read, Group::Pane), offered, "{list}");
    }
    assert!(offers("@mutate", Tier::MutateOwn, Group::Pane));
    assert!(offers("@destroy", Tier::DestroyOwn, Group::Pane));
    assert!(!offers("@read @mutate @destroy", Tier::AsCalled, Group::Batch));
}

#[test]
fn unknown_name_is_refused_with_the_nearest() {
    for (list, said) in [
        ("", "names no tool"),
        ("allow:", "names no tool"),
        ("only:kill", "`only:`"),
        ("@pain", "`@pane`"),
        ("@zzz", "@read"),
    ] {
        let error = list.parse::<ToolFilter>().unwrap_err();
        assert!(error.contains(said), "{list}: {error}");
    }
    let check = |list: &str| list.parse::<ToolFilter>().unwrap().check(&["kill", "send_keys"]);
    assert!(check("deny:kill,@input").is_ok());
    assert!(check("deny:send_key").unwrap_err().contains("`send_keys`"));
    assert!(check("deny:input").unwrap_err().contains("`@input`"));
}

#[test]
fn sessions_and_panes_outside_the_lists_are_hidden() {
    let reach = |sessions: Option<&str>, panes: Option<&str>| {
        let mut reach = ReachRules::default();
        if let Some(words) = sessions {
            reach.set_sessions(words.split_whitespace()).unwrap();
        }
        if let Some(words) = panes {
            reach.set_panes(words.split_whitespace()).unwrap();
        }
        reach
    };
    let dev = identity(3, (1, "dev"), false);
    let own = identity(4, (2, "mcp-1"), true);
    for (sessions, panes, sees_dev, sees_own) in [
        (None, None, true, true),
        (Some(""), None, false, false),
        (Some("dev"), None, true, false),
        (Some("de dev-long =dev"), None, false, false),
        (Some("$1"), None, true, false),
        (Some("own"), None, false, true),
        (Some("dev own"), None, true, true),
        (None, Some(""), false, false),
        (None, Some("%3"), true, false),
        (None, Some("own"), false, true),
        (Some("own"), Some("%3"), false, false),
    ] {
        let reach = reach(sessions, panes);
        assert_eq!(reach.hides(&dev).is_none(), sees_dev, "{sessions:?} {panes:?}");
        assert_eq!(reach.hides(&own).is_none(), sees_own, "{sessions:?} {panes:?}");
        assert_eq!(
            reach.check_creation(CreateLocation::OwnSession).is_ok(),
            sees_own,
            "{sessions:?} {panes:?}"
        );
    }
    let named = |name| CreateLocation::NewSession(Some(name));
    assert!(reach(Some("dev"), None).check_creation(named("dev")).is_ok());
    assert!(reach(Some("dev"), None).check_creation(named("other")).is_err());
    assert!(reach(Some("dev"), None).check_creation(CreateLocation::NewSession(None)).is_err());
    assert!(reach(None, Some("%3")).check_creation(CreateLocation::Existing).is_err());
    assert!(ReachRules::default().set_panes(["dev"].into_iter()).is_err());
}

fn filter(mode: CommandFilterMode, patterns: &[&str]) -> CommandFilter {
    let mut filter = CommandFilter::default();
    filter.mode = Some(mode);
    filter.set_patterns(patterns.iter().copied()).unwrap();
    filter
}

#[test]
fn filter_checks_lines_and_quotes_none() {
    let deny = filter(CommandFilterMode::Deny, &["^x", r"^\s*rm\b"]);
    let error = deny.check_line(ShellLine::Known("  rm secret")).unwrap_err().to_string();
    assert!(error.contains(r"pattern 2 `^\s*rm\b`") && error.contains("a person can"), "{error}");
    assert!(!error.contains("secret"), "{error}");
    assert!(deny.check_line(ShellLine::Known("ls")).is_ok());
    assert!(deny.check_line(ShellLine::Known("")).is_ok());
    assert!(deny.check_line(ShellLine::Edited).unwrap_err().to_string().contains("C-c"));
    assert!(deny.check_line(ShellLine::Lost).unwrap_err().to_string().contains("run_command"));
    let allow = filter(CommandFilterMode::Allow, &["^ls( |$)"]);
    assert!(allow.check_line(ShellLine::Known("ls -l")).is_ok());
    assert!(allow.check_line(ShellLine::Known("  ")).is_ok());
    let error = allow.check_line(ShellLine::Known("cat secret")).unwrap_err().to_string();
    assert!(error.contains("`^ls( |$)`") && !error.contains("secret"), "{error}");
    let off = filter(CommandFilterMode::Off, &["."]);
    assert!(off.check_line(ShellLine::Lost).is_ok() && !off.is_on());
    let keys = |programs: &[&str]| {
        deny.check_keys(&programs.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
    };
    assert!(keys(&["git", "less"]).is_ok() && off.check_keys(&[]).is_ok());
    for programs in [&["zsh"][..], &["ssh"], &["less", "bash"], &[]] {
        assert!(keys(programs).unwrap_err().to_string().contains("Tab"), "{programs:?}");
    }
}

#[test]
fn incomplete_filter_is_refused() {
    assert!(filter(CommandFilterMode::Allow, &[]).check().is_err());
    assert!(filter(CommandFilterMode::Deny, &[]).check().is_err());
    assert!(filter(CommandFilterMode::Off, &["x"]).check().is_ok());
    let mut half = filter(CommandFilterMode::Off, &["x"]);
    half.mode = None;
    assert!(half.check().is_err());
    let error = CommandFilter::default().set_patterns(["a", "("].into_iter()).unwrap_err();
    assert!(error.contains("pattern 2") && error.contains("`(`"), "{error}");
}

#[test]
fn files_are_checked_after_resolving_links() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let (inside, outside) = (root.join("in"), root.join("out"));
    std::fs::create_dir_all(&inside).unwrap();
    std::fs::create_dir_all(&outside).unwrap();
    std::fs::write(outside.join("secret"), "").unwrap();
    std::os::unix::fs::symlink(&outside, inside.join("away")).unwrap();
    std::os::unix::fs::symlink(outside.join("new"), inside.join("nowhere")).unwrap();
    std::os::unix::fs::symlink(&inside, root.join("way")).unwrap();
    let mut files = FileRules::default();
    assert_eq!(files.write(&outside.join("x"), false).unwrap(), outside.join("x"));
    files.set_writable([root.join("way").to_str().unwrap()].into_iter()).unwrap();
    assert_eq!(files.write(&inside.join("x"), false).unwrap(), inside.join("x"));
    assert_eq!(files.write(&root.join("way/x"), false).unwrap(), inside.join("x"));
    for (path, code) in [
        ("out/x", Code::Denied),
        ("in/../out/x", Code::Denied),
        ("in/away/secret", Code::Denied),
        ("in/away/x", Code::Denied),
        ("in/nowhere", Code::FileFailed),
        ("in/none/../../out/x", Code::FileFailed),
        ("inner", Code::Denied),
    ] {
        let error = files.write(&root.join(path), false).unwrap_err();
        assert_eq!(error.code, code, "{path}: {error}");
        assert!(error.hint.is_some(), "{error}");
    }
    assert!(files.read(&outside.join("secret")).is_ok());
    files.set_readable([].into_iter()).unwrap();
    assert!(files.read(&inside.join("x")).unwrap_err().to_string().contains("readable_paths"));
    assert!(files.set_readable(["x"].into_iter()).is_err());
    let readonly = policy(Ceiling::Readonly);
    assert_eq!(readonly.admit_write(&inside.join("x")).unwrap_err().code, Code::Denied);
    assert!(readonly.admit_read(&inside.join("x")).is_ok());
}

#[test]
fn variables_are_free_unless_listed_or_commands_filtered() {
    let mut variables = VariableRules::default();
    assert!(variables.check("PORT", VariableReach::OwnPrograms, false).is_ok());
    assert!(variables.check("PORT", VariableReach::OwnPrograms, true).is_err());
    variables.set(["PORT", "LC_*"].into_iter()).unwrap();
    for filtered in [false, true] {
        assert!(variables.check("PORT", VariableReach::OwnPrograms, filtered).is_ok());
        assert!(variables.check("LC_ALL", VariableReach::OwnPrograms, filtered).is_ok());
        assert!(
            variables
                .check("PORTS", VariableReach::OwnPrograms, filtered)
                .unwrap_err()
                .to_string()
                .contains("policy.env")
        );
    }
    assert!(variables.set(["A=B"].into_iter()).is_err());
    assert!(variables.set([""].into_iter()).is_err());
}

#[test]
fn remote_path_is_judged_by_its_text() {
    let route = Some(Route::ssh("build1").unwrap());
    let listed = |paths: &str| {
        let mut policy = Policy::default();
        policy.files.set_writable(paths.lines()).unwrap();
        policy.on_server(Some("build1".to_owned()), None, route.clone())
    };
    let write = |policy: &Policy, path: &str| policy.admit_write_by_tmux(Path::new(path));
    let policy = listed("/var/log/agent");
    assert_eq!(write(&policy, "/var/log/agent/a.log").unwrap(), Path::new("/var/log/agent/a.log"));
    for (path, part) in [
        ("/var/log/agent/../x", "`..`"),
        ("/var/log/agents/x", "policy.writable_paths"),
        ("/etc/passwd", "policy.writable_paths"),
    ] {
        let error = write(&policy, path).unwrap_err().to_string();
        assert!(error.contains(part), "{path}: {error}");
    }
    let any = Policy::default().on_server(None, None, route.clone());
    assert!(write(&any, "/no/such/directory/x").is_ok());
    assert!(any.admit_write(Path::new("/no/such/directory/x")).is_err(), "local files stay local");
    let readonly = Policy::default().on_server(None, Some(Ceiling::Readonly), route.clone());
    assert!(write(&readonly, "/tmp/x").unwrap_err().to_string().contains("`readonly`"));
    let mut filtered = any;
    filtered.command_filter.mode = Some(CommandFilterMode::Deny);
    filtered.command_filter.set_patterns(["x"].into_iter()).unwrap();
    assert!(write(&filtered, "/tmp/x").unwrap_err().to_string().contains("command_filter"));
}

#[test]
fn sockets_count_on_their_own_system() {
    let route = || Some(Route::ssh("build1").unwrap());
    let mut policy = Policy::default();
    policy.reach.set_servers(["work", "build1"].into_iter()).unwrap();
    let socket = Socket::Path("/tmp/x/sock".into());
    let place = ServerPlace { name: "build1".to_owned(), socket: socket.clone(), route: route() };
    policy.reach.name_servers([place.clone()].into_iter());
    assert!(policy.reach.admits(&place));
    let there = policy.on_server(None, None, route());
    assert!(there.reaches(&socket) && !policy.reaches(&socket));
    let work = Socket::Name("work".to_owned());
    assert!(policy.reaches(&work) && !there.reaches(&work));
    assert!(!policy.reaches(&Socket::Name("build1".to_owned())), "a name is not a socket");
    assert_eq!(policy.reach.sockets().map(|(word, _)| word).collect::<Vec<_>>(), ["work"]);
}
