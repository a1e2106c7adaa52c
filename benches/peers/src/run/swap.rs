//! Reads while a layer is replaced: the slowest one in ten thousand, against the same loop in peace.

use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use repertoire::{Catalog, Entry, Kind, Layer, Narrowing, Skill};

use crate::Result;
use crate::engine::ours;
use crate::measure::{Contender, Sample, race, sample};
use crate::run::named;
use crate::table::Row;
use crate::world::{Queries, World, copy};

/// How long a round reads.
const READING: Duration = Duration::from_millis(2_000);
/// Skills of the layer that is replaced.
const SKILLS: usize = 20;

pub fn rows(world: &World, queries: &Queries, rounds: usize) -> Result<Vec<Row>> {
    let memory = memory_folder(world.skills)?;
    let disk = world.folder.join("swap");
    let from = world.folder.join("ours").join("data");
    copy(&from, &memory)?;
    copy(&from, &disk)?;
    let rows = measured(world.skills, queries, &memory, &disk, rounds);
    std::fs::remove_dir_all(&memory)?;
    std::fs::remove_dir_all(&disk)?;
    rows
}

fn measured(skills: usize, queries: &Queries, memory: &Path, disk: &Path, rounds: usize) -> Result<Vec<Row>> {
    let (fast, durable) = (ours::open(memory)?, ours::open(disk)?);
    let peace = |name, catalog: &'static str| (name, catalog);
    let (still, still_disk) = (peace("no swaps", "memory"), peace("no swaps, on disk", "disk"));
    let reader = |catalog: &Catalog| Reader::new(catalog, queries);
    let (mut one, mut two, mut three) = (reader(&fast), reader(&fast), reader(&fast));
    let (mut four, mut five) = (reader(&durable), reader(&durable));
    let contenders: Vec<Contender<'_>> = vec![
        Contender::by(still.0, || one.read()),
        Contender::by("thread", || {
            let stop = AtomicBool::new(false);
            std::thread::scope(|scope| {
                scope.spawn(|| swap(&fast, Some(100), &stop).expect("swaps"));
                let sample = two.read();
                stop.store(true, Ordering::Relaxed);
                sample
            })
        }),
        Contender::by("process", || {
            let mut child = spawn(memory, "100").expect("a child");
            let sample = three.read();
            end(&mut child);
            sample
        }),
        Contender::by(still_disk.0, || four.read()),
        Contender::by("durable", || {
            let mut child = spawn(disk, "0").expect("a child");
            let sample = five.read();
            end(&mut child);
            sample
        }),
    ];
    let figures = race(rounds, contenders);
    let row = |operation: &str, with: &str, without: &str| {
        let (with, without) = (named(&figures, with), named(&figures, without));
        let mut row = Row::of(operation, skills, with, without);
        // The rounds keep the median read; what counts here is the slowest one in ten thousand.
        (row.ours, row.ours_p99, row.theirs) = (with.p9999, None, without.p9999);
        row.ratio = with.p9999 / without.p9999;
        row
    };
    Ok(vec![
        row("p99.99 of get, a thread swaps at 100 Hz", "thread", "no swaps").times(4.0, 2.0),
        row("p99.99 of get, a process swaps at 100 Hz", "process", "no swaps").times(20.0, 4.0),
        row("p99.99 of get, a process swaps durably", "durable", "no swaps, on disk").times(20.0, 4.0),
    ])
}

struct Reader<'q> {
    view: repertoire::View,
    ids: &'q [String],
}

impl<'q> Reader<'q> {
    fn new(catalog: &Catalog, queries: &'q Queries) -> Self {
        Self { view: catalog.view(Narrowing::default()), ids: &queries.ids }
    }

    /// Gets for a while, each timed alone.
    fn read(&mut self) -> Sample {
        let mut times = Vec::with_capacity(1 << 23);
        let mut sum = 0;
        for id in self.ids {
            sum += self.get(id);
        }
        let begun = Instant::now();
        'all: loop {
            for id in self.ids {
                let one = Instant::now();
                sum += self.get(id);
                let took = one.elapsed();
                times.push(took.as_nanos() as f64);
                if one.duration_since(begun) > READING {
                    break 'all;
                }
            }
        }
        std::hint::black_box(sum);
        sample(times)
    }

    fn get(&mut self, id: &str) -> u64 {
        let pin = self.view.pin().expect("a pin");
        pin.get(id).expect("an answer").map_or(0, |skill| skill.kind() as u64 + 1)
    }
}

/// Replaces the local layer again and again, `rate` times a second or as fast as it goes.
pub fn swap(catalog: &Catalog, rate: Option<u32>, stop: &AtomicBool) -> Result<()> {
    let begun = Instant::now();
    let mut number = 0;
    while !stop.load(Ordering::Relaxed) {
        number += 1;
        let entries = (0..SKILLS).map(|index| {
            let mut skill = Skill::new(
                format!("swap/{index}"),
                Kind::Knowledge,
                format!("Swapped {index}"),
                format!("Written {number} times."),
            );
            skill.content = format!("Text {number} of {index}.");
            Entry::new(skill)
        });
        let entries: Vec<Entry> = entries.collect();
        catalog.update(Layer::Local, &mut |_| Ok(Some(entries.clone())))?;
        if let Some(rate) = rate {
            let due = Duration::from_secs(1) / rate * number;
            std::thread::sleep(due.saturating_sub(begun.elapsed()));
        }
    }
    Ok(())
}

/// In the child: swaps until it is ended.
pub fn endless(data: &Path, rate: u32) -> Result<()> {
    let catalog = ours::open(data)?;
    swap(&catalog, (rate > 0).then_some(rate), &AtomicBool::new(false))
}

fn spawn(data: &Path, rate: &str) -> Result<Child> {
    let child = Command::new(std::env::current_exe()?).arg("swap").arg(data).arg(rate).spawn()?;
    // Until it has begun.
    std::thread::sleep(Duration::from_millis(200));
    Ok(child)
}

fn end(child: &mut Child) {
    // It may have failed by itself, which the figures would not tell.
    match child.try_wait() {
        Ok(None) => {}
        other => panic!("the swapping process ended early: {other:?}"),
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// A folder in memory, where an fsync costs nothing.
fn memory_folder(skills: usize) -> Result<PathBuf> {
    let shared = Path::new("/dev/shm");
    let base = if shared.is_dir() { shared.to_owned() } else { std::env::temp_dir() };
    Ok(base.join(format!("repertoire-peers-{}-{skills}", std::process::id())))
}
