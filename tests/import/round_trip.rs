//! Every file of the fixtures that is taken, exported in every format and imported again.

use std::fs;
use std::path::Path;

use repertoire::catalog::{BundledMode, Catalog, Options};
use repertoire::intake::{self, ExportFormat, ImportOptions};
use repertoire::{Entry, Layer, Skill};
use serde_json::Value;

use crate::cases::lay_out;

fn imported(catalog: &Catalog, root: &Path) -> Vec<Entry> {
    let paths = [root.to_path_buf()];
    intake::import_paths(catalog, &paths, &ImportOptions::default(), &|_| {}).expect("an import");
    catalog.entries(Layer::Local).expect("entries")
}

fn catalog(folder: &Path) -> Catalog {
    Catalog::open_with(folder, Options::default().bundled(BundledMode::Never)).expect("a catalog")
}

/// Everything that is taken of the fixtures, each case in a folder of its own.
fn fixtures() -> (tempfile::TempDir, Vec<Entry>) {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/front-matter");
    let folder = tempfile::tempdir().expect("folder");
    for case in fs::read_dir(fixtures).expect("cases").map(|case| case.expect("case").path()) {
        let expected: Value =
            serde_json::from_slice(&fs::read(case.join("expected.json")).expect("expected")).expect("JSON");
        let name = case.file_name().expect("a name");
        let directory = expected["assume_directory_name"].as_str().expect("directory");
        lay_out(&case, &folder.path().join("in").join(name), directory);
    }
    let entries = imported(&catalog(&folder.path().join("data")), &folder.path().join("in"));
    (folder, entries)
}

#[test]
fn what_is_taken_comes_back_but_for_what_the_writer_names() {
    let (folder, entries) = fixtures();
    assert!(entries.len() >= 30, "{} entries", entries.len());
    for (name, least) in [("json", 30), ("agent-skills", 25), ("skills-v2", 2)] {
        let format = ExportFormat::from_name(name).expect("a format");
        let out = folder.path().join(name);
        let registry = repertoire::ToolRegistry::builtin();
        let report = intake::export(&entries, format, &out, &registry).expect("an export");
        let mut written = 0;
        for (line, entry) in report.skills.iter().zip(&entries) {
            let Some(path) = &line.path else {
                assert!(!line.problems.is_empty(), "{name}: {} is not written without a reason", line.id);
                continue;
            };
            written += 1;
            // Alone, since of two skills with one last name the later is read under a longer id.
            let file = out.join(path);
            let root = if name == "json" { file.as_path() } else { file.parent().expect("a folder") };
            let read = intake::check_paths(&[root.to_path_buf()], &registry, &ImportOptions::default());
            let back = read.skills[0].skill.as_ref().unwrap_or_else(|| panic!("{name}: {path}: {read:?}"));
            let members = |skill: &Skill| match serde_json::to_value(skill) {
                Ok(Value::Object(members)) => members,
                other => panic!("{other:?}"),
            };
            let (before, after) = (members(&entry.skill), members(back));
            for member in before.keys().chain(after.keys()) {
                let same = before.get(member) == after.get(member);
                let lost = line.lost.contains(member);
                assert!(same || lost, "{name}: {path} loses {member} unsaid: {before:?} {after:?}");
                assert!(!(same && lost), "{name}: {path} keeps {member}");
            }
        }
        assert!(written >= least, "{name}: {written} written");
    }
}

#[test]
fn a_file_comes_back_byte_for_byte_in_its_own_format() {
    let (folder, entries) = fixtures();
    let mut whole = 0;
    for name in ["agent-skills", "skills-v2"] {
        let format = ExportFormat::from_name(name).expect("a format");
        let out = folder.path().join(name);
        let registry = repertoire::ToolRegistry::builtin();
        let report = intake::export(&entries, format, &out, &registry).expect("an export");
        for (line, entry) in report.skills.iter().zip(&entries) {
            let Some(path) = &line.path else { continue };
            let (bytes, source) = (fs::read(out.join(path)).expect("a file"), entry.source_text.as_deref());
            whole += usize::from(Some(bytes.as_slice()) == source);
        }
    }
    assert!(whole >= entries.len() / 2, "{whole} of {} are as they were written", entries.len());
}
