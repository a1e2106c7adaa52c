//! How `bench` takes times.
//!
//! What takes some nanoseconds runs in chained batches: which query comes next depends on the answer before, so that the
//! processor cannot work on two at once, and what is seen is latency. Everything else is timed call by call.

use std::hint::black_box;
use std::time::{Duration, Instant};

use super::Row;
use crate::cli::exit::Failure;

/// Calls of a chained batch.
const BATCH: u32 = 32;
/// Share of the time that goes into warming up.
const WARM_UP: u32 = 5;
/// Fewest timed calls (or batches), however long they take.
const CALLS_MIN: usize = 5;

/// Batches of `call`, which gets a number and gives something that depends on the answer. `p99` is that of batches.
pub(super) fn chained(
    operation: &'static str,
    time: Duration,
    mut call: impl FnMut(usize) -> Result<usize, Failure>,
) -> Result<Row, Failure> {
    let zero = black_box(0_usize);
    let mut at = 0_usize;
    let mut batch = || {
        let begun = Instant::now();
        for _ in 0..BATCH {
            let answer = call(at)?;
            at = at.wrapping_add(1 + (answer & zero));
        }
        Ok(begun.elapsed() / BATCH)
    };
    repeat(time / WARM_UP, &mut batch)?;
    let times = repeat(time, &mut batch)?;
    Ok(Row::of(operation, times, BATCH as usize))
}

/// One timed call after the other.
pub(super) fn single(
    operation: &'static str,
    time: Duration,
    mut call: impl FnMut(usize) -> Result<usize, Failure>,
) -> Result<Row, Failure> {
    let mut at = 0;
    let mut one = || {
        let begun = Instant::now();
        black_box(call(at)?);
        at += 1;
        Ok(begun.elapsed())
    };
    repeat(time / WARM_UP, &mut one)?;
    let times = repeat(time, &mut one)?;
    Ok(Row::of(operation, times, 1))
}

/// Times until the time is over.
fn repeat(
    time: Duration,
    one: &mut dyn FnMut() -> Result<Duration, Failure>,
) -> Result<Vec<Duration>, Failure> {
    let begun = Instant::now();
    let mut times = Vec::new();
    while times.len() < CALLS_MIN || begun.elapsed() < time {
        times.push(one()?);
    }
    Ok(times)
}
