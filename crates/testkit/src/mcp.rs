//! A real MCP client, rmcp's, of the program under test or of a server in this process.

#![expect(deprecated, reason = "logging, which the newest revision advises against")]

use std::fmt;
use std::sync::{Arc, Mutex};

use rmcp::handler::client::ClientHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientConfig, ElicitRequestParams, ElicitResult,
    ElicitationAction, ElicitationCapability, ErrorData, LoggingLevel,
    LoggingMessageNotificationParam, ProgressNotificationParam, ReadResourceRequestParams,
    Resource, ResourceContents, ResourceTemplate, SetLevelRequestParams, Tool,
};
use rmcp::service::{
    NotificationContext, RequestContext, RoleClient, RunningService, ServiceError, ServiceExt,
};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream};
use tokio::process::Child;

use crate::launch::{Stderr, lock};

/// The person behind the client: gets a question and answers it.
#[derive(Clone)]
pub(crate) struct Answering(Arc<dyn Fn(&str) -> ElicitationAction + Send + Sync>);

impl Answering {
    pub(crate) fn new(answer: impl Fn(&str) -> ElicitationAction + Send + Sync + 'static) -> Self {
        Self(Arc::new(answer))
    }
}

impl fmt::Debug for Answering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Answering")
    }
}

/// The notifications of the server, and its questions.
#[derive(Debug, Clone, Default)]
struct Recorder {
    progress: Arc<Mutex<Vec<ProgressNotificationParam>>>,
    logged: Arc<Mutex<Vec<String>>>,
    questions: Arc<Mutex<Vec<String>>>,
    /// `None` for a client that cannot ask a person.
    person: Option<Answering>,
}

impl ClientHandler for Recorder {
    fn get_info(&self) -> ClientConfig {
        let mut config = ClientConfig::default();
        config.capabilities.elicitation =
            self.person.as_ref().map(|_| ElicitationCapability::default());
        config
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { message, .. } = request else {
            panic!("not a form: {request:?}")
        };
        lock(&self.questions).push(message.clone());
        let person = self.person.clone().expect("only a client that can ask is asked");
        // The person may act on tmux before answering, which blocks.
        let answer = tokio::task::spawn_blocking(move || (person.0)(&message)).await;
        // An unexpected question panics there, and the call under test fails.
        answer.map(ElicitResult::new).map_err(|_| ErrorData::internal_error("a panic", None))
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        lock(&self.progress).push(params);
    }

    async fn on_logging_message(
        &self,
        params: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let text = params.data.to_string();
        lock(&self.logged).push(text);
    }
}

/// A connected client and the server process behind it.
#[derive(Debug)]
pub struct Mcp {
    client: RunningService<RoleClient, Recorder>,
    notified: Recorder,
    /// `None` for a server in this process.
    child: Option<Child>,
    stderr: Stderr,
}

impl Mcp {
    pub(crate) async fn connect(
        mut child: Child,
        stderr: Stderr,
        person: Option<Answering>,
    ) -> Self {
        let read = child.stdout.take().expect("stdout is a pipe");
        let write = child.stdin.take().expect("stdin is a pipe");
        Self::begin(read, write, Some(child), stderr, person).await
    }

    /// Connects to the server at the other end of a stream.
    pub async fn over(stream: DuplexStream) -> Self {
        let (read, write) = tokio::io::split(stream);
        Self::begin(read, write, None, Stderr::default(), None).await
    }

