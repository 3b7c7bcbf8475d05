//! Own paste buffers, recognised by their names.
//!
//! A buffer has no options, so its name holds all facts about it: `mcp_OWNER_RANDOM_LABEL`. The name of
//! a buffer that outlives the process begins with `mcp-kept`. A buffer without a label is temporary and
//! never listed.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tmux_control::buffer::{BufferRow, delete_buffer, list_buffers};
use tmux_control::{Error, Row, Server};
use tokio::sync::{Mutex, MutexGuard};

use super::owner::Owner;

use crate::random;

const OWN_PREFIX: &str = "mcp";
const KEPT_PREFIX: &str = "mcp-kept";

/// Maximum number of buffers created by people meanwhile that [`restore_newest`] takes into account.
const MAX_NEW_PERSON_BUFFERS: usize = 3;

/// A paste buffer.
#[derive(Debug, Clone)]
pub struct PasteBuffer {
    /// Its facts from tmux.
    pub row: BufferRow,
    /// Its label, if it is own.
    pub label: Option<String>,
}

impl PasteBuffer {
    /// Whether it was made for this MCP client.
    pub fn own(&self) -> bool {
        self.label.is_some()
    }

    /// The label, or else the full name.
    pub fn short_name(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.row.name)
    }
}

/// The parts of the name of an own buffer, of any owner.
#[derive(Debug, PartialEq, Eq)]
struct NameParts<'a> {
    kept: bool,
    owner: &'a str,
    random: &'a str,
    label: &'a str,
}

impl<'a> NameParts<'a> {
    /// `None` if the buffer is a person's.
    fn parse(name: &'a str) -> Option<Self> {
        let mut parts = name.splitn(4, '_');
        let kept = match parts.next()? {
            OWN_PREFIX => false,
            KEPT_PREFIX => true,
            _ => return None,
        };
        let owner = parts.next()?;
        Owner::parse(owner)?;
        Some(Self { kept, owner, random: parts.next()?, label: parts.next()? })
    }
}

/// Whether a name begins like that of an own buffer.
pub(crate) fn is_reserved_buffer_name(name: &str) -> bool {
    [OWN_PREFIX, KEPT_PREFIX].iter().any(|prefix| name.split('_').next() == Some(prefix))
}

/// The names of the own buffers of one MCP client.
#[derive(Debug)]
pub(super) struct OwnBuffers {
    owner: String,
    keep: bool,
    number: AtomicU64,
    /// Whether a name was given out, so that there may be a buffer to remove.
    any_named: AtomicBool,
    /// Locked while buffers are created or renamed, so that no label is given twice.
    lock: Mutex<()>,
}

impl OwnBuffers {
    pub(super) fn new(owner: &Owner, keep: bool) -> Self {
        Self {
            owner: owner.identity(),
            keep,
            number: AtomicU64::new(0),
            any_named: AtomicBool::new(false),
            lock: Mutex::default(),
        }
    }

    pub(super) async fn lock(&self) -> MutexGuard<'_, ()> {
        self.lock.lock().await
    }

    /// A name for a buffer that is deleted right after use.
    pub(super) fn temporary_name(&self) -> String {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        self.any_named.store(true, Ordering::Relaxed);
        format!("{OWN_PREFIX}_{}_{number}_", self.owner)
    }

    /// A name for a buffer with this label.
    pub(super) fn name(&self, label: &str) -> std::io::Result<String> {
        let random = random::hex(4)?;
        self.any_named.store(true, Ordering::Relaxed);
        let prefix = if self.keep { KEPT_PREFIX } else { OWN_PREFIX };
        Ok(format!("{prefix}_{}_{random}_{label}", self.owner))
    }

    /// The name of an own buffer with another label.
    pub(super) fn renamed(name: &str, label: &str) -> Option<String> {
        let NameParts { kept, owner, random, .. } = NameParts::parse(name)?;
        let prefix = if kept { KEPT_PREFIX } else { OWN_PREFIX };
        Some(format!("{prefix}_{owner}_{random}_{label}"))
    }

    /// All buffers except temporary ones.
    pub(super) fn of_rows(&self, rows: Vec<BufferRow>) -> Vec<PasteBuffer> {
        let all = rows.into_iter().map(|row| {
            let name = NameParts::parse(&row.name);
            let temporary = name.as_ref().is_some_and(|name| name.label.is_empty());
            let own = name.filter(|name| name.owner == self.owner);
            let label = own.map(|name| name.label.to_owned());
            (!temporary).then_some(PasteBuffer { row, label })
        });
        all.flatten().collect()
    }

    /// Removes the own buffers, except kept ones.
    pub(super) async fn close(&self, tmux: &Server) {
        if !self.any_named.load(Ordering::Relaxed) {
            return;
        }
        let removed = remove(tmux, |name| name.owner == self.owner).await;
        if let Err(error) = removed
            && !error.is_no_server()
        {
            tracing::debug!("removing own buffers: {error}");
        }
    }
}

