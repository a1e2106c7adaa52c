//! Near duplicates: texts are compared by the share of word groups that they have in common.
//!
//! Comparing every pair would be quadratic. Each text is reduced to a sketch of minima over its hashed word groups
//! (`MinHash`, one hash for each group, which falls into one of the bins); texts that agree in a band of it are candidates,
//! the sketches tell which candidate is closest, and only that one is compared exactly. Sketches are made on all
//! processors, and the groups themselves are never kept.

use std::num::NonZero;
use std::thread;

use crate::limits::LINT_COMPARED_BYTES_MAX;
use crate::lint::Remark;
use crate::lint::rules::{DESCRIPTION_DUPLICATE, NEAR_DUPLICATE};
use crate::lint::subject::{Spot, Subject};
use crate::model::{Kind, Skill};

/// Bins of a sketch; bands of it, and bins in each: texts with four fifths in common meet with a chance of over 0.999.
const BINS: usize = BANDS * ROWS;
const BANDS: usize = 16;
const ROWS: usize = 4;
/// Texts that share a band; those after them are not compared in it, which bounds the work for copies of copies.
const BAND_MEMBERS_MAX: usize = 8;
/// Shares of word groups in common above which texts count as the same.
const BODY_SHARE_MIN: f64 = 0.85;
const DESCRIPTION_SHARE_MIN: f64 = 0.8;
/// How far the share that sketches tell may be below the true one: three standard deviations of it.
const SKETCH_ERROR: f64 = 0.15;
/// Groups that a text must have to be compared.
const BODY_GROUPS_MIN: usize = 30;
const DESCRIPTION_GROUPS_MIN: usize = 8;
/// Texts below which threads cost more than they save.
const TEXTS_A_THREAD_MIN: usize = 128;

/// A way to look at a skill.
#[derive(Clone, Copy)]
struct Side {
    text: fn(&Skill) -> String,
    /// Neighbouring words of a group, and groups that a text must have.
    size: usize,
    least: usize,
    share: f64,
}

const WHOLE: Side = Side { text: body, size: 3, least: BODY_GROUPS_MIN, share: BODY_SHARE_MIN };
const DESCRIPTION: Side = Side {
    text: |skill| skill.description.clone(),
    size: 2,
    least: DESCRIPTION_GROUPS_MIN,
    share: DESCRIPTION_SHARE_MIN,
};

/// Skills that say almost the same as an earlier one: as a whole, or in their description.
pub(crate) fn duplicates<'s>(subjects: &[Subject<'s>]) -> Vec<Remark<'s>> {
    let skills: Vec<&Skill> = subjects.iter().map(|subject| subject.skill).collect();
    let whole = pairs(&skills, WHOLE);
    let told = |one: &(usize, usize, f64)| whole.iter().any(|(a, b, _)| (*a, *b) == (one.0, one.1));
    let mut descriptions = pairs(&skills, DESCRIPTION);
    descriptions.retain(|pair| !told(pair));
    let mut remarks = Vec::with_capacity(whole.len() + descriptions.len());
    for (rule, field, what, pairs) in [
        (NEAR_DUPLICATE, "content", "says almost the same as", whole),
        (DESCRIPTION_DUPLICATE, "description", "has almost the description of", descriptions),
    ] {
        remarks.extend(pairs.into_iter().map(|(subject, earlier, share)| {
            let message = format!(
                "this skill {what} {:?} ({:.0} % in common); make it one skill, or say what is different",
                skills[earlier].id,
                share * 100.0
            );
            Remark { rule, subject, spot: Spot::field(field), message }
        }));
    }
    remarks
}

/// What a skill tells, within a bound.
fn body(skill: &Skill) -> String {
    if skill.kind == Kind::Knowledge {
        let end = skill.content.floor_char_boundary(LINT_COMPARED_BYTES_MAX);
        return format!("{} {}", skill.description, &skill.content[..end]);
    }
    let mut text = skill.description.clone();
    for step in &skill.steps {
        text.push(' ');
        text.push_str(&step.tool);
        text.push_str(&serde_json::to_string(&step.args_template).unwrap_or_default());
    }
    text
}

