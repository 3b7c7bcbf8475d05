//! The condition `exit`: the foreground program has exited.

use super::{Condition, ConditionKind, Needs};
use crate::watch::observation::Observation;

pub(super) const KIND: ConditionKind = ConditionKind {
    name: "exit",
    argument: None,
    help: "the foreground program has exited, also if its pane closes with it, or only the shell at its prompt is left",
    make: |_, _| Ok(Box::new(Exit)),
};

struct Exit;

impl Condition for Exit {
    fn needs(&self) -> Needs {
        Needs::Program
    }

    fn awaits_exit(&self) -> bool {
        true
    }

    fn holds(&self, observed: &Observation<'_>) -> Option<String> {
        observed
            .exited
            .map(|code| code.map_or_else(String::new, |code| format!("exit code {code}")))
    }
}