    async fn begin<R, W>(
        read: R,
        write: W,
        child: Option<Child>,
        stderr: Stderr,
        person: Option<Answering>,
    ) -> Self
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let notified = Recorder { person, ..Recorder::default() };
        let client = match notified.clone().serve((read, write)).await {
            Ok(client) => client,
            Err(error) => panic!("initialize: {error}\nstderr: {}", stderr.text()),
        };
        Self { client, notified, child, stderr }
    }

    /// The tools the server offers.
    pub async fn tools(&self) -> Vec<Tool> {
        self.client.list_all_tools().await.expect("tools/list")
    }

    /// The resources of all pages.
    pub async fn resources(&self) -> Vec<Resource> {
        self.client.list_all_resources().await.expect("resources/list")
    }

    /// The resource templates of all pages.
    pub async fn templates(&self) -> Vec<ResourceTemplate> {
        self.client.list_all_resource_templates().await.expect("resources/templates/list")
    }

    /// Reads a resource.
    pub async fn read(&self, uri: &str) -> Result<ResourceContents, ErrorData> {
        match self.client.read_resource(ReadResourceRequestParams::new(uri)).await {
            Ok(mut read) => {
                assert_eq!(read.contents.len(), 1, "{uri}");
                Ok(read.contents.remove(0))
            }
            Err(ServiceError::McpError(error)) => Err(error),
            Err(error) => panic!("{uri}: {error}\nstderr: {}", self.stderr.text()),
        }
    }

    /// The instructions in the reply to `initialize`.
    pub fn instructions(&self) -> String {
        let info = self.client.peer_info().expect("the server has replied to initialize");
        info.instructions.clone().unwrap_or_default()
    }

    /// Calls a tool.
    pub async fn call(&self, tool: &'static str, arguments: Value) -> Outcome {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        let params = CallToolRequestParams::new(tool).with_arguments(arguments);
        match self.client.call_tool(params).await {
            Ok(result) => Outcome { tool, result },
            Err(error) => panic!("{tool}: {error}\nstderr: {}", self.stderr.text()),
        }
    }

    /// The server's process id.
    pub fn pid(&self) -> u32 {
        self.child.as_ref().and_then(Child::id).expect("the server is a running process")
    }

    /// The server's stderr so far.
    pub fn stderr(&self) -> String {
        self.stderr.text()
    }

    /// The progress notifications so far.
    pub fn progress(&self) -> Vec<ProgressNotificationParam> {
        lock(&self.notified.progress).clone()
    }

    /// The questions to the person so far.
    pub fn questions(&self) -> Vec<String> {
        lock(&self.notified.questions).clone()
    }

    /// Sets the lowest log level, so that the server sends every log message.
    pub async fn enable_logging(&self) {
        let params = SetLevelRequestParams::new(LoggingLevel::Debug);
        self.client.set_level(params).await.expect("logging/setLevel");
    }

    /// The log notifications so far.
    pub fn logged(&self) -> Vec<String> {
        lock(&self.notified.logged).clone()
    }

    /// Disconnects. If the server is a process, it must then exit with code 0.
    pub async fn close(mut self) {
        let _ = self.client.cancel().await;
        let Some(child) = &mut self.child else { return };
        let status = child.wait().await.expect("a child can be waited for");
        assert!(status.success(), "{status}\nstderr: {}", self.stderr.text());
    }
}

/// The result of a call, to be checked with `ok`, `text` or `err`.
#[must_use]
#[derive(Debug)]
pub struct Outcome {
    tool: &'static str,
    result: CallToolResult,
}

impl Outcome {
    /// The structured content of a call that must succeed.
    pub fn ok(self) -> Value {
        let (tool, text) = (self.tool, self.raw_text());
        assert_ne!(self.result.is_error, Some(true), "{tool}: {text}");
        self.result
            .structured_content
            .unwrap_or_else(|| panic!("{tool} has no structured content: {text}"))
    }

    /// The text of a call that must succeed.
    pub fn text(self) -> String {
        let text = self.raw_text();
        assert_ne!(self.result.is_error, Some(true), "{}: {text}", self.tool);
        text
    }

    /// The text of a call that must fail with this code.
    pub fn err(self, code: &str) -> String {
        let text = self.raw_text();
        assert_eq!(self.result.is_error, Some(true), "{} succeeded: {text}", self.tool);
        let meta = self.result.meta.expect("an error has a code");
        assert_eq!(meta.0.get("tmuxwright/code"), Some(&Value::from(code)), "{text}");
        assert!(text.starts_with(code), "{text}");
        text
    }

    /// Whether the call failed with this code.
    pub fn failed_with(&self, code: &str) -> bool {
        let meta = self.result.meta.as_ref();
        meta.is_some_and(|meta| meta.0.get("tmuxwright/code") == Some(&Value::from(code)))
    }

    /// The unchecked result.
    pub fn result(self) -> CallToolResult {
        self.result
    }

    fn raw_text(&self) -> String {
        let texts = self.result.content.iter().filter_map(|block| block.as_text());
        texts.map(|text| text.text.as_str()).collect()
    }
}
