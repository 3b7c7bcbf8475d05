//! `idle:…`: nothing is printed for a while.

use std::time::Duration;

use tokio::time::Instant;

use super::{Condition, ConditionKind, Needs, seconds};
use crate::watch::moment::Moment;

pub(super) const KIND: ConditionKind = ConditionKind {
    name: "idle",
    argument: Some("SECONDS"),
    help: "nothing is printed for so long, counted from the call on",
    make: |argument, _| Ok(Box::new(Idle(seconds(argument)?))),
};

struct Idle(Duration);

impl Condition for Idle {
    fn needs(&self) -> Needs {
        Needs::Time
    }

    fn holds(&self, moment: &Moment<'_>) -> Option<String> {
        (moment.now >= moment.quiet_since + self.0).then(String::new)
    }

    fn due(&self, moment: &Moment<'_>) -> Option<Instant> {
        Some(moment.quiet_since + self.0)
    }
}
