//! Text of the files that a shell evaluates: the command file, and the file of a status query.
//!
//! A command file replaces the typed line on the screen with the command, evaluates the command between
//! two marks, and leaves the command's status in `$?`. It holds the keys of the marks. It empties itself
//! before the command begins, so that a program which the command starts finds them neither there nor
//! in its environment.
//!
//! A person may have set modes and traps that act on every command of the shell: `set -e`, `set -x`,
//! `set -v`, ERR and DEBUG traps. The file switches them off with its output hidden, and on again just
//! before the command: so they see the command, and none of the lines around it.

use super::delivery::{
    HIDDEN, LineGeometry, LinePlace, builtin_prefix, eval_line, status_query_line,
};
use super::limits::MAX_ANSWER_PROBES;
use super::marks::{Mark, MarkKeys};
use process::ShellKind;
use terminal::text;

/// Lines and characters of a command that its command file displays on the screen.
const MAX_DISPLAYED_LINES: usize = 20;
const MAX_DISPLAYED_CHARS: usize = 2_000;

/// Words of a command that may begin such a mode itself.
const MODE_WORDS: &[&str] = &["set -", "errexit", "xtrace", "ERR", "DEBUG"];

/// The variable by which a shell that runs a command is told from one that the command has started. It is
/// set where a query for the status could reach either of them, and not exported.
pub(super) const IDENTITY: &str = "__tmuxwright_identity";

/// The controlling terminal of a shell.
pub(super) const TERMINAL: &str = "/dev/tty";

/// Values that are inserted into a command file.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScriptInput<'a> {
    pub(super) keys: &'a MarkKeys,
    pub(super) command: &'a str,
    /// Status of the previous command, which the command may read as `$?`.
    pub(super) previous_status: i32,
    /// The target of a redirection that writes the marks, such as [`TERMINAL`].
    pub(super) terminal: &'a str,
}

/// The text of the command file.
pub(super) fn command_file(
    kind: ShellKind,
    input: ScriptInput<'_>,
    path: &str,
    geometry: LineGeometry,
) -> String {
    let line = eval_line(kind, path, geometry);
    let place = geometry.place_of(&line);
    let format = shown_format(input.keys);
    match kind {
        ShellKind::Fish => fish_command_file(input, path, &format, place),
        _ => {
            let main = main_part(kind, input, &format);
            let ScriptInput { keys, command, .. } = input;
            let (empty, forget) = (empty_command(kind, path), keep_out_of_history(kind, path));
            // Only shells that were started with our script have the function.
            let hook = match kind {
                ShellKind::Bash | ShellKind::Zsh => format!(
                    "\\builtin typeset -f __tmuxwright_begin && __tmuxwright_begin {}; ",
                    keys.hook
                ),
                _ => String::new(),
            };
            let modes = modes_off(kind, command, input.previous_status);
            let rows = printed_rows(kind, &line, geometry, place.rows_up);
            let column = format!("__tmuxwright_column={}; ", place.column + 1);
            let ask = keys.line.as_ref().map(|key| ask_for_place(key, path)).unwrap_or_default();
            format!(
                "{empty}; {forget}{hook}{rows}{column}{modes}{ask}__tmuxwright={}\n",
                quoted(kind, &main)
            )
        }
    }
}

/// The `printf` format that moves the cursor from the row below the typed line back to its beginning, erases
/// the line, and prints the command and the start mark. A shell that traces its commands prints the format
/// with its escapes, not the mark.
pub(super) fn shown_format(keys: &MarkKeys) -> String {
    format!("\\033[%sA\\033[%sG\\033[J%s\\n{}", Mark::start_format(&keys.start))
}

