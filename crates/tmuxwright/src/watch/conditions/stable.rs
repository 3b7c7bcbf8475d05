//! `stable:…`: the screen stays as it is for a while.

use std::time::Duration;

use tokio::time::Instant;

use super::{Condition, ConditionKind, Needs, seconds};
use crate::watch::moment::Moment;

pub(super) const KIND: ConditionKind = ConditionKind {
    name: "stable",
    argument: Some("SECONDS"),
    help: "the screen shows the same for so long, whatever is printed; counted from the call on",
    make: |argument, _| Ok(Box::new(Stable(seconds(argument)?))),
};

struct Stable(Duration);

impl Condition for Stable {
    fn needs(&self) -> Needs {
        Needs::Screen
    }

    fn holds(&self, moment: &Moment<'_>) -> Option<String> {
        let shown = moment.screen?;
        (shown.at >= shown.since + self.0).then(String::new)
    }

    fn due(&self, moment: &Moment<'_>) -> Option<Instant> {
        moment.screen.map(|shown| shown.since + self.0)
    }
}
