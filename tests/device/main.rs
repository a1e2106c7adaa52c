//! The device tools over scripted phones: each tool, the queue, errors, and the whole way from an MCP client to the
//! final screen.

#![cfg(feature = "device")]

#[cfg(feature = "mcp")]
mod approval;
mod compact;
mod docs;
#[cfg(feature = "mcp")]
mod flow;
mod queue;
mod support;
mod tools;
