//! From rows, keys and an order to the directory of a layer.

use sha2::{Digest, Sha256};

use crate::catalog::build::{AT_OPEN, AT_TOUCH, build_error};
use crate::catalog::files::{DIRECTORY_SCHEMA, DirectoryHead, SegmentHead};
use crate::catalog::record::hex;
use crate::error::{Result, StorageError};
use crate::index::bits::Bits;
use crate::index::ids::{self, Row};
use crate::index::names::Entry as Key;
use crate::index::{SectionKind, exact, live};
use crate::model::Layer;
use crate::snapshot::{Built, FileBuilder};

/// What a directory is made of.
pub(super) struct Directory<'a> {
    pub(super) layer: Layer,
    /// The segments in ordinal order, and which of their documents are live.
    pub(super) heads: Vec<SegmentHead>,
    pub(super) lives: Vec<Bits>,
    /// A row for each live skill, in any order.
    pub(super) rows: Vec<Row>,
    /// The uses of each normalised key by live skills, in any order.
    pub(super) keys: Vec<(&'a str, Key)>,
    /// The live ordinals in the order of their ids.
    pub(super) order: Vec<u32>,
}

impl Directory<'_> {
    /// The file. The two tables, which take most of the time, are built side by side.
    ///
    /// # Errors
    /// A part that is larger than its section can hold.
    pub(super) fn build(&self, generation: u64) -> Result<Built> {
        let head = DirectoryHead { layer: self.layer, segments: self.heads.clone() };
        let head =
            serde_json::to_vec(&head).map_err(|error| StorageError::damaged("build", error.to_string()))?;
        let (ids, exact) = std::thread::scope(|scope| {
            let exact = scope.spawn(|| exact::build(self.keys.iter().copied()));
            (ids::build(&self.rows), exact.join())
        });
        let exact = exact
            .map_err(|_| StorageError::damaged("build", "a worker ended early; please report this"))?
            .map_err(build_error)?;
        let order = self.order.iter().flat_map(|ordinal| ordinal.to_le_bytes()).collect();
        Ok(FileBuilder::new(&DIRECTORY_SCHEMA)
            .count(0, self.order.len() as u64)
            .section(SectionKind::Directory.code(), AT_OPEN, head)
            .section(SectionKind::Ids.code(), AT_TOUCH, ids.map_err(build_error)?)
            .section(SectionKind::Live.code(), AT_OPEN, live::build(&self.lives).map_err(build_error)?)
            .section(SectionKind::Exact.code(), AT_TOUCH, exact)
            .section(SectionKind::Order.code(), AT_TOUCH, order)
            .finish(generation)?)
    }
}

/// SHA-256 over the id-sorted (length-prefixed id, content digest, length-prefixed sorted subscriptions).
#[derive(Default)]
pub(super) struct LayerDigest {
    sha: Sha256,
}

impl LayerDigest {
    /// Adds the next skill in the order of the ids.
    pub(super) fn add(&mut self, id: &str, content: &[u8; 32], subscriptions: &[&str]) {
        self.sha.update((id.len() as u64).to_be_bytes());
        self.sha.update(id);
        self.sha.update(content);
        for subscription in subscriptions {
            self.sha.update((subscription.len() as u64).to_be_bytes());
            self.sha.update(subscription);
        }
    }

    /// The digest, hexadecimal.
    pub(super) fn finish(self) -> String {
        hex(&self.sha.finalize())
    }
}
