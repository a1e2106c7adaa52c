//! The catalog: the only joiner of snapshots, indexes and entitlement.

// --- interface stubs (owner: main; to be moved to files of their own) ---
use crate::entitlement::Narrowing;
use crate::error::{Problem, Result};
use crate::flow::ResolvedStep;
use crate::model::{Entry, Kind, Layer, Risk, Skill};
use crate::tools::ToolRegistry;
use serde_json::{Map, Value};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

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

/// A handle on one data directory. `Clone + Send + Sync`, cheap to clone, no async.
#[derive(Clone, Debug)]
pub struct Catalog {}

impl Catalog {
    /// Opens (and creates) a data directory with the built-in tool registry.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let _ = path.as_ref();
        unimplemented!()
    }
    /// Opens with options.
    pub fn open_with(path: impl AsRef<Path>, options: Options) -> Result<Self> {
        let _ = (path.as_ref(), options);
        unimplemented!()
    }
    /// A view with the deployment's entitlements, narrowed.
    pub fn view(&self, narrowing: Narrowing) -> View {
        let _ = narrowing;
        unimplemented!()
    }
    /// The registry it was opened with.
    #[must_use]
    pub fn registry(&self) -> &Arc<ToolRegistry> {
        unimplemented!()
    }
    /// Replaces a layer's content. `change` gets the current entries (from the layer's source) and answers the new
    /// full set, or `None` for "nothing to do"; it may be called again if another process committed meanwhile.
    pub fn update(
        &self,
        layer: Layer,
        change: &mut dyn FnMut(Vec<Entry>) -> Result<Option<Vec<Entry>>>,
    ) -> Result<Committed> {
        let _ = (layer, change);
        unimplemented!()
    }
    /// The current entries of a layer that has a source (`local`, `learned`).
    pub fn entries(&self, layer: Layer) -> Result<Vec<Entry>> {
        let _ = layer;
        unimplemented!()
    }
    /// Makes a local statement about entitlements durable and effective for every query started later anywhere.
    pub fn state(&self, statement: LocalStatement) -> Result<()> {
        let _ = statement;
        unimplemented!()
    }
    /// The entitlements as they stand.
    pub fn entitlements(&self) -> Result<EntitlementsReport> {
        unimplemented!()
    }
    /// Layers, generations, sizes.
    pub fn status(&self) -> Result<Status> {
        unimplemented!()
    }
    /// Publishes the previous generation's content again.
    pub fn rollback(&self, layer: Layer) -> Result<Committed> {
        let _ = layer;
        unimplemented!()
    }
    /// Removes what no manifest reaches; answers the bytes freed.
    pub fn compact(&self) -> Result<u64> {
        unimplemented!()
    }
    /// Checks every byte of every file that is reachable (or of one snapshot file).
    pub fn verify(&self, file: Option<&Path>) -> Result<Vec<FileReport>> {
        let _ = file;
        unimplemented!()
    }
    /// Sections of every reachable file (or of one), without the deep checks.
    pub fn inspect(&self, file: Option<&Path>) -> Result<Vec<FileReport>> {
        let _ = file;
        unimplemented!()
    }
    /// Waits until the catalog differs from `since`, or the time is up.
    pub fn wait(&self, since: u64, timeout: Duration) -> Result<Option<Change>> {
        let _ = (since, timeout);
        unimplemented!()
    }
}

/// What a commit did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Committed {
    /// The layer's generation afterwards.
    pub generation: u64,
    /// False if the content was already there.
    pub changed: bool,
}

/// What moved since a given token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Pass it to the next `wait`.
    pub token: u64,
    /// Layers with a new generation.
    pub layers: Vec<Layer>,
    /// Whether entitlements or masks changed.
    pub entitlements: bool,
}

/// What an operator says about entitlements on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LocalStatement {
    /// Activate a subscription that no platform document speaks of.
    Grant(String),
    /// Switch a subscription off, whatever the platform says. A later `Grant` of it ends this.
    Revoke(String),
    /// Mask an id in every layer.
    Hide(String),
    /// End a `Hide`.
    Unhide(String),
}

/// Answer of `entitlements show`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct EntitlementsReport {
    /// Every subscription that anything speaks of, sorted.
    pub subscriptions: Vec<SubscriptionReport>,
    /// Hidden ids, sorted.
    pub hidden: Vec<String>,
}

/// One subscription.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct SubscriptionReport {
    /// Its id.
    pub id: String,
    /// Whether it is active.
    pub active: bool,
    /// Who said so: `platform` or `local`.
    pub by: &'static str,
}

