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
    /// All lines are one paste: the line editor would indent single lines by itself.
    Paste,
    /// The same, with a further Enter after a block that indentation began.
    PastedBlocks,
}

/// What C-c does within an open statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OpenInterrupt {
    /// It abandons the statement.
    Abandons,
    /// It leaves the interpreter.
    Leaves,
    /// The statement stays open.
    Ignored,
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
    /// Effect of C-c within an open statement.
    open_interrupt: OpenInterrupt,
    /// Whether Enter at the empty prompt repeats the last command.
    repeats: bool,
    /// Whether it prints an empty line before its prompt.
    spaced: bool,
    /// Whether the row in which a block is ended shows what follows.
    reuses_row: bool,
    /// Expression for the last line of a whole statement, if its prompt is the same within an open one;
    /// otherwise empty.
    statement_end: &'static str,
}

impl Declaration {
    const fn enters(self, entry: Entry) -> Self {
        Self { entry, ..self }
    }

    const fn open_interrupt(self, open_interrupt: OpenInterrupt) -> Self {
        Self { open_interrupt, ..self }
    }

    const fn repeats(self) -> Self {
        Self { repeats: true, ..self }
    }

    const fn spaced(self) -> Self {
        Self { spaced: true, ..self }
    }

    const fn reuses_row(self) -> Self {
        Self { reuses_row: true, ..self }
    }

    const fn statement_end(self, statement_end: &'static str) -> Self {
        Self { statement_end, ..self }
    }
}

/// An interpreter whose prompt is telling and whose statements end by their own text.
const fn telling(
    name: &'static str,
    programs: &'static [&'static str],
    [prompt, continuation]: [&'static str; 2],
    leave: &'static str,
    error: &'static str,
) -> Declaration {
    Declaration {
        name,
        programs,
        shape: Shape::Telling,
        prompt,
        continuation,
        entry: Entry::LineByLine,
        leave,
        error,
        open_interrupt: OpenInterrupt::Abandons,
        repeats: false,
        spaced: false,
        reuses_row: false,
        statement_end: "",
    }
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
const IPYTHON_ERROR: &str = r"-{60,}$|Traceback \(most recent call last\)|\w*Error: ";
const GDB_ERROR: &str = "Undefined |No symbol |No such |Cannot |Can't |A syntax error|Division by zero|\
                         Invalid |Function .* not defined|Ambiguous |.*: No such file|Junk |\
                         The program is not being run|The history is empty|Unmatched ";
const RUBY_ERROR: &str = r".*:\d+:in .*\(\w*(Error|Exception)\)|.*:\d+: .*error|\w*Error\b";

/// All interpreters.
const INTERPRETERS: &[Declaration] = &[
    telling("python", &["python", "pypy"], [">>> ", r"\.\.\. "], "exit()", PYTHON_ERROR)
        .enters(Entry::IndentedBlocks),
    telling("ipython", &["ipython"], [r"In \[\d+\]: ", r" +\.\.\.: "], "exit", IPYTHON_ERROR)
        .enters(Entry::PastedBlocks)
        .spaced(),
    telling("pdb", &["pdb"], [r"\(+i?[Pp]db\)+ |ipdb> ", r"\.\.\. |\(com\) "], "quit", r"\*\*\* ")
        .repeats(),
    telling("gdb", &["gdb"], [r"\(gdb\) ", " *>"], "quit", GDB_ERROR).repeats(),
    telling("lldb", &["lldb"], [r"\(lldb\) ", r" *\d+: |> "], "quit", "error: ")
        .repeats()
        .reuses_row(),
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
    )
    .open_interrupt(OpenInterrupt::Ignored),
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
        [r"irb(#\d+)?\(.*\):\d+(:0)?> ", r"irb(#\d+)?\(.*\):\d+(:[1-9]\d*>|(:\d+)?[^>:\s\d]) "],
        "exit",
        RUBY_ERROR,
    )
    .enters(Entry::Paste),
    telling(
        "pry",
        &["pry"],
        [r"\[\d+\] pry\(.*\)(:\d+)?> ", r"\[\d+\] pry\(.*\)(:\d+)?\* "],
        "exit",
        RUBY_ERROR,
    ),
    plain(
        "lua",
        &["lua", "luajit"],
        ["> ", ">> "],
        "os.exit()",
        r"stdin:\d+: |lua\S*: |input:\d+: ",
    )
    .open_interrupt(OpenInterrupt::Leaves),
    plain("R", &["R"], [r"(Browse\[\d+\])?> ", r"\+ "], "q('no')", "Error"),
    telling("julia", &["julia"], ["julia> ", " {7}"], "exit()", "ERROR: ").enters(Entry::Paste),
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
    )
    .open_interrupt(OpenInterrupt::Ignored),
    plain("erl", &["erl", "beam.smp"], [r"(\(\S+\))?\d+> ", r"(\(\S+\))?\.\. "], "q().", r"\*+ ")
        .statement_end(r"\.\s*(%.*)?$|^\s*(%.*)?$"),
    telling(
        "php",
        &["php"],
        ["php > ", r#"php [({"'`] |/\*  > |<<< > "#],
        "exit",
        "(PHP )?(Warning|Fatal error|Parse error)",
    )
    .open_interrupt(OpenInterrupt::Leaves)
    .statement_end(r"[;}]\s*((//|#).*|/\*.*)?$|^\s*((//|#).*|.*\*/\s*)?$"),
    telling("perl", &["perl"], [r" *DB<+\d+>+ ", " +cont: "], "q", r".* at \S+ line \d+").repeats(),
    telling("jshell", &["jshell"], ["jshell> ", r" +\.\.\.> "], "/exit", r"\| +(Error|Exception)"),
    plain("deno", &["deno"], ["> ", r"\.\.\. ?"], "close()", "Uncaught "),
    plain("node", &["node", "nodejs"], ["> ", r"\.{3,} |\| "], ".exit", "Uncaught"),
    plain("pwsh", &["pwsh"], ["PS .*> ", ">> "], "exit", r"\S+: "),
    plain("bc", &["bc"], ["", ""], "quit", r"\(standard_in\)|Runtime error|.*syntax error")
        .open_interrupt(OpenInterrupt::Leaves),
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
    error: Regex,
    statement_end: Option<Regex>,
}

