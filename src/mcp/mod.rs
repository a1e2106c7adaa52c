//! The MCP server: the catalog's queries as tools of the Model Context Protocol.
//!
//! A message takes this way, each stage in a file of its own:
//!
//! ```text
//! stdin -> transport (lines, limits) -> rmcp (JSON-RPC, lifecycles) -> server (which tool, which revision)
//!       -> arguments (checked against the table) -> queries (one thin function a tool, over a Look)
//!       -> answer | failure (JSON for this client) -> rmcp -> transport -> stdout
//! ```
//!
//! Beside the tools there are the same skills as files: `resources` and `prompts` answer from `documents`, whose names
//! are `uri`s; `changes` and `news` tell clients when what they see is another.
//!
//! * [`TOOLS`] is the one table of tools: `tools/list`, the argument check, the server's instructions and
//!   `docs/mcp.md` are made from it. Nothing in it depends on what the catalog holds: skill text comes from third
//!   parties and reaches a client only as the data of an answer, never as the description of a tool.
//! * What a caller did wrong is a tool result with `isError` and a JSON text whose `error` is one of [`ERRORS`];
//!   protocol errors are left to JSON-RPC. Internal detail goes to the log.
//! * [`TASK_TOOLS`] are there only where authoring is on: they bracket a task that a [`Recorder`] records and learns from.
//! * With phones given, the device tools of the registry stand beside them: `device` makes a call (arguments, scope,
//!   policy, approval, phone, record), `approval` asks the person at the other end, `scope` is `use_skill`. What one
//!   session may do is in its [`Guard`](crate::guard::Guard); [`Server::with_guard`] makes another session.
//! * There is no tool that resolves and executes: the agent makes each device call itself.
//!
//! [`Recorder`]: crate::authoring::Recorder
//!
//! Invariant: this module answers from a [`Look`](crate::catalog::Look) only; it opens no file, knows no
//! subscription and never writes to stdout but through the transport.

mod answer;
mod approval;
mod arguments;
mod changes;
mod device;
mod documents;
mod failure;
#[cfg(feature = "mcp-http")]
pub mod http;
mod listing;
mod news;
mod options;
mod prompts;
mod queries;
mod recording;
mod resources;
mod schema;
mod scope;
mod server;
mod session;
mod stdio;
mod table;
mod tasks;
mod transport;
mod uri;

pub use failure::{ERRORS, ErrorEntry};
pub use options::{ServerOptions, ToolFilter};
pub use server::Server;
pub use session::SessionError;
pub use stdio::{LOG_DIRECTIVE, serve, serve_stdio};
pub use table::{Argument, ArgumentKind, QueryTool, TOOLS};
pub use tasks::{TASK_TOOLS, TaskTool};
