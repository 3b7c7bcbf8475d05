//! Tests of the allow list for formats.

use super::*;

fn refusal(format: &str) -> FormatError {
    match check_format(format, FormatUse::Once) {
        Ok(_) => panic!("accepted: {format}"),
        Err(error) => error,
    }
}

#[test]
fn formats_that_run_programs_are_refused() {
    for format in [
        "#(touch x)",
        "a #{?#{pane_id},#(touch x),} b",
        "###(touch x)",
        "#%p(touch x)",
        "#%#p(touch x)",
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
        "#{l:#}(touch x)",
        "#",
        "a#",
        "#{",
        "#{}",
        "#{@}",
        "#{[0]}",
        "#{pane_id",
        "#[fg=#(id)]",
        "#[#S]",
    ] {
        refusal(format);
    }
}

#[test]
fn formats_that_exhaust_tmux_are_refused() {
    for format in [
        "#{p2147483646:x}",
        "#{p1001:pane_id}",
        "#{p-1001:pane_id}",
        "#{=99999:pane_id}",
        "#{e|+|f|2147483647:1,2}",
        "#{e|+|f|11:1,2}",
        "#{e|+|f|#{pane_id}:1,2}",
        "#{m/r:(a*)*\\1,x}",
        "#{m/r:((a{99}){99}){99},x}",
        "#{m/r:(a*)*b,x}",
        "#{m/r:a**,x}",
        "#{m:*a*a*a*a*a*b,x}",
        "#{m:#{pane_title},x}",
        "#{C/r:\\w+}",
        "#{s/(.)\\1/x/:pane_title}",
        "#{R:x,1000}",
        "#{R:#{R:#{R:x,1000},1000},1000}",
        "#{S:#{S:#{session_name}}}",
        "#{S:x,y}",
        "#{L:x,y}",
        "#{P:#{W:#{P:x}}}",
        "#{t/f/%999999H:start_time}",
        "#{t/f/%c%c%c%c%c%c%c%c%c%c%c:start_time}",
        "#{!:#{!:#{!:#{!:#{!:#{!:#{!:#{!:#{!:#{!:#{!:x}}}}}}}}}}}",
    ] {
        refusal(format);
    }
    refusal(&format!("#{{m:{},x}}", "a".repeat(129)));
    refusal(&"#{pane_id}".repeat(410));
    assert!(check_format(&"x".repeat(20_000), FormatUse::Stored).is_ok());
}

#[test]
fn buffers_and_unknown_names_are_refused() {
    for name in [
        "buffer_full",
        "buffer_sample",
        "?buffer_sample,a,b",
        "HOME",
        "SSH_AUTH_SOCK",
        "status_left",
        "N:x",
        "N/s:x",
    ] {
        refusal(&format!("#{{{name}}}"));
    }
    assert_eq!(refusal("#{pane_tittle}").unknown_variable.as_deref(), Some("pane_tittle"));
}

#[test]
fn formats_that_only_read_are_accepted() {
    for format in [
        "",
        "#{pane_id} #S (100% %H) #{session_name}",
        "##(touch x) #{pane_id} ##(x)",
        "#{?pane_active,##(x),(y)}",
        "#{?pane_active,yes,no} #{==:a,a}",
        "#{?#{==:#{pane_index},1},a#,b,c:d}",
        "#{?pane_active,a,window_active,b,c}",
        "#{s/a/b/:pane_title}",
        "#{s|/home/[a-z]*|~|:pane_current_path}",
        "#{s/A/b/i:pane_title}",
        "#{e|%|:7,3} #{e|*|:#{pane_width},2} #{e|/|f|2:1,3}",
        "#{t:start_time} #{t/p:start_time} #{t/f/%H#:%M:start_time}",
        "#{=/-10/...;q:pane_title} #{=5:pane_title} #{=-5;b:pane_current_path}",
        "#{p10:pane_title}#{p-10:#{pane_title}}",
        "#{W:#{window_index} ,[#{window_index}]}",
        "#{S:#{session_name}#{W: #{window_name}#{P: #{pane_id}}}}",
        "#{&&:#{pane_active},#{||:#{window_active},1}} #{!:#{pane_dead}} #{!!:x}",
        "#{m:*vim*,#{pane_current_command}} #{m/ri:^VI,#{pane_current_command}}",
        "#{C:needle} #{C/ri:needl.}",
        "#{status-left} #{@mine} #{status} #{mouse} #{status-format[0]} #{@mine[0]}",
        "#{l:a b} #{n:pane_title} #{w:pane_title} #{a:65} #{c:red}",
        "#[fg=red,bold]x#[fg=#ff8800]y#[fg=#{?pane_active,red,green}]z#[default]",
    ] {
        if let Err(error) = check_format(format, FormatUse::Once) {
            panic!("{format}: {error}");
        }
    }
}

#[test]
fn stored_formats_keep_no_hash() {
    for format in ["##(x)", "##", "#{=/3/%p:pane_title}", "#{t/f/%H:start_time}", "#%p(id)"] {
        assert!(check_format(format, FormatUse::Stored).is_err(), "{format}");
    }
    for format in ["#S %H:%M", "#{?pane_active,%p,50%} #[bold]#{window_name}", "[#{p5:pane_title}]"]
    {
        assert!(check_format(format, FormatUse::Stored).is_ok(), "{format}");
    }
}

#[test]
fn formats_that_show_others_are_known() {
    let shows_others = |format| check_format(format, FormatUse::Once).unwrap().shows_others;
    for format in [
        "#{S:#{session_name}}",
        "x#{?pane_active,#{P:#{pane_id}},}",
        "#{W/n:x,y}",
        "#{=3;L:x}",
        "#{session_group_list}",
        "#{?client_name,a,b}",
    ] {
        assert!(shows_others(format), "{format}");
    }
    assert!(!shows_others("#S #{session_name} #{pane_id}"));
}

#[test]
fn user_options_are_listed_wherever_they_stand() {
    for format in [
        "#{@own}",
        "#{@own[0]}",
        "#{=5:@own}",
        "#{?@own,a,b}",
        "#{?pane_active,a,@own,b}",
        "#{?pane_active,#{@own},b}",
        "#{S:#{P:#{=3;n:@own}}}",
        "#{&&:1,#{@own}}",
        "#[fg=#{@own}]",
    ] {
        assert_eq!(
            check_format(format, FormatUse::Once).unwrap().user_options,
            ["@own"],
            "{format}"
        );
    }
}

#[test]
fn tables_are_sorted_and_unique() {
    let names: Vec<&str> = FORMAT_VARIABLES.iter().map(|variable| variable.name).collect();
    assert!(names.is_sorted_by(|a, b| a < b));
}
