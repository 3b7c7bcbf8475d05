//! `tmuxwright audit`: prints the audit log for people, or verifies its hash chain.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use chrono::{DateTime, TimeDelta, Utc};
use clap::{Arg, ArgAction, ArgMatches, Command};

use super::{Failure, USAGE_ERROR};
use crate::audit::{self, AuditLine, AuditRecord};
use crate::config::Settings;
use crate::contract::escape_invisible;
use terminal::text::inline;

/// The subcommand with its arguments.
pub(super) fn command() -> Command {
    let option = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    let switch = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
    };
    Command::new("audit")
        .about("Print the audit log, rotated files included, or verify that it is intact")
        .arg(Arg::new("file").value_name("FILE").help("Audit log [default: the configured one]"))
        .arg(option("tool", "TOOL", "Show only calls of this tool"))
        .arg(option("pane", "PANE", "Show only calls about this pane, such as %3"))
        .arg(option(
            "outcome",
            "OUTCOME",
            "Show only calls with this outcome: ok, error, or an error code",
        ))
        .arg(option(
            "since",
            "TIME",
            "Show only calls since this time: 2026-01-30T10:15:00Z, or 90s, 5m, 2h, 3d for ago",
        ))
        .arg(option("until", "TIME", "Show only calls before this time"))
        .arg(switch("json", "Print the records as JSON lines"))
        .arg(switch("verify", "Report missing or changed records; exit code 1 if there are any"))
}

/// Prints or verifies the log.
pub(super) fn run(settings: &Settings, matches: &ArgMatches) -> Result<(), Failure> {
    let named = matches.get_one::<String>("file").map(PathBuf::from);
    let path = named.or_else(|| settings.audit.file.clone()).ok_or_else(|| Failure {
        message: "no audit log is configured\nhint: give its path, or set --audit FILE".to_owned(),
        code: USAGE_ERROR,
    })?;
    let failed =
        |error: io::Error| Failure { message: format!("{}: {error}", path.display()), code: 1 };
    if matches.get_flag("verify") {
        return verify(&path, settings.audit.files).map_err(failed)?;
    }
    let filter = RecordFilter::read(matches, Utc::now())?;
    let mut out = io::stdout().lock();
    for line in audit::lines(&path).map_err(failed)? {
        let AuditLine { place, text, record, .. } = line.map_err(failed)?;
        let printed = match record {
            Some(record) if !filter.matches(&record) => continue,
            Some(_) if matches.get_flag("json") => writeln!(out, "{}", escape_invisible(&text)),
            Some(record) => writeln!(out, "{}", row(&record)),
            None => writeln!(io::stderr(), "tmuxwright: {place}: not an audit record"),
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
        let message = format!("the log is not intact: {} problems", verdict.problems.len());
        return Ok(Err(Failure { message, code: 1 }));
    }
    match verdict.range {
        Some((first, last)) => writeln!(out, "intact: {count} records, {first} to {last}")?,
        None => writeln!(out, "intact: no records")?,
    }
    Ok(Ok(()))
}

/// A record as one line: time, outcome, tool, object ids, duration, size of output, arguments,
/// answers of a person.
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
        row.push_str(&format!("  {name}={}", shortened(value)));
    }
    for asked in &record.asked {
        row.push_str(&format!("  person: {}", asked.answer));
    }
    if let Some(via) = &record.caller.via {
        row.push_str(&format!("  for {via}"));
    }
    if let Some(full) = &record.full {
        row.push_str(&format!("  > {full}"));
    }
    inline(&row)
}

/// An argument's value for people. A hidden one shows its length and the start of its digest.
fn shortened(value: &serde_json::Value) -> String {
    match (value.get("len"), value.get("sha256_prefix").and_then(serde_json::Value::as_str)) {
        (Some(length), Some(digest)) => format!("<{length} bytes, {digest}>"),
        (Some(length), None) => format!("<{length} bytes>"),
        _ => value.to_string(),
    }
}

/// Conditions for a record to be printed.
struct RecordFilter {
    tool: Option<String>,
    pane: Option<String>,
    outcome: Option<String>,
    since: Option<DateTime<Utc>>,
    until: Option<DateTime<Utc>>,
}

impl RecordFilter {
    fn read(matches: &ArgMatches, now: DateTime<Utc>) -> Result<Self, Failure> {
        let text = |name: &str| matches.get_one::<String>(name).cloned();
        let time_of = |name: &str| {
            let Some(text) = text(name) else { return Ok(None) };
            point_in_time(&text, now).map(Some).ok_or_else(|| Failure {
                message: format!(
                    "--{name}: `{text}` is not a time\nhint: write 2026-01-30T10:15:00Z, or 2h for two hours ago"
                ),
                code: USAGE_ERROR,
            })
        };
        let (since, until) = (time_of("since")?, time_of("until")?);
        Ok(Self { tool: text("tool"), pane: text("pane"), outcome: text("outcome"), since, until })
    }

    fn matches(&self, record: &AuditRecord) -> bool {
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

/// Parses a point in time: RFC 3339, or an age such as `2h`.
fn point_in_time(text: &str, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return Some(time.to_utc());
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
    fn time_is_a_date_or_an_age() {
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
            assert_eq!(point_in_time(text, now), Some(expected), "{text}");
        }
        for wrong in ["", "h", "2", "-2h", "yesterday", "2w", "99999999999999999d", "é"] {
            assert_eq!(point_in_time(wrong, now), None, "{wrong}");
        }
    }
}
