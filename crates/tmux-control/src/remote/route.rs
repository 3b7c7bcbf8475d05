//! The way to another system, checked when it is configured.
//!
//! Nothing of the text may become an option of ssh that this crate does not know, a program on this
//! machine, or a command of the shell on the other side.

use std::fmt;

/// Options of ssh without a value.
const FLAGS: &str = "46AaCKk";

/// Options of ssh with a value.
const WITH_VALUE: &str = "pilJFobBcmI";

/// Keys of `-o` that decide what runs and where, or that this crate sets itself.
const OWN_KEYS: [&str; 25] = [
    "batchmode",
    "clearallforwardings",
    "connecttimeout",
    "controlmaster",
    "controlpath",
    "controlpersist",
    "escapechar",
    "forkafterauthentication",
    "forwardx11",
    "forwardx11trusted",
    "host",
    "include",
    "localcommand",
    "loglevel",
    "match",
    "permitlocalcommand",
    "remotecommand",
    "requesttty",
    "serveralivecountmax",
    "serveraliveinterval",
    "sessiontype",
    "stdinnull",
    "tunnel",
    "tunneldevice",
    "visualhostkey",
];

/// Characters that a destination may hold beside letters and digits.
const DESTINATION_CHARACTERS: &str = "._-@:%+~[]/=,";

/// The way to another system.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Route {
    /// OpenSSH.
    Ssh {
        /// Options of `ssh`, each in a word of its own, followed by the word of its value.
        options: Vec<String>,
        /// The host, with the user if one is given.
        destination: String,
    },
    /// A command that runs the program behind its last word there, with stdin and stdout.
    Command(Vec<String>),
}

impl Route {
    /// Parses `[options] destination`, split by the rules of a shell.
    pub fn ssh(text: &str) -> Result<Self, String> {
        let words = shlex::split(text).ok_or_else(|| format!("`{text}` has an open quote"))?;
        if let Some(word) = words.iter().find(|word| word.contains(char::is_control)) {
            return Err(format!("`{}` holds a control character", word.escape_debug()));
        }
        let mut words = words.into_iter();
        let mut options = Vec::new();
        while let Some(word) = words.next() {
            match word.strip_prefix('-') {
                Some(letters) => read_options(letters, &word, &mut words, &mut options)?,
                None => {
                    check_destination(&word)?;
                    return match words.next() {
                        None => Ok(Self::Ssh { options, destination: word }),
                        Some(next) => Err(format!(
                            "`{next}` follows the destination `{word}`, where ssh would take it for a \
                             command; write options first and nothing behind the destination"
                        )),
                    };
                }
            }
        }
        Err(format!("`{text}` names no destination, such as `user@host`"))
    }

    /// The way through a command, such as `docker exec -i box`.
    pub fn command(words: Vec<String>) -> Result<Self, String> {
        if let Some(word) = words.iter().find(|word| word.contains('\0')) {
            return Err(format!("`{}` holds a NUL byte", word.escape_debug()));
        }
        match words.first() {
            Some(program) if !program.is_empty() => Ok(Self::Command(words)),
            _ => Err("it is empty; give a command such as `docker exec -i box`".to_owned()),
        }
    }
}

/// Reads the options in one word, such as `4p` of `-4p 22`, and the value in the next word if it has none.
fn read_options(
    letters: &str,
    word: &str,
    words: &mut impl Iterator<Item = String>,
    options: &mut Vec<String>,
) -> Result<(), String> {
    if letters.is_empty() {
        return Err("`-` is not an option of ssh".to_owned());
    }
    for (at, letter) in letters.char_indices() {
        if FLAGS.contains(letter) {
            options.push(format!("-{letter}"));
            continue;
        }
        if !WITH_VALUE.contains(letter) {
            let valid: Vec<String> =
                FLAGS.chars().chain(WITH_VALUE.chars()).map(|valid| format!("-{valid}")).collect();
            return Err(format!(
                "`{word}` is not an option that is accepted here; valid ones are {}",
                valid.join(" ")
            ));
        }
        let attached = letters.get(at + letter.len_utf8()..).unwrap_or_default();
        let value = match attached {
            "" => words.next().ok_or_else(|| format!("`{word}` needs a value"))?,
            attached => attached.to_owned(),
        };
        if letter == 'o' {
            check_key(&value)?;
        }
        options.extend([format!("-{letter}"), value]);
        return Ok(());
    }
    Ok(())
}

