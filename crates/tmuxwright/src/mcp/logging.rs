//! Log messages for an MCP client: from `logging/setLevel` on in the older revisions, or for a single
//! request that has a `logLevel` in the newest one.

#![expect(deprecated, reason = "the revisions in use have logging; only the newest deprecates it")]

use std::pin::pin;
use std::sync::{Arc, Mutex};

use rmcp::Peer;
use rmcp::model::{LoggingLevel, LoggingMessageNotificationParam};
use rmcp::service::{RequestContext, RoleServer, ServiceError};
use tracing::level_filters::LevelFilter;
use tracing::{Instrument, Level, Span};

use super::revision::is_stateless;
use crate::lock::lock;
use crate::log::{self, LogReceiver, LogRecord, LogScope, LogSubscription, Logs};
use crate::redact::Redactor;
use terminal::text;

/// The log messages of one MCP client.
#[derive(Debug, Clone)]
pub(super) struct Logging {
    logs: Logs,
    redact: Redactor,
    span: Span,
    /// Set once the client has chosen a level.
    subscription: Arc<Mutex<Option<LogSubscription>>>,
}

impl Logging {
    /// The log of a client that has not chosen a level yet: nothing is sent.
    pub(super) fn new(logs: Logs, redact: Redactor) -> Self {
        Self { logs, redact, span: log::client(), subscription: Arc::default() }
    }

    /// Sends events of this level or above from now on. False if the request's revision has no
    /// `logging/setLevel`.
    pub(super) fn set_level(
        &self,
        level: LoggingLevel,
        context: &RequestContext<RoleServer>,
    ) -> bool {
        if is_stateless(context) {
            return false;
        }
        let level = filter(level);
        let mut subscription = lock(&self.subscription);
        match &*subscription {
            Some(subscription) => subscription.set_level(level),
            None => {
                let (held, receiver) = self.logs.subscribe(level, LogScope::Client, &self.span);
                *subscription = Some(held);
                tokio::spawn(forward(receiver, context.peer.clone(), self.redact.clone()));
            }
        }
        true
    }

    /// Runs a request's work in the client's span. A request with its own `logLevel` gets its events
    /// before its answer.
    pub(super) async fn around<T>(
        &self,
        context: &RequestContext<RoleServer>,
        work: impl Future<Output = T>,
    ) -> T {
        let asked = context.meta.log_level().filter(|_| is_stateless(context));
        let Some(level) = asked else { return work.instrument(self.span.clone()).await };
        let span = log::request(&self.span);
        let (subscription, mut receiver) =
            self.logs.subscribe(filter(level), LogScope::Request, &span);
        let mut work = pin!(work.instrument(span));
        let done = loop {
            tokio::select! {
                biased;
                Some(record) = receiver.next() => self.send(context, record).await,
                done = &mut work => break done,
            }
        };
        drop(subscription);
        while let Some(record) = receiver.next().await {
            self.send(context, record).await;
        }
        done
    }

    async fn send(&self, context: &RequestContext<RoleServer>, record: LogRecord) {
        // This fails only if the client has disconnected, and then its request is cancelled.
        let _ = send(&context.peer, record, &self.redact).await;
    }
}

/// Sends records until the client disconnects. Must not log: it would receive its own events.
async fn forward(mut receiver: LogReceiver, peer: Peer<RoleServer>, redact: Redactor) {
    while let Some(record) = receiver.next().await {
        if send(&peer, record, &redact).await.is_err() {
            return;
        }
    }
}

async fn send(
    peer: &Peer<RoleServer>,
    record: LogRecord,
    redact: &Redactor,
) -> Result<(), ServiceError> {
    let mut message = text::inline(&record.text);
    redact.text(&mut message);
    let note = LoggingMessageNotificationParam::new(level(record.level), message.into());
    peer.notify_logging_message(note.with_logger(env!("CARGO_PKG_NAME"))).await
}

/// The filter for a level of the protocol. Events have no level above error.
fn filter(level: LoggingLevel) -> LevelFilter {
    match level {
        LoggingLevel::Debug => LevelFilter::DEBUG,
        LoggingLevel::Info => LevelFilter::INFO,
        LoggingLevel::Notice | LoggingLevel::Warning => LevelFilter::WARN,
        LoggingLevel::Error => LevelFilter::ERROR,
        LoggingLevel::Critical | LoggingLevel::Alert | LoggingLevel::Emergency => LevelFilter::OFF,
    }
}

/// The protocol's name for a level.
fn level(level: Level) -> LoggingLevel {
    match level {
        Level::ERROR => LoggingLevel::Error,
        Level::WARN => LoggingLevel::Warning,
        Level::INFO => LoggingLevel::Info,
        Level::DEBUG | Level::TRACE => LoggingLevel::Debug,
    }
}
