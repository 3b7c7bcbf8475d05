//! Shells: their names, and whether one takes commands from the terminal, by its arguments.

use super::{Foreground, base_name, os};

/// The language of a shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShellKind {
    /// bash, rbash, and `sh` where that is bash.
    Bash,
    /// zsh.
    Zsh,
    /// fish.
    Fish,
    /// A plain POSIX shell: sh, dash, ash, `busybox sh`.
    Dash,
    /// ksh93, mksh, oksh.
    Ksh,
}

impl ShellKind {
    /// The names offered to a user who declares the kind of a shell.
    pub const NAMES: &'static [&'static str] = &["bash", "zsh", "fish", "sh", "dash", "ash", "ksh"];

    /// The kind of the shell with this name.
    pub fn named(name: &str) -> Option<Self> {
        if name == "sh" { Some(Self::Dash) } else { by_name(name) }
    }

    /// Name of the kind.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Zsh => "zsh",
            Self::Fish => "fish",
            Self::Dash => "sh",
            Self::Ksh => "ksh",
        }
    }
}

/// Shells whose language this crate does not know, so that they have no [`ShellKind`].
const SHELLS_WITHOUT_KIND: &[&str] = &["csh", "tcsh", "nu", "elvish"];

/// Whether a program of this name is a shell, also one without a [`ShellKind`]. The name may have a
/// directory, a version, and the dash of a login shell.
pub fn is_shell_name(name: &str) -> bool {
    let name = without_version(base_name(name));
    ShellKind::named(name).is_some() || SHELLS_WITHOUT_KIND.contains(&name)
}

/// The kind of shell that the foreground program is. `None` if it is not a shell, or does not take
/// commands from the terminal: it runs a script or a command, or reads from a pipe.
pub fn shell(foreground: &Foreground) -> Option<ShellKind> {
    let pid = foreground.pid;
    shell_by(foreground, || os::exe(pid), || os::stdin_is_terminal(pid))
}

/// The same by the executable and the standard input of the program.
pub(super) fn shell_by(
    foreground: &Foreground,
    exe: impl FnOnce() -> Option<String>,
    stdin_is_terminal: impl FnOnce() -> Option<bool>,
) -> Option<ShellKind> {
    let (kind, arguments) = recognize(&foreground.name, &foreground.argv, exe)?;
    (takes_commands(kind, arguments) && stdin_is_terminal() != Some(false)).then_some(kind)
}

/// Whether a program is a shell that runs a script or the command after `-c`, and so takes no commands
/// from the terminal.
pub fn runs_script(program: &Foreground) -> bool {
    runs_script_by(program, || os::exe(program.pid))
}

/// The same by the executable of the program.
pub(super) fn runs_script_by(program: &Foreground, exe: impl FnOnce() -> Option<String>) -> bool {
    recognize(&program.name, &program.argv, exe)
        .is_some_and(|(kind, arguments)| !takes_commands(kind, arguments))
}

/// The kind of a shell, and its arguments without its name.
fn recognize<'a>(
    name: &str,
    argv: &'a [String],
    exe: impl FnOnce() -> Option<String>,
) -> Option<(ShellKind, &'a [String])> {
    // A program that is being started has no arguments yet.
    let arguments = argv.get(1..)?;
    match without_version(name) {
        // The name of dash, bash, busybox or ksh; the executable tells them apart.
        "sh" => {
            let exe = exe().unwrap_or_default();
            Some((by_name(without_version(base_name(&exe))).unwrap_or(ShellKind::Dash), arguments))
        }
        "busybox" => {
            let applet = without_version(base_name(arguments.first()?));
            matches!(applet, "sh" | "ash").then_some(())?;
            Some((ShellKind::Dash, arguments.get(1..).unwrap_or_default()))
        }
        name => Some((by_name(name)?, arguments)),
    }
}

fn by_name(name: &str) -> Option<ShellKind> {
    Some(match name {
        "bash" | "rbash" => ShellKind::Bash,
        "zsh" | "rzsh" => ShellKind::Zsh,
        "fish" => ShellKind::Fish,
        "dash" | "ash" => ShellKind::Dash,
        "ksh" | "rksh" | "mksh" | "lksh" | "oksh" | "pdksh" => ShellKind::Ksh,
        _ => return None,
    })
}

