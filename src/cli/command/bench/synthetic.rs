//! A catalog of any size that is the same in every run: made-up skills with the shape of real ones.
//!
//! Words come from the bundled skills, the rare ones are made of syllables, and both are drawn by a Zipf law; 8 % of the
//! skills are Chinese, 10 % are flow templates. Bodies are log-normal with a median of 6.1 KB up to 20,000 skills, 3 KB up
//! to 200,000, and 0.8 KB above. The benches in `benches/` include this file, so that all measure the same skills.

use std::collections::{BTreeMap, BTreeSet};

use repertoire::model::{Parameter, ParameterType, Step};
use repertoire::{Entry, Kind, Skill, bundled};
use serde_json::{Map, Value, json};

use super::random::Random;

/// Different words; the bundled skills bring the first thousands.
const WORDS: usize = 40_000;
/// Exponent of the Zipf law, as measured on collections of instructions.
const ZIPF: f64 = 1.05;
/// Words before this rank say nothing about a skill's topic.
const TOPICS_FROM: usize = 150;
/// Different sets of subscriptions.
pub(crate) const GROUPS: usize = 20;
/// The template that the measurement of `resolve` fills in.
pub(crate) const TEMPLATE_ID: &str = "bench/ten-steps";

/// Makes the skills of a catalog.
#[derive(Debug)]
pub(crate) struct Synthetic {
    words: Vec<String>,
    /// Sums of the words' shares, rising to 1.
    shares: Vec<f64>,
    /// Pairs of Chinese characters that stand beside each other in the bundled skills, most frequent first.
    han: Vec<String>,
    pub(crate) seed: u64,
    body_median: f64,
}

impl Synthetic {
    /// The maker of a catalog of that many skills.
    pub(crate) fn new(skills: usize, seed: u64) -> Self {
        let (words, han) = vocabulary(seed);
        let mut sum = 0.0;
        let mut shares: Vec<f64> = Vec::with_capacity(words.len());
        let mut rank = 1.0;
        for _ in &words {
            sum += f64::powf(rank + 1.7, -ZIPF);
            shares.push(sum);
            rank += 1.0;
        }
        for share in &mut shares {
            *share /= sum;
        }
        let body_median = match skills {
            0..=20_000 => 6_100.0,
            20_001..=200_000 => 3_000.0,
            _ => 800.0,
        };
        Self { words, shares, han, seed, body_median }
    }

    /// The subscriptions of a group; a few groups have two.
    pub(crate) fn subscriptions(group: usize) -> Vec<String> {
        let name = |number: usize| format!("sub-{number:02}");
        match group {
            16 => vec![name(5), name(16)],
            17..=19 => vec![name(group - 5), name(group)],
            _ => vec![name(group)],
        }
    }

    /// What the caller has bought: skills of 12 of the 20 groups.
    pub(crate) fn entitled() -> BTreeSet<String> {
        (0..=10).map(|number| format!("sub-{number:02}")).collect()
    }

    /// The group of a skill.
    pub(crate) fn group(&self, index: usize) -> usize {
        if index == 0 { 0 } else { Random::of(self.seed ^ 1, index).below(GROUPS) }
    }

    /// The skill of that number with its subscriptions. Number 0 is the template of ten steps.
    pub(crate) fn entry(&self, index: usize) -> Entry {
        let skill = if index == 0 { ten_steps() } else { self.skill(index) };
        let mut entry = Entry::new(skill);
        entry.subscriptions = Self::subscriptions(self.group(index));
        entry
    }

    fn skill(&self, index: usize) -> Skill {
        let mut random = Random::of(self.seed, index);
        let chinese = !self.han.is_empty() && random.percent(8);
        let topics: Vec<&str> = (0..6).map(|_| self.topic(&mut random)).collect();
        let count = 2 + random.below(3);
        let owner = self.topic(&mut random);
        let id = format!("{owner}/{}-{index}", topics[..count.min(3)].join("-"));
        let name = if chinese {
            let count = 2 + random.below(3);
            self.han_run(&mut random, count)
        } else {
            topics[..count].iter().map(|word| capital(word)).collect::<Vec<_>>().join(" ")
        };
        let sized = |random: &mut Random, from: usize, more: usize| from + random.below(more);
        let bytes = sized(&mut random, 80, 270);
        let description = self.text(&mut random, bytes, &topics, chinese);
        let mut skill = Skill::new(id, Kind::Knowledge, name, description);
        skill.version = format!("{}.{}.0", 1 + random.below(4), random.below(20));
        skill.tags = (0..2 + random.below(4)).map(|_| self.words[300 + random.below(250)].clone()).collect();
        skill.aliases.push(format!("{} {}", topics[1], topics[0]));
        if random.percent(50) {
            skill.aliases.push(format!("{} {} {}", topics[2], topics[0], self.topic(&mut random)));
        }
        if random.percent(8) {
            skill.aliases.push(self.short_word(&mut random).to_owned());
        }
        for _ in 0..2 {
            let bytes = sized(&mut random, 30, 50);
            let example = self.text(&mut random, bytes, &topics, chinese);
            skill.examples.push(example);
        }
        if random.percent(10) {
            skill.kind = Kind::FlowTemplate;
            flow(&mut skill, &topics, &mut random);
        } else {
            let spread = (random.normal() * 0.85).exp();
            skill.content = self.body(&mut random, self.body_median * spread, &skill.name, &topics, chinese);
        }
        dedup(&mut skill.tags);
        dedup(&mut skill.aliases);
        skill
    }

