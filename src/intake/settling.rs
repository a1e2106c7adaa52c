//! Changes below some paths, handed on when they have come to rest.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::intake::Fingerprint;
use crate::limits::WATCH_SETTLE_MS_MAX;

/// How many times longer than a look the pause after it is, so that large trees do not keep a processor busy.
const PAUSE_PER_LOOK: u32 = 10;

/// Files and folders that are looked at again and again.
#[derive(Debug)]
pub struct Settling {
    paths: Vec<PathBuf>,
    interval: Duration,
    pause: Duration,
    /// What was there before what was last handed on.
    seen: Option<Fingerprint>,
    last: Option<Fingerprint>,
    changing_since: Option<Instant>,
}

impl Settling {
    /// Paths that are looked at every `interval`, or less often where a look takes long.
    #[must_use]
    pub fn new(paths: &[PathBuf], interval: Duration) -> Self {
        Self {
            paths: paths.to_vec(),
            interval,
            pause: interval,
            seen: None,
            last: None,
            changing_since: None,
        }
    }

    /// Remembers what is there, before it is read.
    pub fn look(&mut self) {
        self.remember(Some(Fingerprint::of(&self.paths)));
    }

    /// Forgets it, so that it soon counts as changed.
    pub fn again(&mut self) {
        self.remember(None);
    }

    fn remember(&mut self, seen: Option<Fingerprint>) {
        self.seen = seen;
        self.last = seen;
        self.changing_since = None;
    }

    /// How long to wait before the next [`settled`](Self::settled).
    #[must_use]
    pub fn pause(&self) -> Duration {
        self.pause
    }

    /// Looks once: whether something changed since it was remembered and then stayed for one interval, or has been
    /// changing for too long to wait for its end. Cost: one question to the file system for each file.
    pub fn settled(&mut self) -> bool {
        let start = Instant::now();
        let now = Some(Fingerprint::of(&self.paths));
        self.pause = self.interval.max(start.elapsed() * PAUSE_PER_LOOK);
        let mut settled = false;
        if now == self.seen {
            self.changing_since = None;
        } else {
            let since = *self.changing_since.get_or_insert(start);
            settled = now == self.last || since.elapsed() >= Duration::from_millis(WATCH_SETTLE_MS_MAX);
        }
        self.last = now;
        settled
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_change_is_handed_on_once_it_stayed() {
        let folder = tempfile::tempdir().expect("folder");
        let file = folder.path().join("a");
        let mut settling = Settling::new(&[folder.path().to_owned()], Duration::ZERO);
        settling.look();
        assert!(!settling.settled());
        fs::write(&file, "x").expect("file");
        assert!(!settling.settled(), "it may still be going on");
        fs::write(&file, "xy").expect("file");
        assert!(!settling.settled());
        assert!(settling.settled());
        settling.look();
        assert!(!settling.settled() && !settling.settled());
        settling.again();
        assert!(!settling.settled() && settling.settled());
    }
}
