//! Recognises the interpreter in a pane, and its prompts and errors. A program that is not in the table is used by
//! the prompt that it shows.

use std::sync::OnceLock;

use process::Foreground;
use regex::Regex;

use super::interpreter_table::{Declaration, INTERPRETERS, Shape};
pub(super) use super::interpreter_table::{Entry, OpenInterrupt, TabEntry};

/// Programs that run interpreters which are scripts.
const SCRIPT_RUNNERS: &[&str] = &[
    "ash", "bash", "dash", "fish", "ksh", "node", "nodejs", "perl", "pypy", "python", "ruby", "sh",
    "zsh",
];

/// An interpreter with its expressions.
#[derive(Debug)]
pub(super) struct Interpreter {
    declared: &'static Declaration,
    prompt: Regex,
    /// Fits a row with text behind the prompt.
    typed: Regex,
    /// Fits the prompt within an open statement, and the blanks that a line editor adds as indentation.
    continuation: Option<Regex>,
    error: Option<Regex>,
    statement_end: Option<Regex>,
}

/// The interpreters that are known: the built-in ones, and before them those of the config file.
///
/// Their expressions are compiled when a pane is first judged: that takes 10 ms, longer than the whole start.
#[derive(Debug)]
pub struct Interpreters {
    added: &'static [Declaration],
    compiled: OnceLock<Vec<Interpreter>>,
}

static BUILT_IN: Interpreters = Interpreters::with(&[]);

impl Interpreters {
    /// The built-in interpreters.
    pub fn built_in() -> &'static Self {
        &BUILT_IN
    }

    /// The table with these declarations. One of them replaces a built-in one of its name.
    pub(super) const fn with(added: &'static [Declaration]) -> Self {
        Self { added, compiled: OnceLock::new() }
    }

    fn all(&self) -> &[Interpreter] {
        self.compiled.get_or_init(|| {
            let is_replaced =
                |it: &&Declaration| self.added.iter().any(|added| added.name == it.name);
            let built_in = INTERPRETERS.iter().filter(|it| !is_replaced(it));
            self.added.iter().chain(built_in).filter_map(Interpreter::compile).collect()
        })
    }

    /// The interpreter that shows this row. One that cannot be inspected is known by its prompt alone.
    pub(super) fn of(&self, program: Option<&Foreground>, row: &str) -> Option<&Interpreter> {
        let shows = |it: &&Interpreter| it.is_prompt(row) || it.is_continuation(row);
        // The name of a script says more than that of the program that runs it.
        let scripts =
            || self.all().iter().filter(|it| program.is_some_and(|of| it.is_script_of(of)));
        let programs = || self.all().iter().filter(|it| program.is_some_and(|of| it.runs_as(of)));
        let named = || scripts().chain(programs());
        let telling = || self.all().iter().filter(|it| it.declared.shape == Shape::Telling);
        named()
            .find(shows)
            .or_else(|| telling().find(|it| it.is_told_by(row)))
            .or_else(|| named().next())
    }

    /// Whether a row is a continuation prompt of an interpreter with this prompt, which others have, too.
    pub(super) fn continues(&self, prompt: &str, row: &str) -> bool {
        let has_prompt =
            |it: &&Interpreter| it.declared.shape == Shape::Plain && it.is_prompt(prompt);
        self.all().iter().filter(has_prompt).any(|it| it.is_continuation(row))
    }
}

impl Interpreter {
    fn compile(declared: &'static Declaration) -> Option<Self> {
        let continuation = match declared.continuation {
            "" => None,
            continuation => Some(Regex::new(&format!("^(?:{continuation})( *)$")).ok()?),
        };
        let error = match declared.error {
            "" => None,
            error => Some(Regex::new(&format!("^(?:{error})")).ok()?),
        };
        let statement_end = match declared.statement_end {
            "" => None,
            statement_end => Some(Regex::new(statement_end).ok()?),
        };
        let prompt = Regex::new(&format!("(?:{})$", declared.prompt)).ok()?;
        let typed = Regex::new(&format!("^(?:{})\\S", declared.prompt)).ok()?;
        Some(Self { declared, prompt, typed, continuation, error, statement_end })
    }

    /// Whether a row tells this interpreter: some prompts within an open statement tell nothing, such as `  2: ` of
    /// lldb.
    fn is_told_by(&self, row: &str) -> bool {
        let is_plain = row.chars().all(|char| " >:".contains(char) || char.is_ascii_digit());
        self.is_prompt(row) || (!is_plain && self.is_continuation(row))
    }

    fn runs_as(&self, program: &Foreground) -> bool {
        self.has_program(&program.name)
    }

