//! The starter skills of the program keep its own rules.

use repertoire::catalog::{BundledMode, Options};
use repertoire::lint::{Subject, lint};
use repertoire::{Catalog, Layer, Narrowing};

#[test]
fn the_starter_skills_are_clean() {
    let folder = tempfile::tempdir().expect("folder");
    let options = Options::default().bundled(BundledMode::Always);
    let catalog = Catalog::open_with(folder.path().join("data"), options).expect("a catalog");
    let entries = catalog.entries(Layer::Bundled).expect("entries");
    assert!(entries.len() >= 16);
    let subjects: Vec<Subject<'_>> = entries.iter().map(|entry| Subject::new(&entry.skill)).collect();
    let mut view = catalog.view(Narrowing::default());
    let pin = view.pin().expect("a pin");
    let findings = lint(&subjects, Some(pin.look()), catalog.registry()).expect("findings");
    assert_eq!(findings, []);
}
