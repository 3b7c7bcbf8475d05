//! `prompts/list` and `prompts/get`.

use std::sync::Arc;

use rmcp::model::{
    ErrorData, GetPromptRequestParams, GetPromptResult, Prompt as WirePrompt, PromptArgument,
    PromptMessage, Role,
};

use crate::app::App;
use crate::contract::ToolError;
use crate::prompts::{self, Argument, Presence, Prompt};
use terminal::text;

/// The test whether a tool is offered.
pub(super) fn offers_tool(app: &Arc<App>) -> impl Fn(&str) -> bool {
    |tool| app.registry.find(tool).is_ok()
}

/// The prompts that are offered, in a fixed order.
pub(super) fn list(app: &Arc<App>) -> Vec<WirePrompt> {
    prompts::offered(&offers_tool(app)).map(|prompt| to_wire(app, prompt)).collect()
}

/// The text of a prompt, as a message of the user.
pub(super) fn get(
    app: &Arc<App>,
    request: GetPromptRequestParams,
) -> Result<GetPromptResult, ErrorData> {
    let offers = offers_tool(app);
    let prompt = prompts::find(&request.name, &offers).map_err(invalid_params)?;
    let given = request.arguments.unwrap_or_default();
    let text = prompt.text(given, &offers, app.servers.names()).map_err(invalid_params)?;
    let message = PromptMessage::new_text(Role::User, text);
    Ok(GetPromptResult::new(vec![message]).with_description(prompt.description))
}

/// A tool's error as the protocol's "invalid params".
pub(super) fn invalid_params(error: ToolError) -> ErrorData {
    let message = match error.hint {
        Some(hint) => format!("{}; {hint}", error.message),
        None => error.message,
    };
    ErrorData::invalid_params(text::inline(&message), None)
}

fn to_wire(app: &App, prompt: &Prompt) -> WirePrompt {
    let arguments = prompt.all_arguments(app.servers.names()).map(argument_to_wire).collect();
    WirePrompt::new(prompt.name, Some(prompt.description), Some(arguments)).with_title(prompt.title)
}

fn argument_to_wire(argument: &Argument) -> PromptArgument {
    let description = match argument.presence {
        Presence::Default(value) => {
            format!("{} (default {value}).", argument.description.trim_end_matches('.'))
        }
        Presence::Required | Presence::Optional => argument.description.to_owned(),
    };
    PromptArgument::new(argument.name)
        .with_description(description)
        .with_required(argument.presence == Presence::Required)
}
