//! Phones through the adb server: a client of its socket, and the driver on top of it.
//!
//! `frame` and `packet` are the two protocols as functions over bytes, `server` is the socket, `track` the list of phones,
//! `client` the calls to one phone, `sync` its files. Above them each file is one theme of the driver: `screen`, `tree`,
//! `picture`, `gesture`, `text`, `apps`. `quote` is the only way from a text to a command line.

mod address;
mod apps;
mod cache;
mod client;
mod doctor;
mod driver;
mod failure;
mod frame;
mod gesture;
#[cfg(any(test, fuzzing))]
pub mod hostile;
mod packet;
mod picture;
mod quote;
mod screen;
mod server;
mod sync;
mod text;
mod track;
mod tree;

pub use address::ServerAddress;
pub use doctor::{Finding, Verdict, examine};
pub use driver::{AdbDriver, AdbOptions};
pub use quote::quote;
pub use server::find_program;