/// The part of a command file that is evaluated with its output shown. It is one compound command,
/// which is parsed as a whole: a syntax error in the command cannot swallow the end mark.
pub(super) fn main_part(kind: ShellKind, input: ScriptInput<'_>, format: &str) -> String {
    let ScriptInput { keys, command, previous_status, terminal } = input;
    let builtin = builtin_prefix(kind);
    let end = Mark::end_format(keys.end.as_deref().unwrap_or_default());
    // In a list the failure is not one: neither `set -e` nor an ERR trap acts on it.
    let status = match previous_status {
        0 => String::new(),
        previous => format!("{} && {builtin} :; ", set_status(kind, &previous.to_string())),
    };
    let shown = quoted(kind, &displayed(command));
    // bash would take a backslash at the end of the text for the beginning of the next line.
    let line_end = if command.ends_with('\\') { "\n\n" } else { "" };
    let command = quoted(kind, &format!("{command}{line_end}"));
    let report = match kind {
        ShellKind::Bash | ShellKind::Zsh => {
            "\\builtin typeset -f __tmuxwright_status_is && \
             __tmuxwright_status_is \"$__tmuxwright_status\" || "
        }
        _ => "",
    };
    let (traps, set_status) = (traps(kind), set_status(kind, "$__tmuxwright_status"));
    // `eval` is a command too: in a shell that acts on failed commands it must not fail where its text
    // has failed. There `$?` is 0 for a line that a person types next.
    format!(
        "{{ {{ {builtin} printf '{format}' \"$__tmuxwright_rows\" \"$__tmuxwright_column\" {shown} \
         >{terminal}; {builtin} unset __tmuxwright __tmuxwright_rows __tmuxwright_column; {status}}} {HIDDEN}; \
         {builtin} eval \"${{__tmuxwright_head-}}\"{command}\"${{__tmuxwright_tail-}}\"\n\
         {{ __tmuxwright_status=${{__tmuxwright_status-$?}}; \
         {builtin} printf '{end}' \"$__tmuxwright_status\" >{terminal}; \
         case ${{__tmuxwright_modes+odd}} in odd) {VERBOSE_ON}\
         __tmuxwright_modes=$-:\"{traps}\";; esac; \
         {builtin} unset {IDENTITY}; \
         case $__tmuxwright_status:${{__tmuxwright_modes-}} in *:*e*:*|*:*ERR) \
         {report}{builtin} unset __tmuxwright_status; {builtin} unset __tmuxwright_modes;; \
         0:*) {builtin} unset __tmuxwright_status __tmuxwright_modes;; \
         *) {builtin} eval \"{builtin} unset __tmuxwright_status __tmuxwright_modes; \
         {set_status}\";; esac; }} {HIDDEN}; }}\n"
    )
}

/// Script that switches `set -v` on again. It stays off while the command runs, since the shell would
/// print the text that follows the command.
const VERBOSE_ON: &str = "case ${__tmuxwright_modes-} in *v*) \\set -v;; esac; ";

/// Script that switches off modes and traps which act on every command. `__tmuxwright_head` will
/// switch them on again, and `__tmuxwright_tail` ends the command's text with an assignment, which
/// does not fail.
pub(super) fn modes_off(kind: ShellKind, command: &str, previous_status: i32) -> String {
    let builtin = builtin_prefix(kind);
    let traps = traps(kind);
    let odd = match MODE_WORDS.iter().any(|word| command.contains(word)) {
        true => "*",
        false => "*[exv]*:*|*:?*",
    };
    let (traps_off, traps_on) = match kind {
        ShellKind::Bash => ("\\builtin trap - DEBUG; ", "\\builtin eval \"$__tmuxwright_traps\"; "),
        _ => ("", ""),
    };
    // In a list the failure is not one: neither `set -e` nor an ERR trap acts on it.
    let status = match previous_status {
        0 => String::new(),
        previous => format!("{} && {builtin} :; ", set_status(kind, &previous.to_string())),
    };
    let head = format!(
        "{{ case $__tmuxwright_modes in *e*) {builtin} set -e;; esac; \
         case $__tmuxwright_modes in *x*) {builtin} set -x;; esac; {traps_on}\
         {builtin} unset __tmuxwright_head __tmuxwright_tail __tmuxwright_traps; \
         {status}}} {HIDDEN}\n"
    );
    let tail = format!("\n\n{{ __tmuxwright_status=$?; }} {HIDDEN}");
    format!(
        "__tmuxwright_traps={traps}; \
         case $-:$__tmuxwright_traps in {odd}) __tmuxwright_modes=$-; {traps_off}\
         {builtin} set +exv; __tmuxwright_head={}; __tmuxwright_tail={};; \
         *) {builtin} unset __tmuxwright_traps;; esac; ",
        quoted(kind, &head),
        quoted(kind, &tail),
    )
}

/// An expression for the traps that act on every command; it ends with `ERR` if one of them acts on
/// failures.
fn traps(kind: ShellKind) -> &'static str {
    match kind {
        ShellKind::Bash => "$(\\builtin trap -p DEBUG ERR)",
        ShellKind::Zsh => "${functions[TRAPZERR]:+ZERR}${(M)${(f)\"$(\\builtin trap)\"}:#*ZERR}",
        _ => "",
    }
}

/// Script that counts the rows from the typed line to the cursor: those of the line, of its second copy
/// under `set -v`, and of bash's `PS0`.
fn printed_rows(kind: ShellKind, line: &str, geometry: LineGeometry, rows: usize) -> String {
    let copy = line.len().div_ceil(geometry.width.max(1) as usize);
    let ps0 = match kind {
        ShellKind::Bash => {
            "case ${PS0-} in ?*) __tmuxwright=${PS0@P}; \
             __tmuxwright=${__tmuxwright//[!$'\\n']}; \
             __tmuxwright_rows=$((__tmuxwright_rows + ${#__tmuxwright}));; esac; "
        }
        _ => "",
    };
    format!(
        "__tmuxwright_rows={rows}; \
         case $- in *v*) __tmuxwright_rows=$((__tmuxwright_rows + {copy}));; esac; {ps0}"
    )
}

