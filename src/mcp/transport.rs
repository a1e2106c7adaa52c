//! JSON-RPC messages as lines, with limits on both ways.
//!
//! rmcp brings a transport of this kind; this one differs where a client would be left waiting: a line that is too
//! long, is no JSON or is no message is answered (rmcp drops the first two in silence), a notification that arrives
//! before the lifecycle has begun does not end the server, a client that does not read its answers is not read from
//! any further, and a closed output ends the server at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorData, GetMeta, ProtocolVersion, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{Mutex, Notify};

use crate::limits::{MCP_LINE_BYTES_MAX, MCP_WAITING_ANSWERS_MAX};
use crate::mcp::session::Trouble;

/// How long the end waits for a client to take the last answers.
const LAST_ANSWERS_TIMEOUT: Duration = Duration::from_secs(2);
/// Capacity that the line buffer keeps between messages.
const LINE_CAPACITY_KEPT: usize = 64 * 1024;

/// One client's lines in and out.
#[derive(Debug)]
pub(super) struct LineTransport<R, W> {
    reader: BufReader<R>,
    /// Bytes of the line that is being read; survives a cancelled `receive`.
    line: Vec<u8>,
    /// The rest of a line that was too long is being skipped.
    skipping: bool,
    /// rmcp has chosen a lifecycle, so that it takes notifications.
    begun: bool,
    outbox: Arc<Outbox<W>>,
}

/// The way out, shared with the tasks that write.
#[derive(Debug)]
struct Outbox<W> {
    writer: Mutex<Option<W>>,
    waiting: AtomicUsize,
    broken: AtomicBool,
    changed: Notify,
    trouble: Arc<Trouble>,
}

/// What came in.
enum Incoming {
    Line,
    TooLong,
    End,
}

impl<R, W> LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub(super) fn new(reader: R, writer: W) -> Self {
        let outbox = Outbox {
            writer: Mutex::new(Some(writer)),
            waiting: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
            changed: Notify::new(),
            trouble: Arc::default(),
        };
        Self {
            reader: BufReader::new(reader),
            line: Vec::new(),
            skipping: false,
            begun: false,
            outbox: Arc::new(outbox),
        }
    }

    /// What goes wrong with the streams; it outlives the transport.
    pub(super) fn trouble(&self) -> Arc<Trouble> {
        Arc::clone(&self.outbox.trouble)
    }

    /// Reads to the end of a line. May be dropped at any await and called again: what was read is in `self`.
    async fn read_line(&mut self) -> io::Result<Incoming> {
        loop {
            let available = self.reader.fill_buf().await?;
            if available.is_empty() {
                // A last line without its end is taken all the same.
                let rest = !self.line.is_empty() && !self.skipping;
                return Ok(if rest { Incoming::Line } else { Incoming::End });
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |end| end + 1);
            let fits = self.line.len() + taken <= MCP_LINE_BYTES_MAX;
            if !self.skipping && fits {
                self.line.extend_from_slice(&available[..taken]);
            }
            self.reader.consume(taken);
            let was_skipping = self.skipping;
            self.skipping = end.is_none() && (was_skipping || !fits);
            if was_skipping {
                continue;
            }
            if !fits {
                self.line = Vec::new();
                return Ok(Incoming::TooLong);
            }
            if end.is_some() {
                return Ok(Incoming::Line);
            }
        }
    }

    /// The message in the line buffer, if it is one for rmcp; a refusal is on its way otherwise.
    fn take_message(&mut self) -> Option<ClientJsonRpcMessage> {
        let line = self.line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.line).trim_ascii();
        let parsed = if line.is_empty() {
            None
        } else {
            Some(serde_json::from_slice(line).map_err(|_| refusal(line)))
        };
        self.line.clear();
        self.line.shrink_to(LINE_CAPACITY_KEPT);
        match parsed? {
            Ok(message) => self.in_order(message),
            Err(Some((error, id))) => {
                self.refuse(error, id);
                None
            }
            Err(None) => {
                tracing::debug!("a notification that does not parse is ignored");
                None
            }
        }
    }

    /// Holds back what rmcp does not take before the lifecycle has begun: it would end the server.
    fn in_order(&mut self, message: ClientJsonRpcMessage) -> Option<ClientJsonRpcMessage> {
        match &message {
            ClientJsonRpcMessage::Request(request) => {
                self.begun = self.begun || begins(&request.request);
                Some(message)
            }
            _ if self.begun => Some(message),
            _ => {
                tracing::debug!("a message before the first request is ignored");
                None
            }
        }
    }

    fn refuse(&self, error: ErrorData, id: Option<RequestId>) {
        tracing::debug!(code = error.code.0, "a message is refused: {}", error.message);
        // In a task of its own: `receive` may be dropped at any await, and half a line must never be written.
        if let Ok(sending) = self.outbox.clone().send(&ServerJsonRpcMessage::error(error, id)) {
            tokio::spawn(sending);
        }
    }
}

