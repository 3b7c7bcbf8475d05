//! Sessions with interpreters that `make test` does not install: the real program, a real tmux, at least
//! twenty inputs for each interpreter.
//!
//! `make test-clients` installs the interpreters: from the system's package manager, and from npm and
//! PyPI into `target/clients`.

mod bc;
mod database_servers;
mod deno;
mod duckdb;
mod erl;
mod gdb;
mod ghci;
mod iex;
mod ipython;
mod irb;
mod jshell;
mod lldb;
mod lua;
mod mongosh;
mod mysql;
mod pdb;
mod php;
mod pry;
mod psql;
mod r;
mod redis;
mod scala;

use std::path::Path;

use testkit::{Interpreter, Step};

/// The program under test.
const PROGRAM: &str = env!("CARGO_BIN_EXE_tmuxwright");

/// Starts an interpreter and waits for its prompt. Programs of `target/clients` are found first.
async fn open(command: &str, prompt: &str) -> Interpreter {
    let target = Path::new(PROGRAM).ancestors().nth(2).unwrap_or(Path::new("/"));
    let clients = target.join("clients");
    let (npm, pypi) = (clients.join("node_modules/.bin"), clients.join("python/bin"));
    let path = format!("{}:{}:$PATH", npm.display(), pypi.display());
    Interpreter::open(PROGRAM, &format!("env PATH=\"{path}\" {command}"), prompt).await
}

/// An input that prints this.
fn prints(input: &str, output: &str) -> Step {
    Step::input(input).prints(output)
}

/// An input whose answer is an error.
fn fails(input: &str, output: &str) -> Step {
    Step::input(input).fails(output)
}

/// An input that leads elsewhere than to the prompt.
fn leads(input: &str, output: &str, state: &str) -> Step {
    Step::input(input).prints(output).state(state)
}
