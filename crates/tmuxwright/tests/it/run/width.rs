//! Output that depends on the size of the pane: wrapped rows, a resize, a cleared screen.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use testkit::{Shell, wait_until};

use crate::run::fixture::ShellFixture;
use crate::support::numbers;

/// Prints three lines, then a text of 100 characters that replaces itself as a spinner does in a pane
/// of `width` columns: up to its first row, erase to the end of the screen.
fn spinner(width: usize) -> String {
    let up = 99 / width;
    let up = if up == 0 { String::new() } else { format!("\\033[{up}A") };
    format!(
        "printf 'one\\ntwo\\nthree\\n'; printf '%0100d\\r{up}\\033[J' 1 2 3 4 5 6 7 8 9; echo done"
    )
}

#[tokio::test]
async fn spinner_longer_than_the_pane_erases_only_itself() {
    for shell in Shell::ALL {
        let mut fixture = ShellFixture::own(shell).await;
        for width in [20, 40, 60, 99, 100, 120] {
            fixture.target = Some(fixture.tmux.shell_pane(width, 24));
            // The last ones scroll.
            for _ in 0..6 {
                let command = spinner(width.into());
                fixture.assert_prints(&command, "one\ntwo\nthree\ndone").await;
            }
        }
        fixture.target = None;
        for _ in 0..3 {
            fixture.assert_prints(&spinner(200), "one\ntwo\nthree\ndone").await;
        }
        fixture.close().await;
    }
}

#[tokio::test]
async fn line_longer_than_the_screen_stays_one_line() {
    let mut fixture = ShellFixture::own(Shell::Bash).await;
    fixture.target = Some(fixture.tmux.shell_pane(20, 5));
    for length in [19, 20, 21, 40, 99, 100, 101, 5_000] {
        let digits = "7".repeat(length);
        let tabs = "7\t".repeat(length);
        let wide = "漢a".repeat(length);
        for text in [digits, tabs, wide] {
            let command = format!("cat <<'END'\n{text}\nnext {text}\nEND");
            fixture.assert_prints(&command, &format!("{text}\nnext {text}")).await;
        }
    }
    fixture.close().await;
}

#[tokio::test]
async fn resized_pane_wraps_the_output_anew() {
    for (width, height, rows_up) in [(30, 24, 1), (20, 10, 2), (120, 24, 0), (60, 40, 0)] {
        let mut fixture = ShellFixture::own(Shell::Bash).await;
        let pane = fixture.tmux.shell_pane(60, 24);
        fixture.target = Some(pane.clone());
        let go = fixture.tmux.home().join("go");
        fixture.tmux.tmux(&["run-shell", &format!("mkfifo '{}'", go.display())]);
        let up = if rows_up == 0 { String::new() } else { format!("\\033[{rows_up}A") };
        // The line of 50 characters is taken back after the resize.
        let command = format!(
            "seq 1 30; printf %050d 7; read _ <'{}'; printf '\\r{up}\\033[Jdone\\n'",
            go.display()
        );
        let started = fixture.start(&command, "0000007").await;
        let (width, height) = (width.to_string(), height.to_string());
        // The server gets the resize and what is printed after it at once.
        let server = i32::try_from(fixture.mcp.pid()).ok().and_then(Pid::from_raw).unwrap();
        kill_process(server, Signal::STOP).unwrap();
        fixture.tmux.tmux(&["resize-window", "-t", &pane, "-x", &width, "-y", &height]);
        wait_until("the pane has its new size", || {
            let format = "#{pane_width}x#{pane_height}";
            let size = fixture.tmux.tmux(&["display-message", "-p", "-t", &pane, format]);
            (size.trim() == format!("{width}x{height}")).then_some(())
        });
        fixture.tmux.tmux(&["run-shell", &format!("echo >'{}'", go.display())]);
        wait_until("the line is taken back", || {
            let screen = fixture.tmux.tmux(&["capture-pane", "-p", "-t", &pane]);
            screen.contains("\ndone\n").then_some(())
        });
        kill_process(server, Signal::CONT).unwrap();
        let result = fixture.end(&started).await;
        let expected = format!("{}\ndone", numbers(1, 30));
        assert_eq!(result["output"], json!(expected), "{width}x{height}");
        fixture.close().await;
    }
}

#[tokio::test]
async fn cleared_lines_stay_in_the_output() {
    let all = numbers(1, 200);
    for shell in Shell::ALL {
        for fixture in ShellFixture::own_and_existing(shell).await {
            for clear in
                ["clear", "tput clear", "printf '\\033[H\\033[2J\\033[3J'", "printf '\\033c'"]
            {
                let command = format!("seq 1 200; {clear}; echo x");
                fixture.assert_prints(&command, &format!("{all}\nx")).await;
                fixture.assert_prints(clear, "").await;
            }
            // An unfinished line is a line of its own.
            fixture.assert_prints("printf unfinished; clear; echo x", "unfinished\nx").await;
            fixture.close().await;
        }
    }
}

#[tokio::test]
async fn redrawn_display_leaves_its_last_state() {
    // Of several rows, as npm, docker or cargo draw it, also from the first row of the screen on.
    let frames = "for i in 1 2 3 4 5; do \
                  printf \"\\033[2K[$i/5] fetch\\n\\033[2K[$i/5] build\\n\"; \
                  [ $i = 5 ] || printf '\\033[2A\\033[J'; done";
    // As apt draws it: a bar below a scroll region.
    let bar = "printf '\\n\\0337\\033[0;23r\\0338\\033[1A'; \
               for i in 1 2 3; do echo step $i; printf \"\\0337\\033[24;0f[#$i ]\\0338\"; done; \
               printf '\\n\\0337\\033[0;24r\\0338\\033[1A\\033[J'";
    for fixture in ShellFixture::own_and_existing(Shell::Bash).await {
        for _ in 0..4 {
            fixture.assert_prints(frames, "[5/5] fetch\n[5/5] build").await;
        }
        let cleared = format!("clear; {frames}");
        fixture.assert_prints(&cleared, "[5/5] fetch\n[5/5] build").await;
        fixture.assert_prints("for i in 1 2 3; do printf \"$i%%\\r\"; done; echo", "3%").await;
        fixture.close().await;
    }
    let fixture = ShellFixture::existing(Shell::Bash).await;
    for _ in 0..8 {
        fixture.assert_prints(bar, "step 1\nstep 2\nstep 3").await;
    }
    fixture.close().await;
}
