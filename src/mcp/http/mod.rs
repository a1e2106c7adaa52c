//! The MCP server over Streamable HTTP: the same [`Server`](crate::mcp::Server), one for each caller.
//!
//! ```text
//! TCP -> listen (TLS, time-outs) -> gate (host, origin, token, room, body) -> callers (the token's mount)
//!     -> rmcp (Streamable HTTP, both lifecycles, sessions) -> the caller's Server
//! ```
//!
//! * A token is always required, on loopback too: any process of the machine could call otherwise.
//! * Callers are read again when their files change, at the next request or within half a second; whoever is gone
//!   loses sessions and open streams. A wrong file of principals lets nobody in but the operator.
//! * `Host` and `Origin` are checked before anything else, on every path. There is no CORS.
//! * `GET /healthz` and `/readyz` say nothing but yes or no and need no token; `/metrics` needs one that may.
//!
//! **Invariant:** no byte of a request reaches rmcp before its host, its origin and its token were taken.

mod callers;
mod error;
mod gate;
mod hosts;
mod listen;
mod metrics;
mod options;
mod principals;
mod principals_file;
mod sessions;
mod token;

pub use error::HttpError;
pub use listen::HttpServer;
pub use options::{HttpOptions, TlsFiles, TokenSource};
pub use principals::{Principal, parse_principals};
pub use principals_file::{PrincipalsError, add_principal, read_principals, remove_principal};
pub use token::{Token, TokenHash};
