//! The table of interpreters: how each one prompts, continues a statement, takes several lines and is
//! left. A program that is not in the table is used by the prompt that it shows.

use std::sync::LazyLock;

use process::Foreground;
use regex::Regex;

/// How input of several lines reaches an interpreter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entry {
    /// Each line is entered at a prompt of its own.
    LineByLine,
    /// The same, with an empty line after each block: that ends a block which indentation began.
    IndentedBlocks,
    /// All lines are one bracketed paste: the line editor would indent single lines by itself.
    Paste,
}

/// Whether a prompt tells which interpreter shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// No other program has such a prompt.
    Telling,
    /// Other programs have it, too.
    Plain,
}

/// The declaration of one interpreter.
#[derive(Debug)]
struct Declaration {
    name: &'static str,
    /// Names of its programs, without a version at their end.
    programs: &'static [&'static str],
    shape: Shape,
    /// Expression for the prompt.
    prompt: &'static str,
    /// Expression for the prompt within an open statement; empty if there is none.
    continuation: &'static str,
    entry: Entry,
    /// Input that leaves it.
    leave: &'static str,
    /// Expression for the beginning of a line that reports an error.
    error: &'static str,
}

/// An interpreter whose prompt is telling and whose statements end by their own text.
const fn telling(
    name: &'static str,
    programs: &'static [&'static str],
    [prompt, continuation]: [&'static str; 2],
    leave: &'static str,
    error: &'static str,
) -> Declaration {
    let (shape, entry) = (Shape::Telling, Entry::LineByLine);
    Declaration { name, programs, shape, prompt, continuation, entry, leave, error }
}

/// The same with a prompt that other programs have, too.
const fn plain(
    name: &'static str,
    programs: &'static [&'static str],
    prompts: [&'static str; 2],
    leave: &'static str,
    error: &'static str,
) -> Declaration {
    Declaration { shape: Shape::Plain, ..telling(name, programs, prompts, leave, error) }
}

const PYTHON_ERROR: &str = r"Traceback \(most recent call last\):|  File .*, line \d+|\w*Error\b";
const RUBY_ERROR: &str = r".*:\d+:in .*\(\w*(Error|Exception)\)|.*:\d+: .*error|\w*Error\b";

