//! The home directory and the environment of a test's shells: the same on every machine.
//!
//! The environment holds a few known variables, and the home has a start-up file for each shell. Some
//! start-up files of the machine cannot be switched off: login shells read `/etc/profile`, Debian's
//! bash reads `/etc/bash.bashrc`, zsh reads `/etc/zshenv`, fish reads `/etc/fish`. The files written
//! here are read later and override prompt, hooks, aliases and `PATH`.

use std::env;
use std::ffi::OsString;
use std::path::Path;

use crate::Shell;

/// Start of `~/.bashrc`.
const BASH: &str = r"unalias -a
unset PROMPT_COMMAND PS0 HISTCONTROL HISTIGNORE HISTTIMEFORMAT
unset -f command_not_found_handle
trap - DEBUG
PS1='$ ' PS2='> '
";

/// `~/.zshenv`. Read first, so that `no_global_rcs` skips the other files of the machine. A hook of
/// the program under test is set before and stays.
const ZSH: &str = r"setopt no_global_rcs
unalias -m '*'
unfunction -m precmd preexec chpwd periodic
precmd_functions=(${(M)precmd_functions:#__tmuxwright*})
preexec_functions=() chpwd_functions=() periodic_functions=()
PROMPT='%% ' RPROMPT=
";

/// Start of `~/.config/fish/config.fish`. Aliases and hooks are functions in fish, so those that a
/// file of the machine defines are erased.
const FISH: &str = r"begin
    set -l machine $__fish_sysconf_dir/config.fish $__fish_sysconf_dir/conf.d/*.fish
    set -a machine $__fish_vendor_confdirs/*.fish
    set -l defined '^\s*(?:function|alias)\s+([\w.-]+).*'
    functions --erase (cat $machine 2>/dev/null | string replace -rf $defined '$1')
end
set -g fish_greeting
functions --erase fish_right_prompt
function fish_prompt
    printf '> '
end
";

/// `~/.profile`, which dash reads as a login shell.
const DASH: &str = r"unalias -a
PS1='$ ' PS2='> '
";

/// The whole environment of a test's tmux server, and so of its panes.
pub(crate) fn environment(home: &Path) -> [(&'static str, OsString); 7] {
    [
        ("HOME", home.into()),
        ("PATH", path()),
        ("SHELL", "/bin/sh".into()),
        ("TERM", "xterm".into()),
        ("LC_ALL", "C.UTF-8".into()),
        ("HISTFILE", "/dev/null".into()),
        // The prompt of shells that read no start-up file.
        ("PS1", "$ ".into()),
    ]
}

/// Writes the start-up files of all shells.
pub(crate) fn write_files(home: &Path) {
    for shell in Shell::ALL {
        write_start_up(home, shell, "");
    }
    write(home, ".bash_profile", ". ~/.bashrc\n");
    write(home, ".zshenv", &format!("{ZSH}PATH={}\n", quoted_path()));
    // Without a file in the home, readline reads `/etc/inputrc`.
    write(home, ".inputrc", "");
    // Without this directory the first fish in a home starts a process that makes completions from
    // all manual pages, and that still writes when the test has ended.
    let completions = home.join(".local/share/fish/generated_completions");
    std::fs::create_dir_all(completions).expect("the home can be written to");
}

/// Writes a shell's start-up file: lines that override the files of the machine, then `text`.
pub(crate) fn write_start_up(home: &Path, shell: Shell, text: &str) {
    let path = quoted_path();
    let (file, start) = match shell {
        Shell::Bash => (".bashrc", format!("{BASH}PATH={path}\n")),
        Shell::Zsh => (".zshrc", String::new()),
        Shell::Fish => (".config/fish/config.fish", format!("{FISH}set -gx PATH {path}\n")),
        Shell::Dash => (".profile", format!("{DASH}PATH={path}\n")),
    };
    write(home, file, &(start + text));
}

fn write(home: &Path, name: &str, text: &str) {
    let file = home.join(name);
    let dir = file.parent().expect("a file is in a directory");
    std::fs::create_dir_all(dir).expect("the home can be written to");
    std::fs::write(&file, text).expect("the home can be written to");
}

/// The `PATH` of the tests.
pub(crate) fn path() -> OsString {
    env::var_os("PATH").unwrap_or_default()
}

/// The same, quoted for any shell.
fn quoted_path() -> String {
    let path = path().into_string().expect("PATH is UTF-8");
    format!("'{}'", path.replace('\'', r"'\''"))
}
