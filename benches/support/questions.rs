//! What is asked of a made-up catalog, the same in every run.

use serde_json::{Map, Value, json};

use super::random::Random;
use super::synthetic::Synthetic;

/// Whether the caller may see the skills of a group.
pub(crate) fn sees(group: usize) -> bool {
    Synthetic::subscriptions(group).iter().any(|subscription| Synthetic::entitled().contains(subscription))
}

/// A request of a few words about the skill of that number: not its whole name, which would need no search.
pub(crate) fn request(world: &Synthetic, index: usize) -> String {
    let entry = world.entry(index);
    let mut random = Random::of(world.seed ^ 2, index);
    let han = |c: char| ('\u{4e00}'..='\u{9fff}').contains(&c);
    if entry.skill.name.contains(han) {
        let name: String = entry.skill.name.chars().filter(|c| han(*c)).take(3).collect();
        let count = 1 + random.below(2);
        return format!("{name}{}", world.han_run(&mut random, count));
    }
    let mut words: Vec<&str> = entry.skill.name.split(' ').take(3).collect();
    words.reverse();
    for _ in 0..=random.below(3) {
        words.push(world.word(&mut random));
    }
    words.push(entry.skill.aliases[0].split(' ').next().unwrap_or_default());
    words.join(" ").to_lowercase()
}

/// Values for the parameters of the template of ten steps.
pub(crate) fn template_values() -> Map<String, Value> {
    Map::from_iter([
        ("query".to_owned(), json!("a quiet place for lunch")),
        ("city".to_owned(), json!("Chengdu")),
        ("contact".to_owned(), json!("Li Wei")),
        ("timeout_ms".to_owned(), json!(8_000)),
        ("count".to_owned(), json!(40)),
    ])
}
