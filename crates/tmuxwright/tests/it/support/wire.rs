//! An MCP client of any protocol revision that sends raw messages over any transport.

use serde_json::{Value, json};
use testkit::{Launch, Raw};

/// All protocol revisions, oldest first.
pub(crate) const REVISIONS: [&str; 5] =
    ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", STATELESS];

/// The revision without a handshake.
pub(crate) const STATELESS: &str = "2026-07-28";

/// Error code for a method that the revision does not have.
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;

/// The `_meta` that every request of the stateless revision has.
pub(crate) fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": STATELESS,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
    })
}

/// A transport to the server.
pub(crate) trait Way {
    /// Sends a message.
    async fn send(&mut self, message: &Value);

    /// The next message of the server: a reply or a notification.
    async fn receive(&mut self) -> Value;

    /// Cancels a request.
    async fn cancel(&mut self, id: u64) {
        let params = json!({"requestId": id, "reason": "no longer needed"});
        let method = "notifications/cancelled";
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params})).await;
    }
}

impl Way for Raw {
    async fn send(&mut self, message: &Value) {
        Self::send(self, message).await;
    }

    async fn receive(&mut self) -> Value {
        Self::receive(self).await.unwrap()
    }
}

/// A connected client.
pub(crate) struct Wire<W> {
    pub(crate) way: W,
    revision: &'static str,
    last_id: u64,
    /// The capabilities that the server declared.
    pub(crate) capabilities: Value,
}

/// A reply, with the notifications received before it.
pub(crate) struct Answer {
    pub(crate) reply: Value,
    pub(crate) notes: Vec<Value>,
}

impl Wire<Raw> {
    /// Starts the program and connects over stdin and stdout.
    pub(crate) async fn stdio(launch: Launch, revision: &'static str) -> Self {
        Self::open(launch.raw(), revision).await
    }
}

impl<W: Way> Wire<W> {
    /// Connects: with a handshake, or `server/discover` in the stateless revision.
    pub(crate) async fn open(way: W, revision: &'static str) -> Self {
        let mut wire = Self { way, revision, last_id: 0, capabilities: Value::Null };
        if revision == STATELESS {
            let found = wire.request("server/discover", json!({})).await.reply;
            let versions = found["result"]["supportedVersions"].as_array().unwrap();
            assert!(versions.contains(&json!(revision)), "{found}");
            wire.capabilities = found["result"]["capabilities"].clone();
        } else {
            let params = json!({"protocolVersion": revision, "capabilities": {},
                "clientInfo": {"name": "raw", "version": "1"}});
            let hello = wire.request("initialize", params).await.reply;
            assert_eq!(hello["result"]["protocolVersion"], revision, "{hello}");
            wire.capabilities = hello["result"]["capabilities"].clone();
            let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
            wire.way.send(&ready).await;
        }
        wire
    }

    /// Sends a request and returns its id without waiting for the reply.
    pub(crate) async fn start(&mut self, method: &str, mut params: Value) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        if self.revision == STATELESS {
            let own = params["_meta"].take();
            params["_meta"] = meta();
            for (key, value) in own.as_object().into_iter().flatten() {
                params["_meta"][key] = value.clone();
            }
        }
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.way.send(&request).await;
        id
    }

    /// Waits for the reply to a request.
    pub(crate) async fn answer(&mut self, id: u64) -> Answer {
        let mut notes = Vec::new();
        loop {
            let message = self.way.receive().await;
            let Some(other) = message.get("id") else {
                notes.push(message);
                continue;
            };
            assert_eq!(*other, id, "not the reply to request {id}: {message}");
            return Answer { reply: message, notes };
        }
    }

    /// Sends a request and waits for its reply.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Answer {
        let id = self.start(method, params).await;
        self.answer(id).await
    }

    /// Calls a tool, which must succeed.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let call = json!({"name": tool, "arguments": arguments});
        let reply = self.request("tools/call", call).await.reply;
        assert_eq!(reply["result"]["isError"], false, "{tool}: {reply}");
        reply["result"].clone()
    }
}