impl<W> Outbox<W>
where
    W: AsyncWrite + Send + Unpin + 'static,
{
    /// Writes one message as one line.
    fn send(
        self: Arc<Self>,
        message: &ServerJsonRpcMessage,
    ) -> io::Result<impl Future<Output = io::Result<()>> + Send + use<W>> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let waiting = Waiting(self);
        Ok(async move {
            let mut writer = waiting.0.writer.lock().await;
            let Some(open) = writer.as_mut() else {
                return Err(io::Error::new(io::ErrorKind::NotConnected, "the output is closed"));
            };
            let written = async {
                open.write_all(&line).await?;
                open.flush().await
            };
            let written = written.await;
            if let Err(error) = &written {
                waiting.0.trouble.output(error);
                *writer = None;
                waiting.0.broken.store(true, Ordering::Relaxed);
            }
            written
        })
    }

    /// Waits until `done` holds; looked at again whenever an answer left or the output broke.
    async fn until(&self, done: impl Fn(&Self) -> bool) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // Registered before the look, so that no change is missed.
            changed.as_mut().enable();
            if done(self) {
                return;
            }
            changed.await;
        }
    }

    fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
    }
}

/// One answer on its way out, also when its task is dropped.
struct Waiting<W>(Arc<Outbox<W>>);

impl<W> Drop for Waiting<W> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
        self.0.changed.notify_waiters();
    }
}

