//! `text:…`: a line that has this in it is printed.

use super::{Condition, ConditionKind, line_text};
use crate::watch::moment::Line;

pub(super) const KIND: ConditionKind = ConditionKind {
    name: "text",
    argument: Some("TEXT"),
    help: "a line with this text in it is printed, as it is written here",
    make: |argument, _| Ok(Box::new(Text(line_text(argument)?.to_owned()))),
};

struct Text(String);

impl Condition for Text {
    fn is_met_by(&self, line: &Line) -> bool {
        line.text.match_indices(&self.0).any(|(at, found)| at + found.len() > line.new_from)
    }
}
