//! Tests of the looks of prompts.

use super::*;

fn cursor(before: &str, after: &str, has_text_below: bool) -> CursorRow {
    let (before, after) = (before.to_owned(), after.to_owned());
    let wrapped = String::new();
    CursorRow {
        row: 0,
        column: 0,
        width: 80,
        height: 24,
        history: 0,
        before,
        wrapped,
        below_full_row: false,
        after,
        has_text_below,
        alternate: false,
    }
}

#[test]
fn known_prompt_rows_are_judged_by_sight() {
    let look = |before: &str, after: &str, below: bool| {
        inspect(PaneId(1), ShellKind::Zsh, &cursor(before, after, below), Some("12 me % "))
    };
    assert_eq!(look("12 me % ", "", false).unwrap(), PromptLook::Known);
    let right = format!("{}right", " ".repeat(66));
    assert_eq!(look("13 me % ", &right, false).unwrap(), PromptLook::Known);
    assert_eq!(look("~ other % ", "", false).unwrap(), PromptLook::Other);
    for (before, after, below) in [
        ("12 me % ls", "", false),
        ("12 me % ", "ls", false),
        ("12 me % ", "", true),
        ("12 me % ", " touch x", false),
        ("bck-i-search: _", "", false),
        ("quote> ", "", false),
        ("zsh: do you wish to see all 197 possibilities (99 lines)? ", "", false),
        ("Alle 197 Möglichkeiten anzeigen? (y oder n)", "", false),
        ("--More--", "", false),
    ] {
        assert!(look(before, after, below).is_err(), "{before:?} {after:?} {below}");
    }
}

#[test]
fn rows_of_reading_commands_are_not_prompts() {
    for (row, known) in [
        ("~/src $ ", Some("~ $ ")),
        ("➜  src ", Some("➜  ~ ")),
        ("[src] ", Some("[~] ")),
        ("me ~ ", None),
        ("➜  src ", None),
        ("[12:30] ", None),
    ] {
        assert!(may_be_prompt(row, known), "{row:?} {known:?}");
    }
    for (row, known) in [
        ("... ", Some("me$ ")),
        ("∙ ", Some("❯ ")),
        ("Name: ", Some("me$ ")),
        ("Name: ", None),
        ("press a key to deploy ", None),
    ] {
        assert!(!may_be_prompt(row, known), "{row:?} {known:?}");
    }
}

#[test]
fn text_behind_an_unknown_prompt_is_seen() {
    for (row, text) in [
        ("me@host:~$ ls -l", "ls -l"),
        ("~ % make ", "make"),
        ("❯ git status", "git status"),
        ("$ echo a > ", "echo a >"),
        ("me@host:~$ ", ""),
        ("➜  ~ ", ""),
        ("[12:30] ", ""),
    ] {
        assert_eq!(text_behind_prompt(row), text, "{row:?}");
    }
}
