//! Indexes: pure functions between section bytes and answers.

pub mod text;
