//! Log events for MCP clients, beside the log on stderr.
//!
//! Only events of our own crates are delivered: rmcp logs whole messages, typed text included. Without
//! subscribers no event is formatted. An event inside a span from [`client`] or [`request`] goes to the
//! subscribers of that span; an event outside all such spans goes to every client.

use std::fmt::{Debug, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::mpsc::{self, error::TryRecvError};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::Id;
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, Span, Subscriber, callsite, error_span};
use tracing_subscriber::layer::{Context, Filter, Layer};
use tracing_subscriber::registry::LookupSpan;

use crate::lock::lock;

/// The crates whose events are logged.
pub(crate) const OWN_CRATES: [&str; 2] = ["tmux_control", "tmuxwright"];

/// Target of the spans that attribute events to clients. Their level is error, so that they are always
/// enabled.
pub(crate) const SPAN_TARGET: &str = "tmuxwright::log";

/// Records queued for a slow subscriber; further ones are dropped and counted.
const MAX_QUEUED_RECORDS: usize = 256;

/// A span for the work of one MCP client.
pub(crate) fn client() -> Span {
    error_span!(target: SPAN_TARGET, "client")
}

/// A span for one request of that client.
pub(crate) fn request(client: &Span) -> Span {
    error_span!(target: SPAN_TARGET, parent: client, "request")
}

/// A log event as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LogRecord {
    pub(crate) level: Level,
    pub(crate) text: Arc<str>,
}

/// The events that a subscriber gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogScope {
    /// Events inside its span, and events outside all spans.
    Client,
    /// Only events inside its span.
    Request,
}

/// A tracing layer that delivers events to subscribers. Clones share the subscribers.
#[derive(Debug, Clone, Default)]
pub struct Logs(Arc<Mutex<Subscribers>>);

#[derive(Debug, Default)]
struct Subscribers {
    last: u64,
    all: Vec<LogSubscriber>,
}

#[derive(Debug)]
struct LogSubscriber {
    number: u64,
    level: LevelFilter,
    span: Option<Id>,
    scope: LogScope,
    queue: mpsc::Sender<LogRecord>,
    dropped: Arc<AtomicU64>,
}

impl LogSubscriber {
    fn wants(&self, level: Level, spans: &[Id]) -> bool {
        let is_unattributed = spans.is_empty() && self.scope == LogScope::Client;
        let is_attributed = || self.span.as_ref().is_some_and(|span| spans.contains(span));
        level <= self.level && (is_unattributed || is_attributed())
    }
}

impl Logs {
    /// Delivers events from now on, until the subscription is dropped.
    pub(crate) fn subscribe(
        &self,
        level: LevelFilter,
        scope: LogScope,
        span: &Span,
    ) -> (LogSubscription, LogReceiver) {
        let (queue, records) = mpsc::channel(MAX_QUEUED_RECORDS);
        let dropped = Arc::<AtomicU64>::default();
        let receiver = LogReceiver { records, dropped: Arc::clone(&dropped) };
        let mut subscribers = self.subscribers();
        subscribers.last += 1;
        let number = subscribers.last;
        subscribers.all.push(LogSubscriber {
            number,
            level,
            span: span.id(),
            scope,
            queue,
            dropped,
        });
        drop(subscribers);
        callsite::rebuild_interest_cache();
        (LogSubscription { logs: self.clone(), number }, receiver)
    }

    fn subscribers(&self) -> MutexGuard<'_, Subscribers> {
        lock(&self.0)
    }

    /// The most verbose level of all subscribers.
    fn level(&self) -> LevelFilter {
        let subscribers = self.subscribers();
        subscribers.all.iter().map(|subscriber| subscriber.level).max().unwrap_or(LevelFilter::OFF)
    }

    fn takes(&self, meta: &Metadata<'_>) -> bool {
        let source = meta.target().split("::").next().unwrap_or_default();
        OWN_CRATES.contains(&source) && (meta.is_span() || *meta.level() <= self.level())
    }
}

/// Keeps a subscriber registered; dropping it unsubscribes.
#[derive(Debug)]
pub(crate) struct LogSubscription {
    logs: Logs,
    number: u64,
}

impl LogSubscription {
    /// Changes the level.
    pub(crate) fn set_level(&self, level: LevelFilter) {
        let mut subscribers = self.logs.subscribers();
        for subscriber in subscribers.all.iter_mut().filter(|other| other.number == self.number) {
            subscriber.level = level;
        }
        drop(subscribers);
        callsite::rebuild_interest_cache();
    }
}

impl Drop for LogSubscription {
    fn drop(&mut self) {
        self.logs.subscribers().all.retain(|subscriber| subscriber.number != self.number);
        callsite::rebuild_interest_cache();
    }
}

/// The receiving end of a subscription.
#[derive(Debug)]
pub(crate) struct LogReceiver {
    records: mpsc::Receiver<LogRecord>,
    dropped: Arc<AtomicU64>,
}

