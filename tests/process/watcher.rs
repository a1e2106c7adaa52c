//! Process B: embeds the library and queries in a loop, each query with a new pin, while the judge changes the catalog
//! through other processes.
//!
//! It is this test binary, started again with the data directory in a variable. On its standard input it takes
//! `watch ID` (begin to query that id), `absent ID` (the same for one that is not to be seen) and `report`, after which it
//! rests until the next id; its answers on standard output begin with `@`, because the test harness writes there too.

use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread;
use std::time::Duration;

use repertoire::catalog::BundledMode;
use repertoire::{Catalog, Filter, Narrowing, Options, View};
use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};

use crate::program::{Program, text};
use crate::random::now;
use crate::skills::{target, target_id, target_tag, target_word, write_lines};

const VARIABLE: &str = "REPERTOIRE_TEST_WATCHED_DATA";
/// This test's name, for starting it again.
const SELF: &str = "watcher::a_watcher_sees_in_every_query_what_is_there_and_nothing_else";
/// The queries of a round.
pub(crate) const QUERIES: [&str; 4] = ["get", "list", "search", "lookup"];

/// What a watcher found since it was told to watch an id.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Report {
    /// For each of [`QUERIES`]: when the last query that saw the id began; 0 if none did.
    pub(crate) seen_by: [u64; 4],
    /// When the first query of the last whole round began.
    pub(crate) last_round: u64,
    /// Rounds.
    pub(crate) rounds: u64,
}

/// The judge's side of a watcher.
pub(crate) struct Watcher {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Watcher {
    /// Starts one on a data directory.
    pub(crate) fn start(data: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().expect("this binary"))
            .args([SELF, "--exact", "--nocapture", "--test-threads=1"])
            .env(VARIABLE, data)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this binary starts again");
        let input = child.stdin.take().expect("an input");
        let output = BufReader::new(child.stdout.take().expect("an output")).lines();
        Self { child, input, output }
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("the watcher gets the signal");
    }

    /// Makes it query an id; comes back when every kind of query has seen it.
    pub(crate) fn watch(&mut self, id: &str) {
        let report: Report = self.ask(&format!("watch {id}"));
        assert!(report.seen_by.iter().all(|moment| *moment > 0), "{id}: {report:?}");
    }

    /// Makes it query an id that is not there.
    fn watch_nothing(&mut self, id: &str) -> Report {
        self.ask(&format!("absent {id}"))
    }

    /// What it found, with at least one round that began after this was asked for.
    pub(crate) fn report(&mut self) -> Report {
        self.ask("report")
    }

    fn ask(&mut self, line: &str) -> Report {
        writeln!(self.input, "{line}").expect("the watcher reads");
        loop {
            let said = self.output.next().expect("the watcher lives").expect("its output is UTF-8");
            // The harness begins the line with the name of the test.
            if let Some((_, json)) = said.split_once('@') {
                return serde_json::from_str(json).expect("a report");
            }
        }
    }

    /// Ends it; it must have gone well.
    pub(crate) fn end(self) {
        let Self { mut child, input, output } = self;
        drop(input);
        // The harness writes its summary there.
        output.for_each(drop);
        assert!(child.wait().expect("the watcher ends").success());
    }
}

#[test]
fn a_watcher_sees_in_every_query_what_is_there_and_nothing_else() {
    if let Some(data) = std::env::var_os(VARIABLE) {
        return query_for_the_judge(Path::new(&data));
    }
    let program = Program::new();
    let file = program.path("targets.skill.jsonl");
    write_lines(&file, (0..2).map(target));
    program.import(&file);
    let mut watcher = Watcher::start(program.data());
    let before = now();
    watcher.watch(&target_id(0));
    let report = watcher.report();
    assert!(report.seen_by.iter().all(|moment| (before..now()).contains(moment)), "{report:?}");
    assert!(report.rounds > 1 && report.last_round > before, "{report:?}");
    watcher.watch_nothing(&target_id(9));
    thread::sleep(Duration::from_millis(20));
    let report = watcher.report();
    assert_eq!(report.seen_by, [0; 4], "{report:?}");
    program.run(&["entitlements", "hide", &target_id(1)]).code(0);
    assert_eq!(watcher.watch_nothing(&target_id(1)).seen_by, [0; 4]);
    watcher.end();
    assert!(text(program.data()).ends_with("data"));
}

/// The child's side: queries until the input ends.
fn query_for_the_judge(data: &Path) {
    let options = Options::default().bundled(BundledMode::Never);
    let catalog = Catalog::open_with(data, options).expect("the catalog opens");
    let mut view = catalog.view(Narrowing::default());
    let orders = orders();
    let (mut id, mut report) = (String::new(), Report::default());
    // What has to be answered after the round that begins now: at once, or when every query has seen the id.
    let mut owed: Option<bool> = None;
    let mut rests = true;
    loop {
        let order = match (owed, rests) {
            (Some(_), _) => Err(TryRecvError::Empty),
            (None, true) => orders.recv().map_err(|_| TryRecvError::Disconnected),
            (None, false) => orders.try_recv(),
        };
        rests = false;
        match order {
            Ok(order) if order == "report" => {
                owed = Some(false);
                rests = true;
            }
            Ok(order) => {
                let (verb, wanted) = order.split_once(' ').expect("a verb and an id");
                wanted.clone_into(&mut id);
                report = Report::default();
                owed = Some(verb == "watch");
            }
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => return,
        }
        round(&mut view, &id, &mut report);
        let seen = report.seen_by.iter().all(|moment| *moment > 0);
        if owed.is_some_and(|wait| seen || !wait) {
            owed = None;
            let json = serde_json::to_string(&report).expect("JSON");
            let mut output = std::io::stdout().lock();
            writeln!(output, "@{json}").expect("the judge reads");
            output.flush().expect("the judge reads");
        }
    }
}

/// The lines of standard input, read by a thread.
fn orders() -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        for line in std::io::stdin().lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

/// One query of each kind; notes when those that saw the id began.
fn round(view: &mut View, id: &str, report: &mut Report) {
    report.rounds += 1;
    for (kind, seen) in report.seen_by.iter_mut().enumerate() {
        let began = now();
        if kind == 0 {
            report.last_round = began;
        }
        let pin = view.pin().expect("a pin");
        let found = match QUERIES[kind] {
            "get" => pin.get(id).expect("get answers").is_some(),
            "list" => {
                let filter = Filter::default().tag(target_tag(id));
                let page = pin.list(&filter, 10, None).expect("list answers");
                page.skills.iter().any(|skill| skill.id() == id)
            }
            "search" => {
                let page = pin.search(&target_word(id), &Filter::default(), 10).expect("search answers");
                page.hits.iter().any(|hit| hit.skill.id() == id)
            }
            _ => pin.lookup(id).expect("lookup answers").iter().any(|skill| skill.id() == id),
        };
        if found {
            *seen = began;
        }
    }
}
