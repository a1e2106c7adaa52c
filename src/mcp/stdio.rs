//! Serving over standard input and output, or any pair of streams.

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::mcp::server::Server;
use crate::mcp::session::SessionError;
use crate::mcp::transport::LineTransport;

/// A filter directive that a program which logs must apply on top of its own: rmcp writes requests with their
/// arguments to its debug log, secrets among them.
pub const LOG_DIRECTIVE: &str = "rmcp=warn";

/// Serves MCP on standard input and output until the input ends or the client closes the output. Blocks, on a
/// runtime of its own: a query takes microseconds, so that one thread which never hands over is the fastest.
///
/// Nothing else may write to standard output meanwhile.
///
/// # Errors
/// The runtime cannot be started; as [`serve`].
pub fn serve_stdio(server: Server) -> Result<(), SessionError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build();
    let runtime = runtime.map_err(SessionError::Start)?;
    let outcome = runtime.block_on(async {
        let (input, output) = rmcp::transport::stdio_pipes();
        serve(server, input, output).await
    });
    // A read of standard input that cannot be cancelled must not hold the process.
    runtime.shutdown_background();
    outcome
}

/// Serves MCP on a pair of streams, one message a line, until the input ends or the output is closed.
///
/// # Errors
/// A stream fails otherwise than by being closed, or the client's first messages cannot be answered.
pub async fn serve<R, W>(server: Server, input: R, output: W) -> Result<(), SessionError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let transport = LineTransport::new(input, output);
    let trouble = transport.trouble();
    let ended = match server.serve(transport).await {
        Ok(running) => running
            .waiting()
            .await
            .map_err(|error| SessionError::Protocol(error.into()))
            .map(|reason| tracing::debug!(?reason, "the session has ended")),
        // The client left before it began.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::TransportError { .. }) => {
            Ok(())
        }
        Err(error) => Err(SessionError::Protocol(error.into())),
    };
    // A stream that failed is the cause of whatever else is said about the end.
    trouble.take().map_or(ended, Err)
}
