//! Paste buffers that a call may touch, found by label or whole name.

use terminal::text;

use super::Cx;
use crate::contract::{BufferName, Code, ToolError, shorten};
use crate::host::{PasteBuffer, is_reserved_buffer_name};

/// The longest label of a buffer, in characters.
const MAX_LABEL_CHARS: usize = 64;

/// The name as the label of a new buffer of our own.
pub(crate) fn buffer_label<'a>(name: &'a BufferName, argument: &str) -> Result<&'a str, ToolError> {
    let name = name.0.as_str();
    let wrong = |why: &str| {
        let shown: String = name.chars().take(MAX_LABEL_CHARS).collect();
        Err(ToolError::invalid_argument(format!("`{argument}`: `{shown}` {why}"))
            .hint("give a short plain name such as notes"))
    };
    if name.trim().is_empty() {
        return wrong("is empty");
    }
    if name.chars().count() > MAX_LABEL_CHARS {
        return wrong(&format!("… is longer than {MAX_LABEL_CHARS} characters"));
    }
    // What is cleaned out of an answer could not be called by its name.
    if text::clean(name, false) != name || text::inline(name) != name {
        return wrong("has a character in it that cannot be seen");
    }
    if is_reserved_buffer_name(name) {
        return wrong("begins like the whole name of a buffer, and there is none of this name");
    }
    Ok(name)
}

impl Cx {
    /// The buffers that the call may touch.
    pub async fn buffers(&self) -> Result<Vec<PasteBuffer>, ToolError> {
        let mut buffers = self.host.buffers().await?;
        buffers.retain(|buffer| self.admit_buffer(buffer).is_ok());
        Ok(buffers)
    }

    /// Finds the buffer that is called so, if the call may touch it.
    pub async fn buffer(&self, name: &BufferName) -> Result<PasteBuffer, ToolError> {
        let all = self.host.buffers().await?;
        if let Some(found) = pick(&all, name)? {
            self.admit_buffer(found)?;
            return Ok(found.clone());
        }
        let mut there: Vec<String> = all
            .iter()
            .filter(|buffer| self.admit_buffer(buffer).is_ok())
            .map(|buffer| buffer.short_name().to_owned())
            .collect();
        there.sort();
        let hint = match there.is_empty() {
            true => "there is none; set_buffer makes one".to_owned(),
            false => format!("use one of these: {}", shorten(&there)),
        };
        Err(no_buffer(&name.0).hint(hint))
    }

    /// The same for a buffer that need not be there. What the call may not touch counts as not
    /// there: it has a name of its own, which a new buffer of ours never gets.
    pub async fn buffer_if_any(&self, name: &BufferName) -> Result<Option<PasteBuffer>, ToolError> {
        Ok(pick(&self.buffers().await?, name)?.cloned())
    }

    fn admit_buffer(&self, buffer: &PasteBuffer) -> Result<(), ToolError> {
        self.guard.admit_buffer(self.meta, &buffer.row.name, buffer.own())
    }
}

/// What to say of a buffer that is not there.
pub(crate) fn no_buffer(name: &str) -> ToolError {
    ToolError::new(Code::NotFound, format!("there is no buffer `{name}`"))
        .hint("list_buffers shows what there is")
}

/// An error of tmux while a buffer is read, written or removed: it may have gone meanwhile.
pub(crate) fn buffer_failed(name: &str, error: tmux_control::Error) -> ToolError {
    if error.is_not_found() { no_buffer(name) } else { error.into() }
}

/// The buffer that is meant: one of ours by its label, or any by its whole name.
fn pick<'a>(
    buffers: &'a [PasteBuffer],
    name: &BufferName,
) -> Result<Option<&'a PasteBuffer>, ToolError> {
    let labelled: Vec<&PasteBuffer> =
        buffers.iter().filter(|buffer| buffer.label.as_ref() == Some(&name.0)).collect();
    match labelled.as_slice() {
        [] => Ok(buffers.iter().find(|buffer| buffer.row.name == name.0)),
        [one] => Ok(Some(one)),
        several => {
            let names: Vec<String> = several.iter().map(|buffer| buffer.row.name.clone()).collect();
            let what = format!("`{}` is the label of {} buffers", name.0, names.len());
            Err(ToolError::new(Code::Ambiguous, what)
                .hint(format!("use the whole name: {}", shorten(&names))))
        }
    }
}

#[cfg(test)]
mod tests {
    use tmux_control::buffer::BufferRow;

    use super::*;

    fn buffer(name: &str, label: Option<&str>) -> PasteBuffer {
        let row = BufferRow { name: name.into(), bytes: 1, created: 0, sample: String::new() };
        PasteBuffer { row, label: label.map(str::to_owned) }
    }

    #[test]
    fn a_label_comes_before_a_whole_name_and_two_are_too_many() {
        let buffers = [
            buffer("notes", None),
            buffer("mcp_1", Some("notes")),
            buffer("mcp_2", Some("twin")),
            buffer("mcp_3", Some("twin")),
        ];
        let found = |name: &str| {
            pick(&buffers, &BufferName(name.into())).map(|found| found.map(|b| b.row.name.clone()))
        };
        assert_eq!(found("notes").unwrap().unwrap(), "mcp_1");
        assert_eq!(found("mcp_3").unwrap().unwrap(), "mcp_3");
        assert_eq!(found("note").unwrap(), None);
        let error = found("twin").unwrap_err();
        assert_eq!(error.code, Code::Ambiguous);
        assert!(error.hint.unwrap().contains("mcp_2, mcp_3"));
    }

    #[test]
    fn a_label_can_be_read_and_typed() {
        let label = |name: &str| buffer_label(&BufferName(name.into()), "name").is_ok();
        for good in ["notes", "my notes", "#(touch x)", "#S %d; \"it's\" $HOME", "漢字", "-x"] {
            assert!(label(good), "{good}");
        }
        let long = "x".repeat(65);
        for bad in ["", "  ", "a\tb", "a\nb", "a\u{1b}[1mb", "a\u{200b}b", "a\0", "mcp_x", &long] {
            assert!(!label(bad), "{bad:?}");
        }
    }
}
