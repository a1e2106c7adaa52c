//! An embedded skill catalog for agents that operate phones.
//!
//! Repertoire keeps the skills that a deployment is entitled to in immutable, memory-mapped snapshots, answers "which
//! skill fits this request?" in microseconds, and checks at every single query that the caller may see the answer. A
//! *skill* is knowledge (markdown that a model reads) or a flow template (parameters and ordered tool calls).
//!
//! It is a read-mostly key-value and search engine for skills. It is **not** a loop around a model, no engine that runs
//! flows, and no store in which synced skills can be edited.
//!
//! # Thirty lines
//!
//! ```
//! use repertoire::{Catalog, Entry, Filter, Layer, LocalStatement, Narrowing, Skill};
//! use serde_json::{Map, json};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let dir = tempfile::tempdir()?;
//! let catalog = Catalog::open(dir.path().join("catalog"))?; // any number of processes may open it
//! let flow = Skill::from_json(&json!({
//!     "id": "note-search", "kind": "flow_template", "name": "Search notes",
//!     "description": "Search notes in Xiaohongshu.", "examples": ["find notes about ramen"],
//!     "parameters": [{"name": "query", "type": "string", "description": "what to search for"}],
//!     "steps": [{"tool": "launch_app", "args_template": {"package": "com.xingin.xhs"}},
//!               {"tool": "input_text", "args_template": {"text": "{query}", "submit": true}}]
//! }))
//! .map_err(|problems| format!("{problems:?}"))?;
//! catalog.update(Layer::Local, &mut |mut entries| {
//!     entries.push(Entry::new(flow.skill.clone()));
//!     Ok(Some(entries)) // durable, and seen by every query that begins later
//! })?;
//!
//! let mut view = catalog.view(Narrowing::default()); // one a task
//! let pin = view.pin()?; // one a request: a consistent look under the entitlements of this moment
//! let best = pin.search("notes about ramen", &Filter::default(), 3)?.hits[0].skill;
//! assert_eq!((best.id(), best.name()), ("note-search", "Search notes"));
//! let values = Map::from_iter([("query".to_owned(), json!("ramen"))]);
//! for step in pin.resolve(best.id(), &values)? {
//!     println!("{} {}", step.tool, step.args); // the agent makes the calls, one by one
//! }
//!
//! catalog.declare(LocalStatement::Hide("note-search".into()))?; // durable, and effective in every process
//! assert!(view.pin()?.get("note-search")?.is_none());
//! # Ok(())
//! # }
//! ```
//!
//! # The types at a glance
//!
//! | type | what |
//! | --- | --- |
//! | [`Catalog`] | a handle on one data directory: open, update, entitlements, status, verify, wait |
//! | [`View`] | a catalog with entitlements; one a task; every query goes through one |
//! | [`Pin`], [`Snapshot`] | one request's look, borrowed or owned; all queries are on [`Look`] |
//! | [`SkillRef`] | a validated record in mapped memory; [`Skill`] is the owned form |
//! | [`flow`] | templates: compiled at ingest, resolved all or nothing |
//! | [`tools`] | the registry of the tools that exist on this deployment |
//! | [`import`], [`intake`] | SKILL.md and other formats; folders mirrored into the local layer |
//! | [`learn`], [`authoring`] | the record of a task; flow templates from successful ones |
//! | [`lint`] | what is wrong with skills that can be imported |
//! | `sync`, `mcp` | the client of the Subscription Platform, the MCP server, with the features of those names |
//!
//! # Limits
//!
//! All of them are in [`limits`]. The largest: 16 million skills a layer, 1 MiB a body, 64 subscriptions a skill. 64-bit
//! Linux; the data directory is on a local file system and belongs to one user.
//!
//! # Features
//!
//! `default = ["cli"]` is the whole program. With `default-features = false` there is no async runtime and no command
//! line. `mcp` adds the server on rmcp and tokio, `mcp-http` its HTTP side; `sync` the client of the Subscription
//! Platform, `webhook` its receiver; `device` the device tools above any driver, `adb` the driver of the adb server;
//! `platform` the development platform. A feature never changes a byte on disk.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

pub mod authoring;
pub mod bundled;
pub mod catalog;
#[cfg(feature = "device")]
pub mod device;
pub mod entitlement;
pub mod error;
pub mod flow;
#[cfg(feature = "device")]
pub mod guard;
pub mod import;
pub(crate) mod index;
pub mod intake;
pub mod learn;
pub mod limits;
pub mod lint;
#[cfg(feature = "mcp")]
pub mod mcp;
pub mod model;
pub mod observe;
#[cfg(feature = "platform")]
pub mod platform;
#[cfg(feature = "device")]
pub mod policy;
mod snapshot;
#[cfg(feature = "sync")]
pub mod sync;
pub mod tools;

pub use catalog::{Catalog, Filter, Look, Options, Pin, SkillRef, Snapshot, View};
pub use entitlement::{LocalStatement, Narrowing};
pub use error::{Error, Problem, Result};
pub use model::{Entry, Kind, Layer, Risk, Skill};
pub use tools::ToolRegistry;
