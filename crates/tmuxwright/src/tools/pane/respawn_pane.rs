//! `respawn_pane`: restarts the program of a pane, or starts another in it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use tmux_control::{Command, escape_format};

use crate::actions::arrange::pane_now;
use crate::actions::create::{check_environment, start_directory};
use crate::context::{Cx, Tool};
use crate::contract::{Code, Group, Load, Meta, Target, Tier, ToolError, Toolset, not_empty};
use crate::host::{NewPane, with_environment};
use crate::results::objects::Pane;

pub(super) struct RespawnPane;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Pane.
    target: Target,
    /// Program to run; the same one again if not given.
    command: Option<String>,
    /// Directory to start in.
    #[schemars(extend("x-clear" = true))]
    cwd: Option<String>,
    /// Environment variables.
    env: Option<BTreeMap<String, String>>,
    /// Kill the running program first (default true).
    kill: Option<bool>,
}

impl Tool for RespawnPane {
    const META: Meta = Meta {
        name: "respawn_pane",
        title: "Respawn pane",
        description: "Restart the program of a pane that this server made, or start another there. The pane id stays.",
        group: Group::Pane,
        tier: Tier::DestroyOwn,
        sets: &[Toolset::Primitives],
        idempotent: false,
        open_world: true,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = Pane;

    async fn call(cx: &Cx, args: Args) -> Result<Pane, ToolError> {
        let mut env = args.env.unwrap_or_default();
        check_environment(cx, &env)?;
        cx.may_run(args.command.as_deref().unwrap_or_default())?;
        let cwd = start_directory(cx, args.cwd).await?;
        if let Some(command) = &args.command {
            not_empty("command", command.trim(), "give a command line, or leave `command` out")?;
        }
        let pane = cx.pane(&args.target).await?;
        let kill = args.kill.unwrap_or(true);
        if !kill && !pane.process_state.has_exited() {
            return Err(ToolError::new(
                Code::Busy,
                format!("the program in {} (pid {}) still runs", pane.pane, pane.pid),
            )
            .hint("wait_for with until [\"exit\"] waits for its end; kill true ends it"));
        }
        let launch = match args.command {
            None => cx.runs.plan_relaunch(&pane).await?,
            Some(_) => None,
        };
        let mut replacement = NewPane { command: args.command.clone(), ..NewPane::default() };
        if let Some(launch) = &launch {
            replacement.program.clone_from(&launch.new_pane.program);
            env.extend(launch.new_pane.env.clone());
        }
        let words = cx.host.program_words(&pane, replacement).await;
        let respawn = Command::action("respawn-pane").arg_if(kill, "-k").option("-t", pane.pane);
        let respawn = respawn.option_if("-c", cwd.as_deref().map(escape_format));
        let respawn = with_environment(respawn, env.iter().map(|(k, v)| (k.as_str(), v.as_str())));
        let respawn = match words.is_empty() {
            true => respawn,
            false => words.iter().fold(respawn.arg("--"), Command::arg),
        };
        cx.tmux().respawn(pane.pane, respawn).await?;
        if let Some(launch) = launch {
            let now = cx.host.pane(&pane.pane.to_string()).await?;
            cx.runs.note_relaunched(&now, launch);
        }
        pane_now(cx, pane.session, pane.pane).await
    }
}
