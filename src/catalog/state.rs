//! One state of the catalog: everything that an epoch names, open and verified.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::catalog::open::OpenLayer;
use crate::catalog::segment::damaged;
use crate::catalog::synced::{Aging, Trust};
use crate::entitlement::{Statement, Statements};
use crate::error::{Result, StorageError};
use crate::index::hash::hash128;
use crate::model::Layer;
use crate::snapshot::{Denial, Loaded, Recovery};

/// What the manifest keeps for the catalog beside the layers.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Kept {
    /// Statements about entitlements.
    #[serde(default)]
    pub(crate) statements: Statements,
    /// Sync is held after a rollback.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) sync_held: bool,
    /// A revocation could not be written: the synced layer is hidden until the operator says that it is right.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) suspended: bool,
    /// The same, where only the platform's word may be missing: until it has been asked again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) unsure: bool,
    /// What must not go back, by subscription.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) sync: BTreeMap<String, Trust>,
    /// `CURRENT` was lost, and nothing was published since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) recovered: Option<Recovery>,
}

/// Places of ids that stand in several layers.
pub(crate) type SharedIds = Vec<Vec<(usize, u32)>>;

/// Everything that a query needs, immutable.
#[derive(Debug)]
pub(crate) struct State {
    /// The epoch that this is the state of.
    pub(crate) epoch: u64,
    /// The manifest and the ring as they were read.
    pub(crate) loaded: Loaded,
    /// What the manifest keeps, parsed once a manifest.
    pub(crate) base: Arc<Kept>,
    /// Folded statements with those of the ring.
    pub(crate) statements: Arc<Statements>,
    /// Open layers in precedence order.
    pub(crate) layers: Vec<Arc<OpenLayer>>,
    /// Ids that stand in several layers: (index in `layers`, ordinal) in precedence order.
    pub(crate) shared_ids: Arc<SharedIds>,
    /// Nothing synced may be shown: a revocation could not be written, or may have been lost.
    pub(crate) suspended: bool,
    /// The ring holds a statement of a newer version.
    unknown_statement: bool,
    /// When each subscription was checked last.
    pub(crate) aging: Arc<Aging>,
    /// A first touch found damage: the next query opens a new state.
    damaged: AtomicBool,
}

impl State {
    /// Puts a state together.
    ///
    /// # Errors
    /// An id index contradicts itself.
    pub(crate) fn new(
        loaded: Loaded,
        layers: Vec<Arc<OpenLayer>>,
        former: Option<&Self>,
        aging: Arc<Aging>,
    ) -> Result<Self> {
        let same_base = former.filter(|former| Arc::ptr_eq(&former.loaded.manifest, &loaded.manifest));
        let base = match same_base {
            Some(former) => Arc::clone(&former.base),
            None => Arc::new(kept(&loaded)?),
        };
        // What the former state knows already is not applied again.
        let known = same_base.filter(|former| loaded.statements.starts_with(&former.loaded.statements));
        let (mut statements, mut unknown, from) = match known {
            Some(former) => {
                ((*former.statements).clone(), former.unknown_statement, former.loaded.statements.len())
            }
            None => (base.statements.clone(), false, 0),
        };
        for found in loaded.statements.iter().skip(from) {
            match Statement::decode(found.kind, &found.payload) {
                Some(statement) => drop(statements.apply(&statement)),
                // Written by a newer version: it may mask something.
                None => unknown = true,
            }
        }
        let suspended =
            base.suspended || loaded.deny_all == Denial::UntilResumed || unknown || is_unsure(&base, &loaded);
        let checked = |name: &str| base.sync.get(name).and_then(|trust| trust.checked.as_ref());
        statements.lapsed = aging.lapsed(&statements, &checked);
        let same = former.filter(|former| {
            former.layers.len() == layers.len()
                && former.layers.iter().zip(&layers).all(|(a, b)| Arc::ptr_eq(a, b))
        });
        let shared_ids = match same {
            Some(former) => Arc::clone(&former.shared_ids),
            None => Arc::new(shared_ids(&layers)?),
        };
        Ok(Self {
            epoch: loaded.epoch,
            loaded,
            base,
            statements: Arc::new(statements),
            layers,
            shared_ids,
            suspended,
            unknown_statement: unknown,
            aging,
            damaged: AtomicBool::new(false),
        })
    }

    /// The open layer of that name.
    pub(crate) fn layer(&self, layer: Layer) -> Option<&Arc<OpenLayer>> {
        self.layers.iter().find(|open| open.layer == layer)
    }

    /// Whether there is nothing to see because nothing was ever put in.
    pub(crate) fn is_empty(&self) -> bool {
        self.layers.iter().all(|open| open.live.is_empty())
    }

    /// Whether something may be missing that only the platform can say again.
    pub(crate) fn is_unsure(&self) -> bool {
        is_unsure(&self.base, &self.loaded)
    }

    /// Marks the state as damaged.
    pub(crate) fn mark_damaged(&self) {
        self.damaged.store(true, Ordering::Relaxed);
    }

    /// Whether a first touch found damage.
    pub(crate) fn is_damaged(&self) -> bool {
        self.damaged.load(Ordering::Relaxed)
    }
}

fn is_unsure(base: &Kept, loaded: &Loaded) -> bool {
    base.unsure || loaded.deny_all == Denial::UntilFetched || loaded.ring_damage.is_some()
}

/// What the manifest keeps for the catalog.
///
/// # Errors
/// It is of a form that this version does not know: it may mask something, so that nothing is served.
pub(crate) fn kept(loaded: &Loaded) -> Result<Kept> {
    if loaded.manifest.state.is_null() {
        return Ok(Kept::default());
    }
    serde_json::from_value(loaded.manifest.state.clone())
        .map_err(|error| StorageError::UnknownState { detail: error.to_string() }.into())
}

/// Every id of a smaller layer that a larger one holds too. Cost: one look-up a skill of all layers but the largest.
fn shared_ids(layers: &[Arc<OpenLayer>]) -> Result<SharedIds> {
    let mut shared: std::collections::BTreeMap<u128, Vec<(usize, u32)>> = std::collections::BTreeMap::new();
    let Some(largest) = (0..layers.len()).max_by_key(|index| layers[*index].live.count()) else {
        return Ok(Vec::new());
    };
    for (index, layer) in layers.iter().enumerate().filter(|(index, _)| *index != largest) {
        for row in layer.ids().rows().map_err(|damage| damaged(layer.name(), damage))? {
            for (other_index, other) in layers.iter().enumerate().filter(|(other, _)| *other != index) {
                let found = other.ids().row(row.hash).map_err(|damage| damaged(other.name(), damage))?;
                if let Some((_, found)) = found {
                    let places = shared.entry(row.hash).or_default();
                    places.push((index, row.ordinal));
                    places.push((other_index, found.ordinal));
                }
            }
        }
    }
    Ok(shared
        .into_values()
        .map(|mut places| {
            places.sort_unstable();
            places.dedup();
            places
        })
        .collect())
}

/// The row's ordinal of an id in a layer, visible or not.
pub(crate) fn ordinal_of(layer: &OpenLayer, id: &str) -> Result<Option<u32>> {
    let row = layer.ids().row(hash128(id.as_bytes())).map_err(|damage| damaged(layer.name(), damage))?;
    let Some((slot, row)) = row else { return Ok(None) };
    let record = layer.record_of_slot(slot).map_err(|damage| damage.in_file(layer.name()))?;
    Ok((record.id.as_str() == id).then_some(row.ordinal))
}
