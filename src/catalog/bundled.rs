//! The starter layer that the binary carries, opened once a process and registry.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::catalog::files::{DIRECTORY_SCHEMA, SEGMENT_SCHEMA};
use crate::catalog::open::OpenLayer;
use crate::error::Result;
use crate::model::Layer;
use crate::snapshot::{Aligned, Bytes, SectionFile};
use crate::tools::ToolRegistry;

/// The directory and the segment as a build would write them: see the test below.
static DIRECTORY: &Aligned<[u8]> = &Aligned(*include_bytes!("../bundled/layer/directory.seg"));
static SEGMENT: &Aligned<[u8]> = &Aligned(*include_bytes!("../bundled/layer/segment.seg"));

/// The open layer and the registry that it was checked against.
static OPEN: Mutex<Option<([u8; 32], Arc<OpenLayer>)>> = Mutex::new(None);

/// The bundled layer, checked against this registry. Cost: that of opening any layer of sixteen skills; nothing is
/// parsed and nothing built.
///
/// # Errors
/// The embedded files are of another format than the program (a test says that they are not).
pub(crate) fn layer(registry: &ToolRegistry) -> Result<Arc<OpenLayer>> {
    let fingerprint = registry.fingerprint();
    let mut slot = OPEN.lock();
    if let Some((known, open)) = slot.as_ref()
        && *known == fingerprint
    {
        return Ok(Arc::clone(open));
    }
    let segment = Bytes::from_constant(&SEGMENT.0);
    // A segment is known by its content, and so is the constant.
    let name = format!("bundled-{}.seg", crate::snapshot::content_hash(&segment));
    let files = vec![
        Arc::new(SectionFile::parse("bundled", Bytes::from_constant(&DIRECTORY.0), &DIRECTORY_SCHEMA)?),
        Arc::new(SectionFile::parse(&name, segment, &SEGMENT_SCHEMA)?),
    ];
    let open = Arc::new(OpenLayer::new(Layer::Bundled, 1, files, registry)?);
    *slot = Some((fingerprint, Arc::clone(&open)));
    Ok(open)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::build::build;

    #[test]
    fn the_embedded_layer_is_what_the_builder_makes_of_the_embedded_skills() {
        let registry = ToolRegistry::builtin();
        let built = build(Layer::Bundled, crate::bundled::entries(), &registry, 1).unwrap();
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/bundled/layer");
        let names = ["directory.seg", "segment.seg"];
        let files = [built.directory.unwrap(), built.segment.unwrap()];
        for (file, name) in files.iter().zip(names) {
            let path = format!("{folder}/{name}");
            if std::env::var_os("UPDATE_GOLDEN").is_some() {
                std::fs::write(&path, &file.bytes).unwrap();
            }
            assert!(
                std::fs::read(&path).unwrap() == file.bytes,
                "{name} is old; write it with UPDATE_GOLDEN=1 cargo test --lib the_embedded_layer, then build again"
            );
        }
    }

    #[test]
    fn the_embedded_layer_opens_and_holds_sixteen_usable_skills() {
        let open = layer(&ToolRegistry::builtin()).unwrap();
        open.check_all().unwrap();
        assert_eq!((open.live.count(), open.available.count()), (16, 16));
    }
}