impl LogReceiver {
    /// The next record, or one with the number of dropped records. None once the subscription has ended
    /// and its queue is empty.
    pub(crate) async fn next(&mut self) -> Option<LogRecord> {
        match self.records.try_recv() {
            Ok(record) => return Some(record),
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => {}
        }
        match self.dropped.swap(0, Ordering::Relaxed) {
            0 => self.records.recv().await,
            dropped => {
                let text = format!("{dropped} log messages were dropped: the client was too slow");
                Some(LogRecord { level: Level::WARN, text: text.into() })
            }
        }
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Logs {
    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let level = *event.metadata().level();
        let spans: Vec<Id> =
            context.event_scope(event).into_iter().flatten().map(|span| span.id()).collect();
        let subscribers = self.subscribers();
        let mut interested =
            subscribers.all.iter().filter(|other| other.wants(level, &spans)).peekable();
        if interested.peek().is_none() {
            return;
        }
        let mut text = Text::default();
        event.record(&mut text);
        let record = LogRecord { level, text: text.0.into() };
        for subscriber in interested {
            if subscriber.queue.try_send(record.clone()).is_err() {
                subscriber.dropped.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

impl<S> Filter<S> for Logs {
    fn enabled(&self, meta: &Metadata<'_>, _: &Context<'_, S>) -> bool {
        self.takes(meta)
    }

    fn callsite_enabled(&self, meta: &'static Metadata<'static>) -> Interest {
        // `rebuild_interest_cache` repeats this whenever the subscribers change.
        if self.takes(meta) { Interest::always() } else { Interest::never() }
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        // The attributing spans must stay enabled.
        Some(self.level().max(LevelFilter::ERROR))
    }
}

/// Formats an event: its message, then its other fields.
#[derive(Default)]
struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = match field.name() {
            "message" => write!(self.0, "{value:?}"),
            name => write!(self.0, " {name}={value:?}"),
        };
    }
}

#[cfg(test)]
mod tests {
    use tracing_subscriber::layer::SubscriberExt;
    use tracing_subscriber::registry;

    use super::*;

    /// Runs `work` with a log of its own.
    fn logging(work: impl FnOnce(&Logs)) {
        let logs = Logs::default();
        let layer = logs.clone().with_filter(logs.clone());
        tracing::subscriber::with_default(registry().with(layer), || work(&logs));
    }

    /// Unsubscribes and returns all received records.
    fn received(subscription: LogSubscription, mut receiver: LogReceiver) -> Vec<String> {
        drop(subscription);
        let mut records = Vec::new();
        while let Some(record) = futures::executor::block_on(receiver.next()) {
            records.push(format!("{} {}", record.level, record.text));
        }
        records
    }

    #[test]
    fn subscriber_gets_own_crates_at_its_level() {
        logging(|logs| {
            tracing::error!("before");
            let (subscription, receiver) =
                logs.subscribe(LevelFilter::INFO, LogScope::Client, &client());
            tracing::debug!("too low");
            tracing::info!("one {}", 1);
            tracing::error!(target: "rmcp::service", "not ours");
            tracing::error!(target: "tmuxinator", "not ours");
            tracing::warn!(target: "tmux_control::control", "two");
            subscription.set_level(LevelFilter::ERROR);
            tracing::warn!("too low by now");
            assert_eq!(received(subscription, receiver), ["INFO one 1", "WARN two"]);
            tracing::error!("after");
            assert_eq!(logs.level(), LevelFilter::OFF);
        });
    }

    #[test]
    fn events_without_a_subscriber_are_not_formatted() {
        struct Trap;
        impl Debug for Trap {
            fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                panic!("formatted without a subscriber");
            }
        }
        logging(|logs| {
            tracing::error!("{Trap:?}");
            let mine = client();
            let (_subscription, _receiver) =
                logs.subscribe(LevelFilter::WARN, LogScope::Client, &mine);
            tracing::info!("{Trap:?}");
            client().in_scope(|| tracing::error!("{Trap:?}"));
        });
    }

    #[test]
    fn subscriber_gets_the_events_of_its_span() {
        logging(|logs| {
            let (a, b) = (client(), client());
            let mine = request(&a);
            let (in_a, receiver_a) = logs.subscribe(LevelFilter::INFO, LogScope::Client, &a);
            let (in_b, receiver_b) = logs.subscribe(LevelFilter::INFO, LogScope::Client, &b);
            let (in_mine, receiver_mine) =
                logs.subscribe(LevelFilter::INFO, LogScope::Request, &mine);
            tracing::info!("unattributed");
            a.in_scope(|| tracing::info!("a's"));
            b.in_scope(|| tracing::info!("b's"));
            mine.in_scope(|| tracing::info!("the request's"));
            assert_eq!(
                received(in_a, receiver_a),
                ["INFO unattributed", "INFO a's", "INFO the request's"]
            );
            assert_eq!(received(in_b, receiver_b), ["INFO unattributed", "INFO b's"]);
            assert_eq!(received(in_mine, receiver_mine), ["INFO the request's"]);
        });
    }

    #[test]
    fn dropped_records_are_counted() {
        logging(|logs| {
            let (subscription, receiver) =
                logs.subscribe(LevelFilter::INFO, LogScope::Client, &client());
            (0..MAX_QUEUED_RECORDS + 7).for_each(|number| tracing::info!("{number}"));
            let records = received(subscription, receiver);
            assert_eq!(records.len(), MAX_QUEUED_RECORDS + 1);
            let last = records.last().map(String::as_str);
            assert_eq!(last, Some("WARN 7 log messages were dropped: the client was too slow"));
        });
    }
}
