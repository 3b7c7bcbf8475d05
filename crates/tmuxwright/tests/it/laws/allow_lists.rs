//! `docs/allow-lists.md`, generated from the tables of options, formats and variables.

use std::fmt::Write;

use tmux_control::checked_format::{FORMAT_MODIFIERS, FORMAT_VARIABLES};
use tmuxwright::contract::OptionReach;
use tmuxwright::policy::{LOADING_VARIABLES, SETTABLE_OPTIONS};

use super::docs::must_be;

fn options(doc: &mut String) {
    doc.push_str(
        "\n## Options\n\n\
         `set_option` sets the options of this table, to values of the given kind. *own* means: below the tier\n\
         `destructive` only on sessions, windows and panes that the server made, and not globally, because the option\n\
         can close, rename, resize or trim what exists. `@…` stands for all user options except `@mcp_…`, in which the\n\
         server keeps its state.\n\n\
         Every other option, also one that a later tmux adds, needs the tier `destructive` and its name in\n\
         `policy.options` in the config file; if a command filter is on, the value must pass it. Hooks are never set.\n\n\
         | option | value | where |\n|---|---|---|\n",
    );
    for rule in SETTABLE_OPTIONS {
        let name = if rule.name == "@" { "@…" } else { rule.name };
        let place = match rule.reach {
            OptionReach::OwnObjects => "own",
            OptionReach::Anywhere | OptionReach::AsCommand => "any",
        };
        writeln!(doc, "| `{name}` | {} | {place} |", rule.value.description()).unwrap();
    }
    doc.push_str(
        "\nA *word* is a flag, a choice, a colour or a size: letters, digits, `-` and `%`, or `#` and six digits. A\n\
         *format* is text with variables and modifiers of the next section; it may hold `%H` and other conversions, but\n\
         not `##`. A *style* is a list of attributes and colours, in which formats are allowed.\n",
    );
}

fn formats(doc: &mut String) {
    doc.push_str(
        "\n## Formats\n\n\
         `eval_format`, and options whose values are formats, accept text, options by name (`#{status-left}`,\n\
         `#{@mine}`), the modifiers and variables below, and `#S` and the other names of one letter. A format may have\n\
         4096 bytes and may be nested 10 deep. `%` is an ordinary character in `eval_format`. Refused are `#(…)`, the\n\
         modifiers `E` and `T`, which expand a value as a format of its own, and everything that is not listed, such as\n\
         paste buffers and environment variables.\n\n\
         | modifier | effect | limits |\n|---|---|---|\n",
    );
    for modifier in FORMAT_MODIFIERS {
        let syntax = modifier.syntax.replace('|', "\\|");
        writeln!(doc, "| `{syntax}` | {} | {} |", modifier.effect, modifier.limits).unwrap();
    }
    doc.push_str(
        "\nVariables. Those in the second list name other sessions or tmux clients, and are refused where the policy hides\n\
         some of them.\n",
    );
    for others in [false, true] {
        let names = FORMAT_VARIABLES.iter().filter(|variable| variable.shows_others == others);
        let names: Vec<String> = names.map(|variable| format!("`{}`", variable.name)).collect();
        writeln!(doc, "\n{}.", names.join(", ")).unwrap();
    }
}

fn variables(doc: &mut String) {
    doc.push_str(
        "\n## Environment variables\n\n\
         `set_environment` and the argument `env` accept names of letters, digits and `_` that do not begin with a\n\
         digit. The variables of this table load code. They may be set only if `policy.env` names them; those marked\n\
         *own* also for programs that the call itself starts. `*` stands for any ending. If `policy.env` is set, it is\n\
         the whole list.\n\n\
         | variable | effect | without `policy.env` |\n|---|---|---|\n",
    );
    for variable in LOADING_VARIABLES {
        let allowed = if variable.own_programs { "own" } else { "never" };
        writeln!(doc, "| `{}` | {} | {allowed} |", variable.name, variable.effect).unwrap();
    }
}

#[test]
fn allow_lists_md_is_current() {
    let mut doc = String::from(
        "# Allow lists\n\nGenerated from `crates/tmuxwright/src/policy` and `crates/tmux-control/src/checked_format` by\n\
         `make bless`.\n\n\
         Three tools hand text to tmux that tmux interprets: options, formats and environment variables. Lists of what is\n\
         forbidden had holes, so these are lists of what is allowed. The tests in `crates/tmuxwright/tests/it/attack` try\n\
         more than 10,000 others.\n",
    );
    options(&mut doc);
    formats(&mut doc);
    variables(&mut doc);
    must_be("docs/allow-lists.md", &doc);
}
