//! Entry point of the `tmuxwright` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    tmuxwright::cli::main()
}
