//! `split_pane`: a pane beside another.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use tmux::{Command, Row};

use crate::creation::{NewIds, check_environment, start_directory, with_start};
use crate::host::Created;
use crate::tool::{Cx, Group, Load, Meta, Target, Tier, Tool, ToolError, Toolset};

pub(super) struct SplitPane;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Pane to split.
    target: Target,
    /// Side of the new pane (default right).
    direction: Option<Direction>,
    /// "30%" or a number of cells.
    size: Option<String>,
    /// Program to run instead of the shell.
    command: Option<String>,
    /// Directory to start in.
    cwd: Option<String>,
    /// Environment variables.
    env: Option<BTreeMap<String, String>>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Direction {
    Right,
    Left,
    Below,
    Above,
}

impl Tool for SplitPane {
    const META: Meta = Meta {
        name: "split_pane",
        title: "Split pane",
        description: "Split a pane; returns the new pane's id.",
        group: Group::Pane,
        tier: Tier::Mutate,
        sets: &[Toolset::Agent, Toolset::Primitives],
        idempotent: false,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = NewIds;

    async fn call(cx: &Cx, args: Args) -> Result<NewIds, ToolError> {
        let env = args.env.unwrap_or_default();
        check_environment(&env)?;
        let cwd = start_directory(args.cwd)?;
        let size = args.size.as_deref().map(check_size).transpose()?;
        let pane = cx.pane(&args.target).await?;
        let (orientation, before) = match args.direction.unwrap_or(Direction::Right) {
            Direction::Right => ("-h", false),
            Direction::Left => ("-h", true),
            Direction::Below => ("-v", false),
            Direction::Above => ("-v", true),
        };
        let command = Command::action("split-window")
            .args(["-d", "-P", "-F"])
            .arg(Created::format())
            .option("-t", pane.pane)
            .arg(orientation)
            .arg_if(before, "-b")
            .option_if("-l", size);
        let command = with_start(command, cwd.as_deref(), &env, args.command.as_deref());
        let created = Created::parse_one("split-window", &cx.tmux().run(command).await?.0)?;
        cx.host.claim(created.pane).await?;
        Ok(created.into())
    }
}

fn check_size(size: &str) -> Result<&str, ToolError> {
    let (number, most) = match size.strip_suffix('%') {
        Some(percent) => (percent, 99),
        None => (size, 10_000),
    };
    match number.parse::<u32>() {
        Ok(n) if (1..=most).contains(&n) => Ok(size),
        _ => Err(ToolError::invalid_argument(format!("`size`: `{size}` is no size"))
            .hint("write a percentage from 1% to 99%, or a number of cells")),
    }
}
