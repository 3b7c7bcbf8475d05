//! Lookup of the paste buffers that a call may use, by label or full name.

use terminal::text;

use super::Cx;
use crate::contract::{BufferName, Code, ToolError, shorten};
use crate::host::{PasteBuffer, is_reserved_buffer_name};

const MAX_BUFFER_LABEL_CHARS: usize = 64;

/// Checks a name as the label of a new own buffer.
pub(crate) fn buffer_label<'a>(name: &'a BufferName, argument: &str) -> Result<&'a str, ToolError> {
    let name = name.0.as_str();
    let wrong = |why: &str| {
        let shown: String = name.chars().take(MAX_BUFFER_LABEL_CHARS).collect();
        Err(ToolError::invalid_argument(format!("`{argument}`: `{shown}` {why}"))
            .hint("give a short plain name such as notes"))
    };
    if name.trim().is_empty() {
        return wrong("is empty");
    }
    if name.chars().count() > MAX_BUFFER_LABEL_CHARS {
        return wrong(&format!("… is longer than {MAX_BUFFER_LABEL_CHARS} characters"));
    }
    // Answers are cleaned, so an agent could not copy such a label.
    if text::clean(name, false) != name || text::inline(name) != name {
        return wrong("contains an invisible character");
    }
    if is_reserved_buffer_name(name) {
        return wrong("begins like the full name of an own buffer, and there is no such buffer");
    }
    Ok(name)
}

impl Cx {
    /// The buffers that the call may use.
    pub async fn buffers(&self) -> Result<Vec<PasteBuffer>, ToolError> {
        let mut buffers = self.host.buffers().await?;
        buffers.retain(|buffer| self.admit_buffer(buffer).is_ok());
        Ok(buffers)
    }

    /// Finds a buffer by label or full name, if the call may use it.
    pub async fn buffer(&self, name: &BufferName) -> Result<PasteBuffer, ToolError> {
        let all = self.host.buffers().await?;
        if let Some(found) = pick(&all, name)? {
            self.admit_buffer(found)?;
            return Ok(found.clone());
        }
        let mut names: Vec<String> = all
            .iter()
            .filter(|buffer| self.admit_buffer(buffer).is_ok())
            .map(|buffer| buffer.short_name().to_owned())
            .collect();
        names.sort();
        let hint = match names.is_empty() {
            true => "there are no buffers; set_buffer makes one".to_owned(),
            false => format!("use one of these: {}", shorten(&names)),
        };
        Err(no_buffer(&name.0).hint(hint))
    }

    /// Finds a buffer that need not exist. A buffer that the call may not use counts as missing: a new
    /// own buffer never gets the same full name.
    pub async fn buffer_if_any(&self, name: &BufferName) -> Result<Option<PasteBuffer>, ToolError> {
        Ok(pick(&self.buffers().await?, name)?.cloned())
    }

    fn admit_buffer(&self, buffer: &PasteBuffer) -> Result<(), ToolError> {
        self.guard.admit_buffer(self.meta, &buffer.row.name, buffer.own())
    }
}

/// The error for a buffer that does not exist.
pub(crate) fn no_buffer(name: &str) -> ToolError {
    ToolError::new(Code::NotFound, format!("there is no buffer `{name}`"))
        .hint("list_buffers shows the buffers")
}

/// Converts an error of tmux about a buffer, which may have been deleted meanwhile.
pub(crate) fn buffer_failed(name: &str, error: tmux_control::Error) -> ToolError {
    if error.is_not_found() { no_buffer(name) } else { error.into() }
}

/// Picks an own buffer by label, or any buffer by full name.
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
            let message = format!("`{}` is the label of {} buffers", name.0, names.len());
            Err(ToolError::new(Code::Ambiguous, message)
                .hint(format!("use the full name: {}", shorten(&names))))
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
    fn label_beats_full_name_unless_ambiguous() {
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
    fn label_has_only_visible_characters() {
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