    /// A body of about that many bytes: headings, paragraphs, lists.
    fn body(&self, random: &mut Random, bytes: f64, name: &str, topics: &[&str], chinese: bool) -> String {
        let mut body = format!("# {name}\n");
        // Within the limits of a body, and never too small to say anything.
        let bytes = bytes.clamp(300.0, 90_000.0);
        while f64::from(u32::try_from(body.len()).unwrap_or(u32::MAX)) < bytes {
            if random.percent(15) {
                body.extend(["\n## ", &capital(self.topic(random)), "\n"]);
            }
            body.push_str(if random.percent(40) { "\n* " } else { "\n" });
            let length = 60 + random.below(300);
            body.push_str(&self.text(random, length, topics, chinese));
        }
        body.push('\n');
        body
    }

    /// Running text of at least that many bytes.
    fn text(&self, random: &mut Random, bytes: usize, topics: &[&str], chinese: bool) -> String {
        let mut text = String::with_capacity(bytes + 16);
        while text.len() < bytes {
            if chinese && random.percent(85) {
                let count = 1 + random.below(4);
                text.push_str(&self.han_run(random, count));
                continue;
            }
            if !text.is_empty() {
                text.push_str(if random.percent(8) { ". " } else { " " });
            }
            match (random.percent(18), random.one(topics)) {
                (true, Some(topic)) => text.push_str(topic),
                _ => text.push_str(self.word(random)),
            }
        }
        text.push('.');
        text
    }

    /// A word as it stands in running text.
    pub(crate) fn word(&self, random: &mut Random) -> &str {
        let at = random.fraction();
        let rank = self.shares.partition_point(|share| *share < at);
        &self.words[rank.min(self.words.len() - 1)]
    }

    /// A word that says something; frequent ones more often than rare ones.
    fn topic(&self, random: &mut Random) -> &str {
        let skewed = random.below(WORDS - TOPICS_FROM).min(random.below(WORDS - TOPICS_FROM));
        &self.words[TOPICS_FROM + skewed.min(random.below(WORDS - TOPICS_FROM))]
    }

    /// A word of three to five letters.
    fn short_word(&self, random: &mut Random) -> &str {
        loop {
            let word = self.topic(random);
            if (3..=5).contains(&word.len()) {
                return word;
            }
        }
    }

    /// Some Chinese characters.
    pub(crate) fn han_run(&self, random: &mut Random, pairs: usize) -> String {
        let mut run = String::new();
        for _ in 0..pairs {
            let skewed = random.below(self.han.len()).min(random.below(self.han.len()));
            run.push_str(&self.han[skewed]);
        }
        run
    }
}

/// Words and pairs of Chinese characters, most frequent first.
fn vocabulary(seed: u64) -> (Vec<String>, Vec<String>) {
    let mut words: BTreeMap<String, usize> = BTreeMap::new();
    let mut pairs: BTreeMap<String, usize> = BTreeMap::new();
    for entry in bundled::entries() {
        let skill = entry.skill;
        let texts = [skill.content, skill.description, skill.examples.join(" "), skill.aliases.join(" ")];
        for text in texts {
            for word in text.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| word.len() > 1) {
                *words.entry(word.to_ascii_lowercase()).or_default() += 1;
            }
            let characters: Vec<char> = text.chars().collect();
            for pair in characters.windows(2) {
                if pair.iter().all(|c| ('\u{4e00}'..='\u{9fff}').contains(c)) {
                    *pairs.entry(pair.iter().collect()).or_default() += 1;
                }
            }
        }
    }
    let mut known: BTreeSet<String> = words.keys().cloned().collect();
    let mut words = by_count(words);
    let mut random = Random::new(seed ^ 3);
    while words.len() < WORDS {
        let word = syllables(&mut random);
        if known.insert(word.clone()) {
            words.push(word);
        }
    }
    (words, by_count(pairs))
}

fn by_count(counts: BTreeMap<String, usize>) -> Vec<String> {
    let mut all: Vec<(String, usize)> = counts.into_iter().collect();
    all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    all.into_iter().map(|(word, _)| word).collect()
}

