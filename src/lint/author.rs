//! What the Skills v2 text asks of authors, and what a description is for.

use crate::lint::Findings;
use crate::lint::rules::{
    CRITERION_VAGUE, DESCRIPTION_EMPTY, DESCRIPTION_SENTENCES, METADATA_KEY, RAW_OBSERVATION, TOOL_UNNEEDED,
};
use crate::lint::subject::{Form, Spot, Subject};
use crate::model::{Kind, Skill, normalise};
use crate::tools::{Effect, ToolRegistry};

/// Words that say nothing about a skill.
const FILLERS: [&str; 34] = [
    "a",
    "an",
    "the",
    "of",
    "for",
    "to",
    "with",
    "this",
    "that",
    "is",
    "are",
    "and",
    "or",
    "in",
    "on",
    "your",
    "you",
    "it",
    "use",
    "when",
    "skill",
    "skills",
    "helps",
    "help",
    "about",
    "how",
    "using",
    "used",
    "user",
    "users",
    "description",
    "agent",
    "tasks",
    "does",
];
/// What a criterion says that no screen can show.
const VAGUE: [&str; 20] = [
    "is complete",
    "is completed",
    "is done",
    "is finished",
    "task complete",
    "task completed",
    "successfully",
    "is successful",
    "success",
    "works",
    "is satisfied",
    "is happy",
    "as expected",
    "is correct",
    "goal is achieved",
    "goal achieved",
    "no errors",
    "everything",
    "done",
    "completed",
];
/// What can be seen.
const SEEN: [&str; 44] = [
    "screen",
    "visible",
    "shows",
    "show",
    "shown",
    "displayed",
    "displays",
    "appears",
    "foreground",
    "page",
    "window",
    "dialog",
    "button",
    "message",
    "list",
    "title",
    "toggle",
    "panel",
    "field",
    "opens",
    "opened",
    "closed",
    "selected",
    "checked",
    "icon",
    "label",
    "banner",
    "toast",
    "notification",
    "menu",
    "tab",
    "sheet",
    "cursor",
    "keyboard",
    "highlighted",
    "listed",
    "reads",
    "stops",
    "nothing",
    "text",
    "result",
    "results",
    "switch",
    "draft",
];
/// Words of a body that need a tool; tools that are not here are looked for by the words of their names.
const NEEDS: [(&str, &[&str]); 13] = [
    (
        "tap",
        &[
            "tap",
            "press",
            "select",
            "choose",
            "click",
            "toggle",
            "pick",
            "switch",
            "confirm",
            "button",
            "open",
            "adjust",
            "navigate",
            "visit",
            "navigation",
        ],
    ),
    ("double_tap", &["double", "zoom"]),
    ("long_press", &["long", "hold", "select", "copy"]),
    (
        "swipe",
        &[
            "swipe", "scroll", "drag", "slide", "drawer", "slider", "dismiss", "page", "pages", "inspect",
            "list",
        ],
    ),
    (
        "scroll",
        &[
            "scroll",
            "find",
            "list",
            "below",
            "look",
            "navigate",
            "navigation",
            "inspect",
            "slider",
            "page",
            "pages",
            "results",
            "search",
            "screens",
            "settings",
            "more",
        ],
    ),
    ("scroll_to_element", &["scroll", "find", "list", "below", "look"]),
    ("drag_and_drop", &["drag", "drop", "move", "slider"]),
    (
        "input_text",
        &[
            "type", "enter", "search", "write", "fill", "input", "address", "paste", "draft", "text", "name",
            "message", "query",
        ],
    ),
    ("clear_text", &["clear", "empty", "replace", "type", "enter"]),
    ("focus_input", &["focus", "field", "type", "enter", "input"]),
    (
        "press_key",
        &[
            "back",
            "home",
            "key",
            "return",
            "recents",
            "enter",
            "close",
            "dismiss",
            "leave",
            "navigate",
            "navigation",
            "stop",
        ],
    ),
    ("launch_app", &["open", "launch", "start", "app", "apps"]),
    ("open_settings_panel", &["panel", "panels", "settings"]),
];

/// Looks at what an author wrote.
pub(crate) fn check(subject: &Subject<'_>, registry: &ToolRegistry, findings: &mut Findings) {
    let skill = subject.skill;
    if is_empty(skill) {
        let message =
            "the description says nothing that the name does not; say what the skill does and when to use it";
        findings.add(DESCRIPTION_EMPTY, subject, &Spot::field("description"), message);
    }
    raw_observation(subject, findings);
    if subject.form() == Form::Foreign {
        return;
    }
    if sentences(&skill.description) > 1 {
        let message = "the description is shown in lists, in one line; keep one sentence and put the rest into the body";
        findings.add(DESCRIPTION_SENTENCES, subject, &Spot::field("description"), message);
    }
    for key in skill.metadata.keys().filter(|key| !is_snake(key)) {
        let message = format!("{key:?} is not in lower_snake_case; rename it");
        findings.add(METADATA_KEY, subject, &Spot::value("metadata", key), message);
    }
    for criterion in skill.success_criteria.iter().filter(|criterion| is_vague(criterion)) {
        let message = format!("{criterion:?} cannot be seen; say what the screen shows then");
        findings.add(CRITERION_VAGUE, subject, &Spot::value("success_criteria", criterion), message);
    }
    unneeded_tools(subject, registry, findings);
}

/// Whether every word of the description is one of the name, or says nothing.
fn is_empty(skill: &Skill) -> bool {
    let name = normalise(&skill.name);
    let id = normalise(&skill.id);
    let known = |word: &str| {
        FILLERS.contains(&word) || name.split(' ').chain(id.split(' ')).any(|other| other == word)
    };
    normalise(&skill.description).split(' ').filter(|word| !word.is_empty()).all(known)
}

