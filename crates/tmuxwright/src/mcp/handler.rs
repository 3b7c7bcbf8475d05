//! MCP request handler: one method for each request of the protocol. It only translates rmcp's types
//! and delegates.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CustomRequest,
    CustomResult, ErrorCode, ErrorData, GetPromptRequestParams, GetPromptResponse, Implementation,
    InitializeRequestParams, InitializeResult, JsonObject, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
    ServerCapabilities, ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, RoleServer, SubscriptionContext};

use super::logging::Logging;
use super::pipeline::{self, IncomingCall, ToolAnswer};
use super::rounds::{self, RoundEnd};
use super::subscriptions::{self, Subscriptions};
use super::{
    channel, completion, elicitation, instructions, pagination, prompts, resources, revision,
};
use crate::app::App;
use crate::app::McpClient;
use crate::context::{Progress, ProgressStep, Request};
use crate::redact::Redactor;
use terminal::text;

/// The handler of one MCP client.
#[derive(Debug)]
pub struct Handler {
    app: Arc<App>,
    /// Set by `new` or at `initialize`.
    client: OnceLock<Arc<McpClient>>,
    subscriptions: Subscriptions,
    logging: Logging,
}

impl Handler {
    /// A handler for the only client of a transport.
    pub fn new(client: Arc<McpClient>) -> Self {
        Self { client: Arc::clone(&client).into(), ..Self::for_http(Arc::clone(&client.app)) }
    }

    /// A handler for one of many clients. `initialize` gives it a [`McpClient`] of its own, which is
    /// dropped with the handler; requests without `initialize` share the process's client.
    pub fn for_http(app: Arc<App>) -> Self {
        let logging = Logging::new(app.logs.clone(), app.settings.redact.clone());
        Self { app, client: OnceLock::new(), subscriptions: Subscriptions::default(), logging }
    }

    fn client(&self) -> Arc<McpClient> {
        self.client.get().map_or_else(|| self.app.client(), Arc::clone)
    }

    /// The request for tool calls that the server makes itself, as to read a resource. `via` names the
    /// reason in the audit log.
    fn request(&self, context: &RequestContext<RoleServer>, via: &str) -> Request {
        let request = pipeline::request(&self.client(), context.ct.clone(), Progress::default());
        let client = self.app.audit.as_ref().and_then(|_| client(context));
        let via: String = text::inline(via).chars().take(300).collect();
        Request { client, via: Some(via.into()), ..request }
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let mut info = Implementation::new("tmuxwright", env!("CARGO_PKG_VERSION"));
        info.title = Some("tmux".to_owned());
        let mut capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_completions()
            .enable_resources()
            .enable_resources_subscribe()
            .build();
        capabilities.logging = Some(JsonObject::new());
        capabilities.experimental = self.app.settings.channel.then(channel::capability);
        ServerConfig::new(capabilities)
            .with_server_info(info)
            .with_instructions(instructions::text(&self.client()))
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(match self.app.settings.channel {
            true => ProtocolVersion::known_up_to(&channel::NEWEST_REVISION),
            false => ProtocolVersion::KNOWN_VERSIONS,
        })
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let agreed = self.negotiate_initialize(&request)?;
        context.peer.set_peer_info(request);
        self.client.get_or_init(|| self.app.new_client());
        Ok(agreed)
    }

