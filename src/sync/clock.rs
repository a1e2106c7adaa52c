//! The engine's clock and its dice: passed in, so that a simulation can be repeated from a seed.

use std::fmt::Debug;

use async_trait::async_trait;

use crate::catalog::Catalog;

/// A clock that counts sleep of the machine and never jumps.
#[async_trait]
pub trait Clock: Debug + Send + Sync {
    /// Milliseconds since some moment.
    fn now_ms(&self) -> u64;
    /// Waits.
    async fn sleep(&self, ms: u64);
}

/// The clock that a catalog reads ages by.
#[derive(Debug)]
pub struct BootClock {
    catalog: Catalog,
}

impl BootClock {
    /// The clock of a catalog.
    #[must_use]
    pub fn of(catalog: &Catalog) -> Self {
        Self { catalog: catalog.clone() }
    }
}

#[async_trait]
impl Clock for BootClock {
    fn now_ms(&self) -> u64 {
        self.catalog.boot_ms()
    }

    async fn sleep(&self, ms: u64) {
        tokio::time::sleep(std::time::Duration::from_millis(ms)).await;
    }
}

/// Chooses by a seed (splitmix64).
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// Dice of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Dice of nobody's choosing.
    #[must_use]
    pub fn random() -> Self {
        let mut seed = [0; 8];
        // Without it, the hint of a moment must do: jitter is no secret.
        if getrandom::fill(&mut seed).is_err() {
            seed = std::process::id().to_le_bytes().repeat(2).try_into().unwrap_or_default();
        }
        Self(u64::from_le_bytes(seed))
    }

    /// The next 64 bits.
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.roll() % (high.saturating_sub(low) + 1)
    }
}
