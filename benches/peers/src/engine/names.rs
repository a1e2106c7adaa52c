//! fst: normal forms of ids, names and aliases in a mapped transducer, with lists of record numbers beside it.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use fst::{IntoStreamer as _, Map, MapBuilder, Streamer as _};
use levenshtein_automata::{DFA, LevenshteinAutomatonBuilder};
use memmap2::Mmap;

use crate::Result;
use crate::engine::maps::Maps;

pub struct Names {
    map: Map<Mmap>,
    /// Numbers of records of each value of the map.
    numbers: Vec<Vec<u32>>,
    automata: [LevenshteinAutomatonBuilder; 2],
}

impl Names {
    pub fn build(folder: &Path, maps: &Maps) -> Result<()> {
        let mut builder = MapBuilder::new(BufWriter::new(File::create(folder.join("fst"))?))?;
        for (value, key) in maps.keys.keys().enumerate() {
            builder.insert(key, value as u64)?;
        }
        Ok(builder.finish()?)
    }

    pub fn open(folder: &Path, maps: &Maps) -> Result<Self> {
        // SAFETY: nothing changes the file once it is built.
        let bytes = unsafe { Mmap::map(&File::open(folder.join("fst"))?)? };
        Ok(Self {
            map: Map::new(bytes)?,
            numbers: maps.keys.values().cloned().collect(),
            automata: [1, 2].map(|distance| LevenshteinAutomatonBuilder::new(distance, false)),
        })
    }

    /// The first ten visible records with a key that begins with the text.
    pub fn prefix(&self, text: &str, maps: &Maps, rights: &[bool; 256], found: &mut Vec<u32>) {
        found.clear();
        let mut stream = self.map.range().ge(text).into_stream();
        while let Some((key, value)) = stream.next() {
            if !key.starts_with(text.as_bytes()) {
                return;
            }
            for number in &self.numbers[value as usize] {
                if rights[usize::from(maps.records[*number as usize].group)] && !found.contains(number) {
                    found.push(*number);
                    if found.len() == 10 {
                        return;
                    }
                }
            }
        }
    }

    /// The nearest ten visible records with a key within an edit distance of 1 or 2.
    pub fn fuzzy(&self, text: &str, distance: usize, maps: &Maps, rights: &[bool; 256]) -> Vec<(u8, u32)> {
        let automaton = self.automata[distance - 1].build_dfa(text);
        let mut found: Vec<(u8, u32)> = Vec::new();
        let mut stream = self.map.search_with_state(Search(&automaton)).into_stream();
        while let Some((_, value, state)) = stream.next() {
            let distance = automaton.distance(state).to_u8();
            for number in &self.numbers[value as usize] {
                if rights[usize::from(maps.records[*number as usize].group)] {
                    found.push((distance, *number));
                }
            }
        }
        found.sort_unstable();
        found.dedup_by_key(|(_, number)| *number);
        found.truncate(10);
        found
    }
}

/// The automaton in the words of fst.
struct Search<'d>(&'d DFA);

impl fst::Automaton for Search<'_> {
    type State = u32;

    fn start(&self) -> u32 {
        self.0.initial_state()
    }

    fn is_match(&self, state: &u32) -> bool {
        matches!(self.0.distance(*state), levenshtein_automata::Distance::Exact(_))
    }

    fn can_match(&self, state: &u32) -> bool {
        *state != levenshtein_automata::SINK_STATE
    }

    fn accept(&self, state: &u32, byte: u8) -> u32 {
        self.0.transition(*state, byte)
    }
}