/// The name without its version, as in `bash-5.2`, `ksh93` and `zsh5-static`.
fn without_version(name: &str) -> &str {
    let name = name.strip_suffix("-static").unwrap_or(name);
    name.trim_end_matches(|char: char| char.is_ascii_digit() || matches!(char, '-' | '.'))
}

/// Whether a shell with these arguments reads commands from its standard input: they hold neither a
/// script nor `-c`.
fn takes_commands(kind: ShellKind, arguments: &[String]) -> bool {
    let mut rest = arguments.iter().map(String::as_str);
    // With `-s`, the words after the options are parameters, not a script.
    let mut from_input = false;
    while let Some(argument) = rest.next() {
        if let Some(long) = long_option(kind, argument) {
            match long {
                "" => return from_input || rest.next().is_none(),
                "command" if kind == ShellKind::Fish => return false,
                long if long_takes_value(kind, long) => drop(rest.next()),
                _ => {}
            }
            continue;
        }
        let Some(letters) = argument.strip_prefix(['-', '+']) else { return from_input };
        if letters.is_empty() {
            return from_input || rest.next().is_none();
        }
        for (at, letter) in letters.char_indices() {
            match letter {
                'c' => return false,
                's' if kind != ShellKind::Fish => from_input = true,
                'b' if kind == ShellKind::Zsh => return from_input || rest.next().is_none(),
                _ if short_takes_value(kind, letter) => {
                    let attached =
                        matches!(kind, ShellKind::Zsh | ShellKind::Fish | ShellKind::Ksh)
                            && at + 1 < letters.len();
                    if attached {
                        break;
                    }
                    rest.next();
                }
                _ => {}
            }
        }
    }
    true
}

/// The name of a long option, `""` for the `--` that ends the options. An attached value stays in
/// the name, so that the next word is not taken for the value; only `command=` loses it.
fn long_option(kind: ShellKind, argument: &str) -> Option<&str> {
    if let Some(long) = argument.strip_prefix("--") {
        return Some(if long.starts_with("command=") { "command" } else { long });
    }
    // bash accepts its long options with one dash too.
    let long = argument.strip_prefix('-')?;
    (kind == ShellKind::Bash && BASH_LONG_OPTIONS.contains(&long)).then_some(long)
}

/// The long options of bash.
const BASH_LONG_OPTIONS: &[&str] = &[
    "debug",
    "debugger",
    "dump-po-strings",
    "dump-strings",
    "help",
    "init-file",
    "login",
    "noediting",
    "noprofile",
    "norc",
    "posix",
    "pretty-print",
    "protected",
    "rcfile",
    "restricted",
    "verbose",
    "version",
    "wordexp",
];

fn long_takes_value(kind: ShellKind, long: &str) -> bool {
    match kind {
        ShellKind::Bash => matches!(long, "rcfile" | "init-file"),
        ShellKind::Zsh => long == "emulate",
        ShellKind::Fish => matches!(
            long,
            "init-command"
                | "debug"
                | "debug-output"
                | "debug-stack-frames"
                | "features"
                | "profile"
                | "profile-startup"
        ),
        ShellKind::Dash | ShellKind::Ksh => false,
    }
}

