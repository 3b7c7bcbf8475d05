//! `exit`: the program in the foreground is no more.

use super::{Condition, ConditionKind, Needs};
use crate::watch::moment::Moment;

pub(super) const KIND: ConditionKind = ConditionKind {
    name: "exit",
    argument: None,
    help: "the program in the foreground has exited, or none runs there but the shell at its prompt",
    make: |_, _| Ok(Box::new(Exit)),
};

struct Exit;

impl Condition for Exit {
    fn needs(&self) -> Needs {
        Needs::Program
    }

    fn holds(&self, moment: &Moment<'_>) -> Option<String> {
        moment.exited.map(|code| code.map_or_else(String::new, |code| format!("exit code {code}")))
    }
}