    /// Whether a program runs this interpreter as a script, or as a module of Python.
    fn is_script_of(&self, program: &Foreground) -> bool {
        script_of(program).is_some_and(|script| self.has_program(script))
    }

    fn has_program(&self, name: &str) -> bool {
        names(name).iter().any(|name| self.declared.programs.contains(name))
    }

    pub(super) fn name(&self) -> &'static str {
        self.declared.name
    }

    pub(super) fn entry(&self) -> Entry {
        self.declared.entry
    }

    /// Input that leaves the interpreter.
    pub(super) fn leave(&self) -> &'static str {
        self.declared.leave
    }

    /// Whether a row is the prompt, with nothing behind it.
    pub(super) fn is_prompt(&self, row: &str) -> bool {
        self.prompt_in(row) == Some(0)
    }

    /// Whether a row is the prompt of this interpreter, not one that any program may have.
    pub(super) fn is_shown_by(&self, row: &str) -> bool {
        self.is_prompt(row) && !row.trim().is_empty()
    }

    /// Where the prompt begins in a row that ends with it. Output without an end may precede it.
    pub(super) fn prompt_in(&self, row: &str) -> Option<usize> {
        self.prompt.find(row).map(|found| found.start())
    }

    /// Whether a row is the prompt with text behind it.
    pub(super) fn has_text_behind_prompt(&self, row: &str) -> bool {
        self.typed.is_match(row)
    }

    /// Whether a row is the prompt within an open statement.
    pub(super) fn is_continuation(&self, row: &str) -> bool {
        self.continuation.as_ref().is_some_and(|continuation| continuation.is_match(row))
    }

    /// Whether a row is the prompt or one within an open statement, and one blank. irb shows the other prompt where a
    /// line has only blanks.
    pub(super) fn shows_blank(&self, row: &str) -> bool {
        row.strip_suffix(' ').is_some_and(|row| self.is_prompt(row) || self.is_continuation(row))
    }

    /// Whether text is typed at the prompt, perhaps only blanks.
    pub(super) fn has_typed_text(&self, row: &str) -> bool {
        let prompt = format!("{} ", row.trim_end());
        self.has_text_behind_prompt(row) || (row.len() > prompt.len() && self.is_prompt(&prompt))
    }

    /// Number of blanks behind the prompt within an open statement, which a line editor has added.
    pub(super) fn indentation(&self, row: &str) -> usize {
        let found = self.continuation.as_ref().and_then(|it| it.captures(row)?.iter().last()?);
        found.map_or(0, |blanks| blanks.len())
    }

    /// Effect of C-c within an open statement.
    pub(super) fn open_interrupt(&self) -> OpenInterrupt {
        self.declared.open_interrupt
    }

    /// Whether Enter at the empty prompt repeats the last command.
    pub(super) fn repeats(&self) -> bool {
        self.declared.repeats
    }

    /// Whether it prints an empty line before its prompt.
    pub(super) fn is_spaced(&self) -> bool {
        self.declared.spaced
    }

    /// Whether output after a block begins in the row of the line that ended the block.
    pub(super) fn reuses_row(&self) -> bool {
        self.declared.reuses_row
    }

    /// Whether its prompt does not tell an open statement.
    pub(super) fn has_statement_end(&self) -> bool {
        self.statement_end.is_some()
    }

    /// Whether a line leaves a statement open although the prompt does not say so.
    pub(super) fn leaves_open(&self, line: &str) -> bool {
        self.statement_end.as_ref().is_some_and(|it| !it.is_match(line))
    }

    /// Whether it reads keys also while a statement runs.
    pub(super) fn reads_at_work(&self) -> bool {
        self.declared.reads_at_work
    }

    /// How a tab reaches it.
    pub(super) fn tab(&self) -> TabEntry {
        self.declared.tab
    }

    /// Whether the rows of an open statement have no prompt.
    pub(super) fn continues_blank(&self) -> bool {
        self.declared.continues_blank
    }

    /// Whether it answers this input with a prompt before it exits.
    pub(super) fn answers_before_exit(&self, input: &str) -> bool {
        self.declared.answers_before_exit && input.trim() == self.declared.leave
    }

    /// Whether its prompt begins with any name.
    pub(super) fn begins_with_name(&self) -> bool {
        self.declared.begins_with_name
    }

    /// Whether a line of an answer reports an error.
    pub(super) fn is_error(&self, line: &str) -> bool {
        self.error.as_ref().is_some_and(|error| error.is_match(line))
    }
}

/// The names by which a program may be declared: without its directory, and without a version at the end.
fn names(program: &str) -> [&str; 2] {
    let name = program.rsplit('/').next().unwrap_or(program);
    let is_of_version = |c: char| c.is_ascii_digit() || c == '.' || c == '-';
    [name, name.trim_end_matches(is_of_version)]
}

