//! Commands in every shell, in own and in existing panes: exact output, exit code, and the state that
//! they leave in the shell.

use testkit::Shell;

use crate::run::fixture::ShellFixture;
use crate::run::shell_checks as checks;

/// Makes a check in each shell, in a pane of each kind.
async fn in_every_shell(check: impl AsyncFn(&ShellFixture)) {
    for shell in Shell::ALL {
        in_shell(shell, &check).await;
    }
}

async fn in_shell(shell: Shell, check: &impl AsyncFn(&ShellFixture)) {
    for fixture in ShellFixture::own_and_existing(shell).await {
        check(&fixture).await;
        fixture.close().await;
    }
}

#[tokio::test]
async fn output_and_exit_code_are_exact_in_bash() {
    in_shell(Shell::Bash, &checks::prints_exactly).await;
}

#[tokio::test]
async fn output_and_exit_code_are_exact_in_zsh() {
    in_shell(Shell::Zsh, &checks::prints_exactly).await;
}

#[tokio::test]
async fn output_and_exit_code_are_exact_in_fish() {
    in_shell(Shell::Fish, &checks::prints_exactly).await;
}

#[tokio::test]
async fn output_and_exit_code_are_exact_in_dash() {
    in_shell(Shell::Dash, &checks::prints_exactly).await;
}

#[tokio::test]
async fn shell_state_persists_between_commands() {
    in_every_shell(checks::keeps_state).await;
}

#[tokio::test]
async fn a_command_sees_the_previous_exit_status() {
    in_every_shell(checks::shows_previous_status).await;
}

#[tokio::test]
async fn consecutive_commands_do_not_mix_their_output() {
    in_every_shell(checks::separates_outputs).await;
}

#[tokio::test]
async fn a_command_after_a_failed_one_runs() {
    in_every_shell(checks::runs_after_failure).await;
}

#[tokio::test]
async fn a_missing_command_exits_with_127() {
    in_every_shell(checks::reports_missing_command).await;
}

#[tokio::test]
async fn a_backslash_at_the_end_swallows_nothing() {
    in_every_shell(checks::ends_after_backslash).await;
}

#[tokio::test]
async fn a_syntax_error_leaves_the_shell_usable() {
    in_every_shell(checks::survives_syntax_errors).await;
}

#[tokio::test]
async fn a_killed_command_exits_with_128_plus_signal() {
    in_every_shell(checks::reports_signals).await;
}

#[tokio::test]
async fn a_background_process_does_not_delay_the_end() {
    in_every_shell(checks::ends_before_background_process).await;
}

#[tokio::test]
async fn a_command_of_100_kilobytes_runs_unchanged() {
    in_every_shell(checks::runs_long_commands).await;
}

#[tokio::test]
async fn commands_run_under_any_shell_option_or_alias() {
    in_every_shell(checks::survives_options_and_aliases).await;
}

#[tokio::test]
async fn exit_codes_survive_redirected_shell_output() {
    in_every_shell(checks::survives_redirected_output).await;
}

#[tokio::test]
async fn commands_run_while_the_shell_traces() {
    in_every_shell(checks::runs_while_traced).await;
}

#[tokio::test]
async fn an_empty_command_is_an_invalid_argument() {
    for fixture in ShellFixture::own_and_existing(Shell::Bash).await {
        for command in ["", "  \n\t ", "a\0b"] {
            let error = fixture.error(command, "invalid_argument").await;
            assert!(error.contains("`command`") && error.contains("Next: "), "{error}");
        }
        fixture.close().await;
    }
}
