//! The wait of `wait_for`, `start_and_watch` and the tools that type: the first event of a watch, as an
//! answer.

use std::sync::Arc;
use std::time::Duration;

use terminal::text::keep_tail;
use tmux_control::capture::Capture;
use tmux_control::{PaneId, Row, Server, row};
use tokio::time::Instant;

use crate::actions::cursor::write_cursor;
use crate::context::Cx;
use crate::contract::{Code, ToolError};
use crate::host::PaneState;
use crate::results::wait::{TIMEOUT, WaitResult};
use crate::results::words::seconds;
use crate::run::Job;
use crate::run::activity::Activity;
use crate::watch::{Watch, WatchEvent, WatchLost, WatchedOutput};

/// Time a shell may take from the end of a command to its prompt.
const PROMPT_DELAY: Duration = Duration::from_millis(100);

/// Time a program that waits for input may be awake, as shells are to redraw their prompt. If it runs on,
/// it got input.
const WAKE_TIME: Duration = Duration::from_secs(1);

/// Upper bound for a job to have its status after a watch has seen its end.
const EXIT_STATUS_TIMEOUT: Duration = Duration::from_secs(5);

/// The condition that holds when a program has exited.
const EXIT: &str = "exit";

/// The note of an answer that lacks output.
const MISSED_OUTPUT: &str = "some output was missed: the tmux client was replaced";

/// The note of an exit with which the pane closed. tmux drops output that it has not read or sent then:
/// a plain control client of 3.2a, 3.3a or 3.7c lacks a last line after 17 % to 43 % of the exits.
const PANE_CLOSED: &str = "the pane closed with it: its last output may be missing";

/// The note of an exit on another system, where programs run without a keeper.
const NO_KEEPER: &str = "it ran on another system: its last output may be missing";

/// Limit of the output that is repeated in an error.
const MAX_ERROR_CHARS: usize = 2_000;

/// A wait for the first event of a watch.
pub(crate) struct Wait<'a> {
    pub(crate) cx: &'a Cx,
    pub(crate) watch: Watch,
    pub(crate) begun: Instant,
    pub(crate) patience: Duration,
    /// The watched command, if the tool started one.
    pub(crate) job: Option<Arc<Job>>,
}

