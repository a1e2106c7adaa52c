//! Power cuts on a real file system: ext4 on a loop device that is shut down under a writer, without its journal or after it.
//! What was acknowledged before is there afterwards; what was not is there whole or not at all.
//!
//! Needs root, loop devices and python3 (for the one ioctl); says so where one is missing.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use repertoire::model::Layer;
use repertoire::{Filter, Narrowing};

use crate::program::text;
use crate::random::{Random, Scale};
use crate::stress::{Log, WRITERS, Word, entry, group, open, secret, version, write};

const VARIABLE: &str = "REPERTOIRE_TEST_POWER";
/// This test's name, for starting it again.
const SELF: &str = "power::what_was_acknowledged_before_a_power_cut_is_there_afterwards";
const DISK_BYTES: u64 = 64 << 20;
/// `EXT4_IOC_SHUTDOWN` of `linux/fs/ext4/ext4.h`, and its argument: with the journal written, or as a power cut leaves it.
const SHUTDOWN: &str = "import fcntl, os, struct, sys\n\
    fd = os.open(sys.argv[1], os.O_RDONLY)\n\
    fcntl.ioctl(fd, 0x8004587d, struct.pack('I', int(sys.argv[2])))\n";
const JOURNAL_FIRST: &str = "1";
const AT_ONCE: &str = "2";
/// How long a writer gets to make its first commit.
const PATIENCE: Duration = Duration::from_mins(2);

/// A file system in a file.
struct Disk {
    image: PathBuf,
    at: PathBuf,
}

impl Disk {
    /// Makes and mounts one; `None`, with a message, where that is not possible.
    fn new(folder: &Path) -> Option<Self> {
        let disk = Self { image: folder.join("image"), at: folder.join("disk") };
        fs::create_dir(&disk.at).expect("a folder");
        File::create(&disk.image).and_then(|file| file.set_len(DISK_BYTES)).expect("an image");
        let steps: [&[&str]; 2] = [&["python3", "-c", ""], &["mkfs.ext4", "-q", "-F", text(&disk.image)]];
        let made = steps.iter().try_for_each(|words| said(words)).and_then(|()| disk.mount());
        match made {
            Ok(()) => Some(disk),
            Err(why) => {
                eprintln!("SKIPPED: no file system of our own can be mounted here: {why}");
                None
            }
        }
    }

    fn mount(&self) -> Result<(), String> {
        said(&["mount", "-o", "loop,noauto_da_alloc,commit=600", text(&self.image), text(&self.at)])
    }

    /// Cuts the power: nothing reaches the disk any more.
    fn shut_down(&self, how: &str) {
        said(&["python3", "-c", SHUTDOWN, text(&self.at), how]).expect("the file system shuts down");
    }

    /// What comes up again.
    fn mount_again(&self) {
        said(&["umount", text(&self.at)]).expect("the file system is unmounted");
        self.mount().expect("the journal is read back");
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Whatever a failed test left open; a lazy unmount cannot be refused.
        drop(said(&["umount", "-l", text(&self.at)]));
    }
}

/// Runs a program; what it said if it failed.
fn said(words: &[&str]) -> Result<(), String> {
    let output = Command::new(words[0]).args(&words[1..]).stdin(Stdio::null()).output();
    match output {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(format!("{words:?}: {}", String::from_utf8_lossy(&output.stderr).trim())),
        Err(error) => Err(format!("{words:?}: {error}")),
    }
}

/// A writer on the disk that notes outside of it what it began and what was acknowledged.
struct Writer {
    child: Child,
    log: Log,
}