/// Removes the buffers that dead processes left.
pub(super) async fn reap(tmux: &Server) -> Result<(), Error> {
    remove(tmux, |name| Owner::parse(name.owner).is_some_and(|owner| owner.is_dead())).await
}

/// Removes the selected own buffers that are not kept. Attaches to no session.
async fn remove(tmux: &Server, selected: impl Fn(&NameParts<'_>) -> bool) -> Result<(), Error> {
    let list = list_buffers().option("-F", BufferRow::format());
    let printed: Vec<u8> = tmux.spawned(&[list]).await?.into_iter().flat_map(|r| r.0).collect();
    for row in BufferRow::parse_all("list-buffers", &printed)? {
        if NameParts::parse(&row.name).is_some_and(|name| !name.kept && selected(&name)) {
            match tmux.spawned(&[delete_buffer(&row.name)]).await {
                Err(error) if error.is_not_found() => {}
                other => other.map(|_| ())?,
            }
        }
    }
    Ok(())
}

/// Makes a person's newest buffer the one that the paste key takes again. Before tmux 3.4 the key takes
/// the newest of all buffers, which is `ours` now. `before` are the buffers before `ours` was set;
/// buffers that a person made since count too. Returns whether a person has a buffer to paste.
pub(super) async fn restore_newest(
    tmux: &Server,
    before: &[BufferRow],
    ours: &str,
) -> Result<bool, Error> {
    if !tmux.version().await?.pastes_named_buffers() {
        return Ok(true);
    }
    let is_theirs = |row: &&BufferRow| NameParts::parse(&row.name).is_none() && row.name != ours;
    let mut next = before.iter().find(is_theirs).map(|row| row.name.clone());
    let mut known: Vec<String> = before.iter().map(|row| row.name.clone()).collect();
    let mut any = false;
    for _ in 0..=MAX_NEW_PERSON_BUFFERS {
        if let Some(name) = next.take() {
            match tmux.renew_buffer(&name).await {
                Err(error) if error.is_not_found() => {}
                other => {
                    other?;
                    any = true;
                }
            }
        }
        let now = tmux.buffers().await?;
        next = now
            .iter()
            .filter(is_theirs)
            .find(|row| !known.contains(&row.name))
            .map(|row| row.name.clone());
        match &next {
            Some(name) => known.push(name.clone()),
            None => break,
        }
    }
    Ok(any)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_holds_owner_and_label() {
        let owner = Owner::this_process();
        let buffers = OwnBuffers::new(&owner, false);
        let name = buffers.name("my_notes").unwrap();
        let parsed = NameParts::parse(&name).unwrap();
        assert_eq!(
            (parsed.owner, parsed.label, parsed.kept),
            (&*owner.identity(), "my_notes", false)
        );
        assert_ne!(name, buffers.name("my_notes").unwrap());
        let kept = OwnBuffers::new(&owner, true).name("x").unwrap();
        assert!(NameParts::parse(&kept).unwrap().kept);
        for theirs in ["buffer0", "notes", "mcp_notes", "mcp_a_b_c", "xmcp_h.1.2_a_b", ""] {
            assert_eq!(NameParts::parse(theirs), None, "{theirs}");
        }
        assert!(is_reserved_buffer_name(&name) && is_reserved_buffer_name("mcp_notes"));
        assert!(!is_reserved_buffer_name("mcpnotes"));
    }

    #[test]
    fn rename_changes_only_the_label() {
        let buffers = OwnBuffers::new(&Owner::this_process(), false);
        let name = buffers.name("old").unwrap();
        let new = OwnBuffers::renamed(&name, "new").unwrap();
        assert_eq!(new.strip_suffix("_new"), name.strip_suffix("_old"));
        assert_eq!(OwnBuffers::renamed("buffer0", "new"), None);
    }

    #[test]
    fn temporary_buffers_are_not_listed() {
        let buffers = OwnBuffers::new(&Owner::this_process(), false);
        let row = |name: String| BufferRow { name, bytes: 1, created: 0, sample: String::new() };
        let names = [buffers.temporary_name(), buffers.name("a").unwrap(), "buffer0".to_owned()];
        let seen = buffers.of_rows(names.map(row).into());
        let short: Vec<&str> = seen.iter().map(PasteBuffer::short_name).collect();
        assert_eq!(short, ["a", "buffer0"]);
        assert!(seen[0].own() && !seen[1].own());
    }
}
