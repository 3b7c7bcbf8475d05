//! HTTP clients for the program under test: MCP clients of every protocol revision, and connections
//! that send any bytes.

use std::net::SocketAddr;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use crate::raw::Raw;
use crate::until::{MAX_WAIT, until};

/// The protocol revision without sessions.
const STATELESS: &str = "2026-07-28";

/// The program under test, listening for HTTP.
#[derive(Debug)]
pub struct HttpServer {
    /// The process.
    pub process: Raw,
    /// The address it listens on.
    pub address: SocketAddr,
}

impl HttpServer {
    pub(crate) async fn new(process: Raw) -> Self {
        let address = until("the program logs its address", async || {
            let stderr = process.stderr();
            let url = stderr.split_once("serving MCP at http://")?.1.split_once("/mcp\n")?.0;
            Some(url.parse().expect("an address"))
        })
        .await;
        Self { process, address }
    }

    /// Connects a client of this revision, with the handshake if the revision has one.
    pub async fn client(&self, token: &str, version: &'static str) -> HttpClient {
        HttpClient::connect(self.address, token, version, json!({})).await
    }

    /// The same, for a client that declares capabilities.
    pub async fn capable_client(
        &self,
        token: &str,
        version: &'static str,
        capabilities: Value,
    ) -> HttpClient {
        HttpClient::connect(self.address, token, version, capabilities).await
    }
}

/// A TCP connection that sends any bytes.
#[derive(Debug)]
pub struct HttpConnection(BufReader<TcpStream>);

impl HttpConnection {
    /// Connects.
    pub async fn open(address: SocketAddr) -> Self {
        Self(BufReader::new(TcpStream::connect(address).await.expect("the program listens")))
    }

    /// Sends bytes. An error is ignored: the program may have closed the connection on purpose.
    pub async fn write(&mut self, bytes: &[u8]) {
        let _ = self.0.write_all(bytes).await;
    }

    /// Sends the request line and the headers.
    pub async fn head(&mut self, line: &str, headers: &[(&str, &str)]) {
        let headers: String = headers.iter().map(|(n, v)| format!("{n}: {v}\r\n")).collect();
        self.write(format!("{line} HTTP/1.1\r\n{headers}\r\n").as_bytes()).await;
    }

    /// Reads the status line and the headers of the response.
    pub async fn reply(self) -> HttpResponse {
        self.try_reply().await.expect("the program responds")
    }

    /// The same; `None` if the program closes the connection instead.
    pub async fn try_reply(mut self) -> Option<HttpResponse> {
        let status = self.line().await?;
        let status = status.split(' ').nth(1).and_then(|code| code.parse().ok());
        let mut headers = Vec::new();
        while let Some((name, value)) = self.line().await.unwrap_or_default().split_once(": ") {
            headers.push((name.to_ascii_lowercase(), value.to_owned()));
        }
        let status = status.expect("a status line");
        Some(HttpResponse { status, headers, connection: self, unread: String::new() })
    }

    async fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = tokio::time::timeout(MAX_WAIT, self.0.read_line(&mut line)).await;
        match read.expect("the program sends or closes in time") {
            Ok(1..) => Some(line.trim_end_matches(['\r', '\n']).to_owned()),
            _ => None,
        }
    }
}

/// A response whose body is read as it arrives.
#[derive(Debug)]
pub struct HttpResponse {
    /// The status code.
    pub status: u16,
    headers: Vec<(String, String)>,
    connection: HttpConnection,
    unread: String,
}

impl HttpResponse {
    /// A header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The rest of the body.
    pub async fn text(&mut self) -> String {
        while self.more().await {}
        std::mem::take(&mut self.unread)
    }

    /// The next JSON-RPC message in the body; `None` at its end.
    pub async fn message(&mut self) -> Option<Value> {
        if self.header("content-type") != Some("text/event-stream") {
            let text = self.text().await;
            return (!text.is_empty())
                .then(|| serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text:?}")));
        }
        loop {
            while let Some((line, rest)) = self.unread.split_once('\n') {
                let (line, rest) = (line.trim_end().to_owned(), rest.to_owned());
                self.unread = rest;
                match line.strip_prefix("data:").map(str::trim) {
                    None | Some("") => {}
                    Some(data) => return Some(serde_json::from_str(data).expect("JSON")),
                }
            }
            if !self.more().await {
                return None;
            }
        }
    }

    /// The reply to a request; messages before it are skipped.
    pub async fn answer(&mut self, id: u64) -> Option<Value> {
        loop {
            let message = self.message().await?;
            if message["id"] == id {
                return Some(message);
            }
        }
    }

