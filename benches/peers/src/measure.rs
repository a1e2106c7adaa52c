//! How times are taken.
//!
//! Contenders of one race take turns: each runs for a while, then the next, for several rounds, so that what the machine
//! does beside them hits all alike. Operations of some nanoseconds run in chained batches: which query comes next depends
//! on the answer before, so that the processor cannot work on two at once, and what is seen is latency.

use std::hint::black_box;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// Operations of a batch.
const BATCH: usize = 32;

/// One round of one contender, in nanoseconds an operation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sample {
    pub p50: f64,
    pub p99: f64,
    pub p9999: f64,
}

/// Somebody who takes part in a race.
pub struct Contender<'a> {
    pub name: &'static str,
    round: Box<dyn FnMut() -> Sample + 'a>,
}

impl<'a> Contender<'a> {
    /// One that measures itself.
    pub fn by(name: &'static str, round: impl FnMut() -> Sample + 'a) -> Self {
        Self { name, round: Box::new(round) }
    }
}

/// What the rounds of a contender say.
#[derive(Clone, Debug)]
pub struct Figure {
    pub name: &'static str,
    /// Medians over the rounds.
    pub p50: f64,
    pub p99: f64,
    pub p9999: f64,
    rounds: Vec<f64>,
}

impl Figure {
    fn of(name: &'static str, samples: &[Sample]) -> Self {
        let over = |pick: fn(&Sample) -> f64| median(samples.iter().map(pick).collect());
        Self {
            name,
            p50: over(|s| s.p50),
            p99: over(|s| s.p99),
            p9999: over(|s| s.p9999),
            rounds: samples.iter().map(|sample| sample.p50).collect(),
        }
    }

    /// Median over the rounds of ours divided by the other's of the same round.
    pub fn ratio_to(&self, other: &Self) -> f64 {
        median(self.rounds.iter().zip(&other.rounds).map(|(a, b)| a / b).collect())
    }

    /// Distance of the second smallest and second largest round from each other, as a share of the median.
    pub fn spread(&self) -> f64 {
        let mut sorted = self.rounds.clone();
        sorted.sort_by(f64::total_cmp);
        let (low, high) = match sorted.len() {
            0 => return 0.0,
            1..=3 => (sorted[0], sorted[sorted.len() - 1]),
            n => (sorted[1], sorted[n - 2]),
        };
        (high - low) / self.p50
    }
}

/// Lets the contenders take turns.
pub fn race(rounds: usize, mut contenders: Vec<Contender<'_>>) -> Vec<Figure> {
    let mut samples: Vec<Vec<Sample>> = contenders.iter().map(|_| Vec::new()).collect();
    for _ in 0..rounds {
        for (contender, samples) in contenders.iter_mut().zip(&mut samples) {
            samples.push((contender.round)());
        }
    }
    contenders.iter().zip(&samples).map(|(contender, samples)| Figure::of(contender.name, samples)).collect()
}

/// Chained batches of `op`, which answers query number `i` and gives something that depends on the answer.
pub fn chained<'a>(
    name: &'static str,
    queries: usize,
    mut op: impl FnMut(usize) -> u64 + 'a,
) -> Contender<'a> {
    let zero = black_box(0_u64);
    let mut at = 0;
    Contender::by(name, move || {
        let mut batch = || {
            let begun = Instant::now();
            for _ in 0..BATCH {
                let answer = op(at);
                at += 1 + (answer & zero) as usize;
                if at >= queries {
                    at = 0;
                }
            }
            begun.elapsed().as_nanos() as f64 / BATCH as f64
        };
        let warm = Instant::now();
        while warm.elapsed() < Duration::from_millis(40) {
            batch();
        }
        let begun = Instant::now();
        let mut times = Vec::with_capacity(1 << 16);
        while begun.elapsed() < Duration::from_millis(120) {
            times.push(batch());
        }
        sample(times)
    })
}

/// Calls above this mean are timed by the thread's CPU clock, which a neighbour on the machine does not move.
const CPU_ABOVE: Duration = Duration::from_micros(20);

/// One timed call at a time, for operations above 300 ns that wait for nothing.
pub fn single<'a>(
    name: &'static str,
    queries: usize,
    mut op: impl FnMut(usize) -> u64 + 'a,
) -> Contender<'a> {
    let mut at = 0;
    Contender::by(name, move || {
        let mut next = || {
            black_box(op(at));
            at = (at + 1) % queries;
        };
        let (warm, mut calls) = (Instant::now(), 0);
        let warm_cpu = thread_cpu_ns();
        while calls == 0 || warm.elapsed() < Duration::from_millis(50) {
            next();
            calls += 1;
        }
        let long = (thread_cpu_ns() - warm_cpu) / f64::from(calls) > CPU_ABOVE.as_nanos() as f64;
        let mut call = || {
            if long {
                let begun = thread_cpu_ns();
                next();
                return thread_cpu_ns() - begun;
            }
            let begun = Instant::now();
            next();
            ns(begun)
        };
        let begun = Instant::now();
        let mut times = Vec::new();
        while times.len() < 11 || begun.elapsed() < Duration::from_millis(200) {
            times.push(call());
        }
        sample(times)
    })
}

/// A few calls that time themselves, in nanoseconds: for what cannot be repeated at will.
pub fn few<'a>(name: &'static str, count: usize, mut call: impl FnMut() -> f64 + 'a) -> Contender<'a> {
    Contender::by(name, move || sample((0..count).map(|_| call()).collect()))
}

/// Percentiles of times.
pub fn sample(mut times: Vec<f64>) -> Sample {
    times.sort_by(f64::total_cmp);
    let at = |share: f64| {
        let index = ((times.len() as f64 * share) as usize).min(times.len().saturating_sub(1));
        times.get(index).copied().unwrap_or_default()
    };
    Sample { p50: at(0.5), p99: at(0.99), p9999: at(0.9999) }
}

pub fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    match all.len() {
        0 => 0.0,
        n if n % 2 == 1 => all[n / 2],
        n => (all[n / 2 - 1] + all[n / 2]) / 2.0,
    }
}

/// Nanoseconds since an instant.
pub fn ns(begun: Instant) -> f64 {
    begun.elapsed().as_nanos() as f64
}

/// CPU time of this process, in nanoseconds.
pub fn cpu_ns() -> f64 {
    clock(ClockId::ProcessCPUTime)
}

fn thread_cpu_ns() -> f64 {
    clock(ClockId::ThreadCPUTime)
}

fn clock(id: ClockId) -> f64 {
    let time = clock_gettime(id);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}
