//! The jobs of one MCP client: all that run, and the newest finished ones.

use std::collections::VecDeque;
use std::sync::Arc;

use super::job::Job;

/// Jobs, oldest first.
#[derive(Debug, Default)]
pub(super) struct JobList(VecDeque<Arc<Job>>);

impl JobList {
    pub(super) fn by_id(&self, id: &str) -> Option<Arc<Job>> {
        self.0.iter().find(|job| job.id == id).cloned()
    }

    /// Adds a job and evicts the oldest finished jobs beyond `max_finished`.
    pub(super) fn add(&mut self, job: Arc<Job>, max_finished: usize) {
        self.0.push_back(job);
        self.evict_oldest(max_finished);
    }

    /// Removes a job that was not typed after all.
    pub(super) fn remove(&mut self, id: &str) {
        self.0.retain(|job| job.id != id);
    }

    /// Evicts the oldest finished jobs beyond `max_finished`.
    pub(super) fn evict_oldest(&mut self, max_finished: usize) {
        let mut finished = self.0.iter().filter(|job| !job.is_running()).count();
        self.0.retain(|job| {
            let evict = finished > max_finished && !job.is_running();
            finished -= usize::from(evict);
            !evict
        });
    }

    /// The ids of the jobs, newest first.
    pub(super) fn ids(&self) -> Vec<String> {
        self.0.iter().rev().map(|job| job.id.clone()).collect()
    }
}
