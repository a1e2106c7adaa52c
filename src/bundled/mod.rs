//! The starter skills in the binary.

use crate::model::Entry;

/// The bundled skills.
pub(crate) fn entries() -> &'static [Entry] {
    &[]
}