    async fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        pagination::refuse_cursor(page, "tools/list")?;
        Ok(ListToolsResult::with_all_items(self.app.registry.wire().cloned().collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.app.registry.wire().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let call = IncomingCall {
            tool: request.name.into_owned(),
            arguments: request.arguments.unwrap_or_default(),
            progress: progress(&context, self.app.settings.redact.clone()),
            client: self.app.audit.as_ref().and_then(|_| client(&context)),
            cancel: context.ct.clone(),
            person: elicitation::by_request(&context, &self.app.settings.redact),
        };
        let client = self.client();
        let asks_by_result = self.app.policy.confirm && revision::is_stateless(&context);
        let work = async {
            match request.request_state.filter(|_| asks_by_result) {
                Some(state) => {
                    let answer = elicitation::answer_in(request.input_responses);
                    rounds::resume(&client, call, &state, answer).await
                }
                None if asks_by_result && elicitation::is_supported(&context) => {
                    rounds::begin(&client, call).await
                }
                None => RoundEnd::Answer(pipeline::dispatch(&client, call).await),
            }
        };
        let ToolAnswer { result, notices } = match self.logging.around(&context, work).await {
            RoundEnd::Answer(answer) => answer,
            RoundEnd::Question { text, state } => {
                let redact = &self.app.settings.redact;
                return Ok(elicitation::input_required(text, state, redact).into());
            }
        };
        for notice in notices.into_iter().filter(|_| self.app.settings.channel) {
            channel::push(&context.peer, notice).await;
        }
        Ok(result.into())
    }

    async fn list_prompts(
        &self,
        page: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        pagination::refuse_cursor(page, "prompts/list")?;
        Ok(ListPromptsResult::with_all_items(prompts::list(&self.app)))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompts::get(&self.app, request).map(Into::into)
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        completion::complete(&self.client(), request, context.ct).await
    }

    async fn list_resources(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let request = self.request(&context, resources::LIST_METHOD);
        resources::list(&self.client(), page, request).await
    }

    async fn list_resource_templates(
        &self,
        page: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        pagination::refuse_cursor(page, "resources/templates/list")?;
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates(&self.app)))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let with = self.request(&context, &request.uri);
        Ok(resources::read(&self.client(), request.uri, with).await?.into())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let with = self.request(&context, &format!("resources/subscribe {}", request.uri));
        self.subscriptions.add(&self.client(), request.uri, with, context.peer).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscriptions.remove(&request.uri).await;
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(subscriptions::accepted(&self.app, requested))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let request = |uri: &str| {
            self.request(context.request_context(), &format!("subscriptions/listen {uri}"))
        };
        subscriptions::listen(&self.client(), &context, request).await;
        Ok(())
    }

    #[expect(deprecated, reason = "see `logging`")]
    async fn set_level(
        &self,
        request: rmcp::model::SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        match self.logging.set_level(request.level, &context) {
            true => Ok(()),
            false => Err(no_method("logging/setLevel")),
        }
    }

    /// rmcp also passes requests here whose method is known but whose parameters do not parse. They
    /// get an error about the parameters; rmcp's default is "method not found".
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        const METHOD_PARAMS: &[(&str, &str)] = &[
            ("tools/call", "`name` must be text and `arguments` an object"),
            ("tools/list", "`cursor` must be text"),
            ("prompts/get", "`name` must be text and `arguments` an object"),
            (
                "completion/complete",
                "`ref` must name a prompt or a template, and `argument` must have a `name` and a `value`",
            ),
            ("resources/read", "`uri` must be text"),
            ("resources/subscribe", "`uri` must be text"),
            ("resources/unsubscribe", "`uri` must be text"),
            ("subscriptions/listen", "`notifications` must be an object"),
            (
                "logging/setLevel",
                "`level` must be debug, info, notice, warning, error, critical, alert or emergency",
            ),
            ("initialize", "`protocolVersion`, `capabilities` and `clientInfo` are required"),
        ];
        let method = request.method.as_str();
        if revision::is_stateless(&context) && revision::REMOVED_METHODS.contains(&method) {
            return Err(no_method(method));
        }
        Err(match METHOD_PARAMS.iter().find(|(known, _)| *known == method) {
            Some((method, shape)) => ErrorData::invalid_params(
                format!("the parameters of {method} are malformed: {shape}"),
                None,
            ),
            None => no_method(method),
        })
    }
}

fn no_method(name: &str) -> ErrorData {
    let message = format!("there is no method `{name}`");
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
}

/// The client's name and version from the request, or from `initialize`. In the revision without
/// `initialize`, `peer_info` would return rmcp's own name.
fn client(context: &RequestContext<RoleServer>) -> Option<Arc<str>> {
    let Implementation { name, version, .. } = match context.meta.protocol_version() {
        Some(_) => context.meta.client_info()?,
        None => context.peer.peer_info()?.client_info.clone(),
    };
    let text = text::inline(&format!("{name} {version}"));
    Some(text.chars().take(100).collect::<String>().into())
}

/// Progress notifications to the client, if the request has a progress token.
fn progress(context: &RequestContext<RoleServer>, redact: Redactor) -> Progress {
    let Some(token) = context.meta.get_progress_token() else {
        return Progress::default();
    };
    let peer = context.peer.clone();
    Progress::new(move |ProgressStep { done, total, message }| {
        let mut message = text::clean(&message, false);
        redact.text(&mut message);
        let mut note = ProgressNotificationParam::new(token.clone(), done).with_message(message);
        note.total = total;
        let peer = peer.clone();
        Box::pin(async move {
            if let Err(error) = peer.notify_progress(note).await {
                tracing::debug!("progress not sent: {error}");
            }
        })
    })
}
