//! The condition `text:…`: a line that contains a text is printed.

use super::{Condition, ConditionKind, line_text};
use crate::watch::observation::OutputLine;

pub(super) const KIND: ConditionKind = ConditionKind {
    name: "text",
    argument: Some("TEXT"),
    help: "a line that contains exactly this text is printed",
    make: |argument, _| Ok(Box::new(Text(line_text(argument)?.to_owned()))),
};

struct Text(String);

impl Condition for Text {
    fn is_met_by(&self, line: &OutputLine) -> bool {
        line.text.match_indices(&self.0).any(|(at, found)| at + found.len() > line.new_from)
    }
}
