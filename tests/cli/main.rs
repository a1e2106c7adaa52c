//! The command line as people and scripts use it: the real binary, its streams and its exit codes.
//!
//! Golden files are written anew with `UPDATE_GOLDEN=1`.
#![cfg(feature = "cli")]

mod bench;
mod config;
mod damage;
mod demo;
mod device;
mod diagnostics;
mod docs;
mod eval;
mod exits;
mod files;
mod help;
mod hostile;
mod lint;
mod program;
mod serve;
mod shapes;
mod watch;
