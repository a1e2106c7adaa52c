//! The storage of the operating system: modes, links, and other processes.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::*;

/// Tells a child process of this test binary what to do: `action path`.
const CHILD: &str = "REPERTOIRE_TEST_CHILD";

fn spawn(action: &str, path: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "snapshot::tests::real::child", "--nocapture", "--test-threads=1"])
        .env(CHILD, format!("{action} {}", path.display()))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Not a test of its own: what the processes that other tests start do.
#[test]
fn child() {
    let Ok(order) = std::env::var(CHILD) else { return };
    let (action, path) = order.split_once(' ').unwrap();
    let dir = DataDir::open(Path::new(path), &OpenOptions::default()).unwrap();
    match action {
        "open" => drop(dir.load().unwrap()),
        "publish" => {
            for number in 0.. {
                publish(&dir, "local", &format!("{}.{number}", std::process::id())).unwrap();
                dir.append_statement(1, format!("-{number}").as_bytes()).unwrap();
            }
        }
        "once" => drop(publish(&dir, "local", &std::process::id().to_string()).unwrap()),
        other => panic!("{other}"),
    }
}

#[test]
fn eight_processes_and_eight_threads_create_one_directory() {
    let base = tempfile::tempdir().unwrap();
    let path = base.path().join("deep/data");
    let children: Vec<_> = (0..8).map(|_| spawn("open", &path)).collect();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let dir = DataDir::open(&path, &OpenOptions::default()).unwrap();
                assert_eq!(look(&dir).unwrap(), Seen::default());
            });
        }
    });
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let dir = DataDir::open(&path, &OpenOptions::default()).unwrap();
    assert_eq!(dir.load().unwrap().manifest.serial, 0);
    let mut names: Vec<_> = fs::read_dir(&path).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["CURRENT", "LOCK", "epoch", "revocations"]);
}

#[test]
fn commits_of_eight_processes_all_count() {
    let base = tempfile::tempdir().unwrap();
    let path = base.path().join("data");
    let dir = DataDir::open(&path, &OpenOptions::default()).unwrap();
    let since = dir.load().unwrap().epoch;
    let children: Vec<_> = (0..8).map(|_| spawn("once", &path)).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_ne!(dir.epoch(), since);
    let loaded = dir.load().unwrap();
    assert_eq!((loaded.manifest.serial, loaded.manifest.layers["local"].current.generation), (8, 8));
}

#[test]
fn a_writer_that_is_killed_at_any_time_leaves_a_directory_that_works() {
    let base = tempfile::tempdir().unwrap();
    let path = base.path().join("data");
    let dir = DataDir::open(&path, &OpenOptions::default()).unwrap();
    let mut serial = 0;
    for round in 0..12_u64 {
        let mut child = spawn("publish", &path);
        std::thread::sleep(Duration::from_millis(30 + round * 7));
        child.kill().unwrap();
        child.wait().unwrap();
        look(&dir).unwrap();
        let now = dir.load().unwrap().manifest.serial;
        assert!(now >= serial);
        publish(&dir, "local", &format!("after {round}")).unwrap();
        assert_eq!(look(&dir).unwrap().layers["local"], format!("after {round}"));
        serial = now + 1;
    }
    assert!(serial > 12, "the children came to commit: {serial}");
}

#[test]
fn modes_are_as_the_format_says() {
    let base = tempfile::tempdir().unwrap();
    let path = base.path().join("data");
    let dir = DataDir::open(&path, &OpenOptions::default()).unwrap();
    publish(&dir, "local", "one").unwrap();
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o700);
    for entry in fs::read_dir(&path).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let found = entry.metadata().unwrap();
        let in_place = matches!(name.as_str(), "epoch" | "revocations" | "LOCK");
        assert_eq!(found.mode() & 0o777, if in_place { 0o600 } else { 0o400 }, "{name}");
        assert!(found.blocks() > 0 || found.len() == 0, "{name} is not sparse");
    }
}

