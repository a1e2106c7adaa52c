//! Near duplicates: texts are compared by the share of word groups that they have in common.
//!
//! Comparing every pair would be quadratic. Each text is reduced to a signature of minima over its hashed word groups
//! (`MinHash`); texts that agree in a band of it are candidates, and only candidates are compared exactly.

use std::collections::{HashMap, HashSet};

use crate::limits::LINT_COMPARED_BYTES_MAX;
use crate::lint::Findings;
use crate::lint::rules::{DESCRIPTION_DUPLICATE, NEAR_DUPLICATE, Rule};
use crate::lint::subject::{Spot, Subject};
use crate::model::{Kind, normalise};

/// Bands of a signature, and minima in each: texts with four fifths in common meet with a chance of over 0.999.
const BANDS: usize = 16;
const ROWS: usize = 4;
/// Candidates that share a band; those after them are not compared in it, which bounds the work for copies of copies.
const BAND_MEMBERS_MAX: usize = 8;
/// Shares of word groups in common above which texts count as the same.
const BODY_SHARE_MIN: f64 = 0.85;
const DESCRIPTION_SHARE_MIN: f64 = 0.8;
/// Groups that a text must have to be compared.
const BODY_GROUPS_MIN: usize = 30;
const DESCRIPTION_GROUPS_MIN: usize = 8;

/// Skills that say almost the same as an earlier one: as a whole, or in their description.
pub(crate) fn duplicates(subjects: &[Subject<'_>], findings: &mut Findings) {
    let bodies: Vec<HashSet<u64>> =
        subjects.iter().map(|subject| groups(&body(subject), 3, BODY_GROUPS_MIN)).collect();
    let mut told = HashSet::new();
    for (one, earlier, share) in pairs(&bodies, BODY_SHARE_MIN) {
        told.insert((one, earlier));
        tell(
            NEAR_DUPLICATE,
            "content",
            "says almost the same as",
            (&subjects[one], &subjects[earlier], share),
            findings,
        );
    }
    let descriptions: Vec<HashSet<u64>> = subjects
        .iter()
        .map(|subject| groups(&subject.skill.description, 2, DESCRIPTION_GROUPS_MIN))
        .collect();
    for (one, earlier, share) in pairs(&descriptions, DESCRIPTION_SHARE_MIN) {
        if !told.contains(&(one, earlier)) {
            let what = "has almost the description of";
            tell(
                DESCRIPTION_DUPLICATE,
                "description",
                what,
                (&subjects[one], &subjects[earlier], share),
                findings,
            );
        }
    }
}

fn tell(
    rule: Rule,
    field: &str,
    what: &str,
    pair: (&Subject<'_>, &Subject<'_>, f64),
    findings: &mut Findings,
) {
    let (one, earlier, share) = pair;
    let message = format!(
        "this skill {what} {:?} ({:.0} % in common); make it one skill, or say what is different",
        earlier.skill.id,
        share * 100.0
    );
    findings.add(rule, one, &Spot::field(field), message);
}

/// What a skill tells, within a bound.
fn body(subject: &Subject<'_>) -> String {
    let skill = subject.skill;
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

/// The hashed groups of `size` neighbouring words; none where there are fewer than `least`. A Chinese, Japanese or
/// Korean character is a word.
fn groups(text: &str, size: usize, least: usize) -> HashSet<u64> {
    let normal = normalise(text);
    let mut words: Vec<u64> = Vec::new();
    let mut word = String::new();
    for c in normal.chars().chain([' ']) {
        let alone =
            matches!(u32::from(c), 0x3040..=0x30ff | 0x3400..=0x9fff | 0xac00..=0xd7af | 0xf900..=0xfaff);
        if (alone || c == ' ') && !word.is_empty() {
            words.push(hash(word.as_bytes()));
            word.clear();
        }
        if alone {
            words.push(mix(u64::from(c)));
        } else if c != ' ' {
            word.push(c);
        }
    }
    let group = |window: &[u64]| window.iter().fold(0, |sum, word| mix(sum ^ word));
    let groups: HashSet<u64> = words.windows(size).map(group).collect();
    if groups.len() < least { HashSet::new() } else { groups }
}

/// Each text with the first earlier one that it shares enough with.
fn pairs(texts: &[HashSet<u64>], least: f64) -> Vec<(usize, usize, f64)> {
    let mut bands: HashMap<(usize, u64), Vec<usize>> = HashMap::new();
    let mut found = Vec::new();
    for (index, text) in texts.iter().enumerate().filter(|(_, text)| !text.is_empty()) {
        let keys = signature(text);
        let mut candidates: Vec<usize> =
            keys.iter().filter_map(|key| bands.get(key)).flatten().copied().collect();
        candidates.sort_unstable();
        candidates.dedup();
        let same = candidates
            .into_iter()
            .map(|other| (other, share(text, &texts[other])))
            .find(|(_, share)| *share >= least);
        if let Some((other, share)) = same {
            found.push((index, other, share));
        }
        for key in keys {
            let members = bands.entry(key).or_default();
            if members.len() < BAND_MEMBERS_MAX {
                members.push(index);
            }
        }
    }
    found
}

/// One key for each band: its number and the hash of its minima.
fn signature(groups: &HashSet<u64>) -> [(usize, u64); BANDS] {
    let mut minima = [u64::MAX; BANDS * ROWS];
    for group in groups {
        for (seed, minimum) in (1_u64..).zip(&mut minima) {
            *minimum = (*minimum).min(mix(group ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        }
    }
    std::array::from_fn(|band| {
        let rows = &minima[band * ROWS..(band + 1) * ROWS];
        (band, rows.iter().fold(0, |sum, row| mix(sum ^ row)))
    })
}

/// The part of all groups that two texts have in common.
#[expect(clippy::cast_precision_loss, reason = "a share to compare with a threshold")]
fn share(one: &HashSet<u64>, other: &HashSet<u64>) -> f64 {
    let common = one.intersection(other).count();
    common as f64 / (one.len() + other.len() - common).max(1) as f64
}

fn hash(bytes: &[u8]) -> u64 {
    let fnv = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    mix(bytes.iter().fold(0xcbf2_9ce4_8422_2325, fnv))
}

/// A bijection that spreads every bit over all others.
fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}
