//! The MCP server over HTTP: who gets in, what an attacker gets, what clients are told, on both lifecycles.

#![cfg(feature = "mcp-http")]

mod callers;
mod changes;
mod gate;
mod hostile;
mod skills;
mod support;