/// Answer of `status`.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Status {
    /// Layers that hold something, in precedence order.
    pub layers: Vec<LayerStatus>,
    /// Sync state.
    pub sync: SyncStatus,
    /// Entitlements.
    pub entitlements: EntitlementsReport,
}

/// One layer in `status`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct LayerStatus {
    /// Layer name.
    pub layer: Layer,
    /// Generation.
    pub generation: u64,
    /// Skills in it (whether visible or not).
    pub skills: u64,
    /// Bytes of its files.
    pub bytes: u64,
    /// Content digest, hexadecimal.
    pub digest: String,
}

/// Sync part of `status`.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct SyncStatus {
    /// EMPTY, READY, STALE, EXPIRED or SUSPENDED.
    pub state: String,
    /// Content counter.
    pub seq: Option<u64>,
    /// Entitlement counter.
    pub ent_seq: Option<u64>,
    /// Seconds since the last successful check.
    pub age_s: Option<u64>,
    /// Last failure.
    pub last_error: Option<String>,
}

/// One file in `verify` and `inspect`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct FileReport {
    /// File name in the data directory.
    pub name: String,
    /// No problem found.
    pub ok: bool,
    /// Sections.
    pub sections: Vec<SectionReport>,
    /// What is wrong.
    pub problems: Vec<String>,
}

/// One section of a file.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct SectionReport {
    /// Section name.
    pub kind: String,
    /// Offset in the file.
    pub offset: u64,
    /// Length in bytes.
    pub length: u64,
    /// Checksum, hexadecimal.
    pub crc32c: String,
    /// A reader that does not know it must refuse the file.
    pub required: bool,
}

/// A catalog with entitlements; every query goes through one. `Send + Clone`, one per task.
#[derive(Clone, Debug)]
pub struct View {}

impl View {
    /// Begins a query: one consistent look at all layers. Cost while nothing changed: one load.
    pub fn pin(&mut self) -> Result<Pin<'_>> {
        unimplemented!()
    }
    /// The owned form (`Send + Sync`).
    pub fn snapshot(&mut self) -> Result<Snapshot> {
        unimplemented!()
    }
}

/// One request's read transaction; dereferences to [`Look`].
#[derive(Clone, Copy, Debug)]
pub struct Pin<'v> {
    look: &'v Look,
}
impl std::ops::Deref for Pin<'_> {
    type Target = Look;
    fn deref(&self) -> &Look {
        self.look
    }
}
/// An owned look, `Clone + Send + Sync`; dereferences to [`Look`].
#[derive(Clone, Debug)]
pub struct Snapshot {
    look: Arc<Look>,
}
impl std::ops::Deref for Snapshot {
    type Target = Look;
    fn deref(&self) -> &Look {
        &self.look
    }
}

/// What a caller sees at one moment: all queries are here.
#[derive(Debug)]
pub struct Look {}

impl Look {
    /// The skill of that id, if the caller may see it (also one that is unavailable: see `SkillRef::unavailable`).
    pub fn get(&self, id: &str) -> Result<Option<SkillRef<'_>>> {
        let _ = id;
        unimplemented!()
    }
    /// Exact id, then exact name, then alias.
    pub fn lookup(&self, text: &str) -> Result<Vec<SkillRef<'_>>> {
        let _ = text;
        unimplemented!()
    }
    /// Names, aliases and ids that begin with a text.
    pub fn prefix(&self, text: &str, limit: usize) -> Result<Vec<SkillRef<'_>>> {
        let _ = (text, limit);
        unimplemented!()
    }
    /// Visible, available skills in (layer, id) order that pass the filter.
    pub fn list(&self, filter: &Filter, limit: usize, cursor: Option<&str>) -> Result<ListPage<'_>> {
        let _ = (filter, limit, cursor);
        unimplemented!()
    }
    /// The best skills for a query.
    pub fn search(&self, query: &str, filter: &Filter, limit: usize) -> Result<SearchPage<'_>> {
        let _ = (query, filter, limit);
        unimplemented!()
    }
    /// The one skill that should handle a request, or none.
    pub fn match_request(&self, request: &str) -> Result<MatchAnswer<'_>> {
        let _ = request;
        unimplemented!()
    }
    /// Resolved steps of a flow template, all or nothing.
    pub fn resolve(&self, id: &str, values: &Map<String, Value>) -> Result<Vec<ResolvedStep>> {
        let _ = (id, values);
        unimplemented!()
    }
    /// Whether no layer has ever held a skill that this deployment could show ("never synced" is not "no match").
    #[must_use]
    pub fn is_empty(&self) -> bool {
        unimplemented!()
    }
}

