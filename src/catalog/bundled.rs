//! The starter layer that the binary carries, opened once a process and registry.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::bundled;
use crate::catalog::handle::open_in_memory;
use crate::catalog::open::OpenLayer;
use crate::error::Result;
use crate::model::Layer;
use crate::tools::ToolRegistry;

/// The open layer and the registry that it was checked against.
static OPEN: Mutex<Option<([u8; 32], Arc<OpenLayer>)>> = Mutex::new(None);

/// The bundled layer, checked against this registry.
///
/// # Errors
/// A bundled skill breaks a rule of the model (a test says that none does).
pub(crate) fn layer(registry: &ToolRegistry) -> Result<Arc<OpenLayer>> {
    let fingerprint = registry.fingerprint();
    let mut slot = OPEN.lock();
    if let Some((known, open)) = slot.as_ref()
        && *known == fingerprint
    {
        return Ok(Arc::clone(open));
    }
    let open = Arc::new(open_in_memory(Layer::Bundled, bundled::entries(), registry)?);
    *slot = Some((fingerprint, Arc::clone(&open)));
    Ok(open)
}
