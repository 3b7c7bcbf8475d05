//! The answer of a tool: the trait of its type, and the type-erased form for the pipeline.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::ToolError;

/// The form in which an answer is shown to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Structured content, and the same facts as short rows of text.
    Data,
    /// Text from a terminal: plain text alone, because several clients ignore text beside structured
    /// content.
    Text,
    /// Answers of other tools, each as an MCP client would see it; shown as text.
    Calls,
}

/// The answer of a tool.
pub trait Output: Serialize + JsonSchema + Send {
    /// How the answer is shown.
    const FORM: Form;

    /// The answer as text: facts first, then text from the terminal.
    fn text(&self) -> String;

    /// Shortens the text from the terminal to `max` characters and notes the cut.
    fn limit(&mut self, max: usize) {
        let _ = max;
    }

    /// Refuses an answer that is longer than `max` characters and useless when cut.
    fn fits(&self, max: usize) -> Result<(), ToolError> {
        let _ = max;
        Ok(())
    }

    /// The text before [`limit`](Self::limit), for the directory `audit.full`.
    fn full_text(&self) -> String {
        self.text()
    }

    /// Whether the text may keep its colours.
    fn colors(&self) -> bool {
        false
    }

    /// The pictures of the answer. Moves them out.
    fn images(&mut self) -> Vec<Image> {
        Vec::new()
    }

    /// Events for a client that no longer waits for the answer (channel mode).
    fn notices(&self) -> Vec<Notice> {
        Vec::new()
    }

    /// The number of secrets that were redacted in the answers it contains.
    fn redacted(&self) -> usize {
        0
    }
}

/// A picture for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// The MIME type.
    pub mime: &'static str,
    /// The content of the file.
    pub bytes: Vec<u8>,
}

/// An event for a channel. It has no text from a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The event in one sentence.
    pub text: String,
    /// Its facts by name; a name is a plain word.
    pub facts: Vec<(&'static str, String)>,
}

/// A type-erased answer.
#[derive(Debug)]
pub struct Reply {
    /// How the answer is shown.
    pub form: Form,
    /// The answer as text.
    pub text: String,
    /// Whether the text may keep its colours.
    pub colors: bool,
    /// The pictures.
    pub images: Vec<Image>,
    /// The answer as data.
    pub structured: Value,
    /// Events for a client that no longer waits for the answer (channel mode).
    pub notices: Vec<Notice>,
    /// The number of redacted secrets.
    pub redacted: usize,
    /// The text before the cut, if the directory `audit.full` keeps it.
    pub full_text: Option<String>,
}
