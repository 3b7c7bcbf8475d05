//! Shells with the start-up files of real people: plugins, key bindings, prompts, hooks and modes. Each
//! runs commands exactly, shows nothing else on its screen, and keeps its history.

use testkit::{Shell, wait_until};

use crate::run::fixture::{ShellFixture, wait_for_foreground};
use crate::support::string;

/// A hook that runs before each command, as that of bash-preexec does.
const BASH_PREEXEC: &str = r#"ready=
preexec() { [[ -n $ready && -z $COMP_LINE ]] || return; ready=; printf '\e]2;%s\a' "$BASH_COMMAND"; }
trap 'preexec "$_"' DEBUG
PROMPT_COMMAND='ready=yes'
"#;

const BASH: &[&str] = &[
    "set -o vi",
    r"PS1='\w\n$ ' PROMPT_COMMAND='printf %s hook; printf \\n'",
    r"PS0='[\t]\n' PS1='\[\e[1m\]me@host\[\e[0m\] $ '",
    "trap 'errors=$((errors + 1))' ERR; trap 'commands=$((commands + 1))' DEBUG",
    "set -eu -o noglob -o noclobber",
    "set -o posix; shopt -s extglob",
    "eval() { echo no; }; test() { echo no; }; [() { echo no; }; :() { echo no; }; exit() { echo no; }",
    "alias eval=false printf=false unset=false exit=false",
    BASH_PREEXEC,
];

const ZSH: &[&str] = &[
    ZSH_TRANSIENT,
    "bindkey -v",
    "RPROMPT='%~ %T' PROMPT=$'%B%~%b\n%% '",
    "setopt err_exit no_unset no_glob no_clobber",
    "setopt correct_all ksh_arrays sh_word_split",
    "eval() { echo no }; test() { echo no }; printf() { echo no }; exit() { echo no }",
    "alias eval=false printf=false unset=false exit=false",
    "preexec() { print -nP '\\e]2;$1\\a' }; precmd() { print -n '\\e]2;prompt\\a' }",
    "trap 'traced=$((traced + 1))' DEBUG; TRAPZERR() { errors=$((errors + 1)) }",
    "setopt share_history extended_history",
];

/// A prompt that shrinks when its line is accepted, as that of powerlevel10k and starship does.
/// It prints a line first: text that zsh erases from the top row on goes to tmux's history.
const ZSH_TRANSIENT: &str = r"print welcome
precmd() { PROMPT=$'%~ a long directory\n%n at %m %# ' }
shrink() { PROMPT='> '; zle .reset-prompt; zle -R }
zle -N zle-line-finish shrink
";

const FISH: &[&str] = &[
    "fish_vi_key_bindings",
    "function fish_right_prompt; date +%T; end",
    "function cat; echo no; end; function sh; echo no; end",
    FISH_TRANSIENT,
    "function before --on-event fish_preexec; printf '\\e]2;%s\\a' $argv; end",
];

/// The same for fish. Its prompt has one row: fish 3.6 does not erase the row above.
const FISH_TRANSIENT: &str = r"function fish_prompt
    if set -q shrink; set -e shrink; echo -n '> '; else; echo -n 'a long directory $ '; end
end
function shrink_and_execute; set -g shrink; commandline -f repaint; commandline -f execute; end
bind \r shrink_and_execute
";

/// Runs commands with a start-up file.
async fn assert_exact(shell: Shell, start_up: &str, own: bool) {
    let (start_up, repeat, history) = match shell {
        Shell::Zsh => (
            format!("HISTSIZE=100; setopt hist_ignore_space\n{start_up}"),
            "for n in 1 2\ndo\n  echo \"$n\"\ndone",
            "fc -l 1 | cat",
        ),
        Shell::Fish => (
            start_up.to_owned(),
            "for n in 1 2\n  echo \"$n\"\nend",
            "history search --reverse | command cat",
        ),
        _ => (start_up.to_owned(), "for n in 1 2\ndo\n  echo \"$n\"\ndone", "history"),
    };
    let mut fixture = ShellFixture::own(shell).await;
    fixture.tmux.write_start_up(shell, &format!("{start_up}\n"));
    if !own {
        fixture.target = Some(fixture.tmux.shell_pane(80, 24));
    }
    let table = [
        ("echo 'one'", "one", 0),
        ("! true", "", 1),
        ("echo \"$?\"", "1", 0),
        (repeat, "1\n2", 0),
        ("echo plain", "plain", 0),
    ];
    let table = table.map(|(command, output, code)| match shell {
        Shell::Fish => (command.replace("$?", "$status"), output, code),
        _ => (command.to_owned(), output, code),
    });
    for (command, output, code) in &table {
        let ran = fixture.run(command).await;
        assert_eq!(
            (ran.output.as_str(), ran.code),
            (*output, *code),
            "{fixture}: {command:?} with {start_up}"
        );
    }
    let typed = fixture.tmux.home().join("typed");
    let pane = string(&fixture.answer("echo 'here'").await["pane_id"]);
    fixture.tmux.type_line(&pane, &format!("touch {}", typed.display()));
    wait_until("the line has run", || typed.exists().then_some(()));
    // The file exists while `touch` is still exiting.
    wait_for_foreground(&fixture.tmux, &pane, shell.name());
    let answer = fixture.answer(history).await;
    let lines = string(&answer["output"]);
    // The line of the person shows that the answer is the history, and not a refusal.
    assert!(lines.contains("touch "), "{fixture}: {answer} with {start_up}");
    assert!(!lines.contains("tmuxwright"), "{fixture}: {lines} with {start_up}");
    let screen = fixture.tmux.tmux(&["capture-pane", "-p", "-S", "-", "-t", &pane]);
    for ours in ["tmuxwright", "builtin", "133;", "k="] {
        assert!(!screen.contains(ours), "{fixture}: {ours} with {start_up}\n{screen}");
    }
    assert!(screen.contains("echo 'one'\none\n"), "{fixture}: {screen} with {start_up}");
    fixture.close().await;
}

#[tokio::test]
async fn bash_configurations_are_left_exact() {
    for start_up in BASH {
        for own in [true, false] {
            assert_exact(Shell::Bash, start_up, own).await;
        }
    }
}

#[tokio::test]
async fn zsh_configurations_are_left_exact() {
    for start_up in ZSH {
        for own in [true, false] {
            assert_exact(Shell::Zsh, start_up, own).await;
        }
    }
}

#[tokio::test]
async fn fish_configurations_are_left_exact() {
    for start_up in FISH {
        for own in [true, false] {
            assert_exact(Shell::Fish, start_up, own).await;
        }
    }
}

/// Where packages put a plugin of zsh.
const PLUGIN_DIRS: [&str; 4] =
    ["/usr/share", "/usr/share/zsh/plugins", "/usr/local/share", "/opt/homebrew/share"];

#[tokio::test]
async fn zsh_plugins_are_left_exact() {
    let plugins = ["zsh-autosuggestions", "zsh-syntax-highlighting"].map(|plugin| {
        let paths = PLUGIN_DIRS.map(|dir| format!("{dir}/{plugin}/{plugin}.zsh"));
        let found = paths.into_iter().find(|path| std::path::Path::new(path).exists());
        format!(". {}", found.unwrap_or_else(|| panic!("{plugin} is not installed")))
    });
    for keys in ["", "bindkey -v"] {
        for own in [true, false] {
            let start_up = format!("{keys}\n{}", plugins.join("\n"));
            assert_exact(Shell::Zsh, &start_up, own).await;
        }
    }
}
