//! Reading.
#![allow(dead_code, reason = "being built")]
mod fence;
mod fields;
mod front;
mod repair;
mod text;
mod tree;
