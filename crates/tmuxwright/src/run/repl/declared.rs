//! Interpreters that a person declares in the config file, and their place in the table.

use regex::Regex;

use super::interpreter_table::{Declaration, Entry, Shape, telling};
use super::interpreters::Interpreters;

/// Prompts that many programs have. One of them does not tell which program shows it.
const COMMON_PROMPTS: &[&str] = &["> ", ">> ", "$ ", "# ", "% ", ": "];

/// How input of several lines reaches a declared interpreter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum DeclaredEntry {
    /// Each line is entered at a prompt of its own.
    Lines,
    /// The same, with an empty line after each block: that ends a block which indentation began.
    Indented,
    /// All lines are one bracketed paste: the line editor would indent single lines by itself.
    Paste,
}

impl From<DeclaredEntry> for Entry {
    fn from(declared: DeclaredEntry) -> Self {
        match declared {
            DeclaredEntry::Lines => Self::LineByLine,
            DeclaredEntry::Indented => Self::IndentedBlocks,
            DeclaredEntry::Paste => Self::Paste,
        }
    }
}

/// A declared interpreter. Missing fields come from the built-in interpreter of the same name, if one exists.
#[derive(Debug, Clone, Default)]
pub struct DeclaredInterpreter {
    /// Name.
    pub name: String,
    /// Names of its programs; its own name if there are none.
    pub programs: Option<Vec<String>>,
    /// Expression for the prompt.
    pub prompt: Option<String>,
    /// Expression for the prompt within an open statement.
    pub continuation: Option<String>,
    /// How input of several lines reaches it.
    pub entry: Option<DeclaredEntry>,
    /// Input that leaves it.
    pub leave: Option<String>,
    /// Expression for the beginning of a line that reports an error.
    pub error: Option<String>,
}

impl DeclaredInterpreter {
    /// Whether it has a prompt, of its own or of the built-in one.
    pub fn has_prompt(&self) -> bool {
        self.prompt.is_some() || Declaration::built_in(&self.name).is_some()
    }

    fn declaration(self) -> Declaration {
        let built_in = Declaration::built_in(&self.name).cloned();
        let base = built_in.unwrap_or_else(|| {
            let name = leak_text(self.name.clone());
            telling(name, leak_list([name].into()), ["", ""], "", "")
        });
        let shape = match &self.prompt {
            Some(prompt) if fits_common_prompt(prompt) => Shape::Plain,
            Some(_) => Shape::Telling,
            None => base.shape,
        };
        let programs = self.programs.map(|names| names.into_iter().map(leak_text).collect());
        Declaration {
            programs: programs.map_or(base.programs, leak_list),
            shape,
            prompt: self.prompt.map_or(base.prompt, leak_text),
            continuation: self.continuation.map_or(base.continuation, leak_text),
            entry: self.entry.map_or(base.entry, Entry::from),
            leave: self.leave.map_or(base.leave, leak_text),
            error: self.error.map_or(base.error, leak_text),
            ..base
        }
    }
}

impl Interpreters {
    /// The built-in interpreters and these. The table lives as long as the process, as its settings do.
    pub fn with_declared(declared: Vec<DeclaredInterpreter>) -> &'static Self {
        let declared: Vec<Declaration> =
            declared.into_iter().map(DeclaredInterpreter::declaration).collect();
        Box::leak(Box::new(Self::with(Vec::leak(declared))))
    }
}

/// Whether an expression fits a prompt that many programs have.
fn fits_common_prompt(prompt: &str) -> bool {
    let whole = Regex::new(&format!("^(?:{prompt})$"));
    whole.is_ok_and(|whole| COMMON_PROMPTS.iter().any(|common| whole.is_match(common)))
}

fn leak_text(text: String) -> &'static str {
    String::leak(text)
}

fn leak_list(names: Vec<&'static str>) -> &'static [&'static str] {
    Vec::leak(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared(name: &str, prompt: Option<&str>) -> DeclaredInterpreter {
        let prompt = prompt.map(str::to_owned);
        DeclaredInterpreter { name: name.to_owned(), prompt, ..Default::default() }
    }

    #[test]
    fn declared_interpreters_come_before_built_in_ones() {
        let table = Interpreters::with_declared(vec![
            declared("toy", Some("toy> ")),
            declared("plain", Some("> ")),
            declared("psql", Some("my> ")),
            DeclaredInterpreter { leave: Some("bye".to_owned()), ..declared("sqlite3", None) },
        ]);
        for (row, name, leave) in [
            ("toy> ", Some("toy"), ""),
            ("> ", None, ""),
            ("my> ", Some("psql"), r"\q"),
            ("app=# ", None, ""),
            ("sqlite> ", Some("sqlite3"), "bye"),
            (">>> ", Some("python"), "exit()"),
        ] {
            let found = table.of(None, row);
            assert_eq!(found.map(|it| (it.name(), it.leave())), name.map(|name| (name, leave)));
        }
    }
}
