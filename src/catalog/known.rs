//! What the catalog knows whoever may see it: for an operator who names an id or a subscription and may have mistyped it.

use crate::catalog::Catalog;
use crate::catalog::segment::damaged;
use crate::catalog::state::ordinal_of;
use crate::error::Result;
use crate::limits::ID_BYTES_MAX;

impl Catalog {
    /// Whether a layer holds a skill of exactly this id, hidden and unavailable ones included. Not for callers with
    /// fewer rights than the operator: queries go through a [`View`](crate::catalog::View).
    ///
    /// Cost: a look-up a layer.
    ///
    /// # Errors
    /// The state cannot be opened, or the record is damaged.
    pub fn holds(&self, id: &str) -> Result<bool> {
        if id.len() > ID_BYTES_MAX {
            return Ok(false);
        }
        for layer in &self.current()?.layers {
            if ordinal_of(layer, id)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a skill belongs to this subscription, active or not. As [`Catalog::holds`], for the operator only.
    ///
    /// Cost: a walk through the names of the subscriptions.
    ///
    /// # Errors
    /// The state cannot be opened, or an index is damaged.
    pub fn brings(&self, subscription: &str) -> Result<bool> {
        for layer in &self.current()?.layers {
            for (segment, _) in layer.segments() {
                let groups = segment.groups()?;
                for number in 0..groups.subscriptions() {
                    let name =
                        groups.subscription(number).map_err(|damage| damaged(segment.name(), damage))?;
                    if name == subscription {
                        return Ok(true);
                    }
                }
            }
        }
        Ok(false)
    }
}
