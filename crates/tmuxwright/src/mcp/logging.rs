//! The log for a client that asks for it: all of it after `logging/setLevel`, or what one request
//! brings about, as the newest revision has it.

#![expect(
    deprecated,
    reason = "the revisions in use have logging; the newest only advises against it"
)]

use std::pin::pin;
use std::sync::{Arc, Mutex};

use rmcp::Peer;
use rmcp::model::{LoggingLevel, LoggingMessageNotificationParam};
use rmcp::service::{RequestContext, RoleServer, ServiceError};
use tracing::level_filters::LevelFilter;
use tracing::{Instrument, Level, Span};

use super::revision::is_stateless;
use crate::lock::lock;
use crate::log::{self, Heard, Logs, Place, Record, Scope};
use crate::redact::Redactor;
use terminal::text;

/// One client's log.
#[derive(Debug, Clone)]
pub(super) struct Logging {
    logs: Logs,
    redact: Redactor,
    span: Span,
    /// There once the client has set a level.
    place: Arc<Mutex<Option<Place>>>,
}

impl Logging {
    /// For a client that has not asked for anything yet.
    pub(super) fn new(logs: Logs, redact: Redactor) -> Self {
        Self { logs, redact, span: log::client(), place: Arc::default() }
    }

    /// Tells the client from now on what is logged at this level or above. Whether its revision has
    /// this.
    pub(super) fn set_level(
        &self,
        level: LoggingLevel,
        context: &RequestContext<RoleServer>,
    ) -> bool {
        if is_stateless(context) {
            return false;
        }
        let level = filter(level);
        let mut place = lock(&self.place);
        match &*place {
            Some(place) => place.set_level(level),
            None => {
                let (held, heard) = self.logs.listen(level, Scope::Client, &self.span);
                *place = Some(held);
                tokio::spawn(forward(heard, context.peer.clone(), self.redact.clone()));
            }
        }
        true
    }

    /// Does a request's work. What is logged of it reaches those it is for: the request itself, if
    /// it says so, gets it before its answer.
    pub(super) async fn around<T>(
        &self,
        context: &RequestContext<RoleServer>,
        work: impl Future<Output = T>,
    ) -> T {
        let asked = context.meta.log_level().filter(|_| is_stateless(context));
        let Some(level) = asked else { return work.instrument(self.span.clone()).await };
        let span = log::request(&self.span);
        let (place, mut heard) = self.logs.listen(filter(level), Scope::Request, &span);
        let mut work = pin!(work.instrument(span));
        let done = loop {
            tokio::select! {
                biased;
                Some(record) = heard.next() => self.tell(context, record).await,
                done = &mut work => break done,
            }
        };
        drop(place);
        while let Some(record) = heard.next().await {
            self.tell(context, record).await;
        }
        done
    }

    async fn tell(&self, context: &RequestContext<RoleServer>, record: Record) {
        // A client that has gone hears nothing more; its request is cancelled anyway.
        let _ = send(&context.peer, record, &self.redact).await;
    }
}

/// Sends all that is heard until the client has gone. Logs nothing itself: it would hear that, too.
async fn forward(mut heard: Heard, peer: Peer<RoleServer>, redact: Redactor) {
    while let Some(record) = heard.next().await {
        if send(&peer, record, &redact).await.is_err() {
            return;
        }
    }
}

async fn send(
    peer: &Peer<RoleServer>,
    record: Record,
    redact: &Redactor,
) -> Result<(), ServiceError> {
    let mut said = text::inline(&record.text);
    redact.text(&mut said);
    let note = LoggingMessageNotificationParam::new(level(record.level), said.into());
    peer.notify_logging_message(note.with_logger(env!("CARGO_PKG_NAME"))).await
}

/// What of ours a client hears that asks for this level.
fn filter(level: LoggingLevel) -> LevelFilter {
    match level {
        LoggingLevel::Debug => LevelFilter::DEBUG,
        LoggingLevel::Info => LevelFilter::INFO,
        LoggingLevel::Notice | LoggingLevel::Warning => LevelFilter::WARN,
        LoggingLevel::Error => LevelFilter::ERROR,
        LoggingLevel::Critical | LoggingLevel::Alert | LoggingLevel::Emergency => LevelFilter::OFF,
    }
}

/// A level of ours in the protocol's words.
fn level(level: Level) -> LoggingLevel {
    match level {
        Level::ERROR => LoggingLevel::Error,
        Level::WARN => LoggingLevel::Warning,
        Level::INFO => LoggingLevel::Info,
        Level::DEBUG | Level::TRACE => LoggingLevel::Debug,
    }
}
