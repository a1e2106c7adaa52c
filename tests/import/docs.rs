//! `docs/import.md` knows every code that a file can be refused or warned with.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn sources(folder: &Path, out: &mut Vec<PathBuf>) {
    for item in fs::read_dir(folder).expect("a folder").map(|item| item.expect("an item").path()) {
        let name = item.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        if item.is_dir() {
            sources(&item, out);
        } else if item.extension().is_some_and(|kind| kind == "rs") && !name.contains("tests") {
            out.push(item);
        }
    }
}

/// The codes that code gives to problems, tests aside.
fn codes(code: &str) -> impl Iterator<Item = &str> {
    let code = code.split("#[cfg(test)]").next().unwrap_or_default();
    code.split("Problem::new(")
        .skip(1)
        .filter_map(|rest| rest.trim_start().strip_prefix('"')?.split('"').next())
}

#[test]
fn every_code_is_in_the_document() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let document = fs::read_to_string(root.join("docs/import.md")).expect("the document");
    let mut files = Vec::new();
    for module in ["model", "import", "intake", "flow"] {
        sources(&root.join("src").join(module), &mut files);
    }
    let texts: Vec<String> = files.iter().map(|file| fs::read_to_string(file).expect("a source")).collect();
    let all: BTreeSet<&str> =
        texts.iter().flat_map(|text| codes(text)).filter(|code| !code.is_empty()).collect();
    assert!(all.len() > 60, "{} codes are found", all.len());
    let missing: Vec<_> = all.iter().filter(|code| !document.contains(&format!("`{code}`"))).collect();
    assert!(missing.is_empty(), "docs/import.md does not say what these mean: {missing:?}");
}
