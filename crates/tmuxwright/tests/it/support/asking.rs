//! An MCP client that is asked by the server during a call, step by step: in the revisions with requests
//! of the server and in the stateless one, over stdio and over HTTP.

#![expect(clippy::panic, reason = "helpers fail like tests")]

use serde_json::{Value, json};
use testkit::{HttpClient, HttpResponse, HttpServer, Launch, Raw};

use super::wire::STATELESS;

/// The newest revision in which the server sends requests.
const WITH_REQUESTS: &str = "2025-11-25";

/// The bearer token over HTTP.
const TOKEN: &str = "a-token-for-questions-0123456789";

/// A client that can ask a person.
pub(crate) fn capable() -> Value {
    json!({"elicitation": {}})
}

/// The next step of a call.
#[derive(Debug)]
pub(crate) enum Step {
    /// The server asks this.
    Question(String),
    /// The `result` of the call.
    Result(Value),
}

impl Step {
    pub(crate) fn question(self) -> String {
        match self {
            Self::Question(text) => text,
            Self::Result(result) => panic!("not a question: {result}"),
        }
    }

    pub(crate) fn result(self) -> Value {
        match self {
            Self::Result(result) => result,
            Self::Question(text) => panic!("not a result: {text}"),
        }
    }

    /// The text of a call that must succeed.
    pub(crate) fn ok(self) -> String {
        let result = self.result();
        assert_eq!(result["isError"], false, "{result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// The text of a call that must be denied.
    pub(crate) fn denied(self) -> String {
        let result = self.result();
        assert_eq!(result["_meta"]["tmuxwright/code"], "denied", "{result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }
}

/// The transport of a client, and the era of its revision.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Way {
    StdioRequests,
    StdioStateless,
    #[cfg(feature = "http")]
    HttpRequests,
    #[cfg(feature = "http")]
    HttpStateless,
}

/// All ways.
pub(crate) const WAYS: &[Way] = &[
    Way::StdioRequests,
    Way::StdioStateless,
    #[cfg(feature = "http")]
    Way::HttpRequests,
    #[cfg(feature = "http")]
    Way::HttpStateless,
];

enum Connection {
    Stdio(Box<Raw>),
    Http(Box<OverHttp>),
}

struct OverHttp {
    client: HttpClient,
    /// The response to the call in progress.
    open: Option<HttpResponse>,
    /// Held for its drop, which ends the program.
    _server: HttpServer,
}

/// A connected client with at most one call at a time.
pub(crate) struct Asking {
    connection: Connection,
    stateless: bool,
    capabilities: Value,
    /// The call in progress: its request's id and parameters.
    call: (u64, Value),
    /// The id of the server's request, or the state of its result.
    pub(crate) open_question: Value,
}

impl Asking {
    /// Starts the program and connects a client with these capabilities.
    pub(crate) async fn connect(launch: Launch, way: Way, capabilities: Value) -> Self {
        let stateless = !matches!(way, Way::StdioRequests);
        #[cfg(feature = "http")]
        let stateless = stateless && !matches!(way, Way::HttpRequests);
        let connection = match way {
            Way::StdioRequests => {
                let mut raw = launch.raw();
                let hello = json!({"protocolVersion": WITH_REQUESTS, "capabilities": capabilities,
                    "clientInfo": {"name": "raw", "version": "1"}});
                raw.request("initialize", hello).await;
                raw.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
                Connection::Stdio(Box::new(raw))
            }
            Way::StdioStateless => Connection::Stdio(Box::new(launch.raw())),
            #[cfg(feature = "http")]
            _ => {
                let server = launch.env("TMUXWRIGHT_HTTP_TOKEN", TOKEN).http().await;
                let version = if stateless { STATELESS } else { WITH_REQUESTS };
                let client = server.capable_client(TOKEN, version, capabilities.clone()).await;
                Connection::Http(Box::new(OverHttp { client, open: None, _server: server }))
            }
        };
        let (call, open_question) = ((0, Value::Null), Value::Null);
        Self { connection, stateless, capabilities, call, open_question }
    }

    /// Calls a tool, up to its result or its first question.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Step {
        self.start(json!({"name": tool, "arguments": arguments})).await;
        self.next().await
    }

    /// Answers the open question with this result of an elicitation.
    pub(crate) async fn answer(&mut self, answer: Value) -> Step {
        if self.stateless {
            let mut params = self.call.1.clone();
            params["requestState"] = self.open_question.clone();
            params["inputResponses"] = json!({"confirm": answer});
            return self.retry(params).await;
        }
        let id = self.open_question.clone();
        match &mut self.connection {
            Connection::Stdio(raw) => {
                raw.send(&json!({"jsonrpc": "2.0", "id": id, "result": answer})).await;
            }
            Connection::Http(http) => http.client.respond(&id, answer).await,
        }
        self.next().await
    }

    /// Sends a `tools/call` with these parameters, up to its result or its first question.
    pub(crate) async fn retry(&mut self, params: Value) -> Step {
        self.start(params).await;
        self.next().await
    }

    /// Sends a `tools/call` with these parameters.
    pub(crate) async fn start(&mut self, mut params: Value) {
        self.call.1 = params.clone();
        if self.stateless {
            params["_meta"] = super::wire::meta();
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
                self.capabilities.clone();
        }
        self.call.0 = match &mut self.connection {
            Connection::Stdio(raw) => raw.start("tools/call", params).await,
            Connection::Http(http) => {
                let (id, reply) = http.client.start("tools/call", params).await;
                http.open = Some(reply);
                id
            }
        };
    }

    /// The next message of the server that is not a notification.
    pub(crate) async fn receive(&mut self) -> Value {
        loop {
            let message = match &mut self.connection {
                Connection::Stdio(raw) => raw.receive().await,
                Connection::Http(http) => http.open.as_mut().unwrap().message().await,
            };
            let message = message.unwrap();
            if message.get("id").is_some() {
                return message;
            }
        }
    }

    async fn next(&mut self) -> Step {
        let message = self.receive().await;
        if message["method"] == "elicitation/create" {
            assert!(!self.stateless, "{message}");
            self.open_question = message["id"].clone();
            return Step::Question(form(&message["params"]));
        }
        assert_eq!(message["id"], self.call.0, "{message}");
        let result = &message["result"];
        if result["resultType"] == "input_required" {
            assert!(self.stateless, "{message}");
            self.open_question = result["requestState"].clone();
            let asked = &result["inputRequests"]["confirm"];
            assert_eq!(asked["method"], "elicitation/create", "{message}");
            return Step::Question(form(&asked["params"]));
        }
        Step::Result(result.clone())
    }

    /// The program over stdio.
    pub(crate) fn raw(&mut self) -> &mut Raw {
        match &mut self.connection {
            Connection::Stdio(raw) => raw,
            Connection::Http(_) => panic!("not over stdio"),
        }
    }
}

/// The question of a form that has no fields.
fn form(params: &Value) -> String {
    let schema = &params["requestedSchema"];
    assert_eq!((&params["mode"], &schema["type"]), (&json!("form"), &json!("object")), "{params}");
    assert_eq!(schema["properties"], json!({}), "{params}");
    params["message"].as_str().unwrap().to_owned()
}
