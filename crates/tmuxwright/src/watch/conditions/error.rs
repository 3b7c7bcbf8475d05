//! `error`: a line that looks like an error is printed.

use std::sync::{Arc, OnceLock};

use regex::{Regex, RegexSet};

use super::{Condition, ConditionKind, regex as expression};
use crate::watch::moment::Line;

pub(super) const KIND: ConditionKind = ConditionKind {
    name: "error",
    argument: None,
    help: "a line that looks like an error is printed",
    make: |_, patterns| Ok(Box::new(LooksBad(patterns.read()?))),
};

/// What an error looks like, unless the settings say otherwise.
pub const ERROR_PATTERNS: &[&str] = &[
    // `error: …`, `error[E0308]: …`, `x.c:3: fatal error: …`, `panic: …`
    r"(?i)(?:^|[\s:>)\]])(?:error|fatal|panic)(?:\[\w+\])?: *\S",
    // A log's level: `ERROR …`, `[FATAL] …`
    r"(?:^|[\s\[|=])(?:ERROR|FATAL|CRITICAL)(?:[\s\]|:]|$)",
    // `ValueError: …`, `java.io.IOException: …`, `Uncaught TypeError: …`
    r"(?:^|[\s.])[A-Z]\w*(?:Error|Exception): ",
    r"^Traceback \(most recent call last\)|^Exception in thread |panicked at |^npm (?:ERR!|error) ",
    // Shells and make: `x: command not found`, `make: *** [all] Error 2`
    r"(?:: (?:command not found|No such file(?: or directory)?|Permission denied)|: not found)$",
    r"^make(?:\[\d+\])?: \*\*\* |(?i:segmentation fault|core dumped)",
    // Test runners: `FAIL src/a.test.js`, `test result: FAILED. …`
    r"(?:^|[\s:])FAIL(?:ED)?(?:[\s:.!]|$)",
];

/// What a line may say of errors without there being one.
const HARMLESS: &str = r"(?i)\b(?:0|no|zero|without)(?: \w+)? (?:errors?|fail(?:ed|ures?)?)\b|\b(?:errors?|fail(?:ed|ures?)?)[:=] *0\b";

/// The patterns in force. They are read when they are first needed: that takes some milliseconds,
/// and most servers never do.
#[derive(Debug, Clone)]
pub(crate) struct ErrorPatterns {
    texts: Arc<[String]>,
    read: Arc<OnceLock<Read>>,
}

#[derive(Debug, Clone)]
struct Read {
    bad: RegexSet,
    harmless: Regex,
}

impl ErrorPatterns {
    /// Takes patterns, or says which one is none.
    pub(crate) fn new<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let patterns = Self::unread(patterns);
        patterns.read()?;
        Ok(patterns)
    }

    fn unread<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Self {
        let texts = patterns.into_iter().map(str::to_owned).collect();
        Self { texts, read: Arc::default() }
    }

    fn read(&self) -> Result<Read, String> {
        if let Some(read) = self.read.get() {
            return Ok(read.clone());
        }
        for text in &*self.texts {
            expression::compile(text)?;
        }
        let bad = RegexSet::new(&*self.texts).map_err(|error| error.to_string())?;
        let read = Read { bad, harmless: expression::compile(HARMLESS)? };
        Ok(self.read.get_or_init(|| read).clone())
    }
}

impl Default for ErrorPatterns {
    fn default() -> Self {
        Self::unread(ERROR_PATTERNS.iter().copied())
    }
}

impl Read {
    fn fit(&self, text: &str) -> bool {
        self.bad.is_match(text)
            && (!self.harmless.is_match(text)
                || self.bad.is_match(&self.harmless.replace_all(text, "")))
    }
}

struct LooksBad(Read);

impl Condition for LooksBad {
    /// Only whole lines: the begin of one says too little, as in `error` and then `-free`.
    fn is_met_by(&self, line: &Line) -> bool {
        line.is_whole && line.text.len() > line.new_from && self.0.fit(line.text.trim_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_told_from_talk_of_errors() {
        let patterns = ErrorPatterns::default().read().unwrap();
        for line in [
            "error: could not compile `x` (lib) due to 2 previous errors",
            "error[E0308]: mismatched types",
            "main.c:3:10: fatal error: x.h: No such file",
            "Error: Cannot find module 'x'",
            "fatal: not a git repository (or any of the parent directories): .git",
            "panic: runtime error: index out of range",
            "thread 'main' panicked at src/main.rs:2:5:",
            "Traceback (most recent call last):",
            "ValueError: bad value",
            "Uncaught TypeError: x is not a function",
            "java.io.IOException: closed",
            "Exception in thread \"main\" java.lang.Error",
            "2026-01-01 12:00:00 ERROR connection refused",
            "[ERROR] Failed to execute goal",
            "level=ERROR msg=\"x\"",
            "npm ERR! missing script: dev",
            "npm error code ENOENT",
            "bash: foo: command not found",
            "sh: 1: foo: not found",
            "ls: cannot access 'x': No such file or directory",
            "cp: /root: Permission denied",
            "make: *** [Makefile:3: all] Error 2",
            "Segmentation fault (core dumped)",
            "test result: FAILED. 1 passed; 1 failed",
            "FAILED tests/test_a.py::test_b - assert 1 == 2",
            "FAIL src/a.test.js",
            "0 warnings, error: linking failed",
        ] {
            assert!(patterns.fit(line), "{line}");
        }
        for line in [
            "0 errors",
            "Found 0 errors, 0 warnings",
            "no errors found",
            "finished without errors",
            "Errors: 0",
            "errors=0 FAILED: 0",
            "0 FAILED",
            "error-free",
            "an error-free build",
            "src/error.rs",
            "   Compiling error-chain v0.12.4",
            "src/error/mod.rs:10: pub struct Error;",
            "cat error.log",
            "errors.txt: ASCII text",
            "error_handling ... ok",
            "test result: ok. 3 passed; 0 failed; 0 ignored",
            "see the chapter on error handling",
            "Terror: a film",
            "ok",
            "",
        ] {
            assert!(!patterns.fit(line), "{line}");
        }
    }
}
