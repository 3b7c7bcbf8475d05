//! `move_window`: moves a window to another index or session.

use schemars::JsonSchema;
use serde::Deserialize;
use tmux_control::target::Level;
use tmux_control::{Command, SessionId};

use crate::actions::arrange::{Relocation, window_now};
use crate::context::{Cx, Tool};
use crate::contract::{Code, Group, Load, Meta, Target, Tier, ToolError, Toolset};
use crate::host::WindowRow;
use crate::results::objects::Window;

/// The highest window index that tmux accepts.
const MAX_WINDOW_INDEX: u32 = i32::MAX.unsigned_abs();

pub(super) struct MoveWindow;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Window.
    target: Target,
    /// Session to move it to.
    session: Option<Target>,
    /// Free index; the first free one if not given.
    index: Option<u32>,
}

impl Tool for MoveWindow {
    const META: Meta = Meta {
        name: "move_window",
        title: "Move window",
        description: "Move a window to another session or index.",
        group: Group::Window,
        tier: Tier::Mutate,
        sets: &[Toolset::Primitives],
        idempotent: true,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = Window;

    async fn call(cx: &Cx, args: Args) -> Result<Window, ToolError> {
        if args.session.is_none() && args.index.is_none() {
            return Err(ToolError::invalid_argument("neither `session` nor `index` is given")
                .hint("give the session or the index to move the window to"));
        }
        if let Some(index) = args.index.filter(|&index| index > MAX_WINDOW_INDEX) {
            return Err(ToolError::invalid_argument(format!("`index`: {index} is too high"))
                .hint(format!("give at most {MAX_WINDOW_INDEX}")));
        }
        let pane = cx.resolve_container(&args.target, Level::Window).await?.pane;
        let session = match &args.session {
            Some(session) => cx.resolve_as(session, Level::Session).await?.pane.session,
            None => pane.session,
        };
        let stays = session == pane.session;
        let occupant = match args.index {
            Some(index) => at_index(cx, session, index).await?,
            None => None,
        };
        match occupant {
            Some(window) if stays && window.window == pane.window => {}
            Some(window) => return Err(index_taken(&window)),
            None if stays && args.index.is_none() => {}
            None => {
                let index = args.index.map(|index| index.to_string()).unwrap_or_default();
                let move_window = Command::action("move-window")
                    .arg("-d")
                    .option("-s", format!("{}:{}", pane.session, pane.window))
                    .option("-t", format!("{session}:{index}"));
                if stays {
                    cx.tmux().run(move_window).await?;
                } else {
                    let relocation = Relocation::Window(pane.window, pane.session);
                    relocation.run(cx, session, vec![move_window]).await?;
                }
            }
        }
        window_now(cx, session, pane.window).await
    }
}

/// The window at an index of a session.
async fn at_index(cx: &Cx, session: SessionId, index: u32) -> Result<Option<WindowRow>, ToolError> {
    let windows = cx.windows(Some(session)).await?;
    Ok(windows.into_iter().map(|(row, _)| row).find(|row| row.index == index))
}

fn index_taken(occupant: &WindowRow) -> ToolError {
    let WindowRow { window, session_name, index, name, .. } = occupant;
    ToolError::new(
        Code::Exists,
        format!("`index`: {index} in session `{session_name}` is window {window} (`{name}`)"),
    )
    .hint("give another index, or move that window first")
}
