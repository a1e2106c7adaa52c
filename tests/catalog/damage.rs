use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use repertoire::model::Layer;

use crate::support::{ids, knowledge, open, put, sees, with};

fn segments(dir: &Path, prefix: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.file_name().unwrap().to_string_lossy().starts_with(prefix))
        .collect();
    found.sort();
    found
}

fn overwrite(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    change(&mut bytes);
    fs::remove_file(path).unwrap();
    fs::write(path, bytes).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o400)).unwrap();
}

#[test]
fn a_truncated_flipped_foreign_or_missing_local_file_is_rebuilt_from_the_source() {
    type Harm = (&'static str, fn(&Path));
    let harms: [Harm; 7] = [
        ("truncated", |path| overwrite(path, |bytes| bytes.truncate(bytes.len() / 2))),
        ("flipped", |path| overwrite(path, |bytes| bytes[200] ^= 1)),
        ("foreign", |path| overwrite(path, |bytes| *bytes = b"not a snapshot".to_vec())),
        ("missing", |path| fs::remove_file(path).unwrap()),
        ("a directory", |path| {
            fs::remove_file(path).unwrap();
            fs::create_dir(path).unwrap();
        }),
        ("a pipe", |path| {
            fs::remove_file(path).unwrap();
            let made = std::process::Command::new("mkfifo").arg(path).status().unwrap();
            assert!(made.success());
        }),
        ("a link", |path| {
            let elsewhere = path.with_extension("elsewhere");
            fs::rename(path, &elsewhere).unwrap();
            symlink(&elsewhere, path).unwrap();
        }),
    ];
    for (what, harm) in harms {
        for index in 0..2 {
            let dir = tempfile::tempdir().unwrap();
            let data = dir.path().join("data");
            put(
                &open(&data),
                Layer::Local,
                &[knowledge("camera", "Take a picture."), knowledge("maps", "Find.")],
            );
            let files = segments(&data, "local-");
            assert_eq!(files.len(), 2);
            harm(&files[index]);
            let catalog = open(&data);
            assert!(sees(&catalog, "camera"), "{what} file {index}");
            assert!(catalog.verify(None).unwrap().iter().all(|file| file.ok), "{what} file {index}");
        }
    }
}

#[test]
fn a_damaged_synced_layer_goes_back_to_its_previous_generation() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let catalog = open(&data);
    catalog.declare(repertoire::LocalStatement::Grant("s".into())).unwrap();
    put(&catalog, Layer::Synced, &[with(knowledge("one", "First."), &["s"])]);
    let old = segments(&data, "synced-");
    put(&catalog, Layer::Synced, &[with(knowledge("two", "Second."), &["s"])]);
    drop(catalog);
    for path in segments(&data, "synced-").iter().filter(|path| !old.contains(path)) {
        overwrite(path, |bytes| bytes.truncate(100));
    }
    let catalog = open(&data);
    assert_eq!(ids(&catalog), ["one"]);
    assert!(
        segments(&data, "synced-").iter().any(|path| path.extension().unwrap() == "bad"),
        "kept for a look"
    );
}

#[test]
fn damage_in_a_hidden_record_is_healed_and_stops_nobody() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    put(
        &open(&data),
        Layer::Local,
        &[knowledge("camera", "Take a picture."), knowledge("maps", "Find a place.")],
    );
    damage(&data, b"Take a picture.");
    let catalog = open(&data);
    catalog.declare(repertoire::LocalStatement::Hide("camera".into())).unwrap();
    assert_eq!(ids(&catalog), ["maps"]);
    assert!(catalog.verify(None).unwrap().iter().all(|file| file.ok));
}

/// Flips a bit in the first copy of a text: the one in a record, which stands before the bodies.
fn damage(data: &Path, needle: &[u8]) {
    let holds = |path: &PathBuf| fs::read(path).unwrap().windows(needle.len()).any(|window| window == needle);
    let path = segments(data, "local-").into_iter().find(holds).unwrap();
    overwrite(&path, |bytes| {
        let at = bytes.windows(needle.len()).position(|window| window == needle).unwrap();
        bytes[at] ^= 0x20;
    });
}

#[test]
fn a_record_damaged_under_an_open_catalog_is_an_error_once_and_then_healed() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    put(&open(&data), Layer::Local, &[knowledge("camera", "Take a picture with the camera app.")]);
    let needle = b"Take a picture with the camera app.";
    let file = segments(&data, "local-")
        .into_iter()
        .find(|path| fs::read(path).unwrap().windows(needle.len()).any(|window| window == needle));
    let path = file.unwrap();
    overwrite(&path, |bytes| {
        let at = bytes.windows(needle.len()).rposition(|window| window == needle).unwrap();
        bytes[at] ^= 0x20;
    });
    let catalog = open(&data);
    let mut view = catalog.view(repertoire::Narrowing::default());
    let broken = view.pin().unwrap().get("camera").and_then(|skill| skill.unwrap().to_skill());
    assert_eq!(broken.unwrap_err().code(), "storage_damaged");
    let whole = view.pin().unwrap().get("camera").unwrap().unwrap().to_skill().unwrap();
    assert_eq!(whole.description, "Take a picture with the camera app.");
}

