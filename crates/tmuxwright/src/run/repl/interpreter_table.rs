//! The declarations of all interpreters: how each one prompts, continues a statement, takes several lines
//! and is left.

/// How input of several lines reaches an interpreter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entry {
    /// Each line is entered at a prompt of its own.
    LineByLine,
    /// The same, with an empty line after each block: that ends a block which indentation began.
    IndentedBlocks,
    /// The same, with lines that belong together between the lines `:{` and `:}`.
    DelimitedBlocks,
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

/// How a tab in the input reaches an interpreter. At most prompts the key completes a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TabEntry {
    /// In a paste, which the line editor takes as text.
    Pasted,
    /// Behind C-v, which quotes the next key.
    Quoted,
    /// Not at all: its line editor knows neither.
    Refused,
}

/// Whether a prompt tells which interpreter shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// No other program has such a prompt.
    Telling,
    /// Other programs have it, too.
    Plain,
}

/// The declaration of one interpreter.
#[derive(Debug, Clone)]
pub(super) struct Declaration {
    pub(super) name: &'static str,
    /// Names of its programs, with or without a version at their end.
    pub(super) programs: &'static [&'static str],
    pub(super) shape: Shape,
    /// Expression for the prompt.
    pub(super) prompt: &'static str,
    /// Expression for the prompt within an open statement; empty if there is none.
    pub(super) continuation: &'static str,
    pub(super) entry: Entry,
    /// Input that leaves it; empty if it is not known.
    pub(super) leave: &'static str,
    /// Expression for the beginning of a line that reports an error; empty if it is not known.
    pub(super) error: &'static str,
    /// Effect of C-c within an open statement.
    pub(super) open_interrupt: OpenInterrupt,
    /// Whether Enter at the empty prompt repeats the last command.
    pub(super) repeats: bool,
    /// Whether it prints an empty line before its prompt.
    pub(super) spaced: bool,
    /// Whether output after a block begins in the row of the line that ended the block.
    pub(super) reuses_row: bool,
    /// Expression for the last line of a whole statement, if its prompt is the same within an open one;
    /// otherwise empty.
    pub(super) statement_end: &'static str,
    /// Whether it reads keys also while a statement runs.
    pub(super) reads_at_work: bool,
    /// How a tab reaches it.
    pub(super) tab: TabEntry,
    /// Whether the rows of an open statement have no prompt.
    pub(super) continues_blank: bool,
    /// Whether it answers the input that leaves it, with a prompt, before it exits.
    pub(super) answers_before_exit: bool,
    /// Whether its prompt begins with any name, so that output before it would seem to be part of that.
    pub(super) begins_with_name: bool,
}

