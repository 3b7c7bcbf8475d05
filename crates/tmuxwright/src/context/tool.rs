//! The trait of a tool, and [`ToolEntry`], its type-erased form, so that the registry can hold all tools
//! in one list.

use std::fmt;
use std::future::Future;

use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::Cx;
use crate::contract::{Disclosure, Fleet, Form, Meta, Output, Reply, ToolError, arguments, schema};

/// One tool.
pub trait Tool: 'static {
    /// Its declaration.
    const META: Meta;
    /// Its arguments. Models read their doc comments.
    type Args: DeserializeOwned + JsonSchema + Send;
    /// Its answer.
    type Output: Output;
    /// Whether a call is for one tmux server, so that it has the argument `server` if several can be reached.
    const ON_ONE_SERVER: bool = true;
    /// How a call is made on several tmux servers at once, if several can be reached.
    const FLEET: Fleet = Fleet::None;

    /// Runs the tool.
    fn call(
        cx: &Cx,
        args: Self::Args,
    ) -> impl Future<Output = Result<Self::Output, ToolError>> + Send;
}

/// Parses arguments against their schema, runs the tool, and cuts the answer to the limit.
pub type ToolHandler = for<'a> fn(
    cx: &'a Cx,
    schema: &'a Map<String, Value>,
    args: Map<String, Value>,
) -> BoxFuture<'a, Result<Reply, ToolError>>;

/// A type-erased tool, for the registry.
#[derive(Clone, Copy)]
pub struct ToolEntry {
    /// The tool's declaration.
    pub meta: &'static Meta,
    /// Whether a call is for one tmux server.
    pub on_one_server: bool,
    /// How a call is made on several tmux servers at once.
    pub fleet: &'static Fleet,
    /// The schema of its arguments.
    pub input_schema: fn() -> Map<String, Value>,
    /// The arguments that may be logged as they are.
    pub disclosure: fn() -> Disclosure,
    /// The schema of its answer.
    pub output_schema: fn() -> Map<String, Value>,
    /// Parses the arguments and runs the tool.
    pub call: ToolHandler,
}

impl ToolEntry {
    /// The entry of a tool.
    pub const fn of<T: Tool>() -> Self {
        Self {
            meta: &T::META,
            on_one_server: T::ON_ONE_SERVER,
            fleet: &T::FLEET,
            input_schema: schema::input::<T::Args>,
            disclosure: schema::disclosure::<T::Args>,
            output_schema: schema::output::<T::Output>,
            call: |cx, schema, args| Box::pin(call::<T>(cx, schema, args)),
        }
    }
}

/// Parses the arguments, runs the tool, and cuts the answer to the limit of the request.
async fn call<T: Tool>(
    cx: &Cx,
    schema: &Map<String, Value>,
    args: Map<String, Value>,
) -> Result<Reply, ToolError> {
    let args = arguments::read::<T::Args>(schema, args)?;
    let mut output = T::call(cx, args).await?;
    output.fits(cx.request.max_chars)?;
    let is_kept = cx.request.keep_full_text && T::Output::FORM == Form::Text;
    let full_text = is_kept.then(|| output.full_text());
    output.limit(cx.request.max_chars);
    let structured = serde_json::to_value(&output)
        .map_err(|error| ToolError::internal(format!("the answer has no JSON form: {error}")))?;
    Ok(Reply {
        form: T::Output::FORM,
        text: output.text(),
        colors: output.colors(),
        images: output.images(),
        structured,
        notices: output.notices(),
        redacted: output.redacted(),
        full_text,
    })
}

impl fmt::Debug for ToolEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ToolEntry").field(&self.meta.name).finish()
    }
}