/// A word that can be pronounced.
fn syllables(random: &mut Random) -> String {
    const STARTS: [&str; 24] = [
        "b", "br", "c", "ch", "d", "dr", "f", "g", "gr", "h", "k", "l", "m", "n", "p", "pl", "r", "s", "sh",
        "st", "t", "tr", "v", "w",
    ];
    const ENDS: [&str; 16] =
        ["a", "an", "ar", "e", "el", "en", "er", "i", "in", "is", "o", "on", "or", "u", "um", "y"];
    let mut word = String::new();
    for _ in 0..1 + random.below(2) + random.below(3) {
        word.push_str(random.one(&STARTS).copied().unwrap_or_default());
        word.push_str(random.one(&ENDS).copied().unwrap_or_default());
    }
    word
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}

fn dedup(list: &mut Vec<String>) {
    let mut seen = BTreeSet::new();
    list.retain(|text| seen.insert(text.clone()));
}

/// Turns a skill into a short flow about its topics.
fn flow(skill: &mut Skill, topics: &[&str], random: &mut Random) {
    skill.parameters = vec![parameter("query", ParameterType::String, "what to look for")];
    let package = format!("com.{}.{}", topics[0], topics[1]);
    skill.steps = vec![
        step("launch_app", json!({"package": package})),
        step("wait_for", json!({"text": topics[2], "timeout_ms": 8_000})),
        step("input_text", json!({"text": "{query}", "clear": true, "submit": true})),
    ];
    for topic in topics.iter().take(1 + random.below(5)) {
        skill.steps.push(step("tap", json!({"text": topic})));
        skill.steps.push(step("wait_for_idle", json!({"timeout_ms": 5_000})));
    }
}

/// The template of ten steps and five parameters.
fn ten_steps() -> Skill {
    let mut skill = Skill::new(
        TEMPLATE_ID,
        Kind::FlowTemplate,
        "Find a place and tell a contact",
        "Looks for something in a city and writes the best places to a contact.",
    );
    skill.aliases.push("tell a contact a place".to_owned());
    skill.parameters = vec![
        parameter("query", ParameterType::String, "what to look for"),
        parameter("city", ParameterType::String, "where to look"),
        parameter("contact", ParameterType::String, "who is told"),
        parameter("timeout_ms", ParameterType::Integer, "longest wait"),
        parameter("count", ParameterType::Integer, "lines to read"),
    ];
    skill.steps = vec![
        step("launch_app", json!({"package": "com.google.android.apps.maps"})),
        step("wait_for", json!({"content_description": "Search here", "timeout_ms": "{timeout_ms}"})),
        step("input_text", json!({"text": "{query} in {city}", "clear": true, "submit": true})),
        step("wait_for_idle", json!({"stable_ms": 500, "timeout_ms": "{timeout_ms}"})),
        step("describe_screen", json!({"max_elements": "{count}"})),
        step("launch_app", json!({"package": "com.google.android.apps.messaging"})),
        step("tap", json!({"text": "{contact}", "text_match": "contains"})),
        step("wait_for", json!({"text": "{contact}", "timeout_ms": "{timeout_ms}"})),
        step("input_text", json!({"text": "Dear {contact}, I found {query} in {city}.", "submit": true})),
        step("describe_screen", json!({"max_elements": "{count}", "filter": "{contact}"})),
    ];
    skill
}

fn parameter(name: &str, kind: ParameterType, description: &str) -> Parameter {
    let mut parameter = Parameter::new(name, kind);
    description.clone_into(&mut parameter.description);
    parameter
}

fn step(tool: &str, arguments: Value) -> Step {
    let Value::Object(arguments) = arguments else { return Step::new(tool, Map::new()) };
    Step::new(tool, arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_skill_is_sound_and_the_same_each_time() {
        let (one, two) = (Synthetic::new(1_000, 7), Synthetic::new(1_000, 7));
        let (mut flows, mut chinese, mut seen, mut bytes) = (0, 0, 0, Vec::new());
        for index in 0..500 {
            let entry = one.entry(index);
            if index % 10 == 0 {
                assert_eq!(entry, two.entry(index));
            }
            assert_eq!(entry.skill.problems(), [], "{}", entry.skill.id);
            flows += usize::from(entry.skill.kind == Kind::FlowTemplate);
            chinese += usize::from(!entry.skill.name.is_ascii());
            seen += usize::from(entry.subscriptions.iter().any(|sub| Synthetic::entitled().contains(sub)));
            bytes.push(entry.skill.content.len());
        }
        bytes.retain(|bytes| *bytes > 0);
        bytes.sort_unstable();
        assert!((30..75).contains(&flows) && (20..65).contains(&chinese), "{flows} {chinese}");
        assert!((260..340).contains(&seen), "{seen}");
        let median = bytes[bytes.len() / 2];
        assert!((5_000..7_500).contains(&median), "{median}");
        assert_ne!(one.entry(5), Synthetic::new(1_000, 8).entry(5));
    }
}