impl Writer {
    /// Starts one, behind other words if they are given, and waits for its first commits.
    fn start(folder: &Path, before: &[&str]) -> Self {
        let program = std::env::current_exe().expect("this binary");
        let words = [before, &[text(&program)]].concat();
        let log = Log::open(folder, WRITERS[0]);
        let first = log.get(Word::VersionDone) + 2;
        let child = Command::new(words[0])
            .args(&words[1..])
            .args([SELF, "--exact", "--nocapture", "--test-threads=1"])
            .env(VARIABLE, folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("this binary starts again");
        let began = Instant::now();
        while log.get(Word::VersionDone) < first {
            assert!(began.elapsed() < PATIENCE, "the writer does not get on");
            thread::sleep(Duration::from_millis(2));
        }
        Self { child, log }
    }

    /// Waits for its end, which the failing disk brings, or a file that asks for it.
    fn end(mut self, folder: &Path) -> Log {
        fs::write(folder.join("stop"), "").expect("the signal to stop");
        let began = Instant::now();
        while self.child.try_wait().expect("the writer can be asked").is_none() {
            if began.elapsed() > PATIENCE {
                self.child.kill().expect("the writer can be killed");
                panic!("the writer hangs on a disk that fails");
            }
            thread::sleep(Duration::from_millis(2));
        }
        fs::remove_file(folder.join("stop")).expect("the signal goes");
        self.log
    }
}

/// What is on the disk, as far as it goes with what was acknowledged; else what is wrong.
fn check(folder: &Path, log: &Log) -> Result<(), String> {
    let catalog = open(&folder.join("disk").join("data"));
    let reports = catalog.verify(None).map_err(|error| error.to_string())?;
    if let Some(bad) = reports.iter().find(|file| !file.ok) {
        return Err(format!("{}: {:?}", bad.name, bad.problems));
    }
    let mut view = catalog.view(Narrowing::default());
    let pin = view.pin().map_err(|error| error.to_string())?;
    let listed = pin.list(&Filter::default(), 10, None).map_err(|error| error.to_string())?.skills.len();
    if listed == 0 {
        return Err("the catalog is empty".to_owned());
    }
    let seen = version(&pin, WRITERS[0]);
    let (done, begun) = (log.get(Word::VersionDone), log.get(Word::VersionBegun));
    if !(done..=begun).contains(&seen) {
        return Err(format!("version {seen}, acknowledged {done}, begun {begun}"));
    }
    let hidden = pin.get(&secret(WRITERS[0])).map_err(|error| error.to_string())?.is_none();
    let (done, begun) = (log.get(Word::StatementDone), log.get(Word::StatementBegun));
    if done == begun && hidden != (done % 2 == 1) {
        return Err(format!("statement {done} is not in effect"));
    }
    Ok(())
}

/// A disk with a catalog; the folder holds what the writers note.
fn prepared() -> Option<(Disk, tempfile::TempDir)> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let disk = Disk::new(folder.path())?;
    let catalog = open(&disk.at.join("data"));
    let mut all: Vec<_> = WRITERS.iter().flat_map(|writer| group(writer, 0)).collect();
    all.extend(WRITERS.iter().map(|writer| entry(&secret(writer), "Now and then.")));
    all.extend((0..150).map(|n| entry(&format!("other-{n}"), "Stands beside.")));
    catalog.update(Layer::Local, &mut |_| Ok(Some(all.clone()))).expect("the first import");
    Some((disk, folder))
}

#[test]
fn what_was_acknowledged_before_a_power_cut_is_there_afterwards() {
    if let Some(folder) = std::env::var_os(VARIABLE) {
        let folder = PathBuf::from(folder);
        return write(WRITERS[0], &folder, &folder.join("disk").join("data"));
    }
    let Some((disk, folder)) = prepared() else { return };
    let mut random = Random::new("power cut");
    let rounds = Scale::of_this_run().pick(3, 5, 100);
    for round in 0..rounds {
        let writer = Writer::start(folder.path(), &[]);
        thread::sleep(random.time(Duration::from_millis(150)));
        disk.shut_down(if round % 3 == 2 { JOURNAL_FIRST } else { AT_ONCE });
        let log = writer.end(folder.path());
        disk.mount_again();
        if let Err(wrong) = check(folder.path(), &log) {
            panic!("power cut {round}: {wrong}");
        }
        eprintln!("power cut {round}: {} versions acknowledged", log.get(Word::VersionDone));
    }
}

#[test]
fn a_disk_that_only_says_that_it_synced_loses_what_was_acknowledged_and_this_test_notices() {
    if said(&["strace", "-qq", "-o", "/dev/null", "true"]).is_err() {
        eprintln!("SKIPPED: strace is not there or may not trace (apt-get install strace)");
        return;
    }
    let Some((disk, folder)) = prepared() else { return };
    let lies = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync,fdatasync"];
    let lies = [&lies[..], &["-e", "inject=fsync,fdatasync:retval=0"]].concat();
    let writer = Writer::start(folder.path(), &lies);
    disk.shut_down(AT_ONCE);
    let log = writer.end(folder.path());
    disk.mount_again();
    assert!(check(folder.path(), &log).is_err(), "a power cut without syncs lost nothing");
}
