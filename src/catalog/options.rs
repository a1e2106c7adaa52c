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

/// How to open a catalog. Begin with the default and set what differs: fields may come with any version.
///
/// ```
/// use repertoire::Options;
/// use repertoire::catalog::BundledMode;
///
/// let options = Options::default().bundled(BundledMode::Never).keep_generations(4);
/// assert_eq!(options.keep_generations, 4);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
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

impl Options {
    /// Sets the tools of this deployment.
    #[must_use]
    pub fn registry(mut self, registry: Arc<ToolRegistry>) -> Self {
        self.registry = registry;
        self
    }

    /// Sets when the bundled layer shows.
    #[must_use]
    pub fn bundled(mut self, mode: BundledMode) -> Self {
        self.bundled = mode;
        self
    }

    /// Sets whether a platform is configured.
    #[must_use]
    pub fn sync_configured(mut self, configured: bool) -> Self {
        self.sync_configured = configured;
        self
    }

    /// Sets how files are held in memory.
    #[must_use]
    pub fn map(mut self, mode: MapMode) -> Self {
        self.map = mode;
        self
    }

    /// Sets how the changes of other processes are seen.
    #[must_use]
    pub fn follow(mut self, mode: FollowMode) -> Self {
        self.follow = mode;
        self
    }

    /// Sets how many generations are kept for rollback, 1-16.
    #[must_use]
    pub fn keep_generations(mut self, generations: u32) -> Self {
        self.keep_generations = generations;
        self
    }

    /// Sets whether learned skills are visible.
    #[must_use]
    pub fn learned_visible(mut self, visible: bool) -> Self {
        self.learned_visible = visible;
        self
    }
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