fn short_takes_value(kind: ShellKind, letter: char) -> bool {
    match kind {
        ShellKind::Bash => matches!(letter, 'o' | 'O'),
        ShellKind::Fish => matches!(letter, 'C' | 'd' | 'D' | 'f' | 'o' | 'p'),
        ShellKind::Zsh | ShellKind::Dash | ShellKind::Ksh => letter == 'o',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn argv(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    /// The shell that a command line starts, if it takes commands from the terminal.
    fn interactive(line: &str, exe: Option<&str>) -> Option<ShellKind> {
        let argv = argv(line);
        let (kind, rest) = recognize(base_name(&argv[0]), &argv, || exe.map(str::to_owned))?;
        takes_commands(kind, rest).then_some(kind)
    }

    #[test]
    fn shells_are_recognized_by_name() {
        use ShellKind::*;
        for (line, kind) in [
            ("bash", Some(Bash)),
            ("-bash", Some(Bash)),
            ("/usr/bin/bash", Some(Bash)),
            ("rbash", Some(Bash)),
            ("bash-5.2", Some(Bash)),
            ("/opt/bash5", Some(Bash)),
            ("bash-static", Some(Bash)),
            ("-zsh", Some(Zsh)),
            ("zsh-5.9", Some(Zsh)),
            ("zsh5-static", Some(Zsh)),
            ("fish", Some(Fish)),
            ("dash", Some(Dash)),
            ("ash", Some(Dash)),
            ("busybox sh", Some(Dash)),
            ("busybox ash -l", Some(Dash)),
            ("/bin/busybox", None),
            ("busybox vi", None),
            ("busybox sh script", None),
            ("ksh", Some(Ksh)),
            ("ksh93", Some(Ksh)),
            ("mksh", Some(Ksh)),
            ("oksh", Some(Ksh)),
            ("-", None),
            ("vim", None),
            ("bashful", None),
            ("python3", None),
            ("ssh", None),
            ("sshd", None),
            ("tcsh", None),
        ] {
            assert_eq!(interactive(line, None), kind, "{line}");
        }
    }

    #[test]
    fn shell_names_include_shells_without_kind() {
        for name in ShellKind::NAMES {
            assert!(ShellKind::named(name).is_some() && is_shell_name(name), "{name}");
        }
        for name in ["-zsh", "/bin/sh", "bash-5.2", "mksh", "tcsh", "csh", "nu", "elvish"] {
            assert!(is_shell_name(name), "{name}");
        }
        for name in ["", "-", "vim", "ssh", "sshd", "bashful", "python3"] {
            assert!(!is_shell_name(name), "{name}");
        }
    }

    #[test]
    fn shell_without_arguments_is_not_recognized() {
        assert_eq!(recognize("bash", &[], || None), None);
    }

    #[test]
    fn sh_is_identified_by_its_executable() {
        for (exe, kind) in [
            (Some("/usr/bin/bash"), ShellKind::Bash),
            (Some("/usr/bin/bash-5.2"), ShellKind::Bash),
            (Some("/usr/bin/dash"), ShellKind::Dash),
            (Some("/bin/busybox"), ShellKind::Dash),
            (Some("/usr/bin/ksh93"), ShellKind::Ksh),
            (Some("/usr/bin/zsh"), ShellKind::Zsh),
            (Some("/bin/sh"), ShellKind::Dash),
            (None, ShellKind::Dash),
        ] {
            assert_eq!(interactive("-sh", exe), Some(kind), "{exe:?}");
            assert_eq!(interactive("sh script", exe), None, "{exe:?}");
        }
    }

    #[test]
    fn shell_with_script_or_command_is_not_interactive() {
        for line in [
            "bash -i",
            "bash -l",
            "bash --login -i",
            "bash --norc --noprofile",
            "bash --rcfile file",
            "bash --rcfile file -i",
            "bash --init-file file",
            "bash -rcfile file",
            "bash -o vi",
            "bash +o vi -O extglob +O nullglob",
            "bash -eo pipefail",
            "bash -oO vi extglob",
            "bash -s",
            "bash -s one two",
            "bash -is -- one",
            "bash -",
            "bash --",
            "bash -norc",
            "zsh -o vi",
            "zsh -ovi",
            "zsh +o nomatch -f",
            "zsh -f -d",
            "zsh --no-rcs",
            "zsh --emulate sh",
            "zsh -b",
            "zsh -s one",
            "fish -C command",
            "fish -Ccommand",
            "fish --init-command command",
            "fish --init-command=command",
            "fish -l -N",
            "fish --private -o file -d all",
            "dash -o vi",
            "dash -l -i",
            "dash -s one",
            "ksh -o vi",
            "ksh -ovi",
            "mksh -l",
        ] {
            assert!(interactive(line, None).is_some(), "{line}");
        }
        for line in [
            "bash script",
            "bash ./script -i",
            "bash -x script",
            "bash -c true",
            "bash -ic true",
            "bash -lc true",
            "bash -i -c true",
            "bash -ce true",
            "bash --rcfile file script",
            "bash -o vi script",
            "bash -eo pipefail script",
            "bash -- script",
            "bash - script",
            "bash --norc -c true",
            "bash -norc script",
            "zsh -c true",
            "zsh -ovi script",
            "zsh -b script",
            "zsh -f script",
            "fish -c true",
            "fish -ctrue",
            "fish --command true",
            "fish --command=true",
            "fish -C command -c true",
            "fish -C command script",
            "fish -Ccommand script",
            "fish script",
            "fish -s script",
            "dash script",
            "dash -c true",
            "dash -o vi script",
            "ksh script",
            "ksh -ovi script",
        ] {
            assert_eq!(interactive(line, None), None, "{line}");
        }
    }
}
