//! The deep check of an open layer: every record, every body, every index against itself.

use crate::catalog::open::OpenLayer;
use crate::catalog::segment::damaged;
use crate::error::{Result, StorageError};
use crate::index::hash::hash128;

impl OpenLayer {
    /// Touches everything. Cost: the bytes of the layer.
    ///
    /// # Errors
    /// The first thing that does not hold.
    pub(crate) fn check_all(&self) -> Result<()> {
        let wrap = |damage| damaged(self.name(), damage);
        self.ids().verify().map_err(wrap)?;
        self.exact()?.verify(self.ordinals()).map_err(wrap)?;
        for (segment, _) in self.segments() {
            segment.names()?.verify().map_err(|damage| damaged(segment.name(), damage))?;
            segment.facets()?;
            segment.text()?;
        }
        let mut former: Option<&str> = None;
        for ordinal in self.order()?.iter() {
            let record = self.record(ordinal)?;
            let id = record.id.as_str();
            let row = self.ids().row(hash128(id.as_bytes())).map_err(wrap)?;
            if row.is_none_or(|(_, row)| row.ordinal != ordinal) || former.is_some_and(|former| former >= id)
            {
                let detail = format!("skill {id:?} is not where the id index or the order says");
                return Err(StorageError::damaged(self.name(), detail).into());
            }
            former = Some(id);
            if let Some((slot, _)) = row {
                self.record_of_slot(slot).map_err(|damage| damage.in_file(self.name()))?;
            }
            // Reads body, source text and resources too.
            self.entry(ordinal)?;
        }
        Ok(())
    }
}
