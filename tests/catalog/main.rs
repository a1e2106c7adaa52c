//! The catalog as an embedder uses it: layers, entitlement, damage, several handles.

mod damage;
mod entitlement;
mod layers;
mod support;
