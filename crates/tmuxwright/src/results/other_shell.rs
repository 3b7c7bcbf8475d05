//! The remark on a command that did not run in the shell of the previous one.

use super::words::field;
use crate::run::{Obstacle, OtherShell};

/// Says in which shell and directory the command runs, and why not in the home shell.
pub(crate) fn note(shell: &OtherShell) -> String {
    let OtherShell { pane, directory, is_new, obstacle } = shell;
    let which = if *is_new { "a new" } else { "another" };
    let directory = match directory {
        Some(directory) => field(&directory.to_string_lossy()),
        None => "unknown directory".to_owned(),
    };
    let place = format!("in {which} shell {pane}, {directory}");
    let Some((home, obstacle)) = obstacle else { return place };
    let why = match obstacle {
        Obstacle::Parallel(Some(id)) => format!("{home} is busy with {id}"),
        Obstacle::Parallel(None) => format!("{home} is busy"),
        Obstacle::StillRuns(id) => format!("{home} still runs {id}"),
        Obstacle::Program(name) => format!("{home} runs {}", field(name)),
        Obstacle::InUse(state) => format!("{home} {state}"),
        Obstacle::Unusable => format!("{home} takes no commands any more"),
        Obstacle::Exited => format!("{home} has exited"),
        Obstacle::Gone => format!("{home} is gone"),
    };
    let lost = match obstacle.ends_home() {
        true => "; its variables are gone, later calls run here",
        false => "",
    };
    format!("{place}: {why}{lost}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn note_names_shell_directory_and_obstacle() {
        let shell = |is_new, directory: Option<&str>, obstacle: Option<Obstacle>| {
            let home = "%0".parse().unwrap();
            note(&OtherShell {
                pane: "%7".parse().unwrap(),
                directory: directory.map(Into::into),
                is_new,
                obstacle: obstacle.map(|obstacle| (home, obstacle)),
            })
        };
        assert_eq!(shell(true, Some("/usr"), None), "in a new shell %7, /usr");
        assert_eq!(
            shell(false, Some("/a · exit 0"), Some(Obstacle::Parallel(Some("c6".to_owned())))),
            "in another shell %7, \"/a · exit 0\": %0 is busy with c6"
        );
        assert_eq!(
            shell(true, None, Some(Obstacle::Exited)),
            "in a new shell %7, unknown directory: %0 has exited; its variables are gone, later \
             calls run here"
        );
    }
}
