//! Passwords in the arguments of known programs.

use std::ops::Range;

use super::assignment::is_empty;
use super::shapes::Candidate;

/// Bytes of a command line that are inspected.
const MAX_LINE_BYTES: usize = 1_000;

/// How a program takes a password.
#[derive(Clone, Copy)]
enum Form {
    /// As the next word, or attached to the option.
    Word,
    /// Attached to the option only: `-pSECRET`.
    Attached,
    /// Behind the first of these characters in the word: `me:SECRET`.
    Behind(char),
}

/// The options of each program whose value is a password.
const OPTIONS: &[(&[&str], &[&str], Form)] = &[
    (&["curl"], &["-u", "--user", "-U", "--proxy-user"], Form::Behind(':')),
    (&["mysql", "mariadb"], &["-p"], Form::Attached),
    (&["sshpass"], &["-p"], Form::Word),
    (&["redis-cli"], &["-a", "--pass"], Form::Word),
    (&["openssl"], &["-passin", "-passout", "-pass"], Form::Behind(':')),
    (&["ldap"], &["-w"], Form::Word),
    (&["smbclient", "rpcclient", "net"], &["-U", "--user"], Form::Behind('%')),
    (&["zip", "unzip"], &["-P"], Form::Word),
    (&["docker", "podman"], &["-p"], Form::Word),
];

/// The password in the arguments behind the name of a program.
pub(super) fn password(candidate: &Candidate<'_>) -> Option<Range<usize>> {
    let program = candidate.head().split([' ', '\t']).next()?;
    let line = line(candidate.rest());
    let words = words(line);
    let found = match program {
        "htpasswd" => positional(line, &words)?,
        _ => {
            let (_, options, form) = OPTIONS.iter().find(|(programs, ..)| {
                programs.iter().any(|name| {
                    // `mysqldump` takes the options of `mysql`, `ldapsearch` those of all LDAP tools.
                    program == *name || (program.starts_with(name) && name.len() > 3)
                })
            })?;
            words.iter().enumerate().find_map(|(at, word)| {
                options.iter().find_map(|name| value(line, &words, at, word, name, *form))
            })?
        }
    };
    let found = unquoted(line, found);
    let value = line.get(found.clone())?;
    (!is_empty(value)).then(|| candidate.range_behind(found))
}

/// The value of option `name`, if the word at `at` is that option.
fn value(
    line: &str,
    words: &[Range<usize>],
    at: usize,
    word: &Range<usize>,
    name: &str,
    form: Form,
) -> Option<Range<usize>> {
    let text = line.get(word.clone())?;
    let behind = text.strip_prefix(name)?;
    let given = match behind.strip_prefix('=').unwrap_or(behind) {
        "" if matches!(form, Form::Attached) => return None,
        "" => words.get(at + 1)?.clone(),
        // `--user-agent` is not `--user`.
        _ if name.starts_with("--") && !behind.starts_with('=') => return None,
        attached => word.end - attached.len()..word.end,
    };
    match form {
        Form::Word | Form::Attached => Some(given),
        Form::Behind(separator) => {
            let place = line.get(given.clone())?.find(separator)?;
            let scheme = line.get(given.start..given.start + place)?;
            // `-passin file:…` names a file.
            let names_a_file = name.starts_with("-pass") && scheme != "pass";
            (!names_a_file).then(|| given.start + place + 1..given.end)
        }
    }
}

/// The password of `htpasswd -b FILE USER PASSWORD`, or of `htpasswd -nb USER PASSWORD`.
fn positional(line: &str, words: &[Range<usize>]) -> Option<Range<usize>> {
    let is_option =
        |word: &&Range<usize>| line.get((*word).clone()).is_some_and(|w| w.starts_with('-'));
    let options: String =
        words.iter().take_while(is_option).filter_map(|word| line.get(word.clone())).collect();
    let mut names = words.iter().skip_while(is_option);
    let skipped = if options.contains('n') { 1 } else { 2 };
    names.nth(skipped).filter(|_| options.contains('b')).cloned()
}

/// The command line, with lines continued by a backslash.
fn line(rest: &str) -> &str {
    let end = rest.match_indices('\n').map(|(at, _)| at);
    let mut end = end.filter(|at| !rest.get(..*at).is_some_and(|line| line.ends_with('\\')));
    let end = end.next().unwrap_or(rest.len()).min(MAX_LINE_BYTES);
    // The last character may be cut.
    (0..4).find_map(|cut| rest.get(..end.checked_sub(cut)?)).unwrap_or_default()
}

/// The words of a command line; blanks between quotes belong to a word.
fn words(line: &str) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let (mut start, mut quote) = (None, None);
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, c) if c.is_whitespace() => words.extend(start.take().map(|start| start..at)),
            (None, c) => {
                start.get_or_insert(at);
                if matches!(c, '"' | '\'') {
                    quote = Some(c);
                }
            }
        }
    }
    words.extend(start.map(|start| start..line.len()));
    words
}

/// A range without the quotes around it.
fn unquoted(line: &str, range: Range<usize>) -> Range<usize> {
    let text = line.get(range.clone()).unwrap_or_default();
    let open = text.len() - text.trim_start_matches(['"', '\'']).len();
    let close = text.len() - text.trim_end_matches(['"', '\'', ';', ')']).len();
    range.start + open..(range.end - close).max(range.start + open)
}
