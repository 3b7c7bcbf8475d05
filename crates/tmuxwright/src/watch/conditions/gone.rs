//! `gone:…`: the screen does not show this any more.

use super::{Condition, ConditionKind, Needs, line_text};
use crate::watch::moment::Moment;

pub(super) const KIND: ConditionKind = ConditionKind {
    name: "gone",
    argument: Some("TEXT"),
    help: "the screen does not show this text, or no longer",
    make: |argument, _| Ok(Box::new(Gone(line_text(argument)?.to_owned()))),
};

struct Gone(String);

impl Condition for Gone {
    fn needs(&self) -> Needs {
        Needs::Screen
    }

    fn holds(&self, moment: &Moment<'_>) -> Option<String> {
        let shown = moment.screen?;
        (!shown.text.contains(&self.0)).then(String::new)
    }
}
