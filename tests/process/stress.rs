//! Two writers at 50 Hz and eight readers, each a process, on one directory. Every read is checked: it is one state, not
//! older than what was acknowledged before it began, and not newer than what was begun when it ended.
//!
//! The processes are this test binary, started again.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use repertoire::catalog::BundledMode;
use repertoire::error::StorageError;
use repertoire::model::{Entry, Layer, Skill};
use repertoire::{Catalog, Error, Filter, LocalStatement, Look, Narrowing, Options};
use serde_json::json;

use crate::random::Scale;

const VARIABLE: &str = "REPERTOIRE_TEST_STRESS";
/// This test's name, for starting it again.
const SELF: &str = "stress::every_read_beside_two_writers_is_one_state_between_acknowledged_and_begun";
pub(crate) const WRITERS: [&str; 2] = ["ann", "bob"];
const READERS: usize = 8;
/// Skills that a writer changes together.
const GROUP: usize = 6;
/// Skills that nobody changes.
const OTHERS: usize = 150;
/// Between two changes of a writer: 50 Hz.
const PERIOD: Duration = Duration::from_millis(20);

/// Commits of each writer, at least.
const COMMITS_MIN: u64 = 20;
/// How much longer than wanted these may take.
const PATIENCE: Duration = Duration::from_mins(2);
/// Pause of a reader between two rounds: eight that never rest would leave the writers no processor.
const REST: Duration = Duration::from_millis(2);

/// What a writer says about itself in a file that the readers look at: the version and the statement that it began, and
/// those that were acknowledged.
pub(crate) struct Log(File);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    VersionBegun,
    VersionDone,
    StatementBegun,
    StatementDone,
}

impl Log {
    pub(crate) fn open(folder: &Path, writer: &str) -> Self {
        let path = folder.join(writer);
        let mut options = OpenOptions::new();
        Self(
            options
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(path)
                .expect("the log of a writer"),
        )
    }

    fn put(&self, word: Word, value: u64) {
        self.0.write_all_at(&value.to_le_bytes(), word as u64 * 8).expect("the log is written");
    }

    pub(crate) fn get(&self, word: Word) -> u64 {
        let mut bytes = [0; 8];
        // Before the first write the file is empty: nothing was begun.
        let _ = self.0.read_at(&mut bytes, word as u64 * 8).expect("the log is read");
        u64::from_le_bytes(bytes)
    }
}

pub(crate) fn open(data: &Path) -> Catalog {
    Catalog::open_with(data, Options::default().bundled(BundledMode::Never)).expect("the catalog opens")
}

pub(crate) fn entry(id: &str, description: &str) -> Entry {
    let value = json!({"id": id, "kind": "knowledge", "name": format!("The {id}"), "description": description,
        "content": format!("# {id}\n\n{description}\n")});
    Entry::new(Skill::from_json(&value).expect("a sound skill").skill)
}

/// The skills of a writer in one version.
pub(crate) fn group(writer: &str, version: u64) -> Vec<Entry> {
    let word = format!("group{writer}");
    (0..GROUP).map(|n| entry(&format!("{writer}-{n}"), &format!("{word} version {version}."))).collect()
}

pub(crate) fn secret(writer: &str) -> String {
    format!("secret-{writer}")
}

