//! The log for those who ask for it while the server runs, beside the one on stderr.
//!
//! It takes what our own crates say, never others: rmcp shows whole messages, with whatever is typed
//! in them. While nobody listens nothing is formatted. What is said within a span from [`client`]
//! or [`request`] is for those who listen to that span; what is said outside of all is for every
//! client.

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

/// Our own crates.
pub(crate) const OURS: [&str; 2] = ["tmux_control", "tmuxwright"];

/// The target of the spans that tell whose an event is. They have a level that always counts.
pub(crate) const SPANS: &str = "tmuxwright::log";

/// How many records wait for a listener that is slow; further ones are dropped and counted.
const QUEUE: usize = 256;

/// The span of all that one client brings about.
pub(crate) fn client() -> Span {
    error_span!(target: SPANS, "client")
}

/// The span of one of its requests.
pub(crate) fn request(client: &Span) -> Span {
    error_span!(target: SPANS, parent: client, "request")
}

/// Something that was logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) level: Level,
    pub(crate) text: Arc<str>,
}

/// What listeners want to hear.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// What is said within a span, and what is said outside of all.
    Client,
    /// What is said within a span alone.
    Request,
}

/// Where events come in and listeners are kept. Clones are the same.
#[derive(Debug, Clone, Default)]
pub struct Logs(Arc<Mutex<Listeners>>);

#[derive(Debug, Default)]
struct Listeners {
    last: u64,
    all: Vec<Listener>,
}

#[derive(Debug)]
struct Listener {
    number: u64,
    level: LevelFilter,
    span: Option<Id>,
    scope: Scope,
    queue: mpsc::Sender<Record>,
    dropped: Arc<AtomicU64>,
}

impl Listener {
    fn wants(&self, level: Level, within: &[Id]) -> bool {
        let of_nobody = within.is_empty() && self.scope == Scope::Client;
        let is_ours = || self.span.as_ref().is_some_and(|span| within.contains(span));
        level <= self.level && (of_nobody || is_ours())
    }
}

impl Logs {
    /// Hears what is logged from now on, for as long as the place is held.
    pub(crate) fn listen(&self, level: LevelFilter, scope: Scope, span: &Span) -> (Place, Heard) {
        let (queue, records) = mpsc::channel(QUEUE);
        let dropped = Arc::<AtomicU64>::default();
        let heard = Heard { records, dropped: Arc::clone(&dropped) };
        let mut listeners = self.listeners();
        listeners.last += 1;
        let number = listeners.last;
        listeners.all.push(Listener { number, level, span: span.id(), scope, queue, dropped });
        drop(listeners);
        callsite::rebuild_interest_cache();
        (Place { logs: self.clone(), number }, heard)
    }

    fn listeners(&self) -> MutexGuard<'_, Listeners> {
        lock(&self.0)
    }

    /// The lowest level that anybody wants to hear.
    fn level(&self) -> LevelFilter {
        let listeners = self.listeners();
        listeners.all.iter().map(|listener| listener.level).max().unwrap_or(LevelFilter::OFF)
    }

    fn takes(&self, meta: &Metadata<'_>) -> bool {
        let source = meta.target().split("::").next().unwrap_or_default();
        OURS.contains(&source) && (meta.is_span() || *meta.level() <= self.level())
    }
}

/// What makes somebody a listener.
#[derive(Debug)]
pub(crate) struct Place {
    logs: Logs,
    number: u64,
}

impl Place {
    /// Hears another level from now on.
    pub(crate) fn set_level(&self, level: LevelFilter) {
        let mut listeners = self.logs.listeners();
        for listener in listeners.all.iter_mut().filter(|other| other.number == self.number) {
            listener.level = level;
        }
        drop(listeners);
        callsite::rebuild_interest_cache();
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.logs.listeners().all.retain(|listener| listener.number != self.number);
        callsite::rebuild_interest_cache();
    }
}

/// What a listener is told.
#[derive(Debug)]
pub(crate) struct Heard {
    records: mpsc::Receiver<Record>,
    dropped: Arc<AtomicU64>,
}

