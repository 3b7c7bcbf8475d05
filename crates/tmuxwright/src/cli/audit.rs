//! `audit`: the audit log for people, and whether it is whole.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use chrono::{DateTime, TimeDelta, Utc};
use clap::{Arg, ArgAction, ArgMatches, Command};

use super::{Failure, USAGE_ERROR};
use crate::audit::{self, AuditLine, AuditRecord};
use crate::config::Settings;
use terminal::text::inline;

/// The command's own arguments.
pub(super) fn command() -> Command {
    let option = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    let switch = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
    };
    Command::new("audit")
        .about("Read the audit log, its rotated files included, or check that it is whole")
        .arg(Arg::new("file").value_name("FILE").help("The log [default: the configured one]"))
        .arg(option("tool", "TOOL", "Only calls of this tool"))
        .arg(option("pane", "PANE", "Only calls about this pane, such as %3"))
        .arg(option("outcome", "OUTCOME", "Only these: ok, error, or the code of an error"))
        .arg(option(
            "since",
            "TIME",
            "Only from then on: 2026-01-30T10:15:00Z, or 90s, 5m, 2h, 3d ago",
        ))
        .arg(option("until", "TIME", "Only before then"))
        .arg(switch("json", "Print the lines as they are"))
        .arg(switch("verify", "Say what is missing or was changed; exit code 1 if anything is"))
}

/// Prints the log, or looks whether it is whole.
pub(super) fn run(settings: &Settings, matches: &ArgMatches) -> Result<(), Failure> {
    let named = matches.get_one::<String>("file").map(PathBuf::from);
    let path = named.or_else(|| settings.audit.file.clone()).ok_or_else(|| Failure {
        message: "no audit log is configured\nhint: name the file, or set --audit FILE".to_owned(),
        code: USAGE_ERROR,
    })?;
    let failed =
        |error: io::Error| Failure { message: format!("{}: {error}", path.display()), code: 1 };
    if matches.get_flag("verify") {
        return verify(&path, settings.audit.files).map_err(failed)?;
    }
    let filter = Filter::read(matches, Utc::now())?;
    let mut out = io::stdout().lock();
    for line in audit::lines(&path).map_err(failed)? {
        let AuditLine { place, text, record, .. } = line.map_err(failed)?;
        let printed = match record {
            Some(record) if !filter.takes(&record) => continue,
            Some(_) if matches.get_flag("json") => writeln!(out, "{text}"),
            Some(record) => writeln!(out, "{}", row(&record)),
            None => writeln!(io::stderr(), "tmuxwright: {place}: this is no record"),
        };
        match printed {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            other => other?,
        }
    }
    Ok(())
}

fn verify(path: &Path, files: u32) -> io::Result<Result<(), Failure>> {
    let verdict = audit::verify(path, files)?;
    let mut out = io::stdout().lock();
    for problem in &verdict.problems {
        writeln!(out, "{problem}")?;
    }
    let count = verdict.records;
    if !verdict.problems.is_empty() {
        let message = format!("the log is not whole: {} problems", verdict.problems.len());
        return Ok(Err(Failure { message, code: 1 }));
    }
    match verdict.range {
        Some((first, last)) => writeln!(out, "whole: {count} records, {first} to {last}")?,
        None => writeln!(out, "whole: no records")?,
    }
    Ok(Ok(()))
}

/// A record in a line: when, what, on what, how it ended, how long it took, with what.
fn row(record: &AuditRecord) -> String {
    let AuditRecord { ts, tool, ids, duration_ms, outcome, .. } = record;
    let ids = [&ids.session_id, &ids.window_id, &ids.pane_id, &ids.command_id];
    let ids: Vec<&str> = ids.into_iter().filter_map(|id| id.as_deref()).collect();
    let ids = if ids.is_empty() { "-".to_owned() } else { ids.join(" ") };
    let mut row = format!("{ts}  {outcome:<8}  {tool:<16}  {ids:<12}  {duration_ms:.1} ms");
    if let Some(bytes) = record.output_bytes {
        row.push_str(&format!("  {bytes} bytes"));
    }
    for (name, value) in &record.arguments {
        row.push_str(&format!("  {name}={}", short(value)));
    }
    if let Some(via) = &record.caller.via {
        row.push_str(&format!("  for {via}"));
    }
    if let Some(full) = &record.full {
        row.push_str(&format!("  > {full}"));
    }
    inline(&row)
}

