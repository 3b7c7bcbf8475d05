//! Prompts as clients ask for them.

use std::sync::Arc;

use rmcp::model::{
    ErrorData, GetPromptRequestParams, GetPromptResult, Prompt as WirePrompt, PromptArgument,
    PromptMessage, Role,
};

use crate::app::App;
use crate::contract::ToolError;
use crate::prompts::{self, Argument, Presence, Prompt};
use terminal::text;

/// Says whether a tool is offered.
pub(super) fn has(app: &Arc<App>) -> impl Fn(&str) -> bool {
    |tool| app.registry.find(tool).is_ok()
}

/// What clients see, in a fixed order.
pub(super) fn list(app: &Arc<App>) -> Vec<WirePrompt> {
    prompts::offered(&has(app)).map(wire).collect()
}

/// The text of a prompt, as the person's own words.
pub(super) fn get(
    app: &Arc<App>,
    request: GetPromptRequestParams,
) -> Result<GetPromptResult, ErrorData> {
    let has = has(app);
    let prompt = prompts::find(&request.name, &has).map_err(refusal)?;
    let text = prompt.text(request.arguments.unwrap_or_default(), &has).map_err(refusal)?;
    let message = PromptMessage::new_text(Role::User, text);
    Ok(GetPromptResult::new(vec![message]).with_description(prompt.description))
}

/// An error of the caller's, in the words that a tool would have for it.
pub(super) fn refusal(error: ToolError) -> ErrorData {
    let words = match error.hint {
        Some(hint) => format!("{}; {hint}", error.message),
        None => error.message,
    };
    ErrorData::invalid_params(text::inline(&words), None)
}

fn wire(prompt: &Prompt) -> WirePrompt {
    let arguments = prompt.arguments.iter().map(wire_argument).collect();
    WirePrompt::new(prompt.name, Some(prompt.description), Some(arguments)).with_title(prompt.title)
}

fn wire_argument(argument: &Argument) -> PromptArgument {
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