/// How many sentences a text has.
fn sentences(text: &str) -> usize {
    let text = text.trim();
    let mut count = 1;
    for (at, c) in text.char_indices() {
        let rest = &text[at + c.len_utf8()..];
        let ends = match c {
            '\u{3002}' | '\u{ff01}' | '\u{ff1f}' => !rest.trim().is_empty(),
            '.' | '!' | '?' => {
                let word = text[..at].rsplit([' ', '(']).next().unwrap_or_default();
                // "e.g. X" and "No. 5" go on.
                let short = word.contains('.')
                    || word.len() <= 1
                    || ["etc", "vs", "incl", "No", "Dr", "Mr", "Ms", "St"].contains(&word);
                let mut after = rest.chars();
                !short
                    && after.next() == Some(' ')
                    && after.next().is_some_and(|c| c.is_uppercase() || !c.is_ascii())
            }
            _ => false,
        };
        count += usize::from(ends);
    }
    count
}

fn is_snake(key: &str) -> bool {
    key.starts_with(|c: char| c.is_ascii_lowercase())
        && key.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

fn is_vague(criterion: &str) -> bool {
    if !criterion.is_ascii() || criterion.contains(['"', '`']) {
        return false;
    }
    let normal = format!(" {} ", normalise(criterion));
    let holds = |word: &&str| normal.contains(&format!(" {word} "));
    VAGUE.iter().any(holds) && !SEEN.iter().any(holds)
}

/// The raw tree is long and meant for debugging; agents decide by `describe_screen`.
fn raw_observation(subject: &Subject<'_>, findings: &mut Findings) {
    let skill = subject.skill;
    let debugging = [&skill.id, &skill.name, &skill.description].into_iter().chain(&skill.tags);
    let debugging = debugging.into_iter().any(|text| {
        let lower = text.to_lowercase();
        lower.contains("debug") || lower.contains("diagnos")
    });
    for tool in skill
        .allowed_tools
        .iter()
        .flatten()
        .filter(|tool| matches!(tool.as_str(), "observe_screen" | "ui_tree"))
    {
        if !debugging {
            let message = format!(
                "{tool:?} is for debugging skills; allow `observe_screen_context` (`describe_screen`) instead"
            );
            findings.add(RAW_OBSERVATION, subject, &Spot::value("allowed_tools", tool), message);
        }
    }
}

/// Tools that change something, and that neither the body nor a step speaks of.
fn unneeded_tools(subject: &Subject<'_>, registry: &ToolRegistry, findings: &mut Findings) {
    let skill = subject.skill;
    let used: Vec<usize> =
        skill.steps.iter().filter_map(|step| Some(registry.resolve(&step.tool)?.ordinal)).collect();
    let mut said = format!("{} {} {}", skill.content, skill.description, skill.success_criteria.join(" "));
    said.push_str(&skill.examples.join(" "));
    let said = normalise(&said);
    // Without a body, or in another language than the words, nothing can be said.
    if skill.kind == Kind::Knowledge && (skill.content.trim().is_empty() || !said.is_ascii()) {
        return;
    }
    let words: Vec<&str> = said.split(' ').collect();
    for tool in skill.allowed_tools.iter().flatten() {
        let Some(resolved) = registry.resolve(tool) else { continue };
        let spec = resolved.spec;
        if spec.effect != Effect::Mutate {
            continue;
        }
        let needed = if skill.kind == Kind::FlowTemplate {
            used.contains(&resolved.ordinal)
        } else {
            let speaks = |needed: &str| words.iter().any(|word| word.starts_with(needed));
            match NEEDS.iter().find(|(name, _)| *name == spec.name) {
                Some((_, known)) => known.iter().copied().any(speaks),
                None => tool.split('_').chain(spec.name.split('_')).filter(|word| word.len() > 3).any(speaks),
            }
        };
        if !needed {
            let message = format!("the skill never speaks of {tool:?}; allow only what it needs");
            findings.add(TOOL_UNNEEDED, subject, &Spot::value("allowed_tools", tool), message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_counted_and_abbreviations_are_not() {
        for (text, want) in [
            ("Opens the camera.", 1),
            ("Opens it, e.g. Photos or v1.2 Beta.", 1),
            ("Opens it. Then it stops.", 2),
            ("Really? Yes! Fine.", 3),
            ("\u{6253}\u{5f00}\u{76f8}\u{673a}\u{3002}", 1),
            ("\u{6253}\u{5f00}\u{3002}\u{7136}\u{540e}\u{3002}", 2),
        ] {
            assert_eq!(sentences(text), want, "{text}");
        }
    }

    #[test]
    fn a_criterion_is_vague_where_nothing_can_be_seen() {
        for (text, want) in [
            ("The task is completed successfully.", true),
            ("It works as expected", true),
            ("The settings screen is done loading and visible.", false),
            ("\"Done\" appears", false),
            ("The requested app is foreground.", false),
            ("Wi-Fi is on.", false),
        ] {
            assert_eq!(is_vague(text), want, "{text}");
        }
    }

    #[test]
    fn a_description_needs_a_word_of_its_own() {
        let empty = |name: &str, description: &str| {
            is_empty(&Skill::new("wifi-panel", Kind::Knowledge, name, description))
        };
        assert!(empty("Wi-Fi settings", "The settings for Wi-Fi."));
        assert!(empty("X", "This is the wifi-panel skill"));
        assert!(empty("X", "..."));
        assert!(!empty("Wi-Fi settings", "Join a network."));
        assert!(!empty("\u{76f8}\u{673a}", "\u{6253}\u{5f00}\u{76f8}\u{673a}"));
    }
}
