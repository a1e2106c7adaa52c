//! What is remembered of each phone, and forgotten as soon as the list of phones changes.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use parking_lot::Mutex;

/// What does not change while a phone stays connected.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    /// What its adb daemon can do.
    pub(super) features: Option<Arc<BTreeSet<String>>>,
    /// Model, version, screen.
    pub(super) identity: Option<Identity>,
    /// Launcher components by package.
    pub(super) launchers: HashMap<String, String>,
}

/// What a phone is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Identity {
    /// Manufacturer and model.
    pub(super) model: String,
    /// Version of Android.
    pub(super) android: String,
    /// API level.
    pub(super) sdk: u32,
    /// Width of the screen in its natural position, override included.
    pub(super) width: u32,
    /// Height of the screen in its natural position, override included.
    pub(super) height: u32,
    /// Dots per inch, override included.
    pub(super) density: u32,
    /// Serial number of the phone itself, the same over every connection.
    pub(super) hardware: String,
}

/// Facts and turns of all phones.
#[derive(Debug, Default)]
pub(super) struct Cache {
    facts: Mutex<(u64, HashMap<String, Facts>)>,
    turns: Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>,
}

impl Cache {
    /// Reads or writes the facts of a phone; all facts are dropped if the list of phones is another than it was.
    pub(super) fn with<T>(&self, changes: u64, device: &str, use_facts: impl FnOnce(&mut Facts) -> T) -> T {
        let mut facts = self.facts.lock();
        if facts.0 != changes {
            *facts = (changes, HashMap::new());
        }
        use_facts(facts.1.entry(device.to_owned()).or_default())
    }

    /// The turn of a phone: whoever holds it is the only one who acts there.
    pub(super) fn turn(&self, device: &str) -> Arc<tokio::sync::Mutex<()>> {
        let mut turns = self.turns.lock();
        // Phones that nobody acts on need no turn; serials of network phones come and go.
        turns.retain(|serial, turn| serial == device || Arc::strong_count(turn) > 1);
        Arc::clone(turns.entry(device.to_owned()).or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_dropped_when_the_list_of_phones_changes() {
        let cache = Cache::default();
        let launcher = |changes| cache.with(changes, "A", |facts| facts.launchers.get("com.x").cloned());
        cache.with(1, "A", |facts| facts.launchers.insert("com.x".into(), "com.x/.Main".into()));
        assert_eq!(launcher(1).as_deref(), Some("com.x/.Main"));
        assert_eq!(launcher(2), None);
    }

    #[test]
    fn a_phone_has_one_turn_while_somebody_holds_it() {
        let cache = Cache::default();
        let first = cache.turn("A");
        let _other = cache.turn("B");
        assert!(Arc::ptr_eq(&first, &cache.turn("A")));
    }
}