#[test]
fn every_read_beside_two_writers_is_one_state_between_acknowledged_and_begun() {
    if let Some(role) = std::env::var_os(VARIABLE) {
        let role = role.into_string().expect("a role in UTF-8");
        let (who, folder) = role.split_once(' ').expect("a role and a folder");
        return match who {
            "reader" => read(Path::new(folder)),
            writer => write(writer, Path::new(folder), &Path::new(folder).join("data")),
        };
    }
    let folder = fast_folder();
    let catalog = open(&folder.path().join("data"));
    let mut all: Vec<Entry> = WRITERS.iter().flat_map(|writer| group(writer, 0)).collect();
    all.extend(WRITERS.iter().map(|writer| entry(&secret(writer), "Now and then.")));
    all.extend((0..OTHERS).map(|n| entry(&format!("other-{n}"), "Stands beside.")));
    catalog.update(Layer::Local, &mut |_| Ok(Some(all.clone()))).expect("the first import");
    let mut children: Vec<(String, Child)> = Vec::new();
    let roles = WRITERS.iter().copied().chain(std::iter::repeat_n("reader", READERS));
    for role in roles {
        children.push((role.to_owned(), start(role, folder.path())));
    }
    let logs = WRITERS.map(|writer| Log::open(folder.path(), writer));
    let began = Instant::now();
    let wanted = Duration::from_secs(Scale::of_this_run().pick(4, 15, 60));
    // On a loaded machine the writers need longer for something to have happened.
    while began.elapsed() < wanted || logs.iter().any(|log| log.get(Word::VersionDone) < COMMITS_MIN) {
        assert!(began.elapsed() < wanted + PATIENCE, "a writer does not get on");
        thread::sleep(PERIOD);
    }
    fs::write(folder.path().join("stop"), "").expect("the signal to stop");
    let mut rounds = 0;
    for (role, child) in children {
        let output = child.wait_with_output().expect("a child ends");
        let said =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{role}: {said}");
        let done =
            said.split('@').nth(1).and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
        let done = done.unwrap_or_else(|| panic!("{role} says how much it did: {said}"));
        assert!(done > 10, "{role} did too little: {done}");
        rounds += if role == "reader" { done } else { 0 };
        eprintln!("{role}: {done}");
    }
    eprintln!("{rounds} reads, each of one state");
    assert!(catalog.verify(None).expect("verify runs").iter().all(|file| file.ok));
}

fn start(role: &str, folder: &Path) -> Child {
    Command::new(std::env::current_exe().expect("this binary"))
        .args([SELF, "--exact", "--nocapture", "--test-threads=1"])
        .env(VARIABLE, format!("{role} {}", folder.display()))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("this binary starts again")
}

/// Tells the judge, who reads behind an `@`: the test harness writes there too.
fn tell(done: &str) {
    writeln!(std::io::stdout().lock(), "@{done}").expect("the judge reads");
}

fn is_over(folder: &Path) -> bool {
    folder.join("stop").exists()
}

/// A writer: a new version of its group in each period, and its secret hidden and shown in turn.
///
/// It goes on from what it noted in the folder before.
pub(crate) fn write(writer: &str, folder: &Path, data: &Path) {
    let catalog = open(data);
    let log = Log::open(folder, writer);
    let (mut version, mut contended) = (log.get(Word::VersionBegun), 0);
    let mut statement = log.get(Word::StatementBegun);
    let mut next = Instant::now();
    while !is_over(folder) {
        version += 1;
        log.put(Word::VersionBegun, version);
        loop {
            match catalog.apply(Layer::Local, group(writer, version), &BTreeSet::new()) {
                Ok(_) => break,
                // The other one was faster each time: that is said, and nothing has changed.
                Err(Error::Storage(StorageError::Contended { .. } | StorageError::Locked { .. })) => {
                    contended += 1;
                }
                Err(error) => panic!("{error}"),
            }
        }
        log.put(Word::VersionDone, version);
        if version % 3 == 0 {
            statement += 1;
            log.put(Word::StatementBegun, statement);
            let say = if statement % 2 == 1 { LocalStatement::Hide } else { LocalStatement::Unhide };
            catalog.declare(say(secret(writer))).expect("a statement");
            log.put(Word::StatementDone, statement);
        }
        next += PERIOD;
        thread::sleep(next.saturating_duration_since(Instant::now()));
        next = next.max(Instant::now());
    }
    tell(&format!("{version} versions, {contended} times contended"));
}

/// A reader: pins and checks until it is over.
fn read(folder: &Path) {
    let catalog = open(&folder.join("data"));
    let mut view = catalog.view(Narrowing::default());
    let logs: Vec<Log> = WRITERS.iter().map(|writer| Log::open(folder, writer)).collect();
    let mut last = [0; WRITERS.len()];
    let mut rounds = 0_u64;
    while !(rounds.is_multiple_of(16) && is_over(folder)) {
        rounds += 1;
        let done: Vec<[u64; 3]> = logs
            .iter()
            .map(|log| {
                [Word::VersionDone, Word::StatementDone, Word::StatementBegun].map(|word| log.get(word))
            })
            .collect();
        let pin = view.pin().expect("a pin");
        for (index, writer) in WRITERS.iter().enumerate() {
            let seen = version(&pin, writer);
            let hidden = pin.get(&secret(writer)).expect("get answers").is_none();
            let [version_done, statement_done, statement_begun] = done[index];
            let begun = logs[index].get(Word::VersionBegun);
            assert!(
                (version_done.max(last[index])..=begun).contains(&seen),
                "{writer}: version {seen}, acknowledged {version_done}, seen before {}, begun {begun}",
                last[index]
            );
            last[index] = seen;
            // What holds is known only where no statement was on its way.
            if statement_done == statement_begun && logs[index].get(Word::StatementBegun) == statement_begun {
                assert_eq!(hidden, statement_done % 2 == 1, "{writer}: statement {statement_done}");
            }
        }
        thread::sleep(REST);
    }
    tell(&format!("{rounds} rounds"));
}

