//! The condition `stable:…`: the screen stays the same for some time.

use std::time::Duration;

use tokio::time::Instant;

use super::{Condition, ConditionKind, Needs, seconds};
use crate::watch::observation::Observation;

pub(super) const KIND: ConditionKind = ConditionKind {
    name: "stable",
    argument: Some("SECONDS"),
    help: "the screen stays the same for this time, whatever is printed, counted from the start of the call",
    make: |argument, _| Ok(Box::new(Stable(seconds(argument)?))),
};

struct Stable(Duration);

impl Condition for Stable {
    fn needs(&self) -> Needs {
        Needs::Screen
    }

    fn holds(&self, observed: &Observation<'_>) -> Option<String> {
        let shown = observed.screen?;
        (shown.at >= shown.since + self.0).then(String::new)
    }

    fn due(&self, observed: &Observation<'_>) -> Option<Instant> {
        observed.screen.map(|shown| shown.since + self.0)
    }
}
