//! The table of error lines: patterns with the programs that print them, and texts that look similar but
//! report no error. `docs/until.md` is made from it, and a corpus of lines in `tests/corpus` tries it.

/// A pattern of error lines.
#[derive(Debug)]
pub struct ErrorPattern {
    /// Programs that print such lines.
    pub source: &'static str,
    /// Such a line.
    pub example: &'static str,
    /// The regular expression.
    pub regex: &'static str,
}

/// A pattern of texts that report no error. They are removed from a line before it is matched.
#[derive(Debug)]
pub struct HarmlessPattern {
    /// Meaning of such texts.
    pub meaning: &'static str,
    /// A line that holds such a text and does not count as an error.
    pub example: &'static str,
    /// The regular expression.
    pub regex: &'static str,
}

/// The default patterns of error lines; the setting `watch.errors` replaces them.
pub const ERROR_PATTERNS: &[ErrorPattern] = &[
    ErrorPattern {
        source: "compilers, git, curl and most other tools",
        example: "src/a.ts(1,5): error TS2322: bad",
        regex: concat!(
            r#"(?i)(?:^|[\s:>)\]│|"'(=#!×✗✘✖⨯.])(?:error|fatal|panic)(?: ?[\[(][\w: .<>/+-]*[\])]|"#,
            r" [A-Z]{0,4}\d+(?: \(\w+\))?)?: *[^\s:%{$]",
        ),
    },
    ErrorPattern {
        source: "docker, kubectl, webpack, yarn, ansible",
        example: "Error response from daemon: No such container: web",
        regex: concat!(
            r"^(?:\S+:? |=> |\s+=> )?(?:error|Error|ERROR)(?:!| - | (?:response|from|in|at|on|is not|",
            r"during|while|when|\[|(?:processing|parsing|loading|reading|opening|executing|writing|",
            r"creating|connecting|running|building|fetching|getting|starting|resolving|installing|",
            r"compiling|pulling|sending|saving|deleting|updating|importing|initializing|evaluating|",
            r"validating|calling|copying|downloading|uploading|removing|attaching|listing)\b|",
            r"(?:Command|Couldn't|Could|Cannot|Can't|Package|An|Invalid|Failed|Missing|Unknown|No|",
            r"There) ))",
        ),
    },
    ErrorPattern {
        source: "bundler, aws, dpkg, cp, ld.so, perl, zsh",
        example: "An error occurred while installing x",
        regex: concat!(
            r"(?i)(?:^|[\s:])(?:an? (?:\w+ )?error (?:has )?occurred|errors occurred|error (?:while|",
            r"processing|writing|reading|loading|opening)\b|(?:internal server|compilation|syntax|",
            r"bus) error\b|(?:parse|syntax) error (?:near|at)|error, called at )",
        ),
    },
    ErrorPattern {
        source: "eslint",
        example: "  3:5  error  x is not defined",
        regex: r"^\s+\d+:\d+\s+error\s+\S",
    },
    ErrorPattern {
        source: "log levels in capitals",
        example: "2026-01-02 15:04:05 ERROR connection lost",
        regex: concat!(
            r"(?:^|[\])|>:/,] ?|\d[Zz]?\s+|[AP]M\s+|\s\[|^\[|- |\[\w+:|##\[)(?:ERROR|FATAL|CRITICAL|",
            r"CRIT|SEVERE|PANIC|EMERG|ALERT|ERR|FTL)(?:[\]\s:|)/]|$)",
        ),
    },
    ErrorPattern {
        source: "logfmt and JSON logs",
        example: "level=error msg=\"x\"",
        regex: concat!(
            r#"(?i)(?:^|[\s{,"'\[(])(?:level|lvl|severity|loglevel)["']?\s*[=:]\s*["']?(?:error|err|"#,
            r"fatal|critical|crit|panic|emerg|alert|[56]0)\b",
        ),
    },
    ErrorPattern {
        source: "nginx, apache, elixir, GitHub Actions",
        example: "[emerg] bind() failed",
        regex: r"(?i)[\[:](?:error|err|fatal|critical|crit|emerg|alert)\](?: ?\S)",
    },
    ErrorPattern {
        source: "glog: kubectl, kubelet",
        example: "E0102 15:04:05.287717 1 x.go:1] x",
        regex: r"^[EF]\d{4} \d\d:\d\d:\d\d",
    },
    ErrorPattern {
        source: "apt, kotlinc, dotnet, redis-cli, pytest",
        example: "E: Unable to locate package x",
        regex: r"^(?:E: |Err:\d+ |e: |fail: |\(error\) |E {3,}|✘ )\S",
    },
    ErrorPattern {
        source: "python, node, java, ruby, .NET",
        example: "ValueError: bad value",
        regex: r#"(?:^|[\s.(\['":])(?:[A-Z]\w*)?(?:Error|Exception|Rejection)(?: \[\w+\])?: "#,
    },
    ErrorPattern {
        source: "python, java, rails",
        example: "java.lang.NullPointerException",
        regex: r"(?:^|: )(?:[\w$]+(?:\.|::))*[A-Z]\w*(?:Error|Exception|Interrupt)(?:$| \()",
    },
    ErrorPattern {
        source: "ruby, elixir",
        example: "x (NoMethodError)",
        regex: r"\([A-Z][\w:]*(?:Error|Exception)\)$|^\*\* \([A-Z][\w.]+\)",
    },
    ErrorPattern {
        source: "python, java, rust, go, node, C++",
        example: "Traceback (most recent call last):",
        regex: concat!(
            r"^Traceback \(most recent call last\)|^Exception in thread |^Caused by: |",
            r"(?i:^unhandled (?:runtime )?(?:error|exception)|^uncaught |\bunhandled 'error' event|",
            r"\bterminate called after throwing|\bthrew exception)|panicked (?:at|while) |",
            r"\bpanic serving |has overflowed its stack|^goroutine \d+ \[|Emitted 'error' event",
        ),
    },
    ErrorPattern {
        source: "npm, pnpm, yarn, node, nodemon",
        example: "npm ERR! code ELIFECYCLE",
        regex: concat!(
            r"^npm (?:ERR!|error)(?: |$)|\bERR_[A-Z]{3,}[A-Z_]*\b|\b(?:ELIFECYCLE|ERESOLVE|EJSONPARSE|",
            r"E404)\b|\bMODULE_NOT_FOUND\b|^➤ YN\d+: .*\bcan't be\b|\bapp crashed\b",
        ),
    },
    ErrorPattern {
        source: "names of system errors",
        example: "listen EADDRINUSE",
        regex: concat!(
            r"\b(?:ECONNREFUSED|ECONNRESET|EADDRINUSE|EADDRNOTAVAIL|EHOSTUNREACH|ENETUNREACH|",
            r"ENOTFOUND|ETIMEDOUT|ENOENT|EACCES|EPERM|EPIPE|ENOSPC|EMFILE|ENOMEM)\b",
        ),
    },
    ErrorPattern {
        source: "go",
        example: "./main.go:5:2: undefined: x",
        regex: concat!(
            r"^(?:vet: )?(?:\./)?[\w./@+-]+\.go:\d+:\d+: \S|^go: (?:cannot|module|no|unknown|could|",
            r"error)|^exit status [1-9]",
        ),
    },
    ErrorPattern {
        source: "ruff, flake8, pylint, rubocop",
        example: "a.py:1:8: F401 `os` imported but unused",
        regex: r"^\S+:\d+:\d+: (?:[A-Z]{1,4}\d{2,4}:? |[EF]: )",
    },
    ErrorPattern {
        source: "ld, gcc, make, ninja",
        example: "make: *** [Makefile:3: all] Error 2",
        regex: concat!(
            r"\bundefined reference to |\bmultiple definition of |^Undefined symbols? for |",
            r"symbol\(s\) not found for|(?i:\bcannot find -l)|^compilation terminated|",
            r"being treated as errors|^\S+: \*\*\* .*Stop\.$|^\S*make(?:\[\d+\])?: \*\*\* |",
            r"^ninja: build stopped",
        ),
    },
    ErrorPattern {
        source: "test runners, gradle, maven, systemd",
        example: "FAIL src/a.test.js",
        regex: r"(?:^|[\s:>\[*(])FAIL(?:ED|URE|URES)?(?:[\s:.!\])*]|$)",
    },
    ErrorPattern {
        source: "summaries of compilers and test runners",
        example: "Found 3 errors.",
        regex: r"(?i)(?:^|[\s(|,])[1-9]\d* (?:\w+ )?(?:errors?|failed|failures?|failing)\b",
    },
    ErrorPattern {
        source: "summaries of junit, phpunit, ansible, dotnet",
        example: "Tests: 3, Failures: 1.",
        regex: concat!(
            r"(?i)(?:^|[\s(,])(?:errors?|failed|failures?|unreachable)(?:=|: +|:)[1-9]\d*\b|",
            r"^\s+[1-9]\d* Error\(s\)",
        ),
    },
    ErrorPattern {
        source: "TAP, jest, vitest",
        example: "not ok 3 - adds numbers",
        regex: r"^\s*(?:not ok \d|● \S+.* |[×✗✕] \S)|\bexpect\(received\)",
    },
    ErrorPattern {
        source: "builds, ssh, git, libc, ctest",
        example: "Host key verification failed.",
        regex: concat!(
            r"(?i)\b(?:build|compilation|tests?|command|subcommand|job|task|step|deployment|",
            r"installation|install|upgrade|authentication|verification|connection|request|migration|",
            r"merge|download|upload|validation|handshake|run|service|[a-z]+ing|case [^ ]+ \S+|",
            r"assertion [^ ].*) failed(?:[.!]?$|[\s,;:(])|\.\.\.+ ?\**(?:failed|error)\b",
        ),
    },
    ErrorPattern {
        source: "docker, systemd, gradle, pip",
        example: "web-1 exited with code 1",
        regex: concat!(
            r"(?i)\bexit(?:ed)?(?: with)?(?: error)?(?: status| code)[: =]+[1-9]|\bstatus=[1-9]\d*/|",
            r"\bwith result 'exit-code'|\bActive: failed\b|^\* What went wrong:|^Execution failed for|",
            r"did not (?:run|complete) successfully|\bcompilation aborted\b",
        ),
    },
    ErrorPattern {
        source: "messages of the C library, bash, zsh, dash",
        example: "bash: x: command not found",
        regex: concat!(
            r"(?i)(?:^|[:\])] ?)(?:command not found|no such file or directory|permission denied|",
            r"operation not permitted|operation not supported|no space left on device|",
            r"read-only file system|is a directory|not a directory|directory not empty|file exists|",
            r"too many open files|cannot allocate memory|input/output error|exec format error|",
            r"device or resource busy|text file busy|argument list too long|bad interpreter|",
            r"broken pipe|name or service not known|temporary failure in name resolution|",
            r"no matches found|event not found|unbound variable|parameter not set|bad substitution|",
            r#"unterminated|required file not found)(?:$|[\s.:;,(!'")])"#,
        ),
    },
    ErrorPattern {
        source: "messages about networks and memory",
        example: "connect: connection refused",
        regex: concat!(
            r"(?i)\b(?:connection (?:refused|reset by peer|timed out)|(?:connection|",
            r"server) \S.* was refused|(?:i/o|tls handshake) timeout|operation timed out|",
            r"no route to host|network is unreachable|host is (?:down|unreachable)|",
            r"address already in use|access denied|out of memory|unable to open database|",
            r"too many connections)\b",
        ),
    },
    ErrorPattern {
        source: "programs that cannot do something",
        example: "Cannot connect to the Docker daemon",
        regex: concat!(
            r"(?i)(?:^|[^.]: |\s{2,}|\) |\] |[⨯✖✗×] )(?:cannot|can't|can not|could not|couldn't|",
            r"unable to|failed to|failed with|no module named) \S",
        ),
    },
    ErrorPattern {
        source: "systemd, composer, sh, docker, sqlite",
        example: "Unit x.service could not be found.",
        regex: concat!(
            r"(?i)\bcould not be (?:found|resolved|opened|loaded|read|created|parsed|written)\b|",
            r"\bmodule not found\b|(?:^|: )(?:\S+: )?not found$|\bno such (?:table|container|image|",
            r"command|service|host|module)\b|\bis not (?:a git command|recognized as|",
            r"installed and no)|\bdoes not exist\.?$|\b(?:service|unit|host|package|pods? \S+|image|",
            r"module) not found\b",
        ),
    },
    ErrorPattern {
        source: "command lines",
        example: "make: unrecognized option '-z'",
        regex: concat!(
            r"(?i)(?:^|: )(?:unknown command|(?:unrecognized|invalid|illegal|unknown|bad|",
            r"missing) (?:\w+ ){0,2}(?:option|argument|flag|command|subcommand|number|operand|",
            r"parameter|separator|keyword)|no matches for wildcard)",
        ),
    },
    ErrorPattern {
        source: "crashes: shells, libc, kernel",
        example: "Segmentation fault (core dumped)",
        regex: concat!(
            r"(?i)\bsegmentation fault\b|\bsegfault at \b|\(core dumped\)|^killed$|^aborted$|",
            r": killed {2,}|\bkilled process \d|terminated by signal SIG(?:SEGV|ABRT|KILL|BUS|FPE|",
            r"ILL)|\bdouble free\b|\bstack smashing detected\b|\bcorrupted size\b|kernel panic|",
            r"\baborted!$|^! [A-Z]|\bemergency stop\b",
        ),
    },
    ErrorPattern {
        source: "git",
        example: " ! [rejected] main -> main (fetch first)",
        regex: r"^ ! \[(?:remote )?rejected\]|^CONFLICT \(|^Automatic merge failed|\bdenied to \S",
    },
    ErrorPattern {
        source: "curl, nginx, sed, perl",
        example: "curl: (6) Could not resolve host: x",
        regex: r"^curl: \(\d+\) |\bfailed \(\d+: |\btest failed$|^sed: -e expression | at \S+ line \d+\.$",
    },
    ErrorPattern {
        source: "kubectl",
        example: "web 0/1 CrashLoopBackOff",
        regex: concat!(
            r"^\s*Warning\s+(?:Failed\w*|BackOff|Unhealthy)\s|\b(?:CrashLoopBackOff|ImagePullBackOff|",
            r"ErrImagePull|OOMKilled|CreateContainerConfigError|InvalidImageName)\b",
        ),
    },
];