/// Script of zsh that asks this process where the typed line is, since a transient prompt moves the line. A
/// process that exits removes the file at `path`.
fn ask_for_place(key: &str, path: &str) -> String {
    let (mark, answer) = (Mark::line_format(key), answer_path(path));
    format!(
        "\\builtin printf '{mark}' >/dev/tty; __tmuxwright=0; \
         while [[ ! -s {answer} && -e {path} ]] && (( __tmuxwright++ < {MAX_ANSWER_PROBES} )); do \
         \\command sleep 0.01; done; \
         [[ -s {answer} ]] && \\builtin read -r __tmuxwright_rows __tmuxwright_column <{answer}; "
    )
}

/// The same for fish. `$place` is the predicted place.
fn fish_ask_for_place(key: &str, path: &str) -> String {
    let (mark, answer) = (Mark::line_format(key), answer_path(path));
    format!(
        "builtin printf '{mark}' >/dev/tty; set -l probes; \
         while not builtin test -s {answer}; and builtin test -e {path}; \
         and builtin test (builtin count $probes) -lt {MAX_ANSWER_PROBES}; \
         set -a probes x; command sleep 0.01; end; \
         builtin test -s {answer}; and set place (builtin string split ' ' <{answer}); "
    )
}

/// Path of the file with the answer to a question of the command file at `path`.
pub(super) fn answer_path(path: &str) -> String {
    format!("{path}-line")
}

/// The text of the command file of a fish, which has no such modes.
fn fish_command_file(input: ScriptInput<'_>, path: &str, format: &str, place: LinePlace) -> String {
    let keys = input.keys;
    let (empty, hook) = (empty_command(ShellKind::Fish, path), &keys.hook);
    let ask = keys.line.as_ref().map(|key| fish_ask_for_place(key, path)).unwrap_or_default();
    let main = fish_main_part(input, format, place, &ask);
    format!("{empty}; functions -q __tmuxwright_begin; and __tmuxwright_begin {hook}; {main}")
}

/// The part of that file that shows and evaluates the command. `ask` may correct `$place`.
pub(super) fn fish_main_part(
    input: ScriptInput<'_>,
    format: &str,
    place: LinePlace,
    ask: &str,
) -> String {
    let ScriptInput { keys, command, previous_status, terminal } = input;
    let kind = ShellKind::Fish;
    let end = Mark::end_format(keys.end.as_deref().unwrap_or_default());
    let status = match previous_status {
        0 => String::new(),
        previous => format!("{}; ", set_status(kind, &previous.to_string())),
    };
    let shown = quoted(kind, &displayed(command));
    let command = quoted(kind, command);
    let LinePlace { rows_up, column } = place;
    let column = column + 1;
    format!(
        "begin; set -l place {rows_up} {column}; {ask}\
         builtin printf '{format}' $place {shown} >{terminal}; end; {status}builtin eval {command}; begin; \
         set -l code $status; set -e -g {IDENTITY}; \
         builtin printf '{end}' $code >{terminal}; return $code; end\n"
    )
}

/// The text of the file for a status query. `rows` is the height of the prompt, which is erased
/// together with the typed line, since the shell prints it again.
pub(super) fn status_query_file(
    kind: ShellKind,
    key: &str,
    path: &str,
    geometry: LineGeometry,
    rows: u32,
) -> String {
    let line = status_query_line(kind, path, geometry);
    let length = geometry.column as usize + line.len();
    let up = length / geometry.width.max(1) as usize + rows as usize;
    let end = Mark::end_format(key);
    let empty = empty_command(kind, path);
    let builtin = builtin_prefix(kind);
    let forget = keep_out_of_history(kind, path);
    match kind {
        ShellKind::Fish => format!(
            "{empty}; builtin printf '\\033[{up}A\\r\\033[J{end}' $s >/dev/tty; return $s\n"
        ),
        // The text of the last command is expanded before the variable is unset.
        _ => format!(
            "{empty}; {forget}{}{builtin} printf '\\033[%sA\\r\\033[J{end}' \
             \"$__tmuxwright_rows\" \"$__tmuxwright_status\" >/dev/tty; {VERBOSE_ON}\
             {builtin} eval \"{builtin} unset __tmuxwright_status __tmuxwright_modes \
             __tmuxwright_rows __tmuxwright; \
             case \\$- in *e*) ;; *) {};; esac\"\n",
            printed_rows(kind, &line, geometry, up),
            set_status(kind, "$__tmuxwright_status"),
        ),
    }
}

