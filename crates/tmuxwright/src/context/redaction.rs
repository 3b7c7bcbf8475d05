//! Redaction of texts that a tool cuts. Without the text before a cut, a secret could not be found.

use std::ops::Range;

use terminal::text::clean;
use terminal::transcript::Mask;
use tmux_control::buffer::BufferReader;
use tmux_control::capture::Capture;
use tmux_control::{Error, PaneId};

use super::Cx;
use crate::redact::{MASK_CONTEXT_BYTES, MaskedStream, Redactor};

/// Rows before and behind a part of a pane's text in which a secret may begin or end. A private key has
/// about fifty.
const CONTEXT_ROWS: i64 = 120;

/// Returns the byte ranges of the secrets in a text.
pub type SecretFinder = Box<dyn Fn(&str) -> Vec<Range<usize>> + Send>;

impl Cx {
    /// Whether secrets are redacted.
    pub fn redacts(&self) -> bool {
        self.request.redact.is_enabled()
    }

    /// A whole text, before it is cut: cleaned and with its secrets replaced. Lines keep their numbers.
    /// Unchanged if redaction is off.
    pub fn redacted(&self, text: String) -> String {
        if !self.redacts() {
            return text;
        }
        let mut text = clean(&text, true);
        self.request.redact.text(&mut text);
        text
    }

    /// The same for the rows of a screen, of which a long line may take several.
    pub fn redacted_rows(&self, text: String) -> String {
        if !self.redacts() {
            return text;
        }
        let mut text = clean(&text, true);
        self.request.redact.rows(&mut text);
        text
    }

    /// The lines of `text`, which is `part` of a pane's text. They are redacted together with the rows
    /// around them, in which a secret may begin or end. A first line whose beginning was left out may
    /// become whole.
    pub async fn redacted_capture(
        &self,
        pane: PaneId,
        part: Capture,
        text: String,
    ) -> Result<String, Error> {
        if !self.redacts() {
            return Ok(text);
        }
        let start = part.start.unwrap_or(0).saturating_sub(CONTEXT_ROWS);
        let preceded = Capture { start: Some(start), ..part };
        let end = part.end.map(|end| end.saturating_add(CONTEXT_ROWS));
        let surrounded = Capture { end, ..preceded };
        let joins = part.join;
        let captures = vec![part.of(pane), preceded.of(pane), surrounded.of(pane)];
        let mut replies = self.tmux().sequence(captures).await?.into_iter().map(|it| it.text());
        let mut next = || replies.next().unwrap_or_default();
        let (part, preceded, surrounded) = (next(), next(), next());
        let (wanted, until) = (part.lines().count(), preceded.lines().count());
        let shown = match joins {
            true => self.redacted(surrounded),
            false => self.redacted_rows(surrounded),
        };
        let kept = shown.lines().take(until).skip(until.saturating_sub(wanted));
        Ok(kept.collect::<Vec<_>>().join("\n"))
    }

    /// Finds secrets in a text that is not an answer itself; none if redaction is off.
    pub fn secret_finder(&self) -> Option<SecretFinder> {
        let redact = self.request.redact.clone();
        redact.is_enabled().then(|| Box::new(move |text: &str| redact.ranges(text)) as SecretFinder)
    }

    /// The rows of a pane's history just above its screen, in which a secret may begin.
    pub async fn rows_above(&self, pane: PaneId) -> Result<String, Error> {
        let start = Some(-CONTEXT_ROWS);
        let part = Capture { start, end: Some(-1), join: false, colors: false };
        Ok(self.tmux().run(part.of(pane)).await?.text())
    }

    /// Masks the secrets in the output of a command, of which only a part is shown; none if redaction is
    /// off.
    pub(crate) fn mask(&self) -> Option<Mask<'_>> {
        let apply = |bytes: &mut [u8]| self.request.redact.mask(bytes);
        self.redacts().then(|| Mask { apply: Box::new(apply), context: MASK_CONTEXT_BYTES })
    }

    /// Begins to read a paste buffer, with its secrets masked if redaction is on. Offsets are those of the
    /// buffer.
    pub(crate) async fn read_masked_buffer(&self, name: &str) -> Result<MaskedBuffer, Error> {
        let reader = self.tmux().read_buffer(name).await?;
        let redact = self.redacts().then(|| self.request.redact.clone());
        Ok(MaskedBuffer { reader, redact, stream: MaskedStream::default(), is_done: false })
    }
}

/// Reads a paste buffer in pieces.
pub(crate) struct MaskedBuffer {
    reader: BufferReader,
    redact: Option<Redactor>,
    stream: MaskedStream,
    is_done: bool,
}

impl MaskedBuffer {
    /// The next bytes; none at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<&[u8]>, Error> {
        let Some(redact) = &self.redact else { return self.reader.next().await };
        while !self.is_done {
            match self.reader.next().await? {
                Some(piece) => self.stream.push(redact, piece),
                None => {
                    self.is_done = true;
                    self.stream.finish(redact);
                }
            }
            if !self.stream.piece().is_empty() {
                return Ok(Some(self.stream.piece()));
            }
        }
        Ok(None)
    }
}