/// Texts that report no error.
pub const HARMLESS_PATTERNS: &[HarmlessPattern] = &[
    HarmlessPattern {
        meaning: "a count of zero",
        example: "Found 0 errors. Watching for file changes.",
        regex: concat!(
            r"(?i)(?:^|[\s(,:;\[])(?:0|no|zero|without)(?: \w+){0,2} (?:errors?|fail(?:ed|ing|",
            r"ures?)?)\b",
        ),
    },
    HarmlessPattern {
        meaning: "a field that is zero or empty",
        example: "{\"level\":\"info\",\"error\":null,\"msg\":\"done\"}",
        regex: concat!(
            r#"(?i)\b(?:errors?|err|fatal|panic|fail(?:ed|ures?)?)["']?\s*[:=]\s*["']?(?:0|none|null|"#,
            r#"nil|false|true|ok|off|\[\]|\{\}|""|'')(?:[,;.)}\]"']|\s*$)"#,
        ),
    },
    HarmlessPattern {
        meaning: "ruff --fix",
        example: "Found 3 errors (3 fixed, 0 remaining).",
        regex: r"(?i)\bfound \d+ errors? \(\d+ fixed, 0 remaining\)",
    },
    HarmlessPattern {
        meaning: "warnings and notes",
        example: "warning: unused variable: `error`",
        regex: concat!(
            r"(?i)\b(?:warning|warn)(?:\[[\w-]+\])?:.*|\[warn(?:ing)?\].*|^npm warn .*|^W: .*|",
            r"^\s+\d+:\d+\s+warning\s.*|\bnote: .*|\bNOTICE: .*",
        ),
    },
    HarmlessPattern {
        meaning: "other log levels",
        example: "INFO:root:retrying after error: timed out",
        regex: concat!(
            r"(?:^|[\])|>:=/,] ?|\d[Zz]?\s+|[AP]M\s+|\s\[|- )(?:INFO|DEBUG|TRACE|NOTICE|WARN|WARNING|",
            r"LOG|VERBOSE)(?:[:|)/]|\s|$).*|\[(?:DEBUG|TRACE|NOTICE)\].*|\[INFO\] +(?:[^B\s]|B[^U]).*|",
            r#"(?i:(?:^|[\s{,"'\[(])(?:level|lvl|severity)["']?\s*[=:]\s*["']?(?:info|debug|trace|"#,
            r"notice|warn|warning|[1234]0)\b).*",
        ),
    },
    HarmlessPattern {
        meaning: "tests that passed",
        example: "  ✓ throws TypeError: bad value (3 ms)",
        regex: concat!(
            r"^\s*(?:✓|✔|√|PASS\b|ok \d|ok\s+\S+/|--- PASS|=== RUN).*|\.\.\. ok$|",
            r"^\s*not ok .*# (?:TODO|SKIP).*|.* PASSED\b.*|.*\.{4,} *Passed.*",
        ),
    },
    HarmlessPattern {
        meaning: "git log",
        example: "a1b2c3d fix: error: handle a missing file",
        regex: r"^[*|\\/ ]*[0-9a-f]{7,40} .*",
    },
    HarmlessPattern {
        meaning: "measurements",
        example: "mean squared error: 0.0123",
        regex: concat!(
            r"(?i)\b(?:squared|absolute|relative|training|train|validation|standard|rounding|percent|",
            r"test) error: *[-\d.]+",
        ),
    },
    HarmlessPattern {
        meaning: "code and option lists",
        example: "  -e, --exit-on-error  stop at the first error: see the manual",
        regex: concat!(
            r"\bexcept \w[\w., ]*:.*|\braise \w.*|^\s*- \[[ x]\] .*|\b(?i:cannot be undone|",
            r"cannot wait)\b|^\s*--?[a-zA-Z][\w-]*[ ,=\[].*",
        ),
    },
    HarmlessPattern {
        meaning: "cmake probes",
        example: "-- Could NOT find Doxygen (missing: DOXYGEN_EXECUTABLE)",
        regex: r"^-- (?:Could NOT|Looking for|Performing Test|Check).*",
    },
];