impl Side {
    /// The hashed groups of neighbouring words, sorted, each once. A Chinese, Japanese or Korean character is a word.
    fn groups(self, skill: &Skill) -> Vec<u64> {
        let mut groups = self.all_groups(skill);
        groups.sort_unstable();
        groups.dedup();
        groups
    }

    /// The same in the order of the text, as often as they stand there.
    fn all_groups(self, skill: &Skill) -> Vec<u64> {
        let text = (self.text)(skill);
        let mut words: Vec<u64> = Vec::with_capacity(text.len() / 5);
        let mut word = Fnv::default();
        for c in text.chars() {
            if c.is_ascii_alphanumeric() {
                word.add(c.to_ascii_lowercase());
            } else if c.is_ascii() {
                words.extend(word.take());
            } else if is_alone(c) {
                words.extend(word.take());
                words.push(mix(u64::from(c)));
            } else if c.is_alphanumeric() {
                c.to_lowercase().for_each(|c| word.add(c));
            } else {
                words.extend(word.take());
            }
        }
        words.extend(word.take());
        let group = |window: &[u64]| window.iter().fold(0, |sum, word| mix(sum ^ word));
        words.windows(self.size).map(group).collect()
    }

    /// `None` for a text that is too short to say.
    fn sketch(self, skill: &Skill) -> Option<Sketch> {
        let groups = self.all_groups(skill);
        (groups.len() >= self.least).then(|| Sketch::of(&groups))
    }

    /// The sketches of many skills.
    fn sketches(self, skills: &[&Skill]) -> Vec<Option<Sketch>> {
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        let part = skills.len().div_ceil(threads).max(TEXTS_A_THREAD_MIN);
        let work = |skills: &[&Skill]| skills.iter().map(|skill| self.sketch(skill)).collect::<Vec<_>>();
        if skills.len() <= part {
            return work(skills);
        }
        thread::scope(|scope| {
            let workers: Vec<_> =
                skills.chunks(part).map(|skills| scope.spawn(move || work(skills))).collect();
            let join = |worker: thread::ScopedJoinHandle<'_, Vec<Option<Sketch>>>| {
                worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            workers.into_iter().flat_map(join).collect()
        })
    }
}

fn is_alone(c: char) -> bool {
    matches!(u32::from(c), 0x3040..=0x30ff | 0x3400..=0x9fff | 0xac00..=0xd7af | 0xf900..=0xfaff)
}

/// The hash of a word, character by character.
#[derive(Default)]
struct Fnv {
    sum: u64,
    some: bool,
}

impl Fnv {
    fn add(&mut self, c: char) {
        self.sum = (self.sum ^ u64::from(c)).wrapping_mul(0x0000_0100_0000_01b3);
        self.some = true;
    }

    fn take(&mut self) -> Option<u64> {
        let word = self.some.then(|| mix(self.sum));
        *self = Self::default();
        word
    }
}

/// The least hash of each bin.
struct Sketch([u32; BINS]);

impl Sketch {
    /// Of at least one group. A bin that is empty borrows from one that is not, chosen by its number alone, so that equal
    /// texts have equal sketches and the chance that two agree in a bin is the share that they have in common.
    fn of(groups: &[u64]) -> Self {
        let mut minima = [u32::MAX; BINS];
        let mut filled = [false; BINS];
        for group in groups {
            let bin = (group >> 58) as usize;
            #[expect(clippy::cast_possible_truncation, reason = "half of a hash")]
            let value = *group as u32;
            minima[bin] = minima[bin].min(value);
            filled[bin] = true;
        }
        let known = minima;
        for bin in (0..BINS).filter(|bin| !filled[*bin]) {
            let mut attempts = 1_u64..;
            let donor = attempts.find_map(|attempt| {
                let other = (mix((bin as u64) << 32 | attempt) >> 58) as usize;
                filled[other].then_some(other)
            });
            minima[bin] = donor.map_or(u32::MAX, |donor| known[donor]);
        }
        Self(minima)
    }

    /// One key for each band.
    fn band(&self, band: usize) -> u64 {
        self.0[band * ROWS..(band + 1) * ROWS].iter().fold(0, |sum, row| mix(sum ^ u64::from(*row)))
    }

    /// The share that two texts seem to have in common.
    #[expect(clippy::cast_precision_loss, reason = "a share to compare with a threshold")]
    fn share(&self, other: &Self) -> f64 {
        self.0.iter().zip(&other.0).filter(|(a, b)| a == b).count() as f64 / BINS as f64
    }
}