/// The version of a group, by every kind of query.
pub(crate) fn version(look: &Look, writer: &str) -> u64 {
    let number = |text: &str| -> u64 {
        let digits: String = text.chars().filter(char::is_ascii_digit).collect();
        digits.parse().expect("a version")
    };
    let mut versions = BTreeSet::new();
    for n in 0..GROUP {
        let id = format!("{writer}-{n}");
        let skill = look.get(&id).expect("get answers").unwrap_or_else(|| panic!("{id} is gone"));
        versions.insert(number(skill.description()));
        assert!(skill.content().expect("a body").contains(skill.description()));
    }
    let page = look.search(&format!("group{writer}"), &Filter::default(), 50).expect("search answers");
    let ours = page.hits.iter().filter(|hit| hit.skill.id().starts_with(&format!("{writer}-")));
    let found: Vec<u64> = ours.map(|hit| number(hit.skill.description())).collect();
    assert_eq!(found.len(), GROUP, "the search finds the group");
    versions.extend(found);
    assert_eq!(versions.len(), 1, "a mix of states: {versions:?}");
    let list = look.list(&Filter::default(), 1_000, None).expect("list answers");
    let sum = WRITERS.len() * GROUP + OTHERS;
    assert!((sum..=sum + WRITERS.len()).contains(&list.skills.len()), "{} skills", list.skills.len());
    versions.into_iter().next().unwrap_or_default()
}

/// A folder where syncing costs little, if there is one: swaps are counted there, not durability.
pub(crate) fn fast_folder() -> tempfile::TempDir {
    let memory = PathBuf::from("/dev/shm");
    tempfile::tempdir_in(memory).or_else(|_| tempfile::tempdir()).expect("a temporary folder")
}

/// Open files and mappings of this process below a folder.
fn held(folder: &Path) -> (usize, usize) {
    let folder = folder.to_str().expect("a path in UTF-8");
    let files = fs::read_dir("/proc/self/fd").expect("the open files").flatten().filter(|entry| {
        fs::read_link(entry.path()).is_ok_and(|target| target.to_string_lossy().starts_with(folder))
    });
    let maps = fs::read_to_string("/proc/self/maps").expect("the mappings");
    (files.count(), maps.lines().filter(|line| line.contains(folder)).count())
}

#[test]
#[cfg(target_os = "linux")]
fn no_descriptor_and_no_mapping_is_left_behind_by_any_number_of_swaps() {
    let swaps = Scale::of_this_run().pick(150, 500, 10_000);
    let folder = fast_folder();
    let data = folder.path().join("data");
    let (writer, reader) = (open(&data), open(&data));
    let mut view = reader.view(Narrowing::default());
    let others: Vec<Entry> = (0..30).map(|n| entry(&format!("other-{n}"), "Stands beside.")).collect();
    writer.update(Layer::Local, &mut |_| Ok(Some(others.clone()))).expect("the first import");
    let mut most = (0, 0);
    for swap in 1..=swaps {
        writer.apply(Layer::Local, group("ann", swap), &BTreeSet::new()).expect("a swap");
        if swap.is_multiple_of(3) {
            let id = "other-1".to_owned();
            let word = if swap.is_multiple_of(2) { LocalStatement::Hide } else { LocalStatement::Unhide };
            writer.declare(word(id)).expect("a statement");
        }
        let pin = view.pin().expect("a pin");
        let skill = pin.get("ann-0").expect("get answers").expect("it is there");
        assert!(skill.description().ends_with(&format!("version {swap}.")), "{}", skill.description());
        let now = held(folder.path());
        most = (most.0.max(now.0), most.1.max(now.1));
    }
    eprintln!("{swaps} swaps: at most {} descriptors and {} mappings", most.0, most.1);
    // Two catalogs: at most six files of the state and as many of one that is about to go, and the epoch page twice.
    assert!(most.0 <= 8, "{} descriptors", most.0);
    assert!(most.1 <= 2 * (2 * 6 + 2) + 2, "{} mappings", most.1);
}