impl Heard {
    /// The next record, or how many were dropped; none once the place is given up and all is told.
    pub(crate) async fn next(&mut self) -> Option<Record> {
        match self.records.try_recv() {
            Ok(record) => return Some(record),
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => {}
        }
        match self.dropped.swap(0, Ordering::Relaxed) {
            0 => self.records.recv().await,
            dropped => {
                let text = format!("{dropped} log messages were dropped: the client was too slow");
                Some(Record { level: Level::WARN, text: text.into() })
            }
        }
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Logs {
    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let level = *event.metadata().level();
        let within: Vec<Id> =
            context.event_scope(event).into_iter().flatten().map(|span| span.id()).collect();
        let listeners = self.listeners();
        let mut wanting =
            listeners.all.iter().filter(|other| other.wants(level, &within)).peekable();
        if wanting.peek().is_none() {
            return;
        }
        let mut text = Text::default();
        event.record(&mut text);
        let record = Record { level, text: text.0.into() };
        for listener in wanting {
            if listener.queue.try_send(record.clone()).is_err() {
                listener.dropped.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

impl<S> Filter<S> for Logs {
    fn enabled(&self, meta: &Metadata<'_>, _: &Context<'_, S>) -> bool {
        self.takes(meta)
    }

    fn callsite_enabled(&self, meta: &'static Metadata<'static>) -> Interest {
        // It is asked again whenever a listener comes, goes or changes its mind.
        if self.takes(meta) { Interest::always() } else { Interest::never() }
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        // The spans have to get through.
        Some(self.level().max(LevelFilter::ERROR))
    }
}

/// An event as text: its message, then its other fields.
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

    /// Runs with a log that nobody else hears.
    fn logging(work: impl FnOnce(&Logs)) {
        let logs = Logs::default();
        let layer = logs.clone().with_filter(logs.clone());
        tracing::subscriber::with_default(registry().with(layer), || work(&logs));
    }

    /// All that was heard.
    fn told(place: Place, mut heard: Heard) -> Vec<String> {
        drop(place);
        let mut told = Vec::new();
        while let Some(record) = futures::executor::block_on(heard.next()) {
            told.push(format!("{} {}", record.level, record.text));
        }
        told
    }

    #[test]
    fn a_listener_hears_its_level_of_our_own_crates_from_the_beginning_to_the_end() {
        logging(|logs| {
            tracing::error!("before");
            let (place, heard) = logs.listen(LevelFilter::INFO, Scope::Client, &client());
            tracing::debug!("too low");
            tracing::info!("one {}", 1);
            tracing::error!(target: "rmcp::service", "not ours");
            tracing::error!(target: "tmuxinator", "not ours");
            tracing::warn!(target: "tmux_control::control", "two");
            place.set_level(LevelFilter::ERROR);
            tracing::warn!("too low by now");
            assert_eq!(told(place, heard), ["INFO one 1", "WARN two"]);
            tracing::error!("after");
            assert_eq!(logs.level(), LevelFilter::OFF);
        });
    }

    #[test]
    fn nothing_is_formatted_that_nobody_wants_to_hear() {
        struct Trap;
        impl Debug for Trap {
            fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                panic!("formatted for nobody");
            }
        }
        logging(|logs| {
            tracing::error!("{Trap:?}");
            let mine = client();
            let (_place, _heard) = logs.listen(LevelFilter::WARN, Scope::Client, &mine);
            tracing::info!("{Trap:?}");
            client().in_scope(|| tracing::error!("{Trap:?}"));
        });
    }

    #[test]
    fn clients_hear_what_is_theirs_or_nobodys_and_requests_what_is_theirs() {
        logging(|logs| {
            let (a, b) = (client(), client());
            let mine = request(&a);
            let (in_a, heard_a) = logs.listen(LevelFilter::INFO, Scope::Client, &a);
            let (in_b, heard_b) = logs.listen(LevelFilter::INFO, Scope::Client, &b);
            let (in_mine, heard_mine) = logs.listen(LevelFilter::INFO, Scope::Request, &mine);
            tracing::info!("nobody's");
            a.in_scope(|| tracing::info!("a's"));
            b.in_scope(|| tracing::info!("b's"));
            mine.in_scope(|| tracing::info!("the request's"));
            assert_eq!(told(in_a, heard_a), ["INFO nobody's", "INFO a's", "INFO the request's"]);
            assert_eq!(told(in_b, heard_b), ["INFO nobody's", "INFO b's"]);
            assert_eq!(told(in_mine, heard_mine), ["INFO the request's"]);
        });
    }

    #[test]
    fn what_is_too_much_is_counted() {
        logging(|logs| {
            let (place, heard) = logs.listen(LevelFilter::INFO, Scope::Client, &client());
            (0..QUEUE + 7).for_each(|number| tracing::info!("{number}"));
            let told = told(place, heard);
            assert_eq!(told.len(), QUEUE + 1);
            let last = told.last().map(String::as_str);
            assert_eq!(last, Some("WARN 7 log messages were dropped: the client was too slow"));
        });
    }
}
