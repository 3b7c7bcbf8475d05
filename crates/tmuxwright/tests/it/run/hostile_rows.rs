//! Rows and programs that must get no key, for random tries.

/// Tries of each kind: no person's line may be entered, no question answered, no screen typed into. Under
/// load each takes many pauses of tmux, so that fewer are made.
pub(crate) fn tries() -> usize {
    if std::env::var_os("TEST_LOAD_SEED").is_some() { 25 } else { 500 }
}

/// Questions of programs, which Enter would answer.
pub(crate) const QUESTIONS: &[&str] = &[
    "Do you want to continue? [Y/n] ",
    "Proceed (Y/n)? ",
    "Name: ",
    "Overwrite 'x'? ",
    "Are you sure you want to continue connecting (yes/no/[fingerprint])? ",
    "Make breakpoint pending on future shared library load? (y or [n]) ",
    "rm: remove regular file 'x'? ",
    "Continue anyway? > ",
    "--More--",
    "Press ENTER to continue",
    "",
];

/// A program that reads keys and records them, on the alternate screen or on the main one.
pub(crate) const RECORDER: &str = r#"
import os, sys, tty
alternate, text, keys = sys.argv[1:]
tty.setraw(0)
print(("\x1b[?1049h" if alternate == "alternate" else "") + text, end="", flush=True)
while True:
    key = os.read(0, 1000)
    with open(keys, "ab") as file:
        file.write(key)
"#;