/// Overwrites a byte in the middle of a section that is checked at first touch.
fn damage_section(data: &Path, catalog: &repertoire::Catalog, prefix: &str, kind: &str) {
    let reports = catalog.inspect(None).unwrap();
    let found = reports.iter().find_map(|file| {
        let section = file.sections.iter().find(|section| section.kind == kind)?;
        file.name.starts_with(prefix).then(|| (file.name.clone(), section.offset + section.length / 2))
    });
    let (name, at) = found.unwrap();
    overwrite(&data.join(name), |bytes| bytes[usize::try_from(at).unwrap()] ^= 0x55);
}

#[test]
fn an_index_damaged_under_an_open_catalog_is_an_error_once_and_never_an_empty_answer() {
    type Ask = fn(&repertoire::Look) -> repertoire::Result<usize>;
    let asks: [(&str, Ask); 6] = [
        ("ids", |look| look.get("camera").map(|found| usize::from(found.is_some()))),
        ("exact", |look| look.lookup("photos").map(|found| found.len())),
        ("order", |look| look.list(&repertoire::Filter::default(), 5, None).map(|page| page.skills.len())),
        ("names", |look| look.prefix("cam", 5).map(|found| found.len())),
        ("text", |look| {
            look.search("picture", &repertoire::Filter::default(), 5).map(|page| page.hits.len())
        }),
        ("facets", |look| {
            let filter = repertoire::Filter::default().kind(repertoire::Kind::Knowledge);
            look.list(&filter, 5, None).map(|page| page.skills.len())
        }),
    ];
    for (section, ask) in asks {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("data");
        let mut skill = knowledge("camera", "Take a picture with the camera app.");
        skill.skill.aliases.push("photos".into());
        let catalog = open(&data);
        put(&catalog, Layer::Local, &[skill]);
        damage_section(&data, &catalog, "local-", section);
        drop(catalog);
        let catalog = open(&data);
        let mut view = catalog.view(repertoire::Narrowing::default());
        let first = ask(&view.pin().unwrap());
        // The small id index is one block, which opening reads: there the damage is healed before the answer.
        let expected = if section == "ids" { Ok(1) } else { Err("storage_damaged") };
        assert_eq!(first.map_err(|error| error.code()), expected, "{section}");
        assert_eq!(ask(&view.pin().unwrap()).unwrap(), 1, "{section}: healed");
        assert!(catalog.verify(None).unwrap().iter().all(|file| file.ok), "{section}");
    }
}

#[test]
fn both_manifests_lost_leaves_local_skills_and_nothing_synced() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let catalog = open(&data);
    put(&catalog, Layer::Local, &[knowledge("camera", "Take a picture.")]);
    put(&catalog, Layer::Learned, &[knowledge("learned-1", "Learned.")]);
    drop(catalog);
    overwrite(&data.join("CURRENT"), |bytes| bytes.truncate(10));
    let previous = data.join("PREVIOUS");
    if previous.exists() {
        overwrite(&previous, |bytes| bytes.truncate(10));
    }
    let catalog = open(&data);
    assert_eq!(ids(&catalog), ["camera", "learned-1"]);
}

