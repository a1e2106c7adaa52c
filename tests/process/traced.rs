//! The kill matrix: the real binary stopped, or failed, before each of its system calls on the data directory, with strace.
//!
//! After every point all files are sound, the list is the old or the new one, what was acknowledged holds, and a repetition
//! works.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use repertoire::catalog::BundledMode;
use repertoire::{Catalog, Filter, Narrowing, Options};

use crate::program::{Answer, Program, text};
use crate::random::Scale;
use crate::skills::{Set, version, write_folder};

/// The calls that are stopped or failed; a `?` passes over one that this machine does not have.
const CALLS: &str = "openat,write,pwrite64,fsync,fdatasync,?rename,renameat,?renameat2,?link,linkat,?unlink,\
                     unlinkat,mmap,msync,ftruncate";
/// Hidden before anything is tried.
const HIDDEN: &str = "kept-0";
/// Hidden by one of the commands.
const TO_HIDE: &str = "kept-2";
const SKILLS: usize = 40;

/// A system call of a command: its name, and the how manieth of that name.
#[derive(Clone, Debug)]
struct Point {
    call: String,
    number: usize,
    line: String,
}

/// A command with the lists before and after it.
struct Case {
    words: Vec<String>,
    old: Set,
    new: Set,
    /// Doing it again after it was done changes nothing.
    repeatable: bool,
}

/// A data directory that every try begins with, and the commands.
struct Matrix {
    program: Program,
    template: PathBuf,
    cases: Vec<Case>,
}

impl Matrix {
    fn new() -> Self {
        let program = Program::new();
        let template = program.path("template");
        let program = program.with_data(&template);
        let mut sets: Vec<Set> = (0..3).map(|number| version(number, SKILLS)).collect();
        // A small change: one skill of the second set says something else.
        let mut small = sets[1].clone();
        small.insert("kept-4".to_owned(), "Changed a little.".to_owned());
        sets.push(small);
        let folder = program.path("in");
        for set in &sets[..2] {
            write_folder(&folder, set);
            program.import(&folder);
        }
        program.run(&["entitlements", "hide", HIDDEN]).code(0);
        let shown = |set: &Set, more: &[&str]| -> Set {
            let hidden = |id: &str| id == HIDDEN || more.contains(&id);
            set.iter().filter(|(id, _)| !hidden(id)).map(|(id, text)| (id.clone(), text.clone())).collect()
        };
        let old = shown(&sets[1], &[]);
        let case = |words: &[&str], new: Set, repeatable| Case {
            words: words.iter().map(|word| (*word).to_owned()).collect(),
            old: old.clone(),
            new,
            repeatable,
        };
        let cases = vec![
            case(&["import", "in"], shown(&sets[2], &[]), true),
            case(&["import", "in"], shown(&sets[3], &[]), true),
            case(&["entitlements", "hide", TO_HIDE], shown(&sets[1], &[TO_HIDE]), true),
            case(&["rollback", "local"], shown(&sets[0], &[]), false),
            case(&["compact"], old.clone(), true),
        ];
        assert!(list(&template) == old);
        let mut matrix = Self { program, template, cases };
        // The folder is imported under one path, so that it stays the same import: each case has its own copy of it.
        for (index, set) in [(0, 2), (1, 3)] {
            let root = matrix.program.path(&format!("case-{index}"));
            fs::create_dir_all(&root).expect("a folder");
            write_folder(&root.join("in"), &sets[set]);
        }
        matrix.cases.iter_mut().enumerate().for_each(|(index, case)| {
            if case.words[0] == "import" {
                case.words.push(index.to_string());
            }
        });
        matrix
    }

    /// A fresh copy of the template, and what runs the command on it. Imports replace the folder's content first.
    fn fresh(&self, case: &Case, name: &str) -> (PathBuf, Vec<String>) {
        let data = self.program.path(name);
        if data.exists() {
            fs::remove_dir_all(&data).expect("the last copy goes");
        }
        let copied = Command::new("cp").arg("-a").arg(&self.template).arg(&data).status();
        assert!(copied.expect("cp is there").success());
        let mut words = case.words.clone();
        if words[0] == "import" {
            let source = self.program.path(&format!("case-{}", words.pop().expect("an index"))).join("in");
            let folder = self.program.path("in");
            fs::remove_dir_all(&folder).expect("the last folder goes");
            let copied = Command::new("cp").arg("-a").arg(&source).arg(&folder).status();
            assert!(copied.expect("cp is there").success());
            text(&folder).clone_into(&mut words[1]);
        }
        (data, words)
    }

    /// The calls of a command on its data directory.
    fn points(&self, case: &Case) -> Vec<Point> {
        let (data, words) = self.fresh(case, "traced");
        let log = self.program.path("trace.log");
        let options = ["-f", "-qq", "-y", "-e", &format!("trace={CALLS}"), "-e", "signal=none", "-o"];
        let answer = strace(&data, &words, &[&options[..], &[text(&log)]].concat());
        assert_eq!(answer.code, Some(0), "{words:?}: {}", answer.stderr);
        assert!(list(&data) == case.new, "{words:?} without a fault");
        let trace = fs::read_to_string(&log).expect("a trace");
        let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
        let mut points = Vec::new();
        let mut main = None;
        for line in trace.lines() {
            let Some((thread, rest)) = line.split_once(' ') else { continue };
            let Some((call, _)) = rest.trim_start().split_once('(') else { continue };
            let main = main.get_or_insert_with(|| thread.to_owned());
            let number = counts.entry((thread.to_owned(), call.to_owned())).or_default();
            *number += 1;
            // strace counts the calls of each name in each thread.
            if thread == main && line.contains(text(&data)) {
                points.push(Point { call: call.to_owned(), number: *number, line: rest.to_owned() });
            }
        }
        assert!(points.len() > 10, "{words:?} makes calls: {trace}");
        points
    }

