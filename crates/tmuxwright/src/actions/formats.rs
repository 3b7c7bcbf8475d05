//! Check of tmux formats given by callers: tmux runs `#(…)` in them, and no call may start a program that
//! way.
//!
//! tmux expands pieces of the given text, with three exceptions. `#{E:…}` and `#{T:…}` expand a value, and
//! any program may have set an option's value. The arguments of `#{s/…/…/:…}` are expanded twice, so even
//! `##(…)` would run there. And tmux passes the text through `strftime` first, where `%p` may become
//! empty and join the characters around it; so the text is also checked without its conversions.

use crate::contract::ToolError;

/// Refuses a format that could start a program.
pub(crate) fn check_format(argument: &str, format: &str) -> Result<(), ToolError> {
    let readings = readings(format);
    let any = |has_risk: fn(&str) -> bool| readings.iter().any(|text| has_risk(text));
    let (risk, hint) = if any(has_job) {
        ("`#(…)` would run a program", "remove it; `##(` stands for the text `#(`")
    } else if any(expands_a_value) {
        (
            "`#{E:…}` and `#{T:…}` expand a value, and `#(…)` in that would run a program",
            "name the option without E and T; show_option shows it too",
        )
    } else if any(substitutes_formats) {
        (
            "`#` in the arguments of `#{s/…/…/:…}` is expanded twice, and `#(…)` would run a program",
            "substitute plain text only",
        )
    } else {
        return Ok(());
    };
    Err(ToolError::invalid_argument(format!("`{argument}`: {risk}")).hint(hint))
}

/// Whether a format loops over all sessions, windows, panes or tmux clients.
pub(crate) fn has_loop(format: &str) -> bool {
    readings(format).iter().any(|text| {
        text.as_bytes().windows(3).any(|three| {
            let ends = |end: u8| end.is_ascii_punctuation();
            matches!(three, &[b'{' | b';', b'S' | b'W' | b'P' | b'L', end] if ends(end))
        })
    })
}

/// The format as given, and as `strftime` may leave it.
fn readings(format: &str) -> [String; 3] {
    [format.to_owned(), format.replace('%', ""), without_conversions(format)]
}

/// Whether there is a `#(` that is not escaped: two `#` stand for one.
fn has_job(text: &str) -> bool {
    let mut hashes = 0;
    text.bytes().any(|byte| {
        let job = byte == b'(' && hashes % 2 == 1;
        hashes = if byte == b'#' { hashes + 1 } else { 0 };
        job
    })
}

/// Whether there is a modifier E or T. Modifiers follow `{` or `;` and end at `;` or `:`.
fn expands_a_value(text: &str) -> bool {
    text.as_bytes().windows(3).any(|three| {
        matches!(three, [b'{' | b';', b'E' | b'T', b';' | b':']) && text.contains("#{")
    })
}

/// Whether there is a modifier `s` with a `#` before the `;` or `:` that ends its arguments.
fn substitutes_formats(text: &str) -> bool {
    let starts = text.match_indices(['{', ';']).filter_map(|(at, _)| text.get(at + 1..));
    let mut arguments = starts.filter_map(|rest| rest.strip_prefix('s')).filter(|rest| {
        rest.starts_with(|c: char| c.is_ascii_punctuation() && c != ';' && c != ':')
    });
    arguments.any(|rest| rest.split([';', ':']).next().is_some_and(|first| first.contains('#')))
}

/// The text with every `strftime` conversion removed.
fn without_conversions(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let flag = |c: &char| matches!(c, '%' | '-' | '_' | '^' | '+' | 'E' | 'O' | '0'..='9');
        while chars.next_if(flag).is_some() {}
        chars.next_if(char::is_ascii_alphabetic);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_that_could_run_programs_are_refused() {
        for format in [
            "#(touch x)",
            "a #{?#{pane_id},#(touch x),} b",
            "###(touch x)",
            "#%p(touch x)",
            "#%(touch x)",
            "#{?1,#%%p(touch x),}",
            "#%p##(touch x)",
            "#{E:status-right}",
            "#{T:status-right}",
            "#{=/10/…;E:status-right}",
            "#{T;=10:status-right}",
            "#{%pE:status-right}",
            "#{E%p:status-right}",
            "#%p{E:status-right}",
            "#{s/##(touch x)/b/:pane_id}",
            "#{s/a/#{@x}/:pane_id}",
            "#{=5;s|a|#{@x}|:pane_id}",
        ] {
            let error = check_format("format", format).unwrap_err();
            assert!(error.hint.is_some() && error.message.contains("run a program"), "{format}");
        }
    }

    #[test]
    fn loops_are_detected() {
        for format in ["#{S:#{session_name}}", "x#{?1,#{P:#{pane_id}},}", "#{W/n:x,y}", "#{=3;L:x}"]
        {
            assert!(has_loop(format), "{format}");
        }
        for format in ["#S #{session_name}", "#{pane_id}", "#{P}"] {
            assert_eq!(has_loop(format), format == "#{P}", "{format}");
        }
    }

    #[test]
    fn harmless_formats_are_accepted() {
        for format in [
            "",
            "#{pane_id} #S (%H:%M %p) #{session_name}",
            "##(touch x) #{pane_id} ##(x)",
            "#{?pane_active,##(x),(y)}",
            "#{s/a/b/:pane_title}",
            "#{e|%%|:7,3}",
            "#{t/f/%%H#:%%M:start_time}",
            "#{=/-10/...;q:pane_title}",
            "#{W:#{window_index} }",
            "100%(x)",
            "#[fg=red]x;E:y",
        ] {
            assert!(check_format("format", format).is_ok(), "{format}");
        }
    }
}