/// Each skill with the closest earlier one that it shares enough with, and the share.
fn pairs(skills: &[&Skill], side: Side) -> Vec<(usize, usize, f64)> {
    let sketches = side.sketches(skills);
    let mut best: Vec<Option<(usize, f64)>> = vec![None; skills.len()];
    let mut keys: Vec<(u64, usize)> = Vec::with_capacity(skills.len());
    for band in 0..BANDS {
        keys.clear();
        keys.extend(sketches.iter().enumerate().filter_map(|(at, one)| Some((one.as_ref()?.band(band), at))));
        keys.sort_unstable();
        for same in keys.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() > 1) {
            for (place, (_, one)) in same.iter().enumerate().skip(1) {
                for (_, earlier) in &same[..place.min(BAND_MEMBERS_MAX)] {
                    let (Some(a), Some(b)) = (&sketches[*one], &sketches[*earlier]) else { continue };
                    let share = a.share(b);
                    // Of equally close ones the first counts, in whatever band they meet.
                    let closer = |(known, best): (usize, f64)| (share, known) > (best, *earlier);
                    if best[*one].is_none_or(closer) {
                        best[*one] = Some((*earlier, share));
                    }
                }
            }
        }
    }
    let likely = best.into_iter().enumerate().filter_map(|(one, best)| Some((one, best?)));
    let likely = likely.filter(|(_, (_, share))| *share >= side.share - SKETCH_ERROR);
    let exact = likely.filter_map(|(one, (earlier, _))| {
        let (a, b) = (side.groups(skills[one]), side.groups(skills[earlier]));
        // A word said over and over is not much of a text.
        let share = if a.len().min(b.len()) < side.least { 0.0 } else { common(&a, &b) };
        (share >= side.share).then_some((one, earlier, share))
    });
    exact.collect()
}

/// The part of all groups that two texts have in common.
#[expect(clippy::cast_precision_loss, reason = "a share to compare with a threshold")]
fn common(one: &[u64], other: &[u64]) -> f64 {
    let common = one.iter().filter(|group| other.binary_search(group).is_ok()).count();
    common as f64 / (one.len() + other.len() - common).max(1) as f64
}

/// A bijection that spreads every bit over all others.
fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skill(id: usize, words: impl Iterator<Item = usize>) -> Skill {
        let mut skill = Skill::new(id.to_string(), Kind::Knowledge, "N", format!("About {id}."));
        skill.content = words.map(|word| format!("word{word}")).collect::<Vec<_>>().join(" ");
        skill
    }

    #[test]
    fn sketches_tell_the_share_and_few_pairs_are_missed() {
        let texts: Vec<Skill> = (0..40).map(|n| skill(n, (n * 1_000)..(n * 1_000 + 200))).collect();
        // Copies with 1 word in 50 changed: some 0.89 of the groups of three are the same.
        let changed = |n: usize| {
            let words = (n * 1_000)..(n * 1_000 + 200);
            skill(100 + n, words.map(move |word| if word % 50 == 7 { word + 500_000 } else { word }))
        };
        let all: Vec<Skill> = texts.iter().cloned().chain((0..40).map(changed)).collect();
        let skills: Vec<&Skill> = all.iter().collect();
        let found = pairs(&skills, WHOLE);
        assert!(found.len() >= 38, "{found:?}");
        for (one, earlier, share) in &found {
            assert_eq!(*one, earlier + 40);
            assert!((0.85..0.95).contains(share), "{share}");
            let told = WHOLE.sketch(skills[*one]).zip(WHOLE.sketch(skills[*earlier]));
            let told = told.map_or(0.0, |(a, b)| a.share(&b));
            assert!((told - share).abs() < 0.2, "{told} of {share}");
        }
    }

    #[test]
    fn copies_of_copies_are_found_and_each_is_compared_once() {
        let all: Vec<Skill> = (0..2_000).map(|n| skill(n, 0..60)).collect();
        let skills: Vec<&Skill> = all.iter().collect();
        let found = pairs(&skills, WHOLE);
        assert_eq!(found.len(), 1_999);
        assert!(found.iter().all(|(one, earlier, share)| earlier < one && *share > 0.9));
    }
}