/// Refuses `-o` with a key that is not the person's to set.
fn check_key(value: &str) -> Result<(), String> {
    let key = value.trim().split(['=', ' ', '\t', '"']).next().unwrap_or_default();
    if key.is_empty() || !key.chars().all(|letter| letter.is_ascii_alphanumeric()) {
        return Err(format!("`-o {value}` is not of the form `-o KEY=VALUE`"));
    }
    if OWN_KEYS.contains(&key.to_ascii_lowercase().as_str()) {
        return Err(format!(
            "`{key}` cannot be set with `-o` here: the connection depends on its own value of it"
        ));
    }
    Ok(())
}

fn check_destination(word: &str) -> Result<(), String> {
    let is_valid =
        |letter: char| letter.is_alphanumeric() || DESTINATION_CHARACTERS.contains(letter);
    match word.chars().find(|letter| !is_valid(*letter)) {
        None if word.is_empty() => Err("the destination is empty; write `user@host`".to_owned()),
        None => Ok(()),
        Some(letter) => Err(format!(
            "`{letter}` cannot be part of the destination `{word}`; write `user@host`, an alias of \
             your ssh configuration, or `ssh://user@host:port`"
        )),
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ssh { destination, .. } => f.write_str(destination),
            Self::Command(words) => f.write_str(&words.join(" ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_split_from_the_destination() {
        let route = Route::ssh("-4Ap22 -i '~/a key' -o User=me -oPort=23 build.example").unwrap();
        let Route::Ssh { options, destination } = route else { panic!("not ssh") };
        assert_eq!(destination, "build.example");
        let parts = ["-4", "-A", "-p", "22", "-i", "~/a key", "-o", "User=me", "-o", "Port=23"];
        assert_eq!(options, parts);
        for valid in ["me@build-1", "ssh://me@build:22", "fe80::1%eth0", "zürich"] {
            assert!(Route::ssh(valid).is_ok(), "{valid}");
        }
    }

    #[test]
    fn dangerous_texts_are_refused() {
        let refused = [
            ("", "no destination"),
            ("-p 22", "no destination"),
            ("-p", "needs a value"),
            ("''", "empty"),
            ("host reboot", "`reboot` follows"),
            ("host -p 22", "`-p` follows"),
            ("-- host", "`--` is not an option"),
            ("-f host", "`-f` is not an option"),
            ("-NT host", "`-NT` is not an option"),
            ("-L 1:x:1 host", "`-L` is not an option"),
            ("-S none host", "`-S` is not an option"),
            ("-o ControlPath=x host", "`ControlPath` cannot be set"),
            ("-oremotecommand=reboot host", "`remotecommand` cannot be set"),
            ("-o 'LocalCommand touch x' host", "`LocalCommand` cannot be set"),
            ("-o ' BatchMode no' host", "`BatchMode` cannot be set"),
            ("-o '\"BatchMode\" no' host", "KEY=VALUE"),
            ("-o '' host", "KEY=VALUE"),
            ("'host;reboot'", "`;` cannot be part"),
            ("'a b'", "` ` cannot be part"),
            ("'$(reboot)'", "`$` cannot be part"),
            ("'a\nb'", "control character"),
            ("'open", "open quote"),
        ];
        for (text, reason) in refused {
            let error = Route::ssh(text).unwrap_err();
            assert!(error.contains(reason), "{text:?}: {error}");
        }
        assert!(Route::command(Vec::new()).is_err());
        assert!(Route::command(vec![String::new()]).is_err());
        assert!(Route::command(vec!["a\0".to_owned()]).is_err());
    }
}
