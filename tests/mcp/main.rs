//! The MCP server: what goes over the wire on every revision, what bad input gets, and what the documents say.

#![cfg(feature = "mcp")]

mod answers;
#[cfg(feature = "cli")]
mod binary;
mod client;
mod docs;
mod hostile;
mod mounted;
mod support;
mod tasks;
mod transcripts;
