//! How a catalog is opened.

use std::sync::Arc;

use crate::tools::ToolRegistry;

/// When the bundled starter layer is visible.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BundledMode {
    /// Only while no other layer was ever filled and no sync is configured.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// How to open a catalog.
#[derive(Clone, Debug)]
pub struct Options {
    /// The tools of this deployment; the built-in table unless stated.
    pub registry: Arc<ToolRegistry>,
    /// When the bundled layer shows.
    pub bundled: BundledMode,
    /// Whether a platform is configured (decides `auto`).
    pub sync_configured: bool,
    /// Map files, or keep private verified copies.
    pub map: MapMode,
    /// How the changes of other processes are seen; [`MapMode::Memory`] always reads.
    pub follow: FollowMode,
    /// Generations kept for rollback, 1-16.
    pub keep_generations: u32,
    /// Whether learned skills are visible.
    pub learned_visible: bool,
}

/// How snapshot files are held in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MapMode {
    /// Mapped read-only.
    #[default]
    File,
    /// A private copy, for directories that others can write.
    Memory,
}

/// How the changes of other processes are seen before each query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FollowMode {
    /// The epoch page is mapped (under a nanosecond a look), and read where the file system is a remote one, whose
    /// mappings do not follow other machines.
    #[default]
    Auto,
    /// The page is read each time (some 200 ns). On network file systems another machine's change is seen as soon as
    /// the file system shows it.
    Pread,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            registry: ToolRegistry::builtin(),
            bundled: BundledMode::Auto,
            sync_configured: false,
            map: MapMode::File,
            follow: FollowMode::Auto,
            keep_generations: 2,
            learned_visible: true,
        }
    }
}