impl Declaration {
    /// The built-in interpreter with this name.
    pub(super) fn built_in(name: &str) -> Option<&'static Self> {
        INTERPRETERS.iter().find(|it| it.name == name)
    }

    const fn reads_at_work(self) -> Self {
        Self { reads_at_work: true, ..self }
    }

    const fn tab(self, tab: TabEntry) -> Self {
        Self { tab, ..self }
    }

    const fn continues_blank(self) -> Self {
        Self { continues_blank: true, ..self }
    }

    const fn answers_before_exit(self) -> Self {
        Self { answers_before_exit: true, ..self }
    }

    const fn begins_with_name(self) -> Self {
        Self { begins_with_name: true, ..self }
    }

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
pub(super) const fn telling(
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
        reads_at_work: false,
        tab: TabEntry::Pasted,
        continues_blank: false,
        answers_before_exit: false,
        begins_with_name: false,
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
const IPYTHON_ERROR: &str = r"(\w+ +)?Traceback \(most recent call last\)|\w*Error: ";
const GDB_ERROR: &str = "Undefined |No symbol |No such |Cannot |Can't |A syntax error|Division by zero|\
                         Invalid |Function .* not defined|Ambiguous |.*: No such file|Junk |\
                         The program is not being run|The history is empty|Unmatched ";
const RUBY_ERROR: &str = r".*:\d+:in .*\(\w*(Error|Exception)\)|.*:\d+: .*error|\w*Error\b";

/// All interpreters.
pub(super) const INTERPRETERS: &[Declaration] = &[
    telling("python", &["python", "pypy"], [">>> ", r"\.\.\. "], "exit()", PYTHON_ERROR)
        .enters(Entry::IndentedBlocks)
        .tab(TabEntry::Quoted),
    telling("ipython", &["ipython"], [r"In \[\d+\]: ", r" +\.\.\.: "], "exit", IPYTHON_ERROR)
        .enters(Entry::PastedBlocks)
        .spaced(),
    telling("pdb", &["pdb"], [r"\(+i?[Pp]db\)+ |ipdb> ", r"\.\.\. |\(com\) "], "quit", r"\*\*\* ")
        .repeats(),
    telling("gdb", &["gdb"], [r"\(gdb\) ", " *>"], "quit", GDB_ERROR).repeats(),
    telling("lldb", &["lldb"], [r"\(lldb\) ", r" *\d+: |> "], "quit", "error: ")
        .repeats()
        .reuses_row()
        .tab(TabEntry::Quoted),
    telling(
        "psql",
        &["psql"],
        // A transaction puts `*` or `!` behind the sign; `^` is the single-line mode, `!` a lost connection, which has
        // no name.
        [r"[\w.:/@~-]+[=^][*!?]?[#>] |[\w.:/@~-]*![*!?]?[#>] ", r#"[\w.:/@~-]*[-('"*$][*!?]?[#>] |>> "#],
        r"\q",
        r"(psql:.* )?(ERROR|FATAL|error):|invalid command |\\[\w?!]+: ",
    )
    .begins_with_name(),
    telling(
        "mysql",
        &["mysql", "mariadb"],
        // libedit moves the cursor behind the prompt by a tab.
        [r"(mysql|MariaDB \[.*\])> +", r#" {4}[-'"`]> | {3,4}/\*> "#],
        "exit",
        r"ERROR( \d+)?[: ]",
    )
    .tab(TabEntry::Quoted),
    telling(
        "sqlite3",
        &["sqlite3"],
        // The first three characters tell an open text, comment or parenthesis.
        ["sqlite> ", r" {3}\.\.\.> |\S{1,3} {0,2}\.\.\.> "],
        ".quit",
        "(Parse|Runtime) error|Error: ",
    )
    .tab(TabEntry::Quoted)
    .open_interrupt(OpenInterrupt::Ignored),
    // Within a statement, blanks stand in place of the prompt.
    plain(
        "duckdb",
        &["duckdb"],
        [r"(\S+ )?D |duckdb> ", r"[·‣] | *\.\.\.> | {2,}"],
        ".quit",
        r"[\w ]*Error:|Unknown command",
    )
    .tab(TabEntry::Refused)
    .begins_with_name(),
    telling(
        "redis-cli",
        &["redis-cli", "valkey-cli"],
        // A number in brackets is the database, a word in parentheses the mode.
        [r"(redis \S+?|[\w.:/-]+:\d+)(\[\d+\])?(\([\w ]+\))?> |not connected> ", ""],
        "quit",
        r"\(error\) |Invalid argument|Unrecognized option|Could not connect|Error: ",
    )
    .tab(TabEntry::Refused)
    .begins_with_name(),
    telling(
        "irb",
        &["irb"],
        [r"irb(#\d+)?\(.*\):\d+(:0)?> ", r"irb(#\d+)?\(.*\):\d+(:[1-9]\d*>|(:\d+)?[^>:\s\d]) "],
        "exit",
        RUBY_ERROR,
    )
    .tab(TabEntry::Refused)
    .enters(Entry::Paste),
    telling(
        "pry",
        &["pry"],
        [r"\[\d+\] pry\(.*\)(:\d+)?> ", r"\[\d+\] pry\(.*\)(:\d+)?\* "],
        "exit",
        RUBY_ERROR,
    )
    .tab(TabEntry::Quoted),
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
        r"<interactive>:|\*\*\* Exception|unknown command",
    )
    .enters(Entry::DelimitedBlocks)
    .tab(TabEntry::Refused)
    .begins_with_name(),
    telling(
        "scala",
        &["scala"],
        ["scala> ", r" +[|] "],
        ":quit",
        r"-- .*Error|<console>:.*error|[a-z]\w*(\.\w+)*\.\w*(Exception|Error)\b|.*: no such command",
    )
    .open_interrupt(OpenInterrupt::Leaves),
    // The prompt is the database, behind the kind of the server and its role in brackets.
    plain(
        "mongosh",
        &["mongosh"],
        [r"((Enterprise |Atlas )?([\w.-]+ )?(\[[^\]]*\] )?[^\s>]+)?> ", r"\| |\.\.\. "],
        "exit",
        r"Uncaught|\w*Error: ",
    )
    .reads_at_work()
    .begins_with_name(),
    telling(
        "iex",
        &["iex"],
        [r"iex\(\S+\)\d*> ", r"\.\.\.\(\S+\)\d*> "],
        "System.halt()",
        r"\*\* \(",
    )
    .tab(TabEntry::Refused)
    .open_interrupt(OpenInterrupt::Ignored)
    .reads_at_work(),
    plain("erl", &["erl", "beam.smp"], [r"(\(\S+\))?\d+> ", r"(\(\S+\))?\.\. "], "q().", r"\*+ ")
        .statement_end(r"\.\s*(%.*)?$|^\s*(%.*)?$")
        .tab(TabEntry::Refused)
        .open_interrupt(OpenInterrupt::Ignored)
        .reads_at_work()
        .answers_before_exit(),
    telling(
        "php",
        &["php"],
        ["php > ", r#"php [({"'`] |/\*  > |<<< > "#],
        "exit",
        "(PHP )?(Warning|Fatal error|Parse error)",
    )
    .tab(TabEntry::Quoted)
    .open_interrupt(OpenInterrupt::Leaves)
    .statement_end(r"[;}]\s*((//|#).*|/\*.*)?$|^\s*((//|#).*|.*\*/\s*)?$"),
    telling("perl", &["perl"], [r" *DB<+\d+>+ ", " +cont: "], "q", r".* at \S.* line \d+").repeats(),
    telling(
        "jshell",
        &["jshell"],
        ["jshell> ", r" +\.\.\.> "],
        "/exit",
        r"\| +(Error|Exception|Invalid)",
    )
    .enters(Entry::Paste)
    .reads_at_work(),
    plain("deno", &["deno"], ["> ", ""], "close()", "Uncaught |parse error: ")
        .enters(Entry::Paste)
        .continues_blank(),
    plain("node", &["node", "nodejs"], ["> ", r"\.{3,} |\| "], ".exit", "Uncaught").reads_at_work(),
    plain("pwsh", &["pwsh"], ["PS .*> ", ">> "], "exit", r"\w*(Error|Exception): |[A-Z]\w*-\w+: "),
    plain("bc", &["bc"], ["", ""], "quit", r"\(standard_in\)|Runtime error|.*syntax error"),
];
