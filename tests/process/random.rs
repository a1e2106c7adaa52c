//! Random moments that can be repeated, the clock that processes share, and the scale of a run.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// A small generator (splitmix64).
pub(crate) struct Random(u64);

impl Random {
    /// From `REPERTOIRE_TEST_SEED`, else from the clock; says which seed it was.
    pub(crate) fn new(test: &str) -> Self {
        let given = std::env::var("REPERTOIRE_TEST_SEED").ok().and_then(|text| text.parse().ok());
        let seed = given.unwrap_or_else(now);
        eprintln!("{test}: REPERTOIRE_TEST_SEED={seed}");
        Self(seed)
    }

    /// A number below `end`, which is not 0.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (word ^ (word >> 31)) % end
    }

    /// A time up to `longest`.
    pub(crate) fn time(&mut self, longest: Duration) -> Duration {
        let nanoseconds = u64::try_from(longest.as_nanos()).expect("a short time");
        Duration::from_nanos(self.below(nanoseconds.max(1)))
    }
}

/// Nanoseconds of the monotonic clock, which all processes of a machine share.
pub(crate) fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    let part = |value: i64| u64::try_from(value).expect("a time after the start of the machine");
    part(time.tv_sec) * 1_000_000_000 + part(time.tv_nsec)
}

/// How much a run does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    Default,
    Ci,
    Long,
}

impl Scale {
    /// From `REPERTOIRE_TEST_SCALE`.
    pub(crate) fn of_this_run() -> Self {
        match std::env::var("REPERTOIRE_TEST_SCALE").as_deref() {
            Ok("ci") => Self::Ci,
            Ok("long") => Self::Long,
            _ => Self::Default,
        }
    }

    /// One of three amounts.
    pub(crate) fn pick<T>(self, default: T, ci: T, long: T) -> T {
        match self {
            Self::Default => default,
            Self::Ci => ci,
            Self::Long => long,
        }
    }
}