/// The command that leaves a status in `$?`. It starts no process, not even a subshell: bash would ignore an interrupt
/// that comes while it waits for one, and one of zsh would write the history file. The function removes itself.
fn set_status(kind: ShellKind, status: &str) -> String {
    const NAME: &str = "__tmuxwright_return";
    let builtin = builtin_prefix(kind);
    match kind {
        ShellKind::Zsh => format!("() {{ \\builtin return {status}; }}"),
        ShellKind::Fish => {
            format!("function {NAME}; builtin functions -e {NAME}; return {status}; end; {NAME}")
        }
        _ => format!(
            "{{ {NAME}() {{ {builtin} unset -f {NAME}; {builtin} return {status}; }}; {NAME}; }}"
        ),
    }
}

/// The command that empties a file of ours from within. Unlike `rm`, it starts no program, which would
/// take longer than all the rest; this process removes the file when the command begins.
fn empty_command(kind: ShellKind, path: &str) -> String {
    match kind {
        ShellKind::Fish => format!("builtin true >{path}"),
        _ => format!("{} : >|{path}", builtin_prefix(kind)),
    }
}

/// The command as the command file displays it: without control characters, cut if it is long.
fn displayed(command: &str) -> String {
    let clean = text::clean(command.trim_end(), false);
    let mut shown = String::new();
    for (number, line) in clean.lines().enumerate() {
        if number == MAX_DISPLAYED_LINES || shown.len() + line.len() > MAX_DISPLAYED_CHARS {
            let room = MAX_DISPLAYED_CHARS.saturating_sub(shown.len()).min(line.len());
            if number < MAX_DISPLAYED_LINES {
                shown.extend(line.chars().take(room));
            }
            shown.push('…');
            break;
        }
        if number > 0 {
            shown.push('\n');
        }
        shown.push_str(line);
    }
    shown
}

/// Text quoted as one word of the shell.
pub(super) fn quoted(kind: ShellKind, text: &str) -> String {
    match kind {
        ShellKind::Fish => format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'")),
        _ => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

/// Script that keeps typed lines of ours out of the history of a shell that does not ignore lines with a
/// leading blank. bash removes the line. zsh cannot, so there the first line stays, and a hook keeps out
/// the later ones.
pub(super) fn keep_out_of_history(kind: ShellKind, path: &str) -> String {
    match kind {
        ShellKind::Bash => format!(
            "case \":${{HISTCONTROL-}}:\" in *:ignorespace:*|*:ignoreboth:*) ;; \
             *) case \"$(HISTTIMEFORMAT= \\builtin history 1)\" in \
             *{path}*) \\builtin history -d \"$HISTCMD\";; esac;; esac; "
        ),
        ShellKind::Zsh => {
            "[[ -o histignorespace ]] || (( ${+functions[__tmuxwright_history]} )) || { \
             __tmuxwright_history() { { setopt local_options local_traps no_err_exit no_xtrace; \
             \\builtin trap - ZERR; \
             if [[ $1 == ' '*'eval \"$(<'*/tmuxwright-* ]]; then return 1; fi; } 2>/dev/null }; \
             zshaddhistory_functions+=(__tmuxwright_history) }; "
                .to_owned()
        }
        _ => String::new(),
    }
}

/// The same for all lines of ours in a bash. An earlier one stays if the shell read it after its call had given up.
pub(super) fn remove_from_history(key: &str) -> String {
    let builtin = builtin_prefix(ShellKind::Bash);
    format!(
        "case \":${{HISTCONTROL-}}:\" in *:ignorespace:*|*:ignoreboth:*) ;; \
         *) __tmuxwright=$(HISTTIMEFORMAT= {builtin} history); \
         while case $__tmuxwright in *{key}*) ;; *) {builtin} false;; esac; do \
         __tmuxwright=${{__tmuxwright%{key}*}}; __tmuxwright_entry=${{__tmuxwright##*$'\n'}}; \
         case $__tmuxwright in *$'\n'*) __tmuxwright=${{__tmuxwright%$'\n'*}};; *) __tmuxwright=;; esac; \
         __tmuxwright_entry=${{__tmuxwright_entry#\"${{__tmuxwright_entry%%[0-9]*}}\"}}; \
         {builtin} history -d \"${{__tmuxwright_entry%%[!0-9]*}}\"; done; \
         {builtin} unset __tmuxwright_entry;; esac; "
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displayed_command_is_cut_at_the_limits() {
        assert_eq!(displayed("echo hi\n"), "echo hi");
        assert_eq!(displayed("a\x1b[2Jb"), "ab");
        assert_eq!(displayed(&"x".repeat(100_000)).chars().count(), MAX_DISPLAYED_CHARS + 1);
        assert_eq!(displayed(&"x\n".repeat(100)).lines().count(), MAX_DISPLAYED_LINES);
    }
}