    /// Runs a command with a fault at a point and looks at what is left; whether the fault was reached.
    fn try_point(&self, case: &Case, point: &Point, fault: &str) -> bool {
        let (data, words) = self.fresh(case, "tried");
        let inject = format!("inject={}:{fault}:when={}", point.call, point.number);
        let options = ["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={CALLS}"), "-e", &inject];
        let answer = strace(&data, &words, &options);
        let at = format!("{words:?} with {inject} at {}: {:?} {}", point.line, answer.code, answer.stderr);
        assert!(!answer.stderr.contains("panicked"), "{at}");
        let killed = fault.contains("KILL");
        let done = answer.code == Some(0);
        assert!(killed || done || answer.code == Some(4), "{at}");
        check_files(&data, &at);
        let found = list(&data);
        assert!(found == case.old || found == case.new, "{at}: {found:?}");
        assert!(!done || found == case.new, "{at}: acknowledged and not there");
        // A statement stands in the ring: only folding it, which nobody waits for, may fail behind its back.
        let folds = words[0] == "entitlements" && !point.line.contains("revocations");
        assert!(
            !done || killed || folds || !point.call.contains("sync"),
            "{at}: acknowledged without its sync"
        );
        if case.repeatable || found == case.old {
            let again = self.words_again(case);
            let words: Vec<&str> = again.iter().map(String::as_str).collect();
            Answer::of(&words, &command(&data, &words).output().expect("the program runs")).code(0);
            assert!(list(&data) == case.new, "{at}: repeated");
            check_files(&data, &at);
        }
        !done
    }

    fn words_again(&self, case: &Case) -> Vec<String> {
        let mut words = case.words.clone();
        if words[0] == "import" {
            words.pop();
            text(&self.program.path("in")).clone_into(&mut words[1]);
        }
        words
    }

    /// Tries about so many points, spread over all commands, each with the next of the faults.
    fn run(&self, name: &str, wanted: usize, faults: &[&str]) {
        let all: Vec<(&Case, Point)> = self
            .cases
            .iter()
            .flat_map(|case| self.points(case).into_iter().map(move |point| (case, point)))
            .collect();
        let step = (all.len() / wanted).max(1);
        let mut reached = 0;
        let tried: Vec<_> = all.iter().skip(step / 2).step_by(step).collect();
        for ((case, point), fault) in tried.iter().zip(faults.iter().cycle()) {
            reached += usize::from(self.try_point(case, point, fault));
        }
        eprintln!("{name}: {} of {} calls tried, {reached} ended the command", tried.len(), all.len());
        assert!(reached > 0, "no fault was reached");
    }
}

/// Whether strace can be used here; says so if not.
fn can_trace() -> bool {
    let tried =
        Command::new("strace").args(["-qq", "-o", "/dev/null", "true"]).stderr(Stdio::null()).status();
    let can = tried.is_ok_and(|status| status.success());
    if !can {
        eprintln!("SKIPPED: strace is not there or may not trace (apt-get install strace)");
    }
    can
}

fn command(data: &Path, words: &[&str]) -> Command {
    Program::new().with_data(data).command(words)
}

/// Runs the program on a data directory under strace.
fn strace(data: &Path, words: &[String], options: &[&str]) -> Answer {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let traced = command(data, &words);
    let mut strace = Command::new("strace");
    strace.args(options).arg(traced.get_program()).args(traced.get_args()).stdin(Stdio::null());
    for (name, value) in traced.get_envs() {
        match value {
            Some(value) => strace.env(name, value),
            None => strace.env_remove(name),
        };
    }
    Answer::of(&words, &strace.output().expect("strace runs"))
}

fn open(data: &Path) -> Catalog {
    Catalog::open_with(data, Options::default().bundled(BundledMode::Never)).expect("the catalog opens")
}

/// Every file is sound, and what was hidden before is hidden.
fn check_files(data: &Path, at: &str) {
    let catalog = open(data);
    let reports = catalog.verify(None).expect("verify runs");
    assert!(reports.iter().all(|file| file.ok), "{at}: {reports:?}");
    let hidden = catalog.entitlements().expect("the entitlements").hidden;
    assert!(hidden.iter().any(|id| id == HIDDEN), "{at}: an acknowledged hide was undone");
    let mut view = catalog.view(Narrowing::default());
    let pin = view.pin().expect("a pin");
    assert!(pin.get(HIDDEN).expect("get answers").is_none(), "{at}: a hidden skill is shown");
}

fn list(data: &Path) -> Set {
    let mut view = open(data).view(Narrowing::default());
    let pin = view.pin().expect("a pin");
    let page = pin.list(&Filter::default(), 1_000, None).expect("a list");
    page.skills.iter().map(|skill| (skill.id().to_owned(), skill.description().to_owned())).collect()
}

#[test]
fn a_command_killed_before_any_system_call_leaves_the_old_or_the_new_state() {
    if can_trace() {
        Matrix::new().run("killed", Scale::of_this_run().pick(10, 40, 250), &["signal=SIGKILL"]);
    }
}

#[test]
fn a_command_whose_system_call_fails_leaves_the_old_or_the_new_state_and_says_so() {
    if can_trace() {
        let faults = ["error=ENOSPC", "error=EIO"];
        Matrix::new().run("failed", Scale::of_this_run().pick(10, 40, 250), &faults);
    }
}