impl Wait<'_> {
    /// Waits until a condition holds or `patience` is over.
    pub(crate) async fn result(mut self) -> Result<WaitResult, ToolError> {
        let event = match self.event().await {
            Ok(event) => event,
            Err(lost) => return Err(self.lost(lost)),
        };
        let elapsed = self.begun.elapsed();
        let at = event.as_ref().map(|event| event.pane);
        let Some(pane) = at.or_else(|| self.watch.panes().next()) else {
            return Err(ToolError::internal("a wait without a pane"));
        };
        let settling = event.as_ref().map_or(Duration::ZERO, settling_time);
        let (seen, mark, state, reading) = match self.cx.host.pane(&pane.to_string()).await {
            Ok(now) => {
                let (mut seen, mark) = self.watch.output_now(&now).await;
                if let Some(rows) = full_screen(self.cx, pane).await {
                    seen = WatchedOutput { output: rows, is_cut: false, ..seen };
                }
                let activity = activity(self.cx, &now, settling).await;
                (seen, mark, activity.word(), activity.reading().filter(|_| event.is_none()))
            }
            Err(error) => {
                let is_gone = error.is_not_found() || error.is_no_server();
                let state = if is_gone { "gone" } else { "unknown" };
                (self.watch.output(pane), None, state, None)
            }
        };
        let WatchedOutput { output, is_cut, missed, pane_closed } = seen;
        let unread = event.is_none() && self.watch.has_unread_keys(pane);
        let is_lost = self.watch.since().is_some_and(|place| place.is_lost);
        let (event, matched) = match event {
            Some(WatchEvent { condition, detail, .. }) => (condition, detail),
            None => (TIMEOUT.to_owned(), String::new()),
        };
        // The word of a pane whose own process has exited.
        let has_exited = event == EXIT && state == "exited";
        let remarks = [
            (missed, MISSED_OUTPUT),
            (pane_closed && event == EXIT, PANE_CLOSED),
            (has_exited && !self.cx.host.system().is_local(), NO_KEEPER),
            (is_lost, "lines after the cursor may be missing: its place was not found"),
            (unread, "the program has not read the keys yet"),
        ];
        let remarks: Vec<&str> =
            remarks.into_iter().filter_map(|(holds, remark)| holds.then_some(remark)).collect();
        let job = self.job.as_ref();
        let exit_code = match job {
            // The watch may learn of the exit before the job has the status.
            Some(job) if event == EXIT => {
                let end = tokio::time::timeout(EXIT_STATUS_TIMEOUT, job.wait_for_end());
                end.await.ok().flatten()
            }
            job => job.and_then(|job| job.exit_code()),
        };
        Ok(WaitResult {
            event,
            pane_id: pane.to_string(),
            matched,
            output: self.redacted(output),
            elapsed: (elapsed.as_secs_f64() * 1e4).round() / 1e4,
            state: state.to_owned(),
            cursor: mark.map(|mark| write_cursor(self.cx, &mark)),
            command_id: job.map(|job| job.id.clone()),
            exit_code,
            truncated: is_cut,
            note: (!remarks.is_empty()).then(|| remarks.join("; ")).or(reading),
        })
    }

    /// The first event; none if `patience` is over. Reports progress to the MCP client meanwhile.
    async fn event(&mut self) -> Result<Option<WatchEvent>, WatchLost> {
        let left = self.patience.saturating_sub(self.begun.elapsed());
        let panes: Vec<String> = self.watch.panes().map(|pane| pane.to_string()).collect();
        let message = || format!("nothing yet in {}", panes.join(", "));
        self.cx.wait(left, self.watch.next(), message).await.transpose()
    }

    /// The output with secrets removed, also those that begin before the cursor of `since`.
    fn redacted(&self, output: String) -> String {
        let Some(place) = self.watch.since().filter(|_| self.cx.redacts()) else {
            return self.cx.redacted(output);
        };
        let all = self.cx.redacted(format!("{}\n{output}", place.before));
        let lines: Vec<&str> = all.split('\n').skip(place.before.split('\n').count()).collect();
        lines.join("\n")
    }

    /// The error for a wait that cannot go on, with the output seen so far.
    fn lost(&self, lost: WatchLost) -> ToolError {
        let pane = match lost {
            WatchLost::PaneGone(pane) | WatchLost::Respawned(pane) => Some(pane),
            WatchLost::ServerGone => self.watch.panes().next(),
        };
        let mut seen = match pane {
            Some(pane) => self.watch.output(pane).output,
            None => String::new(),
        };
        seen = self.redacted(seen);
        keep_tail(&mut seen, MAX_ERROR_CHARS);
        let after = seconds(self.begun.elapsed().as_secs_f64());
        let mut message = format!("{lost} after {after}, before any condition held");
        if !matches!(lost, WatchLost::Respawned(_)) {
            message.push_str("; its last output may be missing");
        }
        if !seen.is_empty() {
            message.push_str(&format!("; its output until then:\n{seen}"));
        }
        let hint = match (&self.job, lost) {
            (Some(job), _) => format!("command_result {} has the command's output so far", job.id),
            (None, WatchLost::ServerGone) => {
                "list_panes shows whether a server runs again".to_owned()
            }
            (None, WatchLost::Respawned(pane)) => {
                format!("wait_for {pane} again for the new program")
            }
            (None, WatchLost::PaneGone(_)) => "list_panes lists the panes that exist".to_owned(),
        };
        ToolError::new(Code::Lost, message).hint(hint)
    }
}

row! {
    ScreenKind {
        pane: PaneId = "pane_id",
        alternate: bool = "alternate_on",
    }
}

/// The whole screen of a full-screen program; `None` if none runs. Such a program redraws only the rows
/// that change, so the output of a watch would show parts of its screen.
async fn full_screen(cx: &Cx, pane: PaneId) -> Option<String> {
    let rows = Capture { start: None, end: None, join: false, colors: false };
    let queries = vec![Server::row_query::<ScreenKind>(&pane.to_string()), rows.of(pane)];
    let replies = cx.tmux().sequence(queries).await.ok()?;
    let [kind, rows] = replies.as_slice() else { return None };
    let kind = ScreenKind::parse_one("display-message", &kind.0).ok()?;
    let rows = kind.alternate.then(|| cx.redacted_rows(rows.text()))?;
    let rows: Vec<&str> = rows.lines().map(str::trim_end).collect();
    Some(rows.join("\n").trim_end().to_owned())
}

/// The time within which a pane is expected to wait for input after an event.
fn settling_time(event: &WatchEvent) -> Duration {
    match event.condition.as_str() {
        "exit" => PROMPT_DELAY,
        _ if event.is_program_state => WAKE_TIME,
        _ => Duration::ZERO,
    }
}

/// The activity of a pane now, or within `settling` once its program waits for input.
async fn activity(cx: &Cx, pane: &PaneState, settling: Duration) -> Activity {
    let until = Instant::now() + settling;
    loop {
        let activity = Activity::probe(&cx.runs, pane).await;
        if activity.word() != "running" || Instant::now() >= until {
            return activity;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}
