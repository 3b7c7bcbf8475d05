//! `select_pane`: makes a pane the active one of its window.

use schemars::JsonSchema;
use serde::Deserialize;
use tmux_control::target::Level;
use tmux_control::{Command, PaneId};

use crate::context::{Cx, Tool};
use crate::contract::{Group, Load, Meta, Target, Tier, ToolError, Toolset};
use crate::host::PaneState;
use crate::results::ids::SelectedIds;

pub(super) struct SelectPane;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Pane; or window or session, with `direction`.
    target: Option<Target>,
    /// Relative to the target pane, or to the active one.
    direction: Option<Direction>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Direction {
    Up,
    Down,
    Left,
    Right,
    Next,
    Previous,
    Last,
}

impl Tool for SelectPane {
    const META: Meta = Meta {
        name: "select_pane",
        title: "Select pane",
        description: "Make a pane the active one of its window.",
        group: Group::Pane,
        tier: Tier::Mutate,
        sets: &[Toolset::Primitives],
        idempotent: false,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = SelectedIds;

    async fn call(cx: &Cx, args: Args) -> Result<SelectedIds, ToolError> {
        let target = cx.target_or_current(args.target, args.direction.is_some(), "pane").await?;
        let found = match args.direction {
            Some(_) => cx.resolve_container(&target, Level::Window).await?,
            None => cx.resolve(&target).await?,
        };
        let (pane, window) = (found.pane.pane, found.pane.window);
        let select = Command::action("select-pane");
        let command = match args.direction {
            Some(Direction::Up) => select.option("-t", pane).arg("-U"),
            Some(Direction::Down) => select.option("-t", pane).arg("-D"),
            Some(Direction::Left) => select.option("-t", pane).arg("-L"),
            Some(Direction::Right) => select.option("-t", pane).arg("-R"),
            Some(Direction::Next) => select.option("-t", beside(cx, &found.pane, 1).await?),
            Some(Direction::Previous) => select.option("-t", beside(cx, &found.pane, -1).await?),
            Some(Direction::Last) => Command::action("last-pane").option("-t", window),
            None if found.level != Level::Pane => {
                return Err(ToolError::invalid_argument(format!(
                    "`{target}` is a {}",
                    found.level
                ))
                .hint("name a pane (list_panes shows them), or give `direction`"));
            }
            None => select.option("-t", pane),
        };
        cx.tmux().run(command).await?;
        let now: PaneState = cx.tmux().row(&window.to_string()).await?;
        Ok(now.into())
    }
}

/// The pane `step` further on in its window, wrapping at the ends. tmux's own `+` and `-` count from the
/// active pane of the link's session instead.
async fn beside(cx: &Cx, pane: &PaneState, step: isize) -> Result<PaneId, ToolError> {
    let mut panes = cx.panes().await?;
    panes.retain(|row| (row.session.id, row.window.id) == (pane.session, pane.window));
    let at = panes.iter().position(|row| row.pane.id == pane.pane).unwrap_or(0);
    let next = (at + panes.len()).saturating_add_signed(step) % panes.len().max(1);
    Ok(panes.get(next).map_or(pane.pane, |row| row.pane.id))
}