static COMPILED: LazyLock<Vec<Interpreter>> =
    LazyLock::new(|| INTERPRETERS.iter().filter_map(Interpreter::compile).collect());

impl Interpreter {
    fn compile(declared: &'static Declaration) -> Option<Self> {
        let continuation = match declared.continuation {
            "" => None,
            continuation => Some(Regex::new(&format!("^(?:{continuation})( *)$")).ok()?),
        };
        let statement_end = match declared.statement_end {
            "" => None,
            statement_end => Some(Regex::new(statement_end).ok()?),
        };
        let prompt = Regex::new(&format!("(?:{})$", declared.prompt)).ok()?;
        let typed = Regex::new(&format!("^(?:{})\\S", declared.prompt)).ok()?;
        let error = Regex::new(&format!("^(?:{})", declared.error)).ok()?;
        Some(Self { declared, prompt, typed, continuation, error, statement_end })
    }

    /// The interpreter that shows this row. One that cannot be inspected is known by its prompt alone.
    pub(super) fn of(program: Option<&Foreground>, row: &str) -> Option<&'static Self> {
        let shows = |it: &&Self| it.is_prompt(row) || it.is_continuation(row);
        // The name of a script says more than that of the program that runs it.
        let scripts = || COMPILED.iter().filter(|it| program.is_some_and(|of| it.is_script_of(of)));
        let programs = || COMPILED.iter().filter(|it| program.is_some_and(|of| it.runs_as(of)));
        let named = || scripts().chain(programs());
        let telling = || COMPILED.iter().filter(|it| it.declared.shape == Shape::Telling);
        named()
            .find(shows)
            .or_else(|| telling().find(|it| it.is_told_by(row)))
            .or_else(|| named().next())
    }

    /// Whether a row tells this interpreter: some prompts within an open statement tell nothing.
    fn is_told_by(&self, row: &str) -> bool {
        let is_plain = row.trim_matches([' ', '>']).is_empty();
        self.is_prompt(row) || (!is_plain && self.is_continuation(row))
    }

    fn runs_as(&self, program: &Foreground) -> bool {
        self.has_program(&program.name)
    }

    /// Whether a program runs this interpreter as a script, or as a module of Python.
    fn is_script_of(&self, program: &Foreground) -> bool {
        program.argv.iter().skip(1).take(3).any(|argument| self.has_program(argument))
    }

    fn has_program(&self, name: &str) -> bool {
        let name = name.rsplit('/').next().unwrap_or(name);
        let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
        self.declared.programs.contains(&name)
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

    /// Whether the row in which a block is ended shows what follows.
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
            ("ssh host", "       ", None),
            ("python3 /usr/bin/ipython3", "Name? ", Some("ipython")),
            ("python3 x.py", "(Pdb) ", Some("pdb")),
            ("R", "Browse[1]> ", Some("R")),
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

    #[test]
    fn open_statements_are_told_by_row_or_line() {
        let ipython = Interpreter::of(None, "In [1]: ").unwrap();
        assert!(ipython.is_continuation("   ...:     "));
        assert_eq!([ipython.indentation("   ...:     "), ipython.indentation("   ...: ")], [4, 0]);
        let php = Interpreter::of(None, "php > ").unwrap();
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
