//! The condition `error`: a line that looks like an error is printed.

use std::sync::{Arc, OnceLock};

use regex::{Regex, RegexSet};

use super::{Condition, ConditionKind, regex as expression};
use crate::watch::observation::OutputLine;

pub(super) const KIND: ConditionKind = ConditionKind {
    name: "error",
    argument: None,
    help: "a line that looks like an error is printed",
    make: |_, patterns| Ok(Box::new(ErrorLine(patterns.compiled()?))),
};

/// The default patterns of error lines; the setting `watch.errors` replaces them.
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

/// Phrases about the absence of errors, such as `0 errors`. They are removed before a line is matched.
const HARMLESS: &str = r"(?i)\b(?:0|no|zero|without)(?: \w+)? (?:errors?|fail(?:ed|ures?)?)\b|\b(?:errors?|fail(?:ed|ures?)?)[:=] *0\b";

/// The patterns in force. They are compiled on first use: that takes some milliseconds, and most servers
/// never need them.
#[derive(Debug, Clone)]
pub(crate) struct ErrorPatterns {
    texts: Arc<[String]>,
    compiled: Arc<OnceLock<CompiledPatterns>>,
}

#[derive(Debug, Clone)]
struct CompiledPatterns {
    error: RegexSet,
    harmless: Regex,
}

impl ErrorPatterns {
    /// Compiles patterns. The error names the invalid one.
    pub(crate) fn new<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let patterns = Self::uncompiled(patterns);
        patterns.compiled()?;
        Ok(patterns)
    }

    fn uncompiled<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Self {
        let texts = patterns.into_iter().map(str::to_owned).collect();
        Self { texts, compiled: Arc::default() }
    }

    fn compiled(&self) -> Result<CompiledPatterns, String> {
        if let Some(compiled) = self.compiled.get() {
            return Ok(compiled.clone());
        }
        for text in &*self.texts {
            expression::compile(text)?;
        }
        let error = RegexSet::new(&*self.texts).map_err(|error| error.to_string())?;
        let compiled = CompiledPatterns { error, harmless: expression::compile(HARMLESS)? };
        Ok(self.compiled.get_or_init(|| compiled).clone())
    }
}

impl Default for ErrorPatterns {
    fn default() -> Self {
        Self::uncompiled(ERROR_PATTERNS.iter().copied())
    }
}

impl CompiledPatterns {
    fn matches(&self, text: &str) -> bool {
        self.error.is_match(text)
            && (!self.harmless.is_match(text)
                || self.error.is_match(&self.harmless.replace_all(text, "")))
    }
}

struct ErrorLine(CompiledPatterns);

impl Condition for ErrorLine {
    /// Only whole lines count: `error` may be the beginning of `error-free`.
    fn is_met_by(&self, line: &OutputLine) -> bool {
        line.is_whole && line.text.len() > line.new_from && self.0.matches(line.text.trim_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_lines_match_and_harmless_lines_do_not() {
        let patterns = ErrorPatterns::default().compiled().unwrap();
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
            assert!(patterns.matches(line), "{line}");
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
            assert!(!patterns.matches(line), "{line}");
        }
    }
}
