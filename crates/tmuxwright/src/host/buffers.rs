//! The paste buffers of our own, told from those of people by their names.
//!
//! A buffer has no options, so its name holds all there is to know: `mcp_OWNER_RANDOM_LABEL`. One
//! that outlives us begins with `mcp-kept`. One without a label is there for a moment only and
//! nobody's business.

use std::fs::File;
use std::io::Read;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tmux_control::buffer::{BufferRow, delete_buffer, list_buffers};
use tmux_control::{Error, Row, Server};
use tokio::sync::{Mutex, MutexGuard};

use super::owner::Owner;

const OWN_PREFIX: &str = "mcp";
const KEPT_PREFIX: &str = "mcp-kept";

/// How many buffers that people make meanwhile are put back in their place.
const MAX_NEW_PERSON_BUFFERS: usize = 3;

/// A paste buffer.
#[derive(Debug, Clone)]
pub struct PasteBuffer {
    /// What tmux knows of it.
    pub row: BufferRow,
    /// What we call it, if it is ours.
    pub label: Option<String>,
}

impl PasteBuffer {
    /// Whether this server made it.
    pub fn own(&self) -> bool {
        self.label.is_some()
    }

    /// The shortest name it can be called by.
    pub fn short_name(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.row.name)
    }
}

/// The parts of a name.
#[derive(Debug, PartialEq, Eq)]
struct NameParts<'a> {
    kept: bool,
    owner: &'a str,
    random: &'a str,
    label: &'a str,
}

impl<'a> NameParts<'a> {
    /// `None` if it is a person's.
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

/// Whether a name looks like one that a server like this gives.
pub(crate) fn is_reserved_buffer_name(name: &str) -> bool {
    [OWN_PREFIX, KEPT_PREFIX].iter().any(|prefix| name.split('_').next() == Some(prefix))
}

#[derive(Debug)]
pub(super) struct OwnBuffers {
    owner: String,
    keep: bool,
    number: AtomicU64,
    /// Whether there is anything to remove.
    made: AtomicBool,
    /// Held while buffers are made or named, so that no label is given twice.
    lock: Mutex<()>,
}

impl OwnBuffers {
    pub(super) fn new(owner: &Owner, keep: bool) -> Self {
        Self {
            owner: owner.token(),
            keep,
            number: AtomicU64::new(0),
            made: AtomicBool::new(false),
            lock: Mutex::default(),
        }
    }

    pub(super) async fn alone(&self) -> MutexGuard<'_, ()> {
        self.lock.lock().await
    }

    /// A name for a buffer that is gone in a moment.
    pub(super) fn temporary_name(&self) -> String {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        self.made.store(true, Ordering::Relaxed);
        format!("{OWN_PREFIX}_{}_{number}_", self.owner)
    }

    /// A name for a buffer that stays.
    pub(super) fn name(&self, label: &str) -> std::io::Result<String> {
        let mut bytes = [0; 4];
        File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        let random = u32::from_ne_bytes(bytes);
        self.made.store(true, Ordering::Relaxed);
        let prefix = if self.keep { KEPT_PREFIX } else { OWN_PREFIX };
        Ok(format!("{prefix}_{}_{random:08x}_{label}", self.owner))
    }

    /// The name of one of ours under another label.
    pub(super) fn renamed(name: &str, label: &str) -> Option<String> {
        let NameParts { kept, owner, random, .. } = NameParts::parse(name)?;
        let prefix = if kept { KEPT_PREFIX } else { OWN_PREFIX };
        Some(format!("{prefix}_{owner}_{random}_{label}"))
    }

    /// The buffers there are, without those that are gone in a moment.
    pub(super) fn of_rows(&self, rows: Vec<BufferRow>) -> Vec<PasteBuffer> {
        let all = rows.into_iter().map(|row| {
            let name = NameParts::parse(&row.name);
            let passing = name.as_ref().is_some_and(|name| name.label.is_empty());
            let own = name.filter(|name| name.owner == self.owner);
            let label = own.map(|name| name.label.to_owned());
            (!passing).then_some(PasteBuffer { row, label })
        });
        all.flatten().collect()
    }

    /// Removes ours, unless they are to be kept.
    pub(super) async fn close(&self, tmux: &Server) {
        if !self.made.load(Ordering::Relaxed) {
            return;
        }
        let removed = remove(tmux, |name| name.owner == self.owner).await;
        if let Err(error) = removed
            && !error.is_no_server()
        {
            tracing::debug!("removing our buffers: {error}");
        }
    }
}

/// Removes the buffers that dead servers left.
pub(super) async fn reap(tmux: &Server) -> Result<(), Error> {
    remove(tmux, |name| Owner::parse(name.owner).is_some_and(|owner| owner.is_dead())).await
}

/// Removes those that are not kept and that are meant. Attaches to nothing.
async fn remove(tmux: &Server, meant: impl Fn(&NameParts<'_>) -> bool) -> Result<(), Error> {
    let list = list_buffers().option("-F", BufferRow::format());
    let printed: Vec<u8> = tmux.spawned(&[list]).await?.into_iter().flat_map(|r| r.0).collect();
    for row in BufferRow::parse_all("list-buffers", &printed)? {
        if NameParts::parse(&row.name).is_some_and(|name| !name.kept && meant(&name)) {
            match tmux.spawned(&[delete_buffer(&row.name)]).await {
                Err(error) if error.is_not_found() => {}
                other => other.map(|_| ())?,
            }
        }
    }
    Ok(())
}

/// Sees to it that a person who pastes still gets what they would have got: before 3.4 that is the
/// newest buffer of all, and now it is one of ours. `before` is what there was. What a person has
/// copied since counts too. Returns whether there is something of theirs to paste.
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
    fn a_name_tells_whose_a_buffer_is() {
        let owner = Owner::this_process();
        let buffers = OwnBuffers::new(&owner, false);
        let name = buffers.name("my_notes").unwrap();
        let parsed = NameParts::parse(&name).unwrap();
        assert_eq!((parsed.owner, parsed.label, parsed.kept), (&*owner.token(), "my_notes", false));
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
    fn a_label_changes_and_the_rest_of_a_name_stays() {
        let buffers = OwnBuffers::new(&Owner::this_process(), false);
        let name = buffers.name("old").unwrap();
        let new = OwnBuffers::renamed(&name, "new").unwrap();
        assert_eq!(new.strip_suffix("_new"), name.strip_suffix("_old"));
        assert_eq!(OwnBuffers::renamed("buffer0", "new"), None);
    }

    #[test]
    fn what_is_there_for_a_moment_is_not_seen() {
        let buffers = OwnBuffers::new(&Owner::this_process(), false);
        let row = |name: String| BufferRow { name, bytes: 1, created: 0, sample: String::new() };
        let names = [buffers.temporary_name(), buffers.name("a").unwrap(), "buffer0".to_owned()];
        let seen = buffers.of_rows(names.map(row).into());
        let short: Vec<&str> = seen.iter().map(PasteBuffer::short_name).collect();
        assert_eq!(short, ["a", "buffer0"]);
        assert!(seen[0].own() && !seen[1].own());
    }
}