    /// Reads the next chunk of the body; false at its end.
    async fn more(&mut self) -> bool {
        let length = match self.header("content-length") {
            Some(length) => {
                let length = length.parse().expect("a length");
                self.headers.retain(|(name, _)| name != "content-length");
                length
            }
            None if self.header("transfer-encoding") == Some("chunked") => {
                let size = self.connection.line().await.unwrap_or_default();
                usize::from_str_radix(&size, 16).unwrap_or_default()
            }
            None => 0,
        };
        let mut bytes = vec![0; length];
        if length == 0 || self.connection.0.read_exact(&mut bytes).await.is_err() {
            return false;
        }
        self.unread.push_str(&String::from_utf8_lossy(&bytes));
        if self.header("transfer-encoding").is_some() {
            self.connection.line().await;
        }
        true
    }
}

/// An MCP client that opens a connection for every request.
#[derive(Debug)]
pub struct HttpClient {
    address: SocketAddr,
    token: String,
    version: &'static str,
    capabilities: Value,
    /// The MCP session, in revisions that have sessions.
    pub session: Option<String>,
    last_id: u64,
}

impl HttpClient {
    async fn connect(
        address: SocketAddr,
        token: &str,
        version: &'static str,
        capabilities: Value,
    ) -> Self {
        let token = format!("Bearer {token}");
        let mut client = Self { address, token, version, capabilities, session: None, last_id: 0 };
        if version != STATELESS {
            let info = json!({"name": "raw", "version": "1"});
            let hello = json!({"protocolVersion": version, "capabilities": client.capabilities,
                "clientInfo": info});
            let (id, mut reply) = client.start("initialize", hello).await;
            assert_eq!(reply.status, 200);
            client.session = reply.header("mcp-session-id").map(str::to_owned);
            let hello = reply.answer(id).await.expect("a reply to initialize");
            assert_eq!(hello["result"]["protocolVersion"], version, "{hello}");
            client.notify("notifications/initialized", json!({})).await;
        }
        client
    }

    /// Sends a request, and returns its id and the response before its body is read.
    pub async fn start(&mut self, method: &str, params: Value) -> (u64, HttpResponse) {
        let (id, connection) = self.send(method, params).await;
        (id, connection.reply().await)
    }

    /// Sends a request and returns the whole reply.
    pub async fn request(&mut self, method: &str, params: Value) -> Value {
        let (id, mut reply) = self.start(method, params).await;
        reply.answer(id).await.unwrap_or_else(|| panic!("{method}: {}", reply.status))
    }

    /// Calls a tool and returns the `result` of the reply.
    pub async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer =
            self.request("tools/call", json!({"name": tool, "arguments": arguments})).await;
        answer["result"].clone()
    }

    /// Sends a notification.
    pub async fn notify(&self, method: &str, params: Value) {
        let note = json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string();
        let reply = self.post(&note, &[]).await.reply().await;
        assert_eq!(reply.status, 202, "{method}");
    }

    /// Answers a request of the server.
    pub async fn respond(&self, id: &Value, result: Value) {
        let reply = json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
        assert_eq!(self.post(&reply, &[]).await.reply().await.status, 202);
    }

    /// Sends a request without a body: `GET` for the notification stream, `DELETE` for the session's
    /// end.
    pub async fn bare(&self, method: &str) -> HttpResponse {
        let mut connection = HttpConnection::open(self.address).await;
        connection.head(&format!("{method} /mcp"), &self.headers()).await;
        connection.reply().await
    }

    /// Sends a request, and returns its id and its connection. In the stateless revision the program
    /// sends the response's headers only with the first message.
    pub async fn send(&mut self, method: &str, mut params: Value) -> (u64, HttpConnection) {
        self.last_id += 1;
        let name = params["name"].as_str().unwrap_or_default().to_owned();
        let mut extra = Vec::new();
        if self.version == STATELESS {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = json!(self.version);
            meta["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
            meta["io.modelcontextprotocol/clientInfo"] = json!({"name": "raw", "version": "1"});
            extra = vec![("Mcp-Method", method), ("Mcp-Name", &name)];
            extra.truncate(if name.is_empty() { 1 } else { 2 });
        }
        let id = self.last_id;
        let text = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        (id, self.post(&text.to_string(), &extra).await)
    }

    async fn post(&self, body: &str, extra: &[(&str, &str)]) -> HttpConnection {
        let length = body.len().to_string();
        let mut connection = HttpConnection::open(self.address).await;
        let own = [("Content-Type", "application/json"), ("Content-Length", &length)];
        connection.head("POST /mcp", &[&self.headers(), extra, &own].concat()).await;
        connection.write(body.as_bytes()).await;
        connection
    }

    fn headers(&self) -> Vec<(&str, &str)> {
        let mut headers = vec![
            ("Host", "localhost"),
            ("Accept", "application/json, text/event-stream"),
            ("Authorization", &self.token),
            ("MCP-Protocol-Version", self.version),
        ];
        headers.extend(self.session.as_deref().map(|session| ("Mcp-Session-Id", session)));
        headers
    }
}
