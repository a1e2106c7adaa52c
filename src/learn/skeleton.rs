//! Which executions are of the same kind: the key of a skill, and the anchor that holds runs together that name no app.

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::learn::place::{is_position, leaves, split};
use crate::learn::run::{Call, Run, canonical_argument};
use crate::learn::words;
use crate::model::slug;
use crate::tools::ToolRegistry;

/// What executions must share to be of one skill: the tools in order, the form of their arguments, and the app.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Skeleton {
    /// The id that a skill of this skeleton has; where none names an app, there may be more with a number behind.
    pub(crate) id: String,
    /// Whether it names an app; else runs must share something else.
    pub(crate) names_app: bool,
}

/// Characters of the part of an id that is for people.
const SLUG_CHARS: usize = 40;
/// Bytes of the hash in an id.
const HASH_BYTES: usize = 8;

impl Skeleton {
    /// The skeleton of an execution.
    pub(crate) fn of(run: &Run, registry: &ToolRegistry) -> Self {
        let mut hash = Sha256::new();
        for call in &run.steps {
            hash.update(shape(call, registry).as_bytes());
            hash.update(b"\n");
        }
        for app in &run.apps {
            hash.update(b"app ");
            hash.update(app.as_bytes());
            hash.update(b"\n");
        }
        let digest = hash.finalize();
        // As many bits as no two kinds of tasks of one deployment share.
        let number =
            digest.iter().take(HASH_BYTES).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        let hex = format!("{number:016x}");
        let app = run.apps.first().map(String::as_str).unwrap_or_default();
        // The last part of a package says more than its first ones.
        let app = if is_package(app) { app.rsplit('.').next().unwrap_or(app) } else { app };
        let name: String = slug(app).chars().take(SLUG_CHARS).collect();
        let name = name.trim_matches(['-', '.', '_']);
        let name = if name.is_empty() { "flow" } else { name };
        Self { id: format!("learned/{name}-{hex}"), names_app: !run.apps.is_empty() }
    }

    /// The ids that a skill of this skeleton may have, in their order.
    pub(crate) fn ids(&self) -> impl Iterator<Item = String> + '_ {
        (1_usize..).map(|number| match number {
            1 => self.id.clone(),
            number => format!("{}-{number}", self.id),
        })
    }
}

/// Whether a text looks like the package of an app.
pub(crate) fn is_package(app: &str) -> bool {
    let sound = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic())
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    app.contains('.') && app.split('.').all(sound)
}

/// The tool of a call with what its name fixes, and where its arguments have leaves. Positions on the screen count as
/// one argument where there is nothing else.
fn shape(call: &Call, registry: &ToolRegistry) -> String {
    let resolved = registry.resolve(&call.tool);
    let mut shape = resolved.map_or(call.tool.as_str(), |resolved| &resolved.spec.name).to_owned();
    if let Some(resolved) = resolved.filter(|resolved| !resolved.fixed.is_empty()) {
        shape.push_str(&Value::Object(resolved.fixed.clone()).to_string());
    }
    let mut places: Vec<String> = Vec::new();
    let mut position = false;
    for (pointer, value) in leaves(&call.args) {
        if is_position(&call.tool, &call.args, &pointer, &value, registry) {
            position = true;
            continue;
        }
        let mut place = canonical_pointer(&call.tool, &pointer, registry);
        place.push_str(match value {
            Value::Null => " null",
            Value::Array(_) => " []",
            Value::Object(_) => " {}",
            _ => "",
        });
        places.push(place);
    }
    if places.is_empty() && position {
        places.push("@".to_owned());
    }
    places.sort_unstable();
    for place in places {
        shape.push(' ');
        shape.push_str(&place);
    }
    shape
}

/// A pointer with the canonical name of its argument.
pub(crate) fn canonical_pointer(tool: &str, pointer: &str, registry: &ToolRegistry) -> String {
    let Some((first, rest)) = split(pointer) else { return pointer.to_owned() };
    let mut place = String::new();
    crate::tools::schema::push_member(&mut place, canonical_argument(tool, &first, registry));
    place + rest
}

/// How much an execution without an app shares with others of its skeleton; `None` if nothing holds them together.
///
/// A literal argument that all have, or a word that most goals have beside the values.
pub(crate) fn anchor(run: &Run, others: &[Run], registry: &ToolRegistry) -> Option<usize> {
    let mut literals = 0;
    for (index, call) in run.steps.iter().enumerate() {
        for (pointer, value) in leaves(&call.args) {
            let counts = match &value {
                Value::String(text) => !text.trim().is_empty(),
                Value::Number(_) => true,
                _ => false,
            };
            if !counts || is_position(&call.tool, &call.args, &pointer, &value, registry) {
                continue;
            }
            let place = canonical_pointer(&call.tool, &pointer, registry);
            let same = |other: &Run| {
                other.steps.get(index).is_some_and(|call| {
                    leaves(&call.args).iter().any(|(pointer, leaf)| {
                        *leaf == value && canonical_pointer(&call.tool, pointer, registry) == place
                    })
                })
            };
            literals += usize::from(others.iter().all(same));
        }
    }
    let own = own_words(run);
    let theirs: Vec<Vec<String>> = others.iter().map(own_words).collect();
    let shared = own
        .iter()
        .filter(|word| 2 * theirs.iter().filter(|words| words.contains(word)).count() > theirs.len())
        .count();
    (literals + shared > 0).then_some(literals * GOAL_WORDS_MAX + shared.min(GOAL_WORDS_MAX - 1))
}

/// A literal argument weighs more than any number of words.
const GOAL_WORDS_MAX: usize = 1_000;

/// The words of a goal with a meaning that are in no value.
fn own_words(run: &Run) -> Vec<String> {
    let mut words: Vec<String> =
        words::folded_words(&run.goal).into_iter().filter(|word| !words::is_filler(word)).collect();
    words.sort_unstable();
    words.dedup();
    let mut values: Vec<String> = Vec::new();
    for call in &run.steps {
        for (_, value) in leaves(&call.args) {
            match value {
                Value::String(text) => values.extend(words::folded_words(&text)),
                Value::Number(number) => values.push(number.to_string()),
                _ => {}
            }
        }
    }
    words.retain(|word| !values.contains(word));
    words
}
