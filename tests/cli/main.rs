//! The command line as people and scripts use it: the real binary, its streams and its exit codes.
//!
//! Golden files are written anew with `UPDATE_GOLDEN=1`.
#![cfg(feature = "cli")]

mod config;
mod demo;
mod docs;
mod eval;
mod exits;
mod help;
mod hostile;
mod lint;
mod program;
mod serve;
mod shapes;
