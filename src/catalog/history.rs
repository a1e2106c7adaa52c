//! What was current at the last few epochs of this process: what `wait` compares with.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::catalog::report::Change;
use crate::catalog::state::State;
use crate::entitlement::Statements;
use crate::model::Layer;

/// States that are remembered.
const STATES_MAX: usize = 64;

/// The last states, oldest first.
#[derive(Debug, Default)]
pub(crate) struct History {
    states: VecDeque<Noted>,
}

#[derive(Debug)]
struct Noted {
    epoch: u64,
    generations: BTreeMap<Layer, u64>,
    statements: Arc<Statements>,
    suspended: bool,
}

impl History {
    /// Remembers a state.
    pub(crate) fn note(&mut self, state: &State) {
        if self.states.iter().any(|noted| noted.epoch == state.epoch) {
            return;
        }
        if self.states.len() == STATES_MAX {
            self.states.pop_front();
        }
        self.states.push_back(Noted {
            epoch: state.epoch,
            generations: state.layers.iter().map(|open| (open.layer, open.generation)).collect(),
            statements: Arc::clone(&state.statements),
            suspended: state.suspended,
        });
    }

    /// What differs between the state that a token stands for and this one; `None` if nothing does. An unknown token
    /// counts as "everything may differ".
    pub(crate) fn since(&self, token: u64, state: &State) -> Option<Change> {
        let Some(old) = self.states.iter().find(|noted| noted.epoch == token) else {
            return Some(Change { token: state.epoch, layers: Layer::ALL.to_vec(), entitlements: true });
        };
        let generation = |layer| state.layer(layer).map(|open| open.generation);
        let layers: Vec<Layer> = Layer::ALL
            .into_iter()
            .filter(|layer| old.generations.get(layer).copied() != generation(*layer))
            .collect();
        let entitlements = old.statements != state.statements || old.suspended != state.suspended;
        (entitlements || !layers.is_empty()).then_some(Change { token: state.epoch, layers, entitlements })
    }
}
