//! A made-up catalog on disk that every bench of this folder asks.

#[allow(dead_code, reason = "each bench uses a part of it")]
pub(crate) mod questions;
#[path = "../../src/cli/command/bench/random.rs"]
#[allow(dead_code, unused_imports, reason = "each bench uses a part of it, and its tests run elsewhere")]
pub(crate) mod random;
#[path = "../../src/cli/command/bench/synthetic.rs"]
#[allow(dead_code, unused_imports, reason = "each bench uses a part of it, and its tests run elsewhere")]
pub(crate) mod synthetic;

use std::path::Path;

use repertoire::catalog::{BundledMode, Options};
use repertoire::model::normalise;
use repertoire::{Catalog, Entry, Layer, LocalStatement};

use self::random::Random;
use self::synthetic::Synthetic;

/// Seed of skills and questions.
const SEED: u64 = 20_261_130;

/// What is asked, in an order that jumps about in the catalog.
pub(crate) struct Asked {
    pub(crate) ids: Vec<String>,
    pub(crate) aliases: Vec<String>,
    pub(crate) prefixes: Vec<String>,
    /// Words of at most five letters with one letter changed.
    pub(crate) typos: Vec<String>,
    pub(crate) requests: Vec<String>,
}

/// Opens the catalog of a folder.
pub(crate) fn open(data: &Path) -> repertoire::Result<Catalog> {
    let options = Options::default().bundled(BundledMode::Never).keep_generations(1);
    Catalog::open_with(data, options)
}

/// Fills a folder with that many skills; the caller sees about 60 % of them.
pub(crate) fn fill(data: &Path, skills: usize) -> repertoire::Result<Catalog> {
    let catalog = open(data)?;
    let world = Synthetic::new(skills, SEED);
    let mut entries: Option<Vec<Entry>> = Some((0..skills).map(|index| world.entry(index)).collect());
    catalog.update(Layer::Synced, &mut |_| Ok(entries.take()))?;
    for subscription in Synthetic::entitled() {
        catalog.declare(LocalStatement::Grant(subscription))?;
    }
    Ok(catalog)
}

/// Questions about skills that the caller sees.
pub(crate) fn asked(skills: usize, count: usize) -> Asked {
    let world = Synthetic::new(skills, SEED);
    let mut random = Random::new(SEED ^ 5);
    let mut all = Asked {
        ids: Vec::new(),
        aliases: Vec::new(),
        prefixes: Vec::new(),
        typos: Vec::new(),
        requests: Vec::new(),
    };
    while all.ids.len() < count {
        let index = random.below(skills);
        if !questions::sees(world.group(index)) {
            continue;
        }
        let skill = world.entry(index).skill;
        let alias = skill.aliases.first().map(|alias| normalise(alias)).unwrap_or_default();
        let letters: String = alias.chars().filter(|c| *c != ' ').take(5).collect();
        all.prefixes.push(alias.chars().take(3).collect());
        all.typos
            .push(letters.chars().rev().enumerate().map(|(at, c)| if at == 1 { 'q' } else { c }).collect());
        all.aliases.push(alias);
        all.requests.push(questions::request(&world, index.max(1)));
        all.ids.push(skill.id);
    }
    all
}
