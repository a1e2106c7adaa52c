//! The catalog as an embedder uses it: layers, entitlement, damage, several handles.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod damage;
mod deltas;
mod entitlement;
mod languages;
mod layers;
mod search;
mod support;
