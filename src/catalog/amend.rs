//! A change of a few skills of a layer that is decided by what the layer holds of them.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::catalog::Catalog;
use crate::catalog::open::OpenLayer;
use crate::catalog::plan::Delta;
use crate::catalog::report::Committed;
use crate::catalog::state::ordinal_of;
use crate::catalog::update::{refuse_broken, refuse_bundled, tidy};
use crate::error::{Result, StorageError};
use crate::model::{Entry, Layer};

/// What a layer holds at the moment of a change. Skills are found by their ids through the index; hidden and
/// unavailable ones are there too, since this is the operator's look.
#[derive(Clone, Copy, Debug)]
pub struct Held<'s> {
    open: Option<&'s OpenLayer>,
}

/// A change: skills that come in, in the place of those of the same id, and ids that go.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Amendment {
    /// Skills that come in.
    pub puts: Vec<Entry>,
    /// Ids that go.
    pub removes: BTreeSet<String>,
}

impl<'s> Held<'s> {
    /// The entry of an id, with everything around it; `None` if there is none. Cost: a look-up and the record.
    ///
    /// # Errors
    /// The record is damaged.
    pub fn get(self, id: &str) -> Result<Option<Entry>> {
        let Some((open, ordinal)) = self.place(id)? else { return Ok(None) };
        open.entry(ordinal).map(Some)
    }

    /// Whether there is a skill of that id. Cost: a look-up.
    ///
    /// # Errors
    /// The index is damaged.
    pub fn contains(self, id: &str) -> Result<bool> {
        Ok(self.place(id)?.is_some())
    }

    /// How many skills there are.
    #[must_use]
    pub fn len(self) -> u64 {
        self.open.map_or(0, |open| open.live.count())
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Calls with the id and one member of the metadata of every skill, in the order of ids; `null` where a skill has
    /// no such member. Cost: the records, without bodies.
    ///
    /// # Errors
    /// A record is damaged.
    pub fn each_metadata(self, member: &str, each: &mut dyn FnMut(&str, &Value)) -> Result<()> {
        let Some(open) = self.open else { return Ok(()) };
        for ordinal in open.order()?.iter() {
            let record = open.record(ordinal)?;
            let text = record.metadata_json.as_str();
            let metadata: Value = if text.is_empty() {
                Value::Null
            } else {
                serde_json::from_str(text)
                    .map_err(|error| StorageError::damaged(open.name(), error.to_string()))?
            };
            each(record.id.as_str(), metadata.get(member).unwrap_or(&Value::Null));
        }
        Ok(())
    }

    fn place(self, id: &str) -> Result<Option<(&'s OpenLayer, u32)>> {
        let Some(open) = self.open else { return Ok(None) };
        let ordinal = ordinal_of(open, id)?.filter(|ordinal| open.live.test(*ordinal));
        Ok(ordinal.map(|ordinal| (open, ordinal)))
    }
}

impl Catalog {
    /// Changes some skills of a layer by what it holds: `change` looks at skills by their ids and answers what comes in
    /// and what goes. It is called again, with what there is then, if another process committed meanwhile. Nothing to
    /// change is no new generation.
    ///
    /// Cost: what `change` looks at, and that of [`Catalog::apply`].
    ///
    /// # Errors
    /// What `change` answers; else as [`Catalog::apply`].
    pub fn amend(
        &self,
        layer: Layer,
        change: &mut dyn FnMut(Held<'_>) -> Result<Amendment>,
    ) -> Result<Committed> {
        refuse_bundled(layer)?;
        self.replace(layer, &mut |state, base, generation| {
            let open = state.layer(layer).map(AsRef::as_ref);
            let Amendment { mut puts, removes } = change(Held { open })?;
            refuse_broken(layer, &puts)?;
            tidy(layer, &mut puts);
            let Some(open) = open else {
                let new =
                    if puts.is_empty() { None } else { Some(self.write_whole(layer, puts, generation)?) };
                return Ok(new);
            };
            let delta = Delta::new(open, &puts, &removes)?;
            if delta.puts.is_empty() && delta.removes.is_empty() {
                return Ok(None);
            }
            self.write_delta(state, layer, base, delta, generation).map(Some)
        })
    }

    /// Looks at what a layer holds, hidden and unavailable skills included. Not for callers with fewer rights than the
    /// operator: queries go through a [`View`](crate::catalog::View).
    ///
    /// # Errors
    /// The state cannot be opened; what `look` answers.
    pub fn held<T>(&self, layer: Layer, look: impl FnOnce(Held<'_>) -> Result<T>) -> Result<T> {
        let state = self.current()?;
        look(Held { open: state.layer(layer).map(AsRef::as_ref) })
    }
}
