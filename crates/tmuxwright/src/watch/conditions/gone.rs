//! The condition `gone:…`: the screen does not show a text.

use super::{Condition, ConditionKind, Needs, line_text};
use crate::watch::observation::Observation;

pub(super) const KIND: ConditionKind = ConditionKind {
    name: "gone",
    argument: Some("TEXT"),
    help: "the screen does not, or no longer, show this text",
    make: |argument, _| Ok(Box::new(Gone(line_text(argument)?.to_owned()))),
};

struct Gone(String);

impl Condition for Gone {
    fn needs(&self) -> Needs {
        Needs::Screen
    }

    fn holds(&self, observed: &Observation<'_>) -> Option<String> {
        let shown = observed.screen?;
        (!shown.text.contains(&self.0)).then(String::new)
    }
}
