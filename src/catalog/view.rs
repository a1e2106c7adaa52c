//! Views, pins and owned snapshots: the only ways to a query.

use std::ops::Deref;
use std::sync::Arc;

use crate::catalog::{Catalog, Look};
use crate::entitlement::Narrowing;
use crate::error::Result;

/// A catalog with entitlements. `Send + Clone`, one for each task; every query goes through one.
#[derive(Clone, Debug)]
pub struct View {
    catalog: Catalog,
    narrowing: Arc<Narrowing>,
    look: Option<Arc<Look>>,
}

impl View {
    pub(crate) fn new(catalog: Catalog, narrowing: Narrowing) -> Self {
        Self { catalog, narrowing: Arc::new(narrowing), look: None }
    }

    /// Begins a query: one consistent look at all layers under the entitlements of this moment.
    ///
    /// Cost while nothing changed: two loads, no lock, no allocation. After a change in any process the first pin
    /// reads the manifest and rebuilds the caller's bits.
    ///
    /// A pin that is held keeps the old content **and** the old entitlements: take a new one for each request.
    ///
    /// # Errors
    /// The data directory could not be read, or the catalog was inherited through a fork.
    pub fn pin(&mut self) -> Result<Pin<'_>> {
        let look = current(&self.catalog, &self.narrowing, &mut self.look)?;
        Ok(Pin { look, catalog: &self.catalog })
    }

    /// The owned form of a pin (`Send + Sync`), for async hosts and bindings.
    ///
    /// # Errors
    /// As [`View::pin`].
    pub fn snapshot(&mut self) -> Result<Snapshot> {
        Ok(Snapshot { look: Arc::clone(current(&self.catalog, &self.narrowing, &mut self.look)?) })
    }
}

/// The look of this moment: the cached one while the epoch stands. Free-standing, so that a pin can borrow the look
/// and the catalog side by side.
fn current<'v>(
    catalog: &Catalog,
    narrowing: &Arc<Narrowing>,
    cached: &'v mut Option<Arc<Look>>,
) -> Result<&'v Arc<Look>> {
    let epoch = catalog.epoch();
    if cached.as_ref().is_some_and(|look| look.epoch() != epoch || look.is_damaged()) {
        *cached = None;
    }
    match cached {
        Some(look) => Ok(look),
        empty => Ok(empty.insert(catalog.look(narrowing)?)),
    }
}

/// One request's read transaction: borrows the view, is zero-copy, dereferences to [`Look`].
#[derive(Clone, Copy, Debug)]
pub struct Pin<'v> {
    look: &'v Look,
    catalog: &'v Catalog,
}

impl<'v> Pin<'v> {
    /// Whether nothing has changed since the pin was taken.
    #[must_use]
    pub fn is_current(&self) -> bool {
        self.catalog.epoch() == self.look.epoch()
    }

    /// The look for as long as the view is borrowed (longer than the pin itself).
    #[must_use]
    pub fn look(&self) -> &'v Look {
        self.look
    }
}

impl Deref for Pin<'_> {
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

impl Deref for Snapshot {
    type Target = Look;
    fn deref(&self) -> &Look {
        &self.look
    }
}
