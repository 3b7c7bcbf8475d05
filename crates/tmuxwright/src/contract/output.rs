//! The answer of a tool: its typed form, and the form in which the pipeline passes it on.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::ToolError;

/// How an answer is shown to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Structured content, and the same facts as short rows of text.
    Data,
    /// Text from a terminal: plain text alone, since several clients drop it beside structure.
    Text,
    /// Answers of other tools, each as its client would see it; shown like text.
    Calls,
}

/// What a tool answers with.
pub trait Output: Serialize + JsonSchema + Send {
    /// How it is shown.
    const FORM: Form;

    /// The answer as text: facts first, then what the terminal showed.
    fn text(&self) -> String;

    /// Shortens the text from the terminal to `max` characters and notes what was cut.
    fn limit(&mut self, max: usize) {
        let _ = max;
    }

    /// Refuses an answer longer than `max` that would be worthless if it were cut.
    fn fits(&self, max: usize) -> Result<(), ToolError> {
        let _ = max;
        Ok(())
    }

    /// The text with everything that [`limit`](Self::limit) would cut, for the audit folder.
    fn full_text(&self) -> String {
        self.text()
    }

    /// Whether the text may keep its colours.
    fn colors(&self) -> bool {
        false
    }

    /// What there is to look at; it is handed out once.
    fn images(&mut self) -> Vec<Image> {
        Vec::new()
    }

    /// What to tell a client that is at something else by now.
    fn notices(&self) -> Vec<Notice> {
        Vec::new()
    }

    /// How many secrets were taken out of the answers of other tools in this one.
    fn redacted(&self) -> usize {
        0
    }
}

/// A picture for the model to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// What kind of file it is.
    pub mime: &'static str,
    /// The file.
    pub bytes: Vec<u8>,
}

/// Something that happened, in facts: nothing that a terminal showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// All of it in a sentence.
    pub text: String,
    /// Its parts; the names are plain words.
    pub facts: Vec<(&'static str, String)>,
}

/// An answer whose type no longer matters.
#[derive(Debug)]
pub struct Reply {
    /// How it is shown.
    pub form: Form,
    /// The answer as text.
    pub text: String,
    /// Whether the text may keep its colours.
    pub colors: bool,
    /// What there is to look at.
    pub images: Vec<Image>,
    /// The answer as data.
    pub structured: Value,
    /// What to tell a client that is at something else by now.
    pub notices: Vec<Notice>,
    /// How many secrets were taken out.
    pub redacted: usize,
    /// The text before it was cut, if the audit folder keeps it.
    pub full_text: Option<String>,
}