#[test]
fn a_statement_survives_the_loss_of_the_ring_and_damage_to_it() {
    type Harm = (&'static str, fn(&Path));
    let harms: [Harm; 3] = [
        ("flipped", |ring| overwrite(ring, |bytes| bytes[20] ^= 1)),
        ("emptied", |ring| overwrite(ring, |bytes| bytes.fill(0))),
        ("removed", |ring| fs::remove_file(ring).unwrap()),
    ];
    for (what, harm) in harms {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("data");
        let catalog = open(&data);
        put(&catalog, Layer::Local, &[knowledge("camera", "Take a picture."), knowledge("maps", "Find.")]);
        catalog.declare(repertoire::LocalStatement::Hide("camera".into())).unwrap();
        catalog.fold().unwrap();
        drop(catalog);
        harm(&data.join("revocations"));
        let catalog = open(&data);
        assert_eq!(ids(&catalog), ["maps"], "{what}");
    }
}

#[test]
fn an_open_catalog_folds_what_it_stated_by_itself() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let catalog = open(&data);
    put(&catalog, Layer::Local, &[knowledge("camera", "Take a picture.")]);
    let before = fs::read(data.join("CURRENT")).unwrap();
    catalog.declare(repertoire::LocalStatement::Hide("camera".into())).unwrap();
    let began = std::time::Instant::now();
    while fs::read(data.join("CURRENT")).unwrap() == before {
        assert!(began.elapsed() < std::time::Duration::from_secs(30), "it is never folded");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!(String::from_utf8_lossy(&fs::read(data.join("CURRENT")).unwrap()).contains("camera"));
}

#[test]
fn verify_says_what_is_wrong_with_the_ring_and_the_manifests_before_they_are_mended() {
    for (name, at) in [("revocations", 20), ("CURRENT", 70), ("PREVIOUS", 70), ("epoch", 3)] {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("data");
        let catalog = open(&data);
        put(&catalog, Layer::Local, &[knowledge("camera", "Take a picture.")]);
        put(&catalog, Layer::Local, &[knowledge("maps", "Find.")]);
        catalog.declare(repertoire::LocalStatement::Hide("maps".into())).unwrap();
        assert!(catalog.verify(None).unwrap().iter().all(|file| file.ok), "{name}");
        overwrite(&data.join(name), |bytes| bytes[at] ^= 1);
        let reports = catalog.verify(None).unwrap();
        let bad: Vec<&str> = reports.iter().filter(|file| !file.ok).map(|file| file.name.as_str()).collect();
        assert_eq!(bad, [name]);
    }
}

#[test]
fn the_status_says_that_a_manifest_was_lost_until_the_next_change() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let catalog = open(&data);
    put(&catalog, Layer::Local, &[knowledge("camera", "Take a picture.")]);
    put(&catalog, Layer::Local, &[knowledge("camera", "Take a picture."), knowledge("maps", "Find.")]);
    assert_eq!(catalog.status().unwrap().recovered, None);
    drop(catalog);
    overwrite(&data.join("CURRENT"), |bytes| bytes[70] ^= 1);
    for _ in 0..2 {
        let catalog = open(&data);
        assert_eq!(ids(&catalog), ["camera"]);
        assert!(catalog.status().unwrap().recovered.unwrap().contains("import or sync again"));
    }
    let catalog = open(&data);
    put(&catalog, Layer::Local, &[knowledge("maps", "Find.")]);
    assert_eq!(catalog.status().unwrap().recovered, None);
}

#[test]
fn a_damaged_source_is_written_anew_by_the_next_import_even_of_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let catalog = open(&data);
    put(&catalog, Layer::Local, &[knowledge("camera", "Take a picture."), knowledge("maps", "Find.")]);
    let source = segments(&data, "source-").remove(0);
    overwrite(&source, |bytes| bytes[100] ^= 1);
    assert!(!catalog.verify(None).unwrap().iter().all(|file| file.ok));
    catalog.update(Layer::Local, &mut |_| Ok(None)).unwrap();
    assert!(catalog.verify(None).unwrap().iter().all(|file| file.ok));
    assert_eq!(ids(&catalog), ["camera", "maps"]);
}

#[test]
fn compact_mends_what_no_query_has_touched() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let catalog = open(&data);
    put(&catalog, Layer::Local, &[knowledge("camera", "Take a picture.")]);
    damage_section(&data, &catalog, "local-", "names");
    let catalog = open(&data);
    assert!(!catalog.verify(None).unwrap().iter().all(|file| file.ok));
    catalog.compact().unwrap();
    assert!(catalog.verify(None).unwrap().iter().all(|file| file.ok));
}

#[test]
fn a_directory_in_the_place_of_the_previous_manifest_blocks_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let catalog = open(&data);
    put(&catalog, Layer::Local, &[knowledge("camera", "Take a picture.")]);
    put(&catalog, Layer::Local, &[knowledge("maps", "Find.")]);
    fs::remove_file(data.join("PREVIOUS")).unwrap();
    fs::create_dir(data.join("PREVIOUS")).unwrap();
    put(&catalog, Layer::Local, &[knowledge("alarm", "Wake.")]);
    assert_eq!(ids(&catalog), ["alarm"]);
    assert!(data.join("PREVIOUS").is_file());
}

#[test]
fn a_folder_of_somebody_elses_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("letter.txt"), "dear").unwrap();
    let refused = repertoire::Catalog::open(dir.path()).unwrap_err();
    assert!(refused.to_string().contains("letter.txt"), "{refused}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing was written");
    let placed = tempfile::tempdir().unwrap();
    fs::write(placed.path().join("config.toml"), "").unwrap();
    fs::write(placed.path().join(".keep"), "").unwrap();
    drop(open(placed.path()));
    // Once it is ours, other files do not matter.
    fs::write(placed.path().join("letter.txt"), "dear").unwrap();
    drop(open(placed.path()));
}

#[test]
fn a_file_without_an_end_is_refused_by_verify_and_inspect() {
    let dir = tempfile::tempdir().unwrap();
    let catalog = open(dir.path());
    for path in ["/dev/zero", "/dev/tty", "/"] {
        assert!(catalog.verify(Some(Path::new(path))).is_err(), "{path}");
        assert!(catalog.inspect(Some(Path::new(path))).is_err(), "{path}");
    }
}