impl<R, W> Transport<RoleServer> for LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(&mut self, item: ServerJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let sending = self.outbox.clone().send(&item);
        async move { sending?.await }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        let outbox = self.outbox.clone();
        loop {
            outbox
                .until(|outbox| {
                    outbox.is_broken() || outbox.waiting.load(Ordering::Relaxed) < MCP_WAITING_ANSWERS_MAX
                })
                .await;
            let incoming = tokio::select! {
                biased;
                () = outbox.until(Outbox::is_broken) => {
                    tracing::info!("the output is closed");
                    return None;
                }
                incoming = self.read_line() => incoming,
            };
            match incoming {
                Ok(Incoming::Line) => {
                    if let Some(message) = self.take_message() {
                        return Some(message);
                    }
                }
                Ok(Incoming::TooLong) => {
                    let message = format!("a message is larger than {MCP_LINE_BYTES_MAX} bytes");
                    self.refuse(ErrorData::invalid_request(message, None), None);
                }
                Ok(Incoming::End) => return None,
                Err(error) => {
                    outbox.trouble.input(error);
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        let all_sent =
            self.outbox.until(|outbox| outbox.is_broken() || outbox.waiting.load(Ordering::Relaxed) == 0);
        if tokio::time::timeout(LAST_ANSWERS_TIMEOUT, all_sent).await.is_err() {
            tracing::warn!("the client did not take the last answers");
        }
        match self.outbox.writer.try_lock() {
            Ok(mut writer) => match writer.take() {
                Some(mut writer) => {
                    writer.shutdown().await.inspect_err(|error| self.outbox.trouble.output(error))
                }
                None => Ok(()),
            },
            // Somebody is still writing to a client that does not read.
            Err(_) => Ok(()),
        }
    }
}

/// Whether rmcp chooses a lifecycle by this request: `initialize`, or any other but a probe with complete metadata.
fn begins(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        other => {
            let meta = other.get_meta();
            meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty()
                && meta
                    .protocol_version()
                    .is_some_and(|revision| ProtocolVersion::KNOWN_VERSIONS.contains(&revision))
        }
    }
}

/// The answer to a line that is no message: an error and the id that it belongs to. `None` for a notification,
/// which is never answered.
fn refusal(line: &[u8]) -> Option<(ErrorData, Option<RequestId>)> {
    let value: Value = match serde_json::from_slice(line) {
        Ok(value) => value,
        Err(error) => {
            return Some((ErrorData::parse_error(format!("the line is not JSON: {error}"), None), None));
        }
    };
    let invalid = |message: &'static str| ErrorData::invalid_request(message, None);
    let Value::Object(message) = value else {
        let text = if value.is_array() {
            "batches are not served: send one message a line"
        } else {
            "a message is a JSON object"
        };
        return Some((invalid(text), None));
    };
    match message.get("id") {
        None if message.get("method").is_some_and(Value::is_string) => None,
        None => Some((invalid("the message has neither an id nor a method"), None)),
        Some(id) => match serde_json::from_value(id.clone()) {
            Ok(id) => Some((invalid("the message is no JSON-RPC 2.0 request"), Some(id))),
            Err(_) => Some((invalid("an id is a text or a whole number"), None)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(line: &str) -> Option<(i32, Option<RequestId>)> {
        refusal(line.as_bytes()).map(|(error, id)| (error.code.0, id))
    }

    #[test]
    fn a_line_that_is_no_message_is_refused_with_its_id_where_it_has_one() {
        let cases = [
            ("{", Some((-32700, None))),
            ("\u{0}", Some((-32700, None))),
            ("[]", Some((-32600, None))),
            ("7", Some((-32600, None))),
            ("{}", Some((-32600, None))),
            (r#"{"id":1.5,"method":"ping"}"#, Some((-32600, None))),
            (r#"{"id":null,"method":"ping"}"#, Some((-32600, None))),
            (r#"{"id":7}"#, Some((-32600, Some(RequestId::Number(7))))),
            (r#"{"method":"notifications/cancelled","params":7}"#, None),
        ];
        for (line, wanted) in cases {
            assert_eq!(refused(line), wanted, "{line}");
        }
    }

    #[test]
    fn deep_json_is_refused_and_not_walked() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(refused(&deep), Some((-32700, None)));
    }

    async fn lines_of(input: &[u8]) -> (Vec<String>, Vec<u8>) {
        let mut taken = Vec::new();
        let mut transport = LineTransport::new(input, tokio::io::sink());
        while let Some(message) = transport.receive().await {
            taken.push(serde_json::to_string(&message).expect("serialises"));
        }
        (taken, transport.line)
    }

    #[tokio::test]
    async fn empty_lines_and_a_missing_last_line_end_are_no_trouble() {
        let (taken, rest) = lines_of(b"\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r\n\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}").await;
        assert_eq!(taken.len(), 2, "{taken:?}");
        assert!(rest.is_empty());
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_skipped_and_the_next_one_is_read() {
        let mut input = vec![b'x'; MCP_LINE_BYTES_MAX + 10];
        input.extend_from_slice(b"\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n");
        let (taken, _) = lines_of(&input).await;
        assert_eq!(taken.len(), 1, "{taken:?}");
    }

    #[tokio::test]
    async fn a_line_of_exactly_the_limit_is_read() {
        let mut line = br#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#.to_vec();
        line.resize(MCP_LINE_BYTES_MAX - 1, b' ');
        line.push(b'\n');
        assert_eq!(lines_of(&line).await.0.len(), 1);
        line.insert(0, b' ');
        assert_eq!(lines_of(&line).await.0.len(), 0);
    }

    #[tokio::test]
    async fn a_notification_before_the_first_request_is_ignored() {
        let (taken, _) = lines_of(
            b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n",
        )
        .await;
        assert_eq!(taken.len(), 1, "{taken:?}");
    }
}
