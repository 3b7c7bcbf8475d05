//! The output of a pane on its way into a job: the echo of the typed line, then the command's output.

use std::sync::Arc;

use tmux_control::stream::ring::{Chunk, StreamEnd};
use tokio::time::Instant;

use super::Job;
use super::job::{AwaitedInput, JobStatus};
use super::marks::MarkKeys;
use super::output_filter::{OutputFilter, OutputPart};
use super::pane_size::SizedItem;
use crate::input_probe::ProbeSchedule;
use terminal::screen::{Screen, ScreenPlace};

/// The reason why a job is lost with its pane. tmux drops output that it has not sent when a pane closes.
pub(super) const PANE_GONE: &str = "its pane is gone; its last output may be missing";

/// Feeds a job with the output of its pane.
pub(super) struct JobFeed {
    pub(super) job: Arc<Job>,
    pub(super) filter: OutputFilter,
    /// Screen that shows the stream up to the command's output, to find the place where it begins.
    pub(super) echo: Screen,
    /// Probes for awaited input, or a shell that has dropped the command. Output makes them begin anew.
    pub(super) probes: ProbeSchedule<AwaitedInput>,
    /// Whether a part of the stream was lost.
    pub(super) has_gap: bool,
}

impl JobFeed {
    pub(super) fn new(job: Arc<Job>, keys: MarkKeys, echo: Screen) -> Self {
        let (filter, probes) = (OutputFilter::new(keys), ProbeSchedule::new(Instant::now()));
        Self { job, filter, echo, probes, has_gap: false }
    }

    /// Adds an item of the stream. Returns the status if the job is lost.
    pub(super) fn handle(&mut self, item: SizedItem) -> Option<JobStatus> {
        match item {
            SizedItem::Chunk(Chunk::Bytes { bytes, .. }) => self.scan(&bytes),
            SizedItem::Size(width, height) => self.resize(width, height),
            SizedItem::Chunk(Chunk::Gap { missed, .. }) => {
                self.has_gap = true;
                // The gap may have held the start mark.
                self.filter.begin();
                self.job.output_lost(missed);
            }
            SizedItem::Chunk(Chunk::End(StreamEnd::PaneGone)) => {
                return Some(JobStatus::Lost(PANE_GONE.to_owned()));
            }
            SizedItem::Chunk(Chunk::End(StreamEnd::ServerGone)) => {
                return Some(JobStatus::Lost("the tmux server went away".to_owned()));
            }
        }
        None
    }

    /// Changes the size of the screens.
    pub(super) fn resize(&mut self, width: usize, height: usize) {
        self.echo.resize(width, height, &mut |_| {});
        self.job.resize(width, height);
    }

    /// Adds the output among these bytes to the job's.
    pub(super) fn scan(&mut self, bytes: &[u8]) {
        let Self { job, filter, echo, probes, .. } = self;
        let had_begun = filter.has_begun();
        let parts = filter.parts(bytes);
        if !had_begun {
            echo.feed(&filter.take_echo(), &mut |_| {});
            if filter.has_begun() {
                job.begin_output(&ScreenPlace { column: 0, ..echo.place() });
            }
        }
        for part in parts {
            match part {
                OutputPart::Text(text) => job.feed(&text),
                OutputPart::Lost(bytes) => job.output_lost(Some(bytes)),
            }
        }
        probes.reset(Instant::now());
    }
}
