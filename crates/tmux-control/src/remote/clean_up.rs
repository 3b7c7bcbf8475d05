//! The clean-up script that runs on the other side when nothing of ours is left to do it.
//!
//! A program that is killed, or whose connection is cut, cannot clean up there. Nor can the other side tell
//! the two apart: after a cut the program may come back. So the sentinel holds a *lease* that heartbeats renew.
//! Its watcher is a subshell that sleeps for as long as the lease lasts, and is replaced by each renewal. If
//! it wakes, no heartbeat came: sshd may keep the sentinel of a silent connection for hours, so the watcher does
//! not depend on the end of an input. It runs the script unless a later connection has taken over, which the
//! file of the lease shows. Then it ends the sshd process of the connection, and with it all our shells there.

use std::time::Duration;

use crate::remote::script::{quote, random_key};

/// A script for the time when the connection has ended without our word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CleanUp {
    /// The script.
    pub script: String,
    /// The file that names the connection which holds the lease; removed with the lease. Its directory exists
    /// on the other side, and belongs to this program alone.
    pub lease_file: String,
}

impl CleanUp {
    /// The script with which a sentinel takes the lease. It defines [`RENEW`] and [`END`].
    pub(super) fn take(&self, lease: Duration) -> Result<String, String> {
        let owner = random_key()?;
        let (script, file) = (quote(&self.script), quote(&self.lease_file));
        let seconds = lease.as_secs().max(1);
        Ok(format!(
            r#"__parent() {{
  __f=; read -r __f </proc/"$PPID"/stat
  case $__f in "$PPID (sshd"*) set -- ${{__f##*)}}; echo "$PPID ${{20}}" ;; esac
}}
__p=$(__parent)
__renew() {{
  [ "$__w" ] && kill "$__w"
  (
    trap 'kill "$__s"; exit' TERM
    sleep {seconds} & __s=$!
    wait "$__s"
    trap '' TERM
    __o=; IFS= read -r __o <{file}
    if [ "$__o" = {owner} ]; then eval {script}; rm -f {file}; fi
    [ "$__p" ] && [ "$__p" = "$(__parent)" ] && kill "$PPID"
    kill -KILL $$
  ) </dev/null >/dev/null 2>&1 &
  __w=$!
}}
__end() {{ [ "$__w" ] && kill "$__w"; __w=; rm -f {file}; }}
printf '%s\n' {owner} >{file}
{RENEW}"#
        ))
    }
}

/// Renews the lease.
pub(super) const RENEW: &str = "__renew";

/// Ends the lease without the clean-up.
pub(super) const END: &str = "__end";

/// How often a lease is renewed within its time. Each renewal starts two processes there.
pub(super) const RENEWALS: u32 = 4;