#[test]
fn a_directory_that_others_can_write_is_refused_unless_files_are_copied() {
    let base = tempfile::tempdir().unwrap();
    let path = base.path().join("data");
    fs::create_dir(&path).unwrap();
    for mode in [0o777, 0o770, 0o702] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let error = DataDir::open(&path, &OpenOptions::default()).unwrap_err();
        assert!(matches!(error, StorageError::UnsafeDirectory { .. }), "{mode:o}: {error}");
    }
    let copied = OpenOptions { map: MapKind::Memory, ..OpenOptions::default() };
    let dir = DataDir::open(&path, &copied).unwrap();
    publish(&dir, "local", "one").unwrap();
    assert_eq!(look(&dir).unwrap().layers["local"], "one");
    let file = &dir.load().unwrap().manifest.layers["local"].current.files[0];
    assert!(dir.open_file(file, &SCHEMA).unwrap().bytes().is_private());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let mapped = DataDir::open(&path, &OpenOptions::default()).unwrap();
    assert!(!mapped.open_file(file, &SCHEMA).unwrap().bytes().is_private());
    // A mapped writer and a reader that reads the page, and the other way round.
    for (writer, reader) in [(&mapped, &dir), (&dir, &mapped)] {
        let since = reader.load().unwrap().epoch;
        publish(writer, "local", "two").unwrap();
        assert_ne!(reader.epoch(), since);
        assert_eq!(look(reader).unwrap().layers["local"], "two");
    }
}

#[test]
fn symbolic_links_and_odd_files_are_not_followed() {
    let base = tempfile::tempdir().unwrap();
    let path = base.path().join("data");
    let dir = DataDir::open(&path, &OpenOptions::default()).unwrap();
    publish(&dir, "local", "one").unwrap();
    let file = dir.load().unwrap().manifest.layers["local"].current.files[0].clone();
    let real = base.path().join("elsewhere");
    fs::rename(path.join(&file.name), &real).unwrap();
    symlink(&real, path.join(&file.name)).unwrap();
    assert!(dir.open_file(&file, &SCHEMA).is_err());
    publish(&dir, "local", "one").unwrap();
    assert_eq!(look(&dir).unwrap().layers["local"], "one", "written again in the place of the link");
    fs::remove_file(path.join("CURRENT")).unwrap();
    fs::create_dir(path.join("CURRENT")).unwrap();
    assert!(DataDir::open(&path, &OpenOptions::default()).and_then(|dir| dir.load()).is_ok());
    fs::remove_file(path.join("revocations")).unwrap();
    fs::create_dir(path.join("revocations")).unwrap();
    assert!(look(&dir).unwrap().denied, "a ring that is no file is a lost ring");
    fs::write(base.path().join("file"), "x").unwrap();
    assert!(DataDir::open(&base.path().join("file"), &OpenOptions::default()).is_err());
}

#[test]
fn a_read_only_handle_creates_nothing_and_writes_nothing() {
    let base = tempfile::tempdir().unwrap();
    let path = base.path().join("data");
    let read_only = OpenOptions { read_only: true, ..OpenOptions::default() };
    assert!(DataDir::open(&path, &read_only).is_err());
    assert!(!path.exists());
    publish(&DataDir::open(&path, &OpenOptions::default()).unwrap(), "local", "one").unwrap();
    let dir = DataDir::open(&path, &read_only).unwrap();
    assert_eq!(look(&dir).unwrap().layers["local"], "one");
    assert!(
        publish(&dir, "local", "two").is_err()
            && dir.append_statement(1, b"x").is_err()
            && dir.collect().is_err()
    );
}

#[test]
fn a_directory_that_is_removed_and_made_anew_is_followed() {
    let base = tempfile::tempdir().unwrap();
    let path = base.path().join("data");
    let dir = DataDir::open(&path, &OpenOptions::default()).unwrap();
    publish(&dir, "local", "one").unwrap();
    let since = dir.load().unwrap().epoch;
    fs::remove_dir_all(&path).unwrap();
    publish(&DataDir::open(&path, &OpenOptions::default()).unwrap(), "local", "other").unwrap();
    dir.tick();
    assert_ne!(dir.epoch(), since);
    assert_eq!(look(&dir).unwrap().layers["local"], "other");
    publish(&dir, "local", "mine").unwrap();
    assert_eq!(look(&dir).unwrap().layers["local"], "mine");
}