/// A value for people: what is hidden shows its length and the start of its digest.
fn short(value: &serde_json::Value) -> String {
    match (value.get("len"), value.get("sha256_prefix").and_then(serde_json::Value::as_str)) {
        (Some(length), Some(digest)) => format!("<{length} bytes, {digest}>"),
        (Some(length), None) => format!("<{length} bytes>"),
        _ => value.to_string(),
    }
}

/// Which records are shown.
struct Filter {
    tool: Option<String>,
    pane: Option<String>,
    outcome: Option<String>,
    since: Option<DateTime<Utc>>,
    until: Option<DateTime<Utc>>,
}

impl Filter {
    fn read(matches: &ArgMatches, now: DateTime<Utc>) -> Result<Self, Failure> {
        let text = |name: &str| matches.get_one::<String>(name).cloned();
        let moment = |name: &str| {
            let Some(text) = text(name) else { return Ok(None) };
            moment(&text, now).map(Some).ok_or_else(|| Failure {
                message: format!(
                    "--{name}: `{text}` is no time\nhint: write 2026-01-30T10:15:00Z, or 2h for two hours ago"
                ),
                code: USAGE_ERROR,
            })
        };
        let (since, until) = (moment("since")?, moment("until")?);
        Ok(Self { tool: text("tool"), pane: text("pane"), outcome: text("outcome"), since, until })
    }

    fn takes(&self, record: &AuditRecord) -> bool {
        let is = |wanted: &Option<String>, found: Option<&String>| {
            wanted.as_ref().is_none_or(|wanted| Some(wanted) == found)
        };
        let outcome = match self.outcome.as_deref() {
            Some("error") => record.outcome != "ok",
            _ => is(&self.outcome, Some(&record.outcome)),
        };
        outcome
            && is(&self.tool, Some(&record.tool))
            && is(&self.pane, record.ids.pane_id.as_ref())
            && self.since.is_none_or(|since| record.time() >= Some(since))
            && self.until.is_none_or(|until| record.time() < Some(until))
    }
}

/// A moment: RFC 3339, or so long ago.
fn moment(text: &str, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    if let Ok(moment) = DateTime::parse_from_rfc3339(text) {
        return Some(moment.to_utc());
    }
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let number: i64 = number.parse().ok().filter(|number| *number >= 0)?;
    let ago = match unit {
        "s" => TimeDelta::try_seconds(number),
        "m" => TimeDelta::try_minutes(number),
        "h" => TimeDelta::try_hours(number),
        "d" => TimeDelta::try_days(number),
        _ => None,
    };
    now.checked_sub_signed(ago?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_a_date_or_so_long_ago() {
        let now = DateTime::parse_from_rfc3339("2026-01-30T10:00:00Z").unwrap().to_utc();
        for (text, expected) in [
            ("2026-01-30T09:00:00Z", "2026-01-30T09:00:00Z"),
            ("2026-01-30T09:00:00+01:00", "2026-01-30T08:00:00Z"),
            ("90s", "2026-01-30T09:58:30Z"),
            ("5m", "2026-01-30T09:55:00Z"),
            ("2h", "2026-01-30T08:00:00Z"),
            ("3d", "2026-01-27T10:00:00Z"),
        ] {
            let expected = DateTime::parse_from_rfc3339(expected).unwrap().to_utc();
            assert_eq!(moment(text, now), Some(expected), "{text}");
        }
        for wrong in ["", "h", "2", "-2h", "yesterday", "2w", "99999999999999999d", "é"] {
            assert_eq!(moment(wrong, now), None, "{wrong}");
        }
    }
}