/// Restrictions of a list or a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only this kind.
    pub kind: Option<Kind>,
    /// Only skills with this tag (normalised comparison).
    pub tag: Option<String>,
    /// Only skills about this app package.
    pub app: Option<String>,
    /// Only this effective risk.
    pub risk: Option<Risk>,
    /// Only this layer.
    pub layer: Option<Layer>,
}

/// One page of `list`.
#[derive(Clone, Debug)]
pub struct ListPage<'a> {
    /// The skills.
    pub skills: Vec<SkillRef<'a>>,
    /// How many pass the filter in all.
    pub total: u64,
    /// Opaque; where the next page begins.
    pub next_cursor: Option<String>,
}

/// Answer of `search`.
#[derive(Clone, Debug)]
pub struct SearchPage<'a> {
    /// Best first.
    pub hits: Vec<Hit<'a>>,
    /// How many skills match at all.
    pub total: u64,
}

/// One search hit.
#[derive(Clone, Debug)]
pub struct Hit<'a> {
    /// The skill.
    pub skill: SkillRef<'a>,
    /// Ranking score; comparable within one answer only.
    pub score: f32,
    /// Fields and words that matched.
    pub why: Vec<Why>,
}

/// Words that matched in one field.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Why {
    /// `name`, `description`, `alias`, `example`, `tag`, `body`.
    pub field: &'static str,
    /// The words.
    pub words: Vec<String>,
}

/// Answer of `match`.
#[derive(Clone, Debug)]
pub struct MatchAnswer<'a> {
    /// The skill, if one should handle it.
    pub skill: Option<SkillRef<'a>>,
    /// 0 to 1.
    pub confidence: f32,
    /// One sentence.
    pub reason: String,
    /// The whole request is a device command.
    pub exact_command: Option<ExactCommand>,
    /// Others that came close, best first.
    pub candidates: Vec<SkillRef<'a>>,
}

/// A request that needs no skill: one tool call does it.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct ExactCommand {
    /// Canonical tool name.
    pub tool: String,
    /// Its arguments.
    pub arguments: Map<String, Value>,
}

/// A validated skill record: reading it cannot fail, except for the body, which is checked on first touch.
#[derive(Clone, Copy, Debug)]
pub struct SkillRef<'a> {
    look: &'a Look,
}

impl<'a> SkillRef<'a> {
    /// Id.
    #[must_use]
    pub fn id(&self) -> &'a str {
        let _ = self.look;
        unimplemented!()
    }
    /// Kind.
    #[must_use]
    pub fn kind(&self) -> Kind {
        unimplemented!()
    }
    /// Name.
    #[must_use]
    pub fn name(&self) -> &'a str {
        unimplemented!()
    }
    /// Description.
    #[must_use]
    pub fn description(&self) -> &'a str {
        unimplemented!()
    }
    /// Tags.
    pub fn tags(&self) -> impl ExactSizeIterator<Item = &'a str> + use<'a> {
        std::iter::empty()
    }
    /// Declared risk, else that of its tools.
    #[must_use]
    pub fn risk(&self) -> Risk {
        unimplemented!()
    }
    /// Highest of declared risk and tools' risk.
    #[must_use]
    pub fn effective_risk(&self) -> Risk {
        unimplemented!()
    }
    /// Layer that this copy comes from.
    #[must_use]
    pub fn layer(&self) -> Layer {
        unimplemented!()
    }
    /// SHA-256 of the canonical JSON.
    #[must_use]
    pub fn digest(&self) -> &'a [u8; 32] {
        unimplemented!()
    }
    /// Why the skill cannot be used on this deployment; empty if it can.
    #[must_use]
    pub fn unavailable(&self) -> Vec<Problem> {
        unimplemented!()
    }
    /// Canonical tool names it may use; `None` = no restriction.
    #[must_use]
    pub fn effective_tools(&self) -> Option<Vec<String>> {
        unimplemented!()
    }
    /// The markdown body, zero-copy, checked on first touch.
    pub fn content(&self) -> Result<&'a str> {
        unimplemented!()
    }
    /// The file as it was written.
    pub fn source_text(&self) -> Result<Option<&'a [u8]>> {
        unimplemented!()
    }
    /// Bytes of a resource by path.
    pub fn resource(&self, path: &str) -> Result<Option<&'a [u8]>> {
        let _ = path;
        unimplemented!()
    }
    /// A full owned copy.
    pub fn to_skill(&self) -> Result<Skill> {
        unimplemented!()
    }
}