/// All interpreters.
const INTERPRETERS: &[Declaration] = &[
    Declaration {
        entry: Entry::IndentedBlocks,
        ..telling("python", &["python", "pypy"], [">>> ", r"\.\.\. "], "exit()", PYTHON_ERROR)
    },
    Declaration {
        entry: Entry::Paste,
        ..telling("ipython", &["ipython"], [r"In \[\d+\]: ", r" +\.\.\.: "], "exit", PYTHON_ERROR)
    },
    telling("pdb", &["pdb"], [r"\(+i?[Pp]db\)+ ", r"\.\.\. "], "quit", r"\*\*\* "),
    telling(
        "gdb",
        &["gdb"],
        [r"\(gdb\) ", " *>"],
        "quit",
        "Undefined |No symbol |No such |Cannot ",
    ),
    telling("lldb", &["lldb"], [r"\(lldb\) ", r" *\d+> "], "quit", "error: "),
    telling(
        "psql",
        &["psql"],
        [r"[\w.:/@~-]*=[#>] ", r#"[\w.:/@~-]*[-('"*$!^][#>] "#],
        r"\q",
        "(psql:.* )?(ERROR|FATAL):|invalid command ",
    ),
    telling(
        "mysql",
        &["mysql", "mariadb"],
        [r"mysql> |MariaDB \[.*\]> ", r#" {4}[-'"`]> | {3,4}/\*> "#],
        "exit",
        r"ERROR \d+ ",
    ),
    telling(
        "sqlite3",
        &["sqlite3"],
        ["sqlite> ", r#" *(\.\.\.|[('"/]\S*)> "#],
        ".quit",
        "(Parse|Runtime) error|Error: ",
    ),
    plain(
        "duckdb",
        &["duckdb"],
        [r"(\S+ )?D |duckdb> ", "[·‣] | *\\.\\.\\.> "],
        ".quit",
        r"\w* ?Error: ",
    ),
    telling(
        "redis-cli",
        &["redis-cli", "valkey-cli"],
        [r"[\w.:/-]+:\d+(\[\d+\])?(\(\w+\))?> |not connected> ", ""],
        "quit",
        r"\(error\) ",
    ),
    telling(
        "irb",
        &["irb"],
        [r"irb\(.*\):\d+(:\d+)?> ", r#"irb\(.*\):\d+(:\d+)?[^>\s] "#],
        "exit",
        RUBY_ERROR,
    ),
    telling("pry", &["pry"], [r"\[\d+\] pry\(.*\)> ", r"\[\d+\] pry\(.*\)\* "], "exit", RUBY_ERROR),
    plain(
        "lua",
        &["lua", "luajit"],
        ["> ", ">> "],
        "os.exit()",
        r"stdin:\d+: |lua\S*: |input:\d+: ",
    ),
    plain("R", &["R"], ["> ", r"\+ "], "q('no')", "Error"),
    Declaration {
        entry: Entry::Paste,
        ..telling("julia", &["julia"], ["julia> ", " {7}"], "exit()", "ERROR: ")
    },
    plain(
        "ghci",
        &["ghci", "ghc"],
        [r"(ghci|\*?[A-Z][\w. *]*)> ", r"(ghci|\*?[A-Z][\w. *]*)\| "],
        ":quit",
        r"<interactive>:|\*\*\* Exception",
    ),
    telling("scala", &["scala"], ["scala> ", r" +[|] "], ":quit", r"-- .*Error|<console>:.*error"),
    plain("mongosh", &["mongosh"], [r".*> ", r"\| |\.\.\. "], "exit", r"Uncaught|\w*Error: "),
    telling(
        "iex",
        &["iex"],
        [r"iex\(\S+\)\d*> ", r"\.\.\.\(\S+\)\d*> "],
        "System.halt()",
        r"\*\* \(",
    ),
    plain("erl", &["erl", "beam.smp"], [r"(\(\S+\))?\d+> ", r"(\(\S+\))?\.\. "], "q().", r"\*+ "),
    telling(
        "php",
        &["php"],
        ["php > ", r#"php [({"'`*] "#],
        "exit",
        "(PHP )?(Warning|Fatal error|Parse error)",
    ),
    telling("perl", &["perl"], [r" *DB<+\d+>+ ", " +cont: "], "q", r".* at \S+ line \d+"),
    telling("jshell", &["jshell"], ["jshell> ", r" +\.\.\.> "], "/exit", r"\| +(Error|Exception)"),
    plain("deno", &["deno"], ["> ", r"\.\.\. ?"], "close()", "Uncaught "),
    plain("node", &["node", "nodejs"], ["> ", r"\.{3,} |\| "], ".exit", "Uncaught"),
    plain("pwsh", &["pwsh"], ["PS .*> ", ">> "], "exit", r"\S+: "),
    plain("bc", &["bc"], ["", ""], "quit", r"\(standard_in\)|Runtime error|.*syntax error"),
];

/// An interpreter with its expressions.
#[derive(Debug)]
pub(super) struct Interpreter {
    declared: &'static Declaration,
    prompt: Regex,
    /// Fits a row with text behind the prompt.
    typed: Regex,
    continuation: Option<Regex>,
    error: Regex,
}

static COMPILED: LazyLock<Vec<Interpreter>> =
    LazyLock::new(|| INTERPRETERS.iter().filter_map(Interpreter::compile).collect());

impl Interpreter {
    fn compile(declared: &'static Declaration) -> Option<Self> {
        let continuation = match declared.continuation {
            "" => None,
            continuation => Some(Regex::new(&format!("^(?:{continuation})$")).ok()?),
        };
        let prompt = Regex::new(&format!("(?:{})$", declared.prompt)).ok()?;
        let typed = Regex::new(&format!("^(?:{})\\S", declared.prompt)).ok()?;
        let error = Regex::new(&format!("^(?:{})", declared.error)).ok()?;
        Some(Self { declared, prompt, typed, continuation, error })
    }

    /// The interpreter that shows this row. One that cannot be inspected is known by its prompt alone.
    pub(super) fn of(program: Option<&Foreground>, row: &str) -> Option<&'static Self> {
        let shows = |it: &&Self| it.is_prompt(row) || it.is_continuation(row);
        let named =
            || COMPILED.iter().filter(|it| program.is_some_and(|program| it.runs_as(program)));
        let telling = || COMPILED.iter().filter(|it| it.declared.shape == Shape::Telling);
        named().find(shows).or_else(|| telling().find(shows)).or_else(|| named().next())
    }

    /// Whether a program is this interpreter, by its name or that of the script that it runs.
    fn runs_as(&self, program: &Foreground) -> bool {
        let script = program.argv.iter().skip(1).take(3).map(String::as_str);
        std::iter::once(program.name.as_str()).chain(script).any(|name| {
            let name = name.rsplit('/').next().unwrap_or(name);
            let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
            self.declared.programs.contains(&name)
        })
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

    /// Whether a line of an answer reports an error.
    pub(super) fn is_error(&self, line: &str) -> bool {
        self.error.is_match(line)
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
        assert_eq!(COMPILED.len(), INTERPRETERS.len());
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
            ("ssh host", "me@host:~$ ", None),
            ("ruby /usr/bin/irb", "irb(main):001:0> ", Some("irb")),
            ("sqlite3", "   ...> ", Some("sqlite3")),
            ("vim", "~", None),
        ] {
            let found = Interpreter::of(Some(&program(line)), row).map(Interpreter::name);
            assert_eq!(found, name, "{line} {row:?}");
        }
    }

    #[test]
    fn prompt_is_told_from_typed_text_and_questions() {
        let python = Interpreter::of(None, ">>> ").unwrap();
        assert!(
            python.is_prompt(">>> ") && !python.is_prompt(">>> x") && !python.is_prompt("x>>> ")
        );
        assert_eq!(python.prompt_in("no end>>> "), Some(6));
        assert!(python.is_continuation("... ") && !python.is_continuation("Name? "));
        assert!(python.is_error("Traceback (most recent call last):") && !python.is_error("42"));
    }
}
