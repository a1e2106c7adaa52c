//! Who may see what.

// --- interface stubs ---
use crate::model::Layer;

/// How a caller's sight is narrower than the deployment's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Narrowing {
    /// Only these subscriptions; `None` = all of the deployment's.
    pub subscriptions: Option<Vec<String>>,
    /// Only these layers; `None` = all.
    pub layers: Option<Vec<Layer>>,
}