/// The script that a program runs, or the module of Python, if it is one that runs scripts. The arguments of other
/// programs name something else: a host of `ssh`, a container of `docker`.
fn script_of(program: &Foreground) -> Option<&str> {
    let runs_scripts = names(&program.name).iter().any(|name| SCRIPT_RUNNERS.contains(name));
    if !runs_scripts {
        return None;
    }
    let mut arguments = program.argv.iter().skip(1).map(String::as_str);
    match arguments.find(|argument| *argument == "-m" || !argument.starts_with('-'))? {
        "-m" => arguments.next(),
        script => Some(script),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(line: &str) -> Foreground {
        let argv: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let name = argv[0].rsplit('/').next().unwrap_or_default().to_owned();
        Foreground { pid: 1, group: 1, name, argv, started: None }
    }

    #[test]
    fn every_declaration_compiles() {
        assert_eq!(Interpreters::built_in().all().len(), INTERPRETERS.len());
    }

    #[test]
    fn interpreters_are_known_by_name_and_prompt() {
        for (line, row, name) in [
            ("python3.11 -q", ">>> ", Some("python")),
            ("python3 /usr/bin/ipython3", "In [1]: ", Some("ipython")),
            ("python3 -m pdb x.py", "(Pdb) ", Some("pdb")),
            ("python3", "Name? ", Some("python")),
            ("node", "> ", Some("node")),
            ("lua5.4", "> ", Some("lua")),
            ("psql app", "app=# ", Some("psql")),
            ("psql app", "app-# ", Some("psql")),
            ("ssh host", "mysql> ", Some("mysql")),
            ("ssh host", "MariaDB [(none)]> ", Some("mysql")),
            ("ssh host", "> ", None),
            ("ssh host", "       ", None),
            ("python3 /usr/bin/ipython3", "Name? ", Some("ipython")),
            ("python3 x.py", "(Pdb) ", Some("pdb")),
            ("R", "Browse[1]> ", Some("R")),
            ("ssh host", "me@host:~$ ", None),
            ("ssh host", "/usr/local> ", None),
            ("ssh host", "(1/3)> ", None),
            ("ssh host", "  12: ", None),
            ("ssh host", "(x1...> ", Some("sqlite3")),
            ("ssh host", "'  ...> ", Some("sqlite3")),
            ("ruby /usr/bin/irb", "irb(main):001:0> ", Some("irb")),
            ("sqlite3", "   ...> ", Some("sqlite3")),
            ("sqlite3", "Name? ", Some("sqlite3")),
            ("sh /usr/bin/lua", "> ", Some("lua")),
            ("vim", "~", None),
            // A host and a container.
            ("ssh node1", "> ", None),
            ("ssh -t erl", "1> ", None),
            ("docker exec -it mysql bash", "root@3f2a:/# ", None),
            ("sudo -u R bash", "> ", None),
            ("python3 serve.py node", "> ", Some("python")),
        ] {
            let found = Interpreters::built_in().of(Some(&program(line)), row);
            assert_eq!(found.map(Interpreter::name), name, "{line} {row:?}");
        }
    }

    #[test]
    fn prompt_is_told_from_typed_text_and_questions() {
        let python = Interpreters::built_in().of(None, ">>> ").unwrap();
        assert!(
            python.is_prompt(">>> ") && !python.is_prompt(">>> x") && !python.is_prompt("x>>> ")
        );
        assert_eq!(python.prompt_in("no end>>> "), Some(6));
        assert!(python.is_continuation("... ") && !python.is_continuation("Name? "));
        assert!(python.is_error("Traceback (most recent call last):") && !python.is_error("42"));
    }

    #[test]
    fn open_statements_are_told_by_row_or_line() {
        let ipython = Interpreters::built_in().of(None, "In [1]: ").unwrap();
        assert!(ipython.is_continuation("   ...:     "));
        assert_eq!([ipython.indentation("   ...:     "), ipython.indentation("   ...: ")], [4, 0]);
        let php = Interpreters::built_in().of(None, "php > ").unwrap();
        for (line, is_open) in [
            ("echo 1;", false),
            ("echo 1; // one", false),
            ("} # end", false),
            ("// one", false),
            ("", false),
            ("$x = [", true),
            ("echo 1", true),
        ] {
            assert_eq!(php.leaves_open(line), is_open, "{line:?}");
        }
        assert!(!ipython.leaves_open("x = (1 +"));
        assert_eq!(php.open_interrupt(), OpenInterrupt::Leaves);
    }
}
